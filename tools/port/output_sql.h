/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PORT_OUTPUT_SQL_H
#define PORT_OUTPUT_SQL_H

#include "dialect.h"
#include "output.h"

/* The format sql: INSERT statements. sql_reader.h reads them. The settings of such an output are these. */
struct output_sql_settings {
	struct output_settings base; /* has_header does not matter */
	const struct dialect *dialect; /* of the server that will read it */
	const char *table; /* as it is written into the statements */
};

extern const struct output_ops output_sql;

#endif
