/* SPDX-License-Identifier: BSD-2-Clause */
#include "pg.h"

int
cnd_pg_catalog_query(const struct cnp_catalog *filter, int version,
	struct cnd_pg_catalog *ret_query, struct cnc_diag *ret_diag)
{
	(void)filter;
	(void)version;
	(void)ret_query;
	(void)ret_diag;
	return CENOTE_ERR_UNSUPPORTED;
}
