/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random operations on a byte buffer give what a simple queue gives.
 */
#include "support/cnt_cmocka.h"

#include <string.h>

#include "core/buf.h"
#include "support/cnt_alloc.h"
#include "support/cnt_random.h"

#define RUNS       60
#define OPERATIONS 3000
#define MAX        5000

/* A queue of bytes in the simplest form: everything always moves to the front. */
struct queue {
	uint8_t bytes[MAX];
	size_t len;
};

struct fixture {
	struct cnt_random rnd;
	struct cnt_alloc a;
	struct cnc_buf b;
	struct queue q;
	size_t max;
};

static int
group_setup(void **state)
{
	static struct fixture f;

	cnt_random_init_printed(&f.rnd);
	*state = &f;
	return 0;
}

static void
append(struct fixture *f)
{
	size_t n = cnt_random_size(&f->rnd, f->max + 10);
	uint8_t bytes[MAX + 10];
	int r;

	cnt_random_bytes(&f->rnd, bytes, n);
	if (cnt_random_below(&f->rnd, 10) == 0)
		f->a.fail_at = f->a.n_calls + 1;
	r = cnc_buf_append(&f->b, bytes, n);
	f->a.fail_at = 0;
	if (n > f->max - f->q.len) {
		assert_int_equal(r, CENOTE_ERR_LIMIT);
		return;
	}
	assert_true(r == CENOTE_OK || r == CENOTE_ERR_NOMEM);
	if (r < 0)
		return;
	memcpy(f->q.bytes + f->q.len, bytes, n);
	f->q.len += n;
}

static void
reserve(struct fixture *f)
{
	size_t n = cnt_random_size(&f->rnd, f->max - f->q.len);
	size_t used = (size_t)cnt_random_below(&f->rnd, n + 1);
	uint8_t *room = NULL;

	assert_ok(cnc_buf_reserve(&f->b, n, &room));
	cnt_random_bytes(&f->rnd, room, n);
	memcpy(f->q.bytes + f->q.len, room, used);
	cnc_buf_commit(&f->b, used);
	f->q.len += used;
}

static void
operate(struct fixture *f)
{
	size_t n = (size_t)cnt_random_below(&f->rnd, f->q.len + 1);

	switch (cnt_random_below(&f->rnd, 12)) {
	case 0:
		cnc_buf_truncate(&f->b, n);
		f->q.len = n;
		break;
	case 1:
		if (cnt_random_below(&f->rnd, 10) == 0) {
			cnc_buf_clear(&f->b, cnt_random_size(&f->rnd, MAX));
			f->q.len = 0;
		}
		break;
	case 2:
	case 3:
	case 4:
	case 5:
		cnc_buf_consume(&f->b, n);
		f->q.len -= n;
		memmove(f->q.bytes, f->q.bytes + n, f->q.len);
		break;
	case 6:
	case 7:
		reserve(f);
		break;
	default:
		append(f);
		break;
	}
}

static void
a_buffer_is_a_queue_of_bytes(void **state)
{
	struct fixture *f = *state;

	for (int run = 0; run < RUNS; run++) {
		f->max = cnt_random_size(&f->rnd, MAX);
		f->q.len = 0;
		cnt_alloc_init(&f->a, 0);
		cnc_buf_init(&f->b, &f->a.mem, f->max);
		for (int i = 0; i < OPERATIONS; i++) {
			operate(f);
			assert_int_equal(cnc_buf_len(&f->b), f->q.len);
			assert_true(f->b.cap <= f->max);
			if (f->q.len)
				assert_memory_equal(
					cnc_buf_head(&f->b), f->q.bytes, f->q.len);
		}
		cnc_buf_finish(&f->b);
		assert_int_equal(cnt_alloc_leaks(&f->a), 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_buffer_is_a_queue_of_bytes),
	};

	return cmocka_run_group_tests(tests, group_setup, NULL);
}
