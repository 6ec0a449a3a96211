/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decides whether a client may try to log in, and by which rule. Pure functions of the configuration,
 * without state. Workers and --explain-auth call them.
 */
#include "admission.h"

enum cnd_admission
cnd_admit(const struct cnd_pool_config *p, const struct cnd_arrival *a,
	const struct cnd_rule **ret_rule)
{
	*ret_rule = NULL;
	if (a->peer.door == CND_DOOR_UNIX && !cnd_pool_config_allows(p, a->uid))
		return CND_NOT_ALLOWED;
	if (a->peer.door == CND_DOOR_TCP &&
		!cnd_networks_admit(&p->networks, &a->peer.addr))
		return CND_NOT_WELCOME;
	*ret_rule = cnd_rules_match(&p->rules, a);
	return *ret_rule != NULL ? CND_ADMITTED : CND_NO_RULE;
}

const char *
cnd_admission_text(enum cnd_admission a)
{
	static const char *const texts[] = {
		[CND_ADMITTED] = "a rule decides",
		[CND_NOT_ALLOWED] = "allow_users does not name this unix user",
		[CND_NOT_WELCOME] = "allow and deny refuse its address",
		[CND_NO_RULE] = "no rule of auth matches",
	};

	return texts[a];
}
