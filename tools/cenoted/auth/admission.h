/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_ADMISSION_H
#define CND_ADMISSION_H

#include "config/config.h"

/* Decide who may try to log in to a pool, and by which rule. */
enum cnd_admission {
	CND_ADMITTED, /* the rule decides next */
	CND_NOT_ALLOWED, /* refused by allow_users */
	CND_NOT_WELCOME, /* refused by allow and deny */
	CND_NO_RULE
};

/* *ret_rule: NULL unless admitted. */
enum cnd_admission cnd_admit(const struct cnd_pool_config *p, const struct cnd_arrival *a,
	const struct cnd_rule **ret_rule);
/* Why a client is not admitted. */
const char *cnd_admission_text(enum cnd_admission a);

#endif
