/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The memory of the pool's cache (shared/result_cache.c), and the form of a result there (serving/kept.c): what gives way,
 * writes, processes that die, and bytes that nobody should trust.
 */
#include "support/cnt_cmocka.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/batch.h"
#include "serving/kept.h"
#include "shared/result_cache.h"
#include "support/cnt_random.h"

static struct cnd_cache cache;
static struct cnd_cache_counts counts;
static struct cnc_buf key, result, copy;

static int
setup(void **state)
{
	memset(&counts, 0, sizeof(counts));
	cnc_buf_init(&key, &cnc_mem_default, 4096);
	cnc_buf_init(&result, &cnc_mem_default, CND_CACHE_SIZE_MIN);
	cnc_buf_init(&copy, &cnc_mem_default, CND_CACHE_SIZE_MIN);
	return cnd_cache_create(&cache, CND_CACHE_SIZE_MIN);
}

static int
teardown(void **state)
{
	cnd_cache_destroy(&cache);
	cnc_buf_finish(&key);
	cnc_buf_finish(&result);
	cnc_buf_finish(&copy);
	return 0;
}

static void
make_key(int number)
{
	char text[32];

	snprintf(text, sizeof(text), "key %d", number);
	cnc_buf_clear(&key, 4096);
	assert_ok(cnc_buf_append(&key, text, strlen(text)));
}

/* A result whose body has `n` bytes, all with the value of `number`. */
static void
make_result(int number, size_t n)
{
	uint8_t *room;

	make_key(number);
	cnc_buf_clear(&result, 4096);
	assert_ok(cnc_saved_begin(&result, cnc_buf_head(&key), cnc_buf_len(&key)));
	assert_ok(cnc_buf_reserve(&result, n, &room));
	memset(room, number, n);
	cnc_buf_commit(&result, n);
	cnc_saved_end(&result, 1, 0);
}

static void
keep(int number, size_t n)
{
	make_result(number, n);
	cnd_cache_keep(&cache, &key, &result, &counts);
}

/* The length of the body that is found, which must have the bytes of this number; SIZE_MAX: none. */
static size_t
find(int number)
{
	struct cnc_saved saved;

	make_key(number);
	if (!cnd_cache_find(&cache, &key, &copy, &saved))
		return SIZE_MAX;
	for (size_t i = 0; i < saved.body_len; i++)
		assert_int_equal(saved.body[i], (uint8_t)number);
	return saved.body_len;
}

static void
what_was_kept_is_found_by_its_key(void **state)
{
	assert_true(find(1) == SIZE_MAX);
	keep(1, 100);
	keep(2, 200);
	assert_int_equal(find(1), 100);
	assert_int_equal(find(2), 200);
	assert_true(find(3) == SIZE_MAX);
	keep(1, 50);
	assert_int_equal(find(1), 50);
	assert_int_equal(counts.kept, 3);
	assert_int_equal(counts.evicted, 0);
}

static void
the_oldest_results_give_way(void **state)
{
	for (int i = 0; i < 2000; i++)
		keep(i, 700);
	assert_true(find(0) == SIZE_MAX);
	assert_int_equal(find(1999), 700);
	assert_int_equal(find(1950), 700);
	assert_true(counts.evicted > 1000);
	assert_true(counts.bytes <= CND_CACHE_SIZE_MIN);
}

static void
a_long_result_is_not_kept(void **state)
{
	size_t longest = cnd_cache_longest(&cache);

	assert_true(longest <= CND_CACHE_SIZE_MIN / 8);
	keep(1, longest);
	assert_true(find(1) == SIZE_MAX);
	keep(1, longest - 100);
	assert_int_equal(find(1), longest - 100);
	/* such results fill the ring up to its end, again and again */
	for (int i = 0; i < 40; i++) {
		keep(i, longest - 100);
		assert_int_equal(find(i), longest - 100);
	}
}

static void
a_size_that_is_too_small_or_too_large_is_refused(void **state)
{
	struct cnd_cache other = { .head = NULL };

	assert_int_equal(cnd_cache_create(&other, CND_CACHE_SIZE_MIN - 1), -1);
	assert_int_equal(cnd_cache_create(&other, CND_CACHE_SIZE_MAX + 1), -1);
	assert_null(other.head);
	cnd_cache_destroy(&other);
}

/* ---- writes ---- */

static struct cnd_touch
touch(const char *one, const char *two)
{
	struct cnd_touch t = { .is_write = true, .n_tables = 1 };

	t.tables[0] = cnd_cache_table(one, strlen(one));
	if (two != NULL)
		t.tables[t.n_tables++] = cnd_cache_table(two, strlen(two));
	return t;
}

/* Whether no table of the statement may have changed since the counters were noted. */
static bool
is_current(const struct cnd_touch *t, const struct cnd_cache_marks *marks)
{
	struct cnd_cache_marks now;

	cnd_cache_mark(&cache, t, &now);
	return now.all == marks->all && memcmp(now.tables, marks->tables,
						t->n_tables * sizeof(now.tables[0])) == 0;
}

static void
a_write_counts_for_its_tables_only(void **state)
{
	struct cnd_touch a = touch("A", NULL), b = touch("b", NULL),
			 both = touch("a", "b");
	struct cnd_touch any = { .is_all = true };
	struct cnd_cache_marks marks;

	cnd_cache_mark(&cache, &a, &marks);
	cnd_cache_raise(&cache, &b);
	assert_true(is_current(&a, &marks));
	cnd_cache_raise(&cache, &both);
	assert_false(is_current(&a, &marks));
	cnd_cache_mark(&cache, &both, &marks);
	assert_true(is_current(&both, &marks));
	cnd_cache_raise(&cache, &any);
	assert_false(is_current(&both, &marks));
}

static void
a_transaction_adds_up_its_tables(void **state)
{
	struct cnd_touch sum = { .n_tables = 0 }, t = touch("a", "b");
	char name[16];

	cnd_touch_add(&sum, &t);
	cnd_touch_add(&sum, &t);
	assert_int_equal(sum.n_tables, 2);
	assert_false(sum.is_all);
	/* a reader changes nothing */
	t = touch("c", NULL);
	t.is_write = false;
	cnd_touch_add(&sum, &t);
	assert_int_equal(sum.n_tables, 2);
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "t%d", i);
		t = touch(name, NULL);
		cnd_touch_add(&sum, &t);
	}
	assert_true(sum.is_all);
}

static void
a_dead_writer_is_known(void **state)
{
	assert_false(cnd_cache_is_writing(&cache, 7));
	cnd_cache_set_writing(&cache, 7, true);
	assert_true(cnd_cache_is_writing(&cache, 7));
	assert_false(cnd_cache_is_writing(&cache, 8));
	cnd_cache_set_writing(&cache, 7, false);
	assert_false(cnd_cache_is_writing(&cache, 7));
}

/* ---- other processes ---- */

/* Keep results of many lengths until the process is killed. */
static _Noreturn void
keep_always(unsigned seed)
{
	for (unsigned i = seed;; i = i * 1103515245u + 12345u)
		keep((int)(i >> 16 & 63), i >> 8 & 0x1fff);
}

static void
killed_processes_leave_whole_results_or_none(void **state)
{
	pid_t pids[3] = { 0 };
	int n_found = 0;

	for (int round = 0; round < 60; round++) {
		int i = round % 3;

		if (pids[i] > 0) {
			assert_int_equal(kill(pids[i], SIGKILL), 0);
			assert_int_equal(waitpid(pids[i], NULL, 0), pids[i]);
		}
		pids[i] = fork();
		assert_true(pids[i] >= 0);
		if (pids[i] == 0)
			keep_always((unsigned)round);
		usleep(1000);
		for (int k = 0; k < 64; k++)
			n_found += find(k) != SIZE_MAX;
	}
	for (int i = 0; i < 3; i++) {
		assert_int_equal(kill(pids[i], SIGKILL), 0);
		assert_int_equal(waitpid(pids[i], NULL, 0), pids[i]);
	}
	assert_true(n_found > 100);
	/* it still works */
	keep(100, 10);
	assert_int_equal(find(100), 10);
}

/* Whatever somebody writes there, a reader gets a whole result or none. */
static void
wild_bytes_are_refused(void **state)
{
	unsigned char *memory = (unsigned char *)cache.head;
	struct cnt_random r;

	cnt_random_init_printed(&r);
	for (int i = 0; i < 64; i++)
		keep(i, 500);
	for (int round = 0; round < 20000; round++) {
		size_t at = (size_t)cnt_random_below(&r, CND_CACHE_SIZE_MIN);

		memory[at] = (unsigned char)cnt_random_below(&r, 256);
		(void)find(round % 64);
		if (round % 16 == 0)
			keep(round % 64, 500);
	}
}

/* ---- the form of a result ---- */

/* A result with two rows of two columns. */
static void
make_kept(struct cnc_buf *b)
{
	struct cnp_column columns[2] = { CNP_COLUMN_INIT, CNP_COLUMN_INIT };
	struct cnp_done done = { .tag = cnp_str("SELECT 2"), .affected = 2 };
	struct cnc_batch batch;
	struct cnc_buf rows;
	uint8_t mark[12] = { 5 };

	mark[8] = 1;
	columns[0].name = cnp_str("a");
	columns[1].name = cnp_str("b");
	cnc_buf_init(&rows, &cnc_mem_default, 4096);
	assert_ok(cnc_batch_begin(&batch, &rows, 2));
	for (int i = 0; i < 2; i++) {
		assert_ok(cnc_batch_row(&batch));
		assert_ok(cnc_batch_put(&batch, "one", 3));
		assert_ok(cnc_batch_null(&batch));
		cnc_batch_row_done(&batch);
	}
	(void)cnc_batch_end(&batch);
	assert_ok(cnc_buf_append(b, mark, sizeof(mark)));
	assert_ok(cnc_buf_append(b, "12345678", 8));
	assert_ok(cnd_kept_put_columns(b, columns, 2));
	assert_ok(cnc_buf_str(b, cnc_buf_head(&rows), cnc_buf_len(&rows)));
	assert_ok(cnd_kept_put_end(b, &done));
	cnc_buf_finish(&rows);
}

/* Read a copy of the bytes in memory that ends with them. */
static int
read_kept(const uint8_t *bytes, size_t len, struct cnd_kept *ret_kept)
{
	uint8_t *p = malloc(len > 0 ? len : 1);
	struct cnc_arena arena;
	int r;

	assert_non_null(p);
	if (len > 0)
		memcpy(p, bytes, len);
	cnc_arena_init(&arena, &cnc_mem_default);
	r = cnd_kept_read(p, len, &arena, ret_kept);
	if (r == CENOTE_OK) {
		const uint8_t *batch;
		size_t n;

		while (cnd_kept_next_batch(ret_kept, &batch, &n))
			assert_true(n >= CNC_BATCH_HEADER);
	}
	cnc_arena_finish(&arena);
	free(p);
	return r;
}

static void
a_result_is_read_as_it_was_written(void **state)
{
	struct cnd_kept k;

	make_kept(&result);
	assert_ok(read_kept(cnc_buf_head(&result), cnc_buf_len(&result), &k));
	assert_int_equal(k.all, 5);
	assert_int_equal(k.n_tables, 1);
	assert_int_equal(k.n_columns, 2);
	assert_int_equal(k.done.affected, 2);
}

static void
a_result_that_was_cut_anywhere_is_refused(void **state)
{
	struct cnd_kept k;
	size_t len;

	make_kept(&result);
	len = cnc_buf_len(&result);
	for (size_t n = 0; n < len; n++)
		assert_int_equal(
			read_kept(cnc_buf_head(&result), n, &k), CENOTE_ERR_PROTOCOL);
	assert_ok(cnc_buf_u8(&result, 0));
	assert_int_equal(
		read_kept(cnc_buf_head(&result), len + 1, &k), CENOTE_ERR_PROTOCOL);
}

static void
a_result_with_a_wrong_byte_is_read_or_refused(void **state)
{
	struct cnd_kept k;

	make_kept(&result);
	for (size_t i = 0; i < cnc_buf_len(&result); i++) {
		for (int bit = 0; bit < 8; bit++) {
			cnc_buf_head(&result)[i] ^= (uint8_t)(1u << bit);
			(void)read_kept(cnc_buf_head(&result), cnc_buf_len(&result), &k);
			cnc_buf_head(&result)[i] ^= (uint8_t)(1u << bit);
		}
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_was_kept_is_found_by_its_key),
		TEST(the_oldest_results_give_way),
		TEST(a_long_result_is_not_kept),
		TEST(a_size_that_is_too_small_or_too_large_is_refused),
		TEST(a_write_counts_for_its_tables_only),
		TEST(a_transaction_adds_up_its_tables),
		TEST(a_dead_writer_is_known),
		TEST(killed_processes_leave_whole_results_or_none),
		TEST(wild_bytes_are_refused),
		TEST(a_result_is_read_as_it_was_written),
		TEST(a_result_that_was_cut_anywhere_is_refused),
		TEST(a_result_with_a_wrong_byte_is_read_or_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
