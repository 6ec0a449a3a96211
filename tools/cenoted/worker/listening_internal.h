/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_LISTENING_INTERNAL_H
#define CND_LISTENING_INTERNAL_H

#include "shared.h"

/* What listening.c and listening_marks.c share. */

/* A client that has not read this many bytes of notifications is lost. */
#define CND_PENDING_MAX  (4u << 20)
/* The names of all channels, and those of one client. */
#define CND_CHANNELS_MAX (4u << 20)
#define CND_NAMES_MAX    65536u

/* Which session tells the client of notifications. */
enum cnd_hearing {
	CND_FROM_OWN, /* its own session */
	CND_UNTIL_MARK, /* its own one up to the mark, then the listening one */
	CND_FROM_LISTENING, /* the listening one */
	CND_AFTER_MARK /* the listening one up to the mark, then its own one */
};

struct cnd_hearer {
	struct cnd_hearer *next;
	uint8_t hearing; /* enum cnd_hearing */
	bool is_lost; /* notifications may be missing */
	bool is_halfway; /* the head of `pending` may be in the middle of a frame */
	uint64_t mark; /* its number */
	uint32_t mark_pid; /* the server process that sends it */
	struct cnc_buf names; /* the channels, each with a zero byte */
	struct cnc_buf pending; /* frames that are not sent yet */
	struct cnd_staying *staying; /* NULL: the client is on a seat, */
	struct cnd_worker *worker; /* that of this worker */
};

/* Whether a list of names has this one. */
bool cnd_listening_has_name(const struct cnc_buf *names, const char *name);
struct cnp_str cnd_listening_names(const struct cnc_buf *names);
/* A new client, on this worker's seat. NULL: no memory. */
struct cnd_hearer *cnd_listening_add(struct cnd_worker *w);
/* Let the seat of this worker look around. NULL is allowed. */
void cnd_listening_wake(const struct cnd_worker *w);
int cnd_listening_ignore_notice(struct cnd_sink *sink, const struct cnc_diag *notice);

#endif
