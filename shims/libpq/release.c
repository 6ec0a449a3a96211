/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which libpq the shim stands for. Any file may ask.
 */
#include "pq.h"

#include <stdlib.h>

/* Drivers decide by this version, and so does the shim where versions of libpq differ (cpq_release()).
 * CENOTE_LIBPQ_VERSION sets another version, for programs that need a certain one. */
int
cpq_PQlibVersion(void)
{
	const char *told = secure_getenv("CENOTE_LIBPQ_VERSION");
	long version = told != NULL ? strtol(told, NULL, 10) : 0;

	return version >= 90000 && version < 1000000 ? (int)version : CPQ_LIB_VERSION;
}

int
cpq_release(void)
{
	return cpq_PQlibVersion() / 10000;
}
