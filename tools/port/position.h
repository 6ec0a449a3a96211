/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PORT_POSITION_H
#define PORT_POSITION_H

#include "link.h"

/*
 * How far an import has come: a row of the table cenote_import in the target's database. The position is written in the
 * transaction that inserts the rows. So it is true however the program ends.
 */

#define POSITION_NAME_MAX 190u

struct position {
	struct link *link;
	const char *name; /* of the import */
	uint64_t n_records; /* records of the file that were committed */
	bool is_done; /* all records of the file were committed */
	bool exists; /* the table has this row */
	cenote_params *params;
};

/* The functions report their errors. Those that return int return an enum port_status. */

/* Make the table if it is absent, and read the position. */
int position_open(struct position *p, struct link *l, const char *name);
/* Set the position to record 0. Call it outside a transaction. */
int position_reset(struct position *p);
/* Move the position to this number of records. Call it in the transaction that inserts the rows. */
int position_move(struct position *p, uint64_t n_records, bool is_done);
/* Whether another process has moved the position, which is then reported. Call it after a batch failed and was rolled back:
 * that may be the reason. */
bool position_has_moved(struct position *p);
void position_close(struct position *p);

#endif
