/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_LISTENING_INTERNAL_H
#define CND_LISTENING_INTERNAL_H

#include "shared.h"

/* What listening.c and listening_marks.c share. */

/* clang-format off */
#define CND_NOTIFICATIONS_LOST \
	"the session that listened for this connection was lost, so notifications may be missing; connect again"
/* clang-format on */

/* A client that leaves more bytes of notifications unread loses its connection. */
#define CND_PENDING_MAX  (4u << 20)
/* The names of all channels, and those of one client. */
#define CND_CHANNELS_MAX (4u << 20)
#define CND_NAMES_MAX    65536u

/* Which session passes notifications on to the client. */
enum cnd_hearing {
	CND_FROM_OWN, /* the client's own session */
	CND_UNTIL_MARK, /* its own session up to the mark, then the listening session */
	CND_FROM_LISTENING, /* the listening session */
	CND_AFTER_MARK /* the listening session up to the mark, then its own session */
};

struct cnd_subscriber {
	struct cnd_subscriber *next;
	uint8_t hearing; /* enum cnd_hearing */
	bool is_lost; /* notifications may be missing */
	bool is_halfway; /* the head of `pending` may be in the middle of a frame */
	uint64_t mark; /* the number of its last mark */
	uint32_t mark_pid; /* the server process that sends that mark */
	struct cnc_buf names; /* the channels, each with a zero byte */
	struct cnc_buf pending; /* frames that are not sent yet */
	struct cnd_staying *staying; /* its record while it has no session, or NULL */
	struct cnd_worker *worker; /* the worker on whose seat it is, or NULL */
};

/* Whether a list of names has this one. */
bool cnd_listening_has_name(const struct cnc_buf *names, const char *name);
struct cnp_str cnd_listening_names(const struct cnc_buf *names);
/* A new client, on this worker's seat. NULL: no memory. */
struct cnd_subscriber *cnd_listening_add(struct cnd_worker *w);
/* Let the seat of this worker look around. NULL is allowed. */
void cnd_listening_wake(const struct cnd_worker *w);
int cnd_listening_ignore_notice(struct cnd_sink *sink, const struct cnc_diag *notice);

#endif
