/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PORT_OUTPUT_SQL_H
#define PORT_OUTPUT_SQL_H

#include "dialect.h"
#include "output.h"

/* The format sql: INSERT statements, which sql_reader.h reads. Pass &settings.base to output_begin(). */
struct output_sql_settings {
	struct output_settings base; /* has_header has no effect */
	const struct dialect *dialect; /* of the server that will read the statements */
	const char *table; /* goes into the statements without a change */
};

extern const struct output_ops output_sql;

#endif
