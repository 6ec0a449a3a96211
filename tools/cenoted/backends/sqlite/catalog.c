/* SPDX-License-Identifier: BSD-2-Clause */
#include "sqlite.h"

int
cnd_sq_catalog(
	struct cnd_session *s, const struct cnp_catalog *filter, struct cnd_sink *sink)
{
	(void)s;
	(void)filter;
	(void)sink;
	return CENOTE_ERR_UNSUPPORTED;
}
