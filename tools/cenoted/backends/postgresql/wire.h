/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_PG_WIRE_H
#define CND_PG_WIRE_H

#include "core/buf.h"
#include "protocol/msg.h"

/*
 * PostgreSQL's frontend/backend protocol, version 3, as bytes: nothing here does I/O. What the
 * server sends is not trusted: every length is checked before it is believed.
 */

/* A message of the server, borrowed from the bytes it was found in. */
struct cnd_pg_msg {
	uint8_t type;
	const uint8_t *body;
	size_t len;
};

#define CND_PG_HEADER  5u
/* The server's own limit of a message is 1 GB. */
#define CND_PG_MSG_MAX 0x3fffffffu

static inline uint16_t
cnd_pg_get_u16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t
cnd_pg_get_u32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline void
cnd_pg_put_u16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static inline void
cnd_pg_put_u32(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 24);
	p[1] = (uint8_t)(v >> 16);
	p[2] = (uint8_t)(v >> 8);
	p[3] = (uint8_t)v;
}

/* ---- from the server ---- */

/* Find the message at the front of n bytes. Returns its size with the header. 0: the message is incomplete, and
 * *ret_size is its size (CND_PG_HEADER while the size is not known). CENOTE_ERR_PROTOCOL: its length is
 * impossible. */
int cnd_pg_msg_next(
	const uint8_t *bytes, size_t n, struct cnd_pg_msg *ret_msg, size_t *ret_size);

/* A reader of one message's body. After the first failure `bad` stays set, and every read gives
 * 0 or "". */
struct cnd_pg_reader {
	const uint8_t *p;
	const uint8_t *end;
	int bad;
};

void cnd_pg_reader_init(struct cnd_pg_reader *r, const struct cnd_pg_msg *m);
uint8_t cnd_pg_read_u8(struct cnd_pg_reader *r);
uint16_t cnd_pg_read_u16(struct cnd_pg_reader *r);
uint32_t cnd_pg_read_u32(struct cnd_pg_reader *r);
/* Read a text up to its zero byte. */
const char *cnd_pg_read_text(struct cnd_pg_reader *r, size_t *ret_len);
/* CENOTE_OK if the whole body was read and no read failed. */
int cnd_pg_reader_end(const struct cnd_pg_reader *r);

/* One column of a RowDescription. */
struct cnd_pg_field {
	const char *name;
	size_t name_len;
	uint32_t table;
	uint16_t attnum;
	uint32_t type;
	int16_t length;
	int32_t modifier;
	uint16_t format;
};

/* Read a RowDescription: the number of columns first, then each column. */
uint16_t cnd_pg_read_count(struct cnd_pg_reader *r);
void cnd_pg_read_field(struct cnd_pg_reader *r, struct cnd_pg_field *ret_field);

/* Read a CommandComplete. The tag is borrowed. CENOTE_OK or CENOTE_ERR_PROTOCOL. */
int cnd_pg_read_tag(const struct cnd_pg_msg *m, const char **ret_tag, size_t *ret_len,
	int64_t *ret_affected);
/* Read a ReadyForQuery. Returns 'I', 'T' or 'E'; CENOTE_ERR_PROTOCOL. */
int cnd_pg_read_ready(const struct cnd_pg_msg *m);
/* The value of a field of an ErrorResponse or NoticeResponse; NULL: there is no such field. */
const char *cnd_pg_error_field(const struct cnd_pg_msg *m, uint8_t letter);

/* ---- to the server ---- */

/* To make a message: begin it with its type, append the body, then end it, which fills in the length. Pass *ret_mark to
 * cnd_pg_msg_end(). All these functions return CENOTE_OK, CENOTE_ERR_LIMIT, CENOTE_ERR_NOMEM. */
int cnd_pg_msg_begin(struct cnc_buf *b, uint8_t type, size_t *ret_mark);
int cnd_pg_msg_end(struct cnc_buf *b, size_t mark);
int cnd_pg_add_u8(struct cnc_buf *b, uint8_t v);
int cnd_pg_add_u16(struct cnc_buf *b, uint16_t v);
int cnd_pg_add_u32(struct cnc_buf *b, uint32_t v);
/* Add a text and a zero byte. The text must not contain a zero byte. */
int cnd_pg_add_text(struct cnc_buf *b, const char *text, size_t len);
/* Add a message without a body: Sync, Flush, CopyDone, Terminate. */
int cnd_pg_add_plain(struct cnc_buf *b, uint8_t type);
/* Add a message whose body is one text: Query, CopyFail. */
int cnd_pg_add_query(struct cnc_buf *b, uint8_t type, const char *text, size_t len);
/* Add a Describe or Close of a statement ('S') or portal ('P'). */
int cnd_pg_add_named(
	struct cnc_buf *b, uint8_t type, uint8_t kind, const char *name, size_t len);
int cnd_pg_add_execute(struct cnc_buf *b, const char *portal, uint32_t max_rows);

/* A call of a function by its number, with values in binary format. */
int cnd_pg_add_call(
	struct cnc_buf *b, uint32_t function, const struct cnp_str *values, uint16_t n);

#endif
