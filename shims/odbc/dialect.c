/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which dialect a pool speaks, from the name of its backend. connect.c asks once for each session.
 * It has no state.
 */
#include "dialect.h"

#include <string.h>

static const struct {
	const char *backend;
	enum cod_dialect dialect;
} backends[] = {
	{ "postgresql", COD_DIALECT_POSTGRESQL },
	{ "mysql", COD_DIALECT_MYSQL },
	{ "sqlite", COD_DIALECT_SQLITE },
	{ "freetds", COD_DIALECT_TDS },
};

enum cod_dialect
cod_dialect_of(const char *backend)
{
	for (size_t i = 0; backend && i < sizeof(backends) / sizeof(backends[0]); i++) {
		if (strcmp(backend, backends[i].backend) == 0)
			return backends[i].dialect;
	}
	return COD_DIALECT_OTHER;
}
