/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNP_REPLY_H
#define CNP_REPLY_H

#include "protocol/msg.h"

/*
 * The grammar of answers: which reply may come to which request, and in what order. Both ends
 * use it: docs/protocol.md, "Requests and their replies".
 */

/* The form of a request's answer. */
enum cnp_shape {
	CNP_SHAPE_NONE, /* not a request of an attached session */
	CNP_SHAPE_DATA, /* results: ([COLUMNS] ROWS* DONE)+, or copies */
	CNP_SHAPE_ROWS, /* results, without copies */
	CNP_SHAPE_DESCRIPTION, /* PARAMS [COLUMNS] DONE */
	CNP_SHAPE_COMMAND, /* DONE */
	CNP_SHAPE_SYNC, /* READY only; an ERROR may go before it */
	CNP_SHAPE_SUSPEND, /* SUSPENDED came, which ends the session */
	CNP_SHAPE_CANCEL /* CANCELLED */
};

/* How far an answer has come. */
enum cnp_stage {
	CNP_STAGE_FRESH, /* no reply yet */
	CNP_STAGE_DESCRIBED, /* PARAMS came; next is COLUMNS or DONE */
	CNP_STAGE_OPEN, /* within a result: rows, or its DONE */
	CNP_STAGE_COPY_IN, /* the client sends data; DONE comes after it */
	CNP_STAGE_COPY_OUT, /* next is COPY_DATA or COPY_DONE */
	CNP_STAGE_COPIED, /* the data of a COPY_OUT has ended; next is DONE */
	CNP_STAGE_MORE, /* one result is done, another result follows */
	CNP_STAGE_ANSWERED /* the last reply came */
};

uint8_t cnp_request_shape(uint8_t code);
/* Can a request be sent as set-up, with request number 0? */
int cnp_request_can_setup(uint8_t code);
/*
 * The stage after a reply; CENOTE_ERR_PROTOCOL if it does not fit. `is_known`: the client has the columns, so
 * ROWS may come without COLUMNS. ERROR fits everywhere before ANSWERED. SKIPPED and READY are not checked
 * here, because they depend on the previous requests.
 */
int cnp_reply_stage(uint8_t shape, int is_known, uint8_t stage, const struct cnp_msg *m);

#endif
