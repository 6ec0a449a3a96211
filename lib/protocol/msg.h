/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNP_MSG_H
#define CNP_MSG_H

#include "core/buf.h"
#include "protocol/msg_list.h"

enum cnp_msg_code {
#define X(UPPER, lower, code, from) CNP_MSG_##UPPER = code,
	CNP_MSG_LIST(X)
#undef X
};

/* A text or blob: borrowed; followed by a zero byte when decoded; NULL and 0 encode as "". */
struct cnp_str {
	const char *p;
	size_t n;
};

#define CNP_STR_NONE ((struct cnp_str){ "", 0 })
struct cnp_str cnp_str(const char *text);

/* How far the server is with the writes of the client: a PARAMETER, and an option of ATTACH and SET_OPTION. */
#define CNP_POSITION     "position"
#define CNP_POSITION_MAX 511u

/* One struct per message: struct cnp_query { struct cnp_str sql; uint8_t format; … }. A message
 * without fields has the member `none`. */
#define CNP_TYPE_U8            uint8_t
#define CNP_TYPE_U16           uint16_t
#define CNP_TYPE_U32           uint32_t
#define CNP_TYPE_U64           uint64_t
#define CNP_TYPE_I32           int32_t
#define CNP_TYPE_I64           int64_t
#define CNP_TYPE_STR           struct cnp_str
#define CNP_MEMBER(kind, name) CNP_TYPE_##kind name;
#define X(UPPER, lower, code, from)                                                      \
	struct cnp_##lower {                                                             \
		CNP_FIELDS_##UPPER(CNP_MEMBER) uint8_t none;                             \
	};
CNP_MSG_LIST(X)
#undef X

/* Any message, decoded: `code` says which member of `as` is valid. Text is borrowed from the payload. */
struct cnp_msg {
	uint8_t code; /* enum cnp_msg_code */
	union {
#define X(UPPER, lower, code, from) struct cnp_##lower lower;
		CNP_MSG_LIST(X)
#undef X
	} as;
};

/* Bits of cnp_attach.flags. */
enum cnp_attach_flag {
	CNP_ATTACH_AGAIN = 1, /* a re-attach after a yield or a loss */
	CNP_ATTACH_STAYS = 2, /* the client understands CNP_YIELD_STAY */
	CNP_ATTACH_RESTORES =
		4, /* the client prepares its statements with a name again */
	CNP_ATTACH_BORROWS = 8, /* the client understands CNP_YIELD_LEND */
	CNP_ATTACH_LISTENS =
		16 /* the client understands CNP_YIELD_LISTEN; only with STAYS */
};

/* Bits of cnp_done.flags. */
enum cnp_done_flag {
	CNP_DONE_MORE_ROWS = 1, /* stopped at batch_rows: the portal is open */
	CNP_DONE_MORE_RESULTS = 2, /* another result of the same request follows */
	CNP_DONE_LIMITED = 4, /* stopped at max_rows */
	CNP_DONE_EMPTY = 8, /* the text contained no statement */
	CNP_DONE_OUTPUT = 16 /* the one row holds the output values of a call */
};

/* The kind of object that DESCRIBE or CLOSE names. */
enum cnp_named {
	CNP_NAMED_STATEMENT = 0,
	CNP_NAMED_PORTAL = 1 /* a cursor at the server */
};

enum cnp_auth_method {
	CNP_AUTH_NONE = 0, /* the peer's credentials suffice; ATTACHED or ERROR follows */
	CNP_AUTH_SASL = 1 /* SASL, with one of `mechanisms`; AUTH frames follow */
};

enum cnp_yield_reason {
	CNP_YIELD_CONTENDED = 1,
	CNP_YIELD_DRAIN = 2,
	CNP_YIELD_RELOAD = 3,
	CNP_YIELD_IDLE = 4,
	CNP_YIELD_LOST = 5, /* the server ended the session, which held no state */
	CNP_YIELD_STAY =
		6, /* others wait; the connection stays open for the next ATTACH */
	/* the server's socket comes with this frame; the connection stays open as long as the client has it */
	CNP_YIELD_LEND = 7,
	CNP_YIELD_LISTEN =
		8 /* as CNP_YIELD_STAY; the pool goes on sending notifications */
};

/* The features of a pool's backend: bits of cnp_attached.features, and the names in
 * cenote_info(conn, "features"). */
#define CNP_FEATURE_LIST(X)                                                              \
	X(TRANSACTIONS, 0, "transactions")                                               \
	X(SAVEPOINTS, 1, "savepoints")                                                   \
	X(CANCEL, 2, "cancel")                                                           \
	X(CATALOG, 3, "catalog")                                                         \
	X(SEVERAL_RESULTS, 4, "several-results")                                         \
	X(OUTPUT_BINDS, 5, "output-binds")                                               \
	X(COPY, 6, "copy")                                                               \
	X(NOTIFY, 7, "notify")                                                           \
	X(BINARY, 8, "binary")                                                           \
	X(PORTALS, 9, "portals")                                                         \
	X(SUSPEND, 10, "suspend")                                                        \
	X(CHANGE_USER, 11, "change-user")                                                \
	X(SELECT_DATABASE, 12, "select-database")                                        \
	X(NAMED_PARAMS, 13, "named-params")                                              \
	X(FUNCTIONS, 14, "functions")                                                    \
	X(LONG_DATA, 15, "long-data")                                                    \
	X(FILES, 16, "files")                                                            \
	X(NAMED_STATEMENTS, 17, "named-statements")                                      \
	X(OPTIONS, 18, "options")                                                        \
	X(SETTINGS, 19, "settings")

enum cnp_feature {
#define X(name, bit, text) CNP_FEATURE_##name = 1 << (bit),
	CNP_FEATURE_LIST(X)
#undef X
};

/* Append the message's fields. CENOTE_OK, CENOTE_ERR_LIMIT, CENOTE_ERR_NOMEM (buffer as before);
 * CENOTE_ERR_ARG for an unknown code. */
int cnp_msg_encode(struct cnc_buf *b, const struct cnp_msg *m);
/* CENOTE_OK, or CENOTE_ERR_PROTOCOL: unknown code, too short, too long, a text without its zero
 * byte; *ret_msg is undefined then. Only the member for `code` is written. COLUMNS, ROWS and PARAMS have no
 * fields here: columns.h and core/batch.h decode their payload. */
int cnp_msg_decode(
	uint8_t code, const uint8_t *payload, size_t len, struct cnp_msg *ret_msg);
/* The two steps of encoding, for a caller that provides the room. cnp_msg_size() gives the payload's size
 * (CENOTE_OK, CENOTE_ERR_ARG, CENOTE_ERR_LIMIT). The other function writes exactly that many bytes. */
int cnp_msg_size(const struct cnp_msg *m, size_t *ret_size);
void cnp_msg_write(uint8_t *room, const struct cnp_msg *m);
/* Can a payload of this length be a message with this code? Call this before waiting for the
 * payload. 0 for an unknown code. */
int cnp_msg_is_plausible(uint8_t code, size_t len);
/* The name, such as "QUERY"; NULL if the code is unknown. */
const char *cnp_msg_name(uint8_t code);
/* The sender: 'C', 'S' or 'B'; 0 if the code is unknown. */
char cnp_msg_from(uint8_t code);

/* A blob of pairs (str name, str value). */
int cnp_pairs_put(struct cnc_buf *b, const char *name, const char *value);
/* Read the next pair of a blob. 1: there is one; 0: the blob's end; CENOTE_ERR_PROTOCOL. */
int cnp_pairs_next(
	struct cnc_reader *r, struct cnp_str *ret_name, struct cnp_str *ret_value);

#endif
