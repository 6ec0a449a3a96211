/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_ADMIN_H
#define CND_ADMIN_H

#include "master_internal.h"
#include "shared/report.h"

/* What the two files of the admin socket share: admin.c has the socket and its clients, admin_commands.c the commands. */

#define CND_ADMIN_LINE_MAX 256u
#define CND_ADMIN_WORDS    3u

enum cnd_admin_phase {
	CND_ADMIN_READING, /* its command has not come yet */
	CND_ADMIN_PAUSING, /* it waits until no transaction is open in `pool` */
	CND_ADMIN_DRAINING, /* it waits for the end of cenoted */
	CND_ADMIN_UPGRADING, /* it waits until the new cenoted serves */
	CND_ADMIN_SENDING /* its answer is complete */
};

struct cnd_admin_client {
	int fd; /* -1: this place is free */
	enum cnd_admin_phase phase;
	int64_t until_ms; /* READING, SENDING: the end of its time */
	uint32_t pool; /* PAUSING: its index, or CND_POOL_RECORD: all */
	char line[CND_ADMIN_LINE_MAX];
	size_t len;
	struct cnd_report report;
};

/* Carry out the line in `c`. Sets its phase, unless the answer is complete. */
void cnd_admin_carry_out(struct cnd_admin_client *c);
/* PAUSING: whether no transaction is open. */
bool cnd_admin_is_quiet(uint32_t pool);

#endif
