/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_ANSWER_H
#define CND_ANSWER_H

#include "protocol/session_server.h"
#include "auth/rules.h"
#include "scoreboard.h"

/* HELLO, unless it was said: who wants TLS, which is not there, is told before the first frame. */
int cnd_answer_hello(struct cnp_server *s);
/* The same where a login may follow: `logins` has bits of enum cnd_logins. */
int cnd_answer_hello_login(struct cnp_server *s, int tls, uint8_t logins);

/*
 * Openings that need no session: whoever accepts them answers from the scoreboard. Each queues the
 * whole answer, HELLO included, and leaves the session in CLOSING (or BROKEN).
 */
void cnd_answer_cancelled(struct cnp_server *s, int is_delivered);
struct cnd_asker {
	uid_t uid; /* only root, cenoted's own user and a client's own see who that client is; -1: none */
	uid_t cenoted; /* its own user */
	uint32_t pool; /* the only one it is told of; CND_POOL_RECORD: all */
	int slot; /* of the worker that answers, which is idle otherwise; -1: none */
};
void cnd_answer_status(struct cnp_server *s, struct cnd_scoreboard *b,
	const struct cnp_status *m, const struct cnd_asker *asker);
/* ERROR instead of ATTACHED. */
void cnd_answer_refuse(struct cnp_server *s, const char *sqlstate, const char *format,
	...) __attribute__((format(printf, 3, 4)));
/* The slot of that pool that a RESUME names, if its session is there to be resumed; else CND_BOARD_NONE, refused. */
uint32_t cnd_answer_resume(struct cnp_server *s, const struct cnd_scoreboard *b,
	uint32_t pool, const struct cnp_resume *m);
/* The same by what its opening says already, where TLS is to end at that slot: its key is still to come. */
uint32_t cnd_answer_resume_named(
	struct cnp_server *s, const struct cnd_scoreboard *b, uint32_t pool);

#endif
