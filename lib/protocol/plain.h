/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNP_PLAIN_H
#define CNP_PLAIN_H

#include "core/buf.h"
#include "protocol/msg.h"

/*
 * PLAIN (RFC 4616) sends the password itself, to a pool that logs in to its server with it. Its only message
 * contains the user to act as, a zero byte, the user that logs in, a zero byte, and the password. Use it only
 * if nobody else can read the message.
 */
#define CNP_PLAIN "PLAIN"

struct cnp_plain {
	struct cnp_str user;
	struct cnp_str password; /* neither is empty */
};

/* Append the message to the buffer. CENOTE_OK, CENOTE_ERR_NOMEM, CENOTE_ERR_LIMIT. */
int cnp_plain_put(struct cnc_buf *b, const char *user, const char *password);
/* The texts point into `message`, and end with a zero byte if it does. CENOTE_ERR_PROTOCOL: not a PLAIN
 * message, or the user asks to act as another user. */
int cnp_plain_parse(const struct cnp_str *message, struct cnp_plain *ret_plain);

#endif
