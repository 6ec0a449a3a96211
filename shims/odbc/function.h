/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef COD_FUNCTION_H
#define COD_FUNCTION_H

#include <stddef.h>

#include "dialect.h"
#include "span.h"

/*
 * Templates for ODBC's scalar functions in {fn}. %1, %2 and so on stand for arguments, %* for all
 * of them with commas between. Any other % is itself. Only servers that number their markers may
 * have an argument twice, or in another order.
 */

/* The template for a function. NULL: the server has no such function, or no function of that name
 * takes so many arguments. "": the call stays as it is. */
const char *cod_function(enum cod_dialect dialect, struct cod_span name, size_t n_args);
/* Whether ODBC has a function of that name. */
int cod_is_function(struct cod_span name);
/* The template for {fn timestampadd(unit, %1, %2)} or {fn timestampdiff(unit, %1, %2)};
 * NULL: none. */
const char *cod_interval_function(
	enum cod_dialect dialect, struct cod_span unit, int is_diff);
/* The server's type for {fn convert(%1, type)}; NULL: none. */
const char *cod_cast_type(enum cod_dialect dialect, struct cod_span type);

#endif
