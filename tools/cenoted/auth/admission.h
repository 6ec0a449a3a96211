/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_ADMISSION_H
#define CND_ADMISSION_H

#include "config/config.h"

/* Decide who may try to log in to a pool, and by which rule. The daemon and --explain-auth both ask here. */
enum cnd_admission {
	CND_ADMITTED, /* the rule decides */
	CND_NOT_ALLOWED, /* allow_users */
	CND_NOT_WELCOME, /* allow and deny */
	CND_NO_RULE
};

/* *ret_rule: NULL unless admitted. */
enum cnd_admission cnd_admit(const struct cnd_pool_config *p, const struct cnd_arrival *a,
	const struct cnd_rule **ret_rule);
/* Why a client is not admitted. */
const char *cnd_admission_text(enum cnd_admission a);

#endif
