/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_ANSWER_H
#define CND_ANSWER_H

#include "protocol/session_server.h"
#include "auth/rules.h"
#include "scoreboard.h"
#include "status.h"

/* Send HELLO, unless it has been sent. A client that wants TLS and gets none has had HELLO before its
 * first frame. */
int cnd_answer_hello(struct cnp_server *s);
/* Send HELLO when a login may follow: `logins` has bits of enum cnd_logins. */
int cnd_answer_hello_login(struct cnp_server *s, int tls, uint8_t logins);

/* Answers to openings that need no session. Each function queues the whole answer, with HELLO, and
 * leaves the protocol in CLOSING (or BROKEN). */
void cnd_answer_cancelled(struct cnp_server *s, int is_delivered);
void cnd_answer_status(struct cnp_server *s, struct cnd_scoreboard *b,
	const struct cnp_status *m, const struct cnd_asker *asker);
/* Send an error in place of ATTACHED. */
void cnd_answer_refuse(struct cnp_server *s, const char *sqlstate, const char *format,
	...) __attribute__((format(printf, 3, 4)));
#define CND_LATE_TEXT_MAX CNC_DIAG_MESSAGE_MAX
/* A client has waited for queue_timeout, and n_waiting are left: count and log that, and write the text of its error
 * (SQLSTATE POOL_BUSY). */
void cnd_answer_late(const struct cnd_scoreboard *b, uint32_t pool, uint32_t n_waiting,
	char ret_text[CND_LATE_TEXT_MAX]);
/* The slot that a RESUME for this pool names, if its session can be resumed. Otherwise
 * CND_BOARD_NONE, and the client gets an error. */
uint32_t cnd_answer_resume(struct cnp_server *s, const struct cnd_scoreboard *b,
	uint32_t pool, const struct cnp_resume *m);
/* Like cnd_answer_resume(), but by the session's number in the opening: TLS ends in that worker, so
 * the key comes later. */
uint32_t cnd_answer_resume_named(
	struct cnp_server *s, const struct cnd_scoreboard *b, uint32_t pool);

#endif
