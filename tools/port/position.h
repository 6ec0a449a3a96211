/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PORT_POSITION_H
#define PORT_POSITION_H

#include "link.h"

/*
 * How far an import has come: a row of the table cenote_import in the target's database. It changes in the same
 * transaction as the rows that were imported. So whatever ends the program, the position is true.
 */

#define POSITION_NAME_MAX 190u

struct position {
	struct link *link;
	const char *name; /* of the import */
	uint64_t n_records; /* that were committed */
	bool is_done; /* the import came to the end of its file */
	bool exists; /* the table has this row */
	cenote_params *params;
};

/* Make the table if it is not there, and read the position. */
int position_open(struct position *p, struct link *l, const char *name);
/* Outside a transaction: begin an import at record 0. */
int position_reset(struct position *p);
/* In the transaction of the rows: move from n_records to this number. */
int position_move(struct position *p, uint64_t n_records, bool is_done);
/* After a batch failed and was rolled back: whether that may be because another process moved the position, which is
 * reported. */
bool position_has_moved(struct position *p);
void position_close(struct position *p);

#endif
