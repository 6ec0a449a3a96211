/* SPDX-License-Identifier: BSD-2-Clause */
#include "protocol/frame.h"

#include <string.h>

/* Frames and the opening: how the bytes of a connection are divided into messages. */

static const uint8_t magic[4] = { 'C', 'N', 'T', 'E' };

/* An extension of the opening: its kind, its length, and that many bytes. */
#define EXTENSION_HEADER 2u
#define SESSION_LEN      8u

int
cnp_frame_decode(const uint8_t *bytes, size_t max, struct cnp_frame *ret_frame)
{
	struct cnp_frame f;

	f.len = cnc_get_u32(bytes);
	f.code = bytes[4];
	f.flags = bytes[5];
	f.request = cnc_get_u32(bytes + 8);
	if (f.len > CNP_FRAME_MAX || f.len > max || f.flags > CNP_FRAME_SYNC ||
		cnc_get_u16(bytes + 6) != 0 || !cnp_msg_is_plausible(f.code, f.len))
		return CENOTE_ERR_PROTOCOL;
	*ret_frame = f;
	return CENOTE_OK;
}

void
cnp_frame_encode(uint8_t *bytes, const struct cnp_frame *f)
{
	cnc_put_u32(bytes, f->len);
	bytes[4] = f->code;
	bytes[5] = f->flags;
	cnc_put_u16(bytes + 6, 0);
	cnc_put_u32(bytes + 8, f->request);
}

int
cnp_frame_begin(struct cnc_buf *b, uint8_t code, uint8_t flags, uint32_t request,
	size_t *ret_mark)
{
	struct cnp_frame f = { 0, code, flags, request };
	size_t mark = cnc_buf_len(b);
	uint8_t *room;
	int r;

	r = cnc_buf_reserve(b, CNP_FRAME_HEADER, &room);
	if (r < 0)
		return r;
	cnp_frame_encode(room, &f);
	cnc_buf_commit(b, CNP_FRAME_HEADER);
	*ret_mark = mark;
	return CENOTE_OK;
}

int
cnp_frame_end(struct cnc_buf *b, size_t mark)
{
	size_t len = cnc_buf_len(b) - mark - CNP_FRAME_HEADER;

	if (len > CNP_FRAME_MAX) {
		cnc_buf_truncate(b, mark);
		return CENOTE_ERR_LIMIT;
	}
	cnc_put_u32(cnc_buf_head(b) + mark, (uint32_t)len);
	return CENOTE_OK;
}

int
cnp_frame_put(struct cnc_buf *b, uint8_t flags, uint32_t request, const struct cnp_msg *m)
{
	struct cnp_frame f = { 0, m->code, flags, request };
	uint8_t *room;
	size_t size;
	int r;

	r = cnp_msg_size(m, &size);
	if (r < 0)
		return r;
	r = cnc_buf_reserve(b, CNP_FRAME_HEADER + size, &room);
	if (r < 0)
		return r;
	f.len = (uint32_t)size;
	cnp_frame_encode(room, &f);
	cnp_msg_write(room + CNP_FRAME_HEADER, m);
	cnc_buf_commit(b, CNP_FRAME_HEADER + size);
	return CENOTE_OK;
}

int
cnp_opening_encode(struct cnc_buf *b, const struct cnp_opening *o)
{
	size_t pool_len = strlen(o->pool);
	size_t len = CNP_OPENING_MIN + pool_len;
	uint8_t *room;
	int r;

	if (pool_len > CNP_POOL_MAX)
		return CENOTE_ERR_LIMIT;
	if (o->has_session)
		len += EXTENSION_HEADER + SESSION_LEN;
	r = cnc_buf_reserve(b, len, &room);
	if (r < 0)
		return r;
	memcpy(room, magic, sizeof magic);
	cnc_put_u16(room + 4, (uint16_t)len);
	room[6] = o->version_min;
	room[7] = o->version_max;
	room[8] = o->kind;
	room[9] = o->tls;
	cnc_put_u16(room + 10, (uint16_t)pool_len);
	cnc_put_u32(room + 12, 0);
	memcpy(room + CNP_OPENING_MIN, o->pool, pool_len);
	if (o->has_session) {
		room += CNP_OPENING_MIN + pool_len;
		room[0] = CNP_EXTENSION_SESSION;
		room[1] = SESSION_LEN;
		cnc_put_u64(room + EXTENSION_HEADER, o->session);
	}
	cnc_buf_commit(b, len);
	return CENOTE_OK;
}

/* Decode the extensions. An unknown extension, or bytes at the end that are not a whole extension,
 * are no reason to refuse. */
static void
decode_extensions(const uint8_t *bytes, size_t n, struct cnp_opening *o)
{
	size_t len;

	o->has_session = 0;
	o->session = 0;
	for (; n >= EXTENSION_HEADER; bytes += len, n -= len) {
		len = EXTENSION_HEADER + bytes[1];
		if (len > n)
			return;
		if (bytes[0] == CNP_EXTENSION_SESSION && bytes[1] == SESSION_LEN) {
			o->has_session = 1;
			o->session = cnc_get_u64(bytes + EXTENSION_HEADER);
		}
	}
}

/* Check the fixed part, which has been received completely. */
static int
opening_is_good(const uint8_t *bytes)
{
	uint16_t len = cnc_get_u16(bytes + 4);
	uint16_t pool_len = cnc_get_u16(bytes + 10);

	return len >= CNP_OPENING_MIN && len <= CNP_OPENING_MAX && bytes[6] >= 1 &&
	       bytes[6] <= bytes[7] && bytes[8] >= CNP_OPEN_ATTACH &&
	       bytes[8] <= CNP_OPEN_STATUS && bytes[9] <= CNP_TLS_REQUIRE &&
	       pool_len <= CNP_POOL_MAX && pool_len <= len - CNP_OPENING_MIN &&
	       cnc_get_u32(bytes + 12) == 0;
}

int
cnp_opening_decode(const uint8_t *bytes, size_t len, struct cnp_opening *ret_opening)
{
	uint16_t total, pool_len;

	if (memcmp(bytes, magic, len < sizeof magic ? len : sizeof magic) != 0)
		return CENOTE_ERR_PROTOCOL;
	if (len < CNP_OPENING_MIN)
		return CENOTE_AGAIN;
	if (!opening_is_good(bytes))
		return CENOTE_ERR_PROTOCOL;
	total = cnc_get_u16(bytes + 4);
	pool_len = cnc_get_u16(bytes + 10);
	if (len < total)
		return CENOTE_AGAIN;
	/* A name with a zero byte would be read as another, shorter name. */
	if (pool_len > 0 && memchr(bytes + CNP_OPENING_MIN, 0, pool_len))
		return CENOTE_ERR_PROTOCOL;
	ret_opening->version_min = bytes[6];
	ret_opening->version_max = bytes[7];
	ret_opening->kind = bytes[8];
	ret_opening->tls = bytes[9];
	memcpy(ret_opening->pool, bytes + CNP_OPENING_MIN, pool_len);
	ret_opening->pool[pool_len] = '\0';
	ret_opening->len = total;
	decode_extensions(bytes + CNP_OPENING_MIN + pool_len,
		total - CNP_OPENING_MIN - pool_len, ret_opening);
	return CENOTE_OK;
}

uint8_t
cnp_version_choose(uint8_t peer_min, uint8_t peer_max)
{
	uint8_t best = peer_max < CNP_VERSION_MAX ? peer_max : CNP_VERSION_MAX;

	return best >= CNP_VERSION_MIN && best >= peer_min ? best : 0;
}
