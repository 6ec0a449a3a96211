/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNP_FRAME_H
#define CNP_FRAME_H

#include "core/buf.h"
#include "protocol/msg.h"

/*
 *  0  u32  length of the payload
 *  4  u8   message code
 *  5  u8   flags: CNP_FRAME_SYNC
 *  6  u16  0
 *  8  u32  request number; a reply has its request's number; 0: set-up, or no request
 * 12       payload
 */
#define CNP_FRAME_HEADER 12u
#define CNP_FRAME_SYNC   1u /* requests: a synchronisation point follows at once */

/* Limits. */
#define CNP_FRAME_MAX      0x3fffffffu /* longest payload of any frame */
#define CNP_FRAME_MAX_AUTH 16384u /* most bytes from a client before it is attached */
#define CNP_VERSION_MIN    1u
#define CNP_VERSION_MAX    1u

struct cnp_frame {
	uint32_t len;
	uint8_t code;
	uint8_t flags;
	uint32_t request;
};

/* Decode and check a header of 12 bytes, before the payload is received. CENOTE_OK;
 * CENOTE_ERR_PROTOCOL: unknown code or flag, reserved bytes set, length above `max`. */
int cnp_frame_decode(const uint8_t *bytes, size_t max, struct cnp_frame *ret_frame);
void cnp_frame_encode(uint8_t *bytes, const struct cnp_frame *f);

/* Begin a frame in an output buffer, append its payload, then end it, which fills in the length. *ret_mark is
 * the offset from the buffer's head. */
int cnp_frame_begin(struct cnc_buf *b, uint8_t code, uint8_t flags, uint32_t request,
	size_t *ret_mark);
/* CENOTE_OK; CENOTE_ERR_LIMIT if the payload is above CNP_FRAME_MAX (then it is removed). */
int cnp_frame_end(struct cnc_buf *b, size_t mark);
/* Begin a frame, append a message, and end the frame. On failure the buffer is as before. */
int cnp_frame_put(
	struct cnc_buf *b, uint8_t flags, uint32_t request, const struct cnp_msg *m);

/*
 * The opening: clear text, before any frame.
 *
 *  0  4 bytes  "CNTE"
 *  4  u16      length of the whole opening (16…512)
 *  6  u8 u8    lowest and highest protocol version the client speaks
 *  8  u8       kind: enum cnp_opening_kind
 *  9  u8       TLS: enum cnp_opening_tls
 * 10  u16      length of the pool's name (0…255)
 * 12  u32      0
 * 16           pool's name; then extensions: u8 which, u8 length, that many bytes. A receiver ignores unknown
 *              extensions, and bytes at the end that are not a whole extension.
 */
#define CNP_OPENING_MIN 16u
#define CNP_OPENING_MAX 512u
#define CNP_POOL_MAX    255u

enum cnp_opening_kind {
	CNP_OPEN_ATTACH = 1,
	CNP_OPEN_CANCEL = 2,
	CNP_OPEN_RESUME = 3,
	CNP_OPEN_STATUS = 4
};

enum cnp_opening_extension {
	CNP_EXTENSION_SESSION = 1 /* u64: the session that RESUME asks for */
};

enum cnp_opening_tls {
	CNP_TLS_NONE = 0,
	CNP_TLS_ALLOW = 1,
	CNP_TLS_REQUIRE = 2
};

struct cnp_opening {
	uint8_t version_min;
	uint8_t version_max;
	uint8_t kind;
	uint8_t tls;
	uint8_t has_session;
	uint64_t session; /* RESUME: the token's session, whose worker does TLS */
	char pool[CNP_POOL_MAX + 1];
	uint16_t len; /* length of the decoded opening */
};

int cnp_opening_encode(struct cnc_buf *b, const struct cnp_opening *o);
/* CENOTE_OK; CENOTE_AGAIN: correct so far, but more bytes are needed; CENOTE_ERR_PROTOCOL. */
int cnp_opening_decode(const uint8_t *bytes, size_t len, struct cnp_opening *ret_opening);
/* The version to speak with a peer that supports this range; 0 if there is no common version. */
uint8_t cnp_version_choose(uint8_t peer_min, uint8_t peer_max);

#endif
