/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_CATALOG_H
#define CND_CATALOG_H

#include "../backend.h"

/* The columns of a catalog list (enum cenote_catalog_kind), which are the same from every backend. For
 * backends whose rows do not come with these columns. */
#define CND_CATALOG_COLUMNS_MAX 20u

/* Returns the number of columns; 0: there is no such list. */
uint32_t cnd_catalog_columns(
	uint8_t kind, struct cnp_column ret_columns[CND_CATALOG_COLUMNS_MAX]);

/* Take the next type off `types`, a list of table types: "TABLE,VIEW", or as ODBC also allows, with quotes
 * and blanks: 'TABLE', 'VIEW'. Returns 0 if there is none left. */
int cnd_catalog_next_type(struct cnp_str *types, struct cnp_str *ret_type);

#endif
