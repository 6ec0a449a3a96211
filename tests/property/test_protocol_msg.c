/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random messages are encoded and decoded without a change, and damaged ones never read
 * beyond their end.
 */
#include "support/cnt_cmocka.h"

#include <stdlib.h>
#include <string.h>

#include "protocol/frame.h"
#include "support/cnt_msg.h"

#define N_ROUNDS 200u

static int
is_list(uint8_t code)
{
	return code == CNP_MSG_COLUMNS || code == CNP_MSG_ROWS || code == CNP_MSG_PARAMS;
}

/* A copy in memory of its exact size: a sanitizer or valgrind sees a read beyond it. */
static uint8_t *
tight(const uint8_t *bytes, size_t n)
{
	uint8_t *p = malloc(n > 0 ? n : 1);

	assert_non_null(p);
	if (n > 0)
		memcpy(p, bytes, n);
	return p;
}

static void
decoding_gives_what_was_encoded(void **state)
{
	struct cnt_random rnd;
	struct cnt_msg m;
	struct cnp_msg got;
	struct cnc_buf b;
	size_t i, round;

	cnt_random_init_printed(&rnd);
	cnc_buf_init(&b, &cnc_mem_default, 1 << 20);
	for (round = 0; round < N_ROUNDS; round++) {
		for (i = 0; i < cnt_n_schema; i++) {
			if (is_list(cnt_schema[i].code))
				continue;
			cnc_buf_clear(&b, 1 << 16);
			cnt_msg_random(&rnd, cnt_schema[i].code, &m);
			assert_ok(cnp_msg_encode(&b, &m.msg));
			assert_ok(cnp_msg_decode(
				m.msg.code, cnc_buf_head(&b), cnc_buf_len(&b), &got));
			assert_true(cnt_msg_equal(&m.msg, &got));
		}
	}
	cnc_buf_finish(&b);
}

static void
a_payload_cut_at_any_byte_or_too_long_is_refused(void **state)
{
	struct cnt_random rnd;
	struct cnt_msg m;
	struct cnp_msg got;
	struct cnc_buf b;
	size_t i, n, round;
	uint8_t *p;

	cnt_random_init_printed(&rnd);
	cnc_buf_init(&b, &cnc_mem_default, 1 << 20);
	for (round = 0; round < 5 * cnt_n_schema; round++) {
		i = round % cnt_n_schema;
		if (is_list(cnt_schema[i].code))
			continue;
		cnc_buf_clear(&b, 1 << 16);
		cnt_msg_random(&rnd, cnt_schema[i].code, &m);
		assert_ok(cnp_msg_encode(&b, &m.msg));
		assert_ok(cnc_buf_u8(&b, 0));
		for (n = 0; n <= cnc_buf_len(&b); n++) {
			p = tight(cnc_buf_head(&b), n);
			assert_int_equal(cnp_msg_decode(m.msg.code, p, n, &got),
				n == cnc_buf_len(&b) - 1 ? CENOTE_OK
							 : CENOTE_ERR_PROTOCOL);
			free(p);
		}
	}
	cnc_buf_finish(&b);
}

static void
what_decodes_from_mutated_bytes_encodes_to_the_same_bytes(void **state)
{
	struct cnt_random rnd;
	struct cnt_msg m;
	struct cnp_msg got;
	struct cnc_buf b, again;
	size_t i, n, round, n_good = 0;
	uint8_t *p;

	cnt_random_init_printed(&rnd);
	cnc_buf_init(&b, &cnc_mem_default, 1 << 20);
	cnc_buf_init(&again, &cnc_mem_default, 1 << 20);
	for (round = 0; round < N_ROUNDS * cnt_n_schema; round++) {
		i = round % cnt_n_schema;
		if (is_list(cnt_schema[i].code))
			continue;
		cnc_buf_clear(&b, 1 << 16);
		cnt_msg_random(&rnd, cnt_schema[i].code, &m);
		assert_ok(cnp_msg_encode(&b, &m.msg));
		n = cnc_buf_len(&b);
		p = tight(cnc_buf_head(&b), n);
		if (n > 0)
			p[cnt_random_below(&rnd, n)] = (uint8_t)cnt_random_u64(&rnd);
		if (cnp_msg_decode(m.msg.code, p, n, &got) == CENOTE_OK) {
			cnc_buf_clear(&again, 1 << 16);
			assert_ok(cnp_msg_encode(&again, &got));
			assert_int_equal(cnc_buf_len(&again), n);
			if (n > 0)
				assert_memory_equal(cnc_buf_head(&again), p, n);
			n_good++;
		}
		free(p);
	}
	assert_true(n_good > 0);
	cnc_buf_finish(&b);
	cnc_buf_finish(&again);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decoding_gives_what_was_encoded),
		cmocka_unit_test(a_payload_cut_at_any_byte_or_too_long_is_refused),
		cmocka_unit_test(
			what_decodes_from_mutated_bytes_encodes_to_the_same_bytes),
	};

	return cmocka_run_group_tests_name("protocol_msg", tests, NULL, NULL);
}
