/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_CATALOG_H
#define CND_CATALOG_H

#include "../backend.h"

/* The columns of a catalog list (enum cenote_catalog_kind), which are the same from every backend, for
 * those that put them on their rows themselves. */
#define CND_CATALOG_COLUMNS_MAX 20u

/* How many; 0: there is no such list. */
uint32_t cnd_catalog_columns(
	uint8_t kind, struct cnp_column ret_columns[CND_CATALOG_COLUMNS_MAX]);

/* The next of a list of table types ("TABLE,VIEW", as ODBC allows it also with quotes and blanks:
 * 'TABLE', 'VIEW'), which is taken off `types`. 0: there is none left. */
int cnd_catalog_next_type(struct cnp_str *types, struct cnp_str *ret_type);

#endif
