/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The frame of a file that holds a result: its head, key and checksum (saved.h). lib/result_file.c, lib/cache.c and
 * cenote-cache call this file. It owns no state, reads no file and no clock.
 */
#include "core/saved.h"

#include <string.h>

static const char magic[8] = { 'C', 'E', 'N', 'O', 'T', 'E', 'R', 'S' };

enum {
	AT_VERSION = 8,
	AT_ZERO = 12,
	AT_WRITTEN = 16,
	AT_KEEP = 24,
	AT_LENGTH = 32,
	AT_SUM = 40
};

#define US_PER_MS 1000u

/* Each step is a bijection of the sum for a given word, and of the word for a given sum. So a change of one word always
 * changes the result. */
static uint64_t
mix(uint64_t sum, uint64_t word)
{
	sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	return sum ^ sum >> 32;
}

uint64_t
cnc_saved_sum(const void *bytes, size_t len, uint64_t seed)
{
	const uint8_t *p = bytes;
	uint64_t sum = mix(seed, len);
	uint8_t last[8] = { 0 };

	for (; len >= 8; p += 8, len -= 8)
		sum = mix(sum, cnc_get_u64(p));
	if (len > 0)
		memcpy(last, p, len);
	return mix(sum, cnc_get_u64(last));
}

/* The checksum of a whole file, without the word that holds it. */
static uint64_t
sum_of_file(const uint8_t *file, size_t len)
{
	return cnc_saved_sum(file + CNC_SAVED_HEAD, len - CNC_SAVED_HEAD,
		cnc_saved_sum(file, AT_SUM, 0));
}

int
cnc_saved_begin(struct cnc_buf *b, const void *key, size_t key_len)
{
	uint8_t *head;
	int r = cnc_buf_reserve(b, CNC_SAVED_HEAD, &head);

	if (r < 0)
		return r;
	memset(head, 0, CNC_SAVED_HEAD);
	memcpy(head, magic, sizeof(magic));
	cnc_put_u32(head + AT_VERSION, CNC_SAVED_VERSION);
	cnc_buf_commit(b, CNC_SAVED_HEAD);
	return cnc_buf_str(b, key, key_len);
}

void
cnc_saved_end(struct cnc_buf *b, uint64_t written_us, uint64_t keep_ms)
{
	uint8_t *head = b->data + b->head;
	size_t len = cnc_buf_len(b);

	cnc_put_u64(head + AT_WRITTEN, written_us);
	cnc_put_u64(head + AT_KEEP, keep_ms);
	cnc_put_u64(head + AT_LENGTH, len);
	cnc_put_u64(head + AT_SUM, sum_of_file(head, len));
}

int
cnc_saved_peek(
	const uint8_t *bytes, size_t len, uint64_t file_len, struct cnc_saved *ret_saved)
{
	struct cnc_reader r;
	struct cnc_saved s;

	if (len < CNC_SAVED_HEAD || memcmp(bytes, magic, sizeof(magic)) != 0 ||
		cnc_get_u32(bytes + AT_VERSION) != CNC_SAVED_VERSION ||
		cnc_get_u32(bytes + AT_ZERO) != 0 ||
		cnc_get_u64(bytes + AT_LENGTH) != file_len)
		return CENOTE_ERR_PROTOCOL;
	s.written_us = cnc_get_u64(bytes + AT_WRITTEN);
	s.keep_ms = cnc_get_u64(bytes + AT_KEEP);
	cnc_reader_init(&r, bytes + CNC_SAVED_HEAD, len - CNC_SAVED_HEAD);
	s.key = cnc_read_str(&r, &s.key_len);
	if (r.bad)
		return CENOTE_ERR_PROTOCOL;
	s.body = r.p;
	s.body_len = (size_t)(r.end - r.p);
	*ret_saved = s;
	return CENOTE_OK;
}

int
cnc_saved_read(const uint8_t *bytes, size_t len, struct cnc_saved *ret_saved)
{
	if (len < CNC_SAVED_HEAD ||
		cnc_get_u64(bytes + AT_SUM) != sum_of_file(bytes, len))
		return CENOTE_ERR_PROTOCOL;
	return cnc_saved_peek(bytes, len, len, ret_saved);
}

int
cnc_saved_is_fresh(const struct cnc_saved *s, uint64_t now_us, uint64_t keep_ms)
{
	uint64_t age_ms;

	if (s->written_us > now_us)
		return 0;
	age_ms = (now_us - s->written_us) / US_PER_MS;
	return (s->keep_ms == 0 || age_ms < s->keep_ms) &&
	       (keep_ms == 0 || age_ms < keep_ms);
}
