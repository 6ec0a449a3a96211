/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of digests in shared memory: what it counts, what gives way, and processes that add to it and die. */
#include "support/cnt_cmocka.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shared/digests.h"

#define NOW    1000000
#define MINUTE 60000

static struct cnd_digest_table *table;

static int
setup(void **state)
{
	table = mmap(NULL, sizeof(*table), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return table == MAP_FAILED ? -1 : 0;
}

static int
teardown(void **state)
{
	return munmap(table, sizeof(*table));
}

/* The text of a digest says its hash. */
static struct cnd_digest_ref
get(uint64_t hash, int64_t now_ms)
{
	char text[32];
	int n = snprintf(text, sizeof(text), "select %llu", (unsigned long long)hash);

	return cnd_digest_get(table, hash, text, (size_t)n, now_ms);
}

static void
call(uint64_t hash, int64_t us, int64_t now_ms)
{
	const struct cnd_digest_ref ref = get(hash, now_ms);

	cnd_digest_add(table, &ref,
		&(struct cnd_digest_call){ .rows = 2, .us = us, .now_ms = now_ms });
}

static uint64_t
calls_of(uint64_t hash)
{
	struct cnd_digest_row row;

	for (uint32_t i = 0; i <= CND_DIGESTS; i++) {
		if (cnd_digest_read(table, i, &row) && row.hash == hash)
			return row.calls;
	}
	return 0;
}

static uint64_t
all_calls(void)
{
	struct cnd_digest_row row;
	uint64_t n = 0;

	for (uint32_t i = 0; i <= CND_DIGESTS; i++)
		n += cnd_digest_read(table, i, &row) ? row.calls : 0;
	return n;
}

static void
calls_of_one_digest_come_together(void **state)
{
	const struct cnd_digest_ref ref = get(7, NOW);
	struct cnd_digest_row row;

	for (int i = 0; i < 99; i++)
		call(7, 100, NOW);
	cnd_digest_add(table, &ref,
		&(struct cnd_digest_call){
			.us = 5000, .now_ms = NOW, .has_failed = true });
	/* a fetch belongs to a call that was counted */
	cnd_digest_add(table, &ref,
		&(struct cnd_digest_call){
			.rows = 5, .us = 100, .now_ms = NOW, .is_more = true });
	call(8, 3, NOW);
	assert_true(cnd_digest_read(table, ref.at, &row));
	assert_int_equal(row.hash, 7);
	assert_int_equal(row.calls, 100);
	assert_int_equal(row.errors, 1);
	assert_int_equal(row.rows, 203);
	assert_int_equal(row.time_us, 99 * 100 + 5000 + 100);
	assert_int_equal(row.p99_us, 128);
	assert_string_equal(row.text, "select 7");
	call(7, 5000, NOW);
	assert_true(cnd_digest_read(table, ref.at, &row));
	assert_int_equal(row.p99_us, 6144);
}

static void
the_others_count_before_there_is_any_digest(void **state)
{
	const struct cnd_digest_ref none = { 0, CND_DIGEST_OTHERS };
	uint16_t order[CND_DIGESTS + 1];

	cnd_digest_add(table, &none, &(struct cnd_digest_call){ .us = 1, .now_ms = NOW });
	assert_int_equal(cnd_digests_order(table, order), 1);
	assert_int_equal(order[0], CND_DIGEST_OTHERS);
}

static void
rows_come_by_total_time(void **state)
{
	uint16_t order[CND_DIGESTS + 1];
	struct cnd_digest_row row;

	assert_int_equal(cnd_digests_order(table, order), 0);
	(void)get(1, NOW);
	call(2, 10, NOW);
	call(3, 500, NOW);
	call(4, 30, NOW);
	call(4, 30, NOW);
	assert_int_equal(cnd_digests_order(table, order), 3);
	assert_true(cnd_digest_read(table, order[0], &row));
	assert_int_equal(row.hash, 3);
	assert_true(cnd_digest_read(table, order[1], &row));
	assert_int_equal(row.hash, 4);
}

static void
the_least_called_gives_way_to_a_new_digest(void **state)
{
	const struct cnd_digest_ref first = get(1, NOW);

	for (uint64_t i = 1; i <= CND_DIGESTS; i++) {
		call(i, 1, NOW);
		if (i != 50)
			call(i, 1, NOW);
	}
	call(1000, 1, NOW);
	assert_int_equal(calls_of(50), 0);
	assert_int_equal(calls_of(1000), 1);
	assert_int_equal(calls_of(0), 1);
	/* the next new one replaces that one */
	call(1001, 1, NOW);
	assert_int_equal(calls_of(1000), 0);
	assert_int_equal(calls_of(0), 2);
	assert_int_equal(calls_of(1), 2);
	assert_int_equal(all_calls(), 2 * CND_DIGESTS + 1);
	/* who knows the old place of a digest that gave way counts for the others */
	table->hashes[first.at] = 77;
	cnd_digest_add(
		table, &first, &(struct cnd_digest_call){ .us = 1, .now_ms = NOW });
	assert_int_equal(calls_of(0), 3);
}

static void
calls_of_long_ago_count_less(void **state)
{
	for (uint64_t i = 1; i <= CND_DIGESTS; i++) {
		for (int k = 0; k < (i == 9 ? 100 : 5); k++)
			call(i, 1, NOW);
	}
	for (uint64_t i = 1; i <= CND_DIGESTS; i++) {
		if (i != 9)
			call(i, 1, NOW + 100 * MINUTE);
	}
	call(1000, 1, NOW + 100 * MINUTE);
	assert_int_equal(calls_of(9), 0);
	assert_int_equal(calls_of(0), 100);
}

static void
a_reset_keeps_the_places(void **state)
{
	const struct cnd_digest_ref ref = get(5, NOW);

	call(5, 1, NOW);
	cnd_digests_reset(table);
	assert_int_equal(all_calls(), 0);
	cnd_digest_add(table, &ref, &(struct cnd_digest_call){ .us = 1, .now_ms = NOW });
	assert_int_equal(calls_of(5), 1);
	cnd_digests_clear(table);
	assert_int_equal(cnd_digest_find(table, 5).at, CND_DIGEST_OTHERS);
}

static void
a_text_is_cut_at_a_character(void **state)
{
	char text[CND_DIGEST_TEXT + 8];
	struct cnd_digest_row row;

	for (size_t before = 0; before < 4; before++) {
		struct cnd_digest_ref ref;

		memset(text, 'a', sizeof(text));
		for (size_t i = before; i + 1 < sizeof(text); i += 2)
			text[i] = '\xc3', text[i + 1] = '\xa4';
		ref = cnd_digest_get(table, before + 1, text, sizeof(text), NOW);
		call(before + 1, 1, NOW);
		assert_true(cnd_digest_read(table, ref.at, &row));
		assert_int_equal(
			strlen(row.text), CND_DIGEST_TEXT - 1 - (before + 1) % 2);
		assert_memory_equal(row.text, text, strlen(row.text));
	}
}

/* ---- what a worker that was taken over may write ---- */

static bool
is_clean(const char *text)
{
	const unsigned char *p = (const unsigned char *)text;

	while (*p != '\0') {
		size_t n = *p < 0x80 ? 0 : *p < 0xe0 ? 1 : *p < 0xf0 ? 2 : 3;

		if (*p < ' ' || *p == 0x7f || (*p >= 0x80 && *p < 0xc2) || *p > 0xf4)
			return false;
		for (p++; n > 0; n--, p++) {
			if ((*p & 0xc0) != 0x80)
				return false;
		}
	}
	return true;
}

static void
any_bytes_can_be_read(void **state)
{
	static const char bad[] =
		"a\xc3\xa4\xff\xc0\x80\xed\xa0\x80\xf4\x90\x80\x80\n\x7f\xe2";
	uint16_t order[CND_DIGESTS + 1];
	struct cnd_digest_row row;
	const struct cnd_digest_ref ref =
		cnd_digest_get(table, 1, bad, sizeof(bad) - 1, NOW);

	call(1, 1, NOW);
	assert_true(cnd_digest_read(table, ref.at, &row));
	assert_string_equal(row.text, "a\xc3\xa4????????"
				      "??  ?");
	srandom(1);
	for (int round = 0; round < 200; round++) {
		unsigned char *bytes = (unsigned char *)table;

		for (size_t i = 0; i < sizeof(*table); i++)
			bytes[i] = (unsigned char)random();
		for (uint32_t i = 0; i <= CND_DIGESTS; i += 37) {
			if (cnd_digest_read(table, i, &row))
				assert_true(is_clean(row.text));
		}
		assert_true(cnd_digests_order(table, order) <= CND_DIGESTS + 1);
		(void)get(5, NOW);
	}
}

/* ---- several processes ---- */

#define PROCESSES 4
#define CALLS     100000u

static void
call_at_random(unsigned seed)
{
	for (unsigned i = 0; i < CALLS; i++) {
		unsigned r = (unsigned)rand_r(&seed);

		/* one half of the calls is of few digests, the other of more than there are places */
		call(1 + (r & 1 ? r % 16 : r % 2000), 10, NOW + i / 100);
	}
	_exit(0);
}

static void
processes_lose_no_call_and_make_no_digest_twice(void **state)
{
	uint64_t hashes[CND_DIGESTS];

	for (unsigned i = 0; i < PROCESSES; i++) {
		if (fork() == 0)
			call_at_random(i + 1);
	}
	for (int i = 0; i < PROCESSES; i++) {
		int status;

		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	/* the numbers of an entry that gives way move while others add to it */
	assert_int_equal(all_calls(), PROCESSES * CALLS);
	for (uint32_t i = 0; i < CND_DIGESTS; i++) {
		hashes[i] = table->hashes[i];
		for (uint32_t k = 0; k < i; k++)
			assert_true(hashes[i] != hashes[k]);
	}
}

/* Whether each entry has the text of its hash, and no other entry has the hash. */
static void
check_entries(void)
{
	for (uint32_t i = 0; i < CND_DIGESTS; i++) {
		struct cnd_digest_row row;
		char text[32];
		uint32_t at;

		if (!cnd_digest_read(table, i, &row))
			continue;
		snprintf(text, sizeof(text), "select %llu", (unsigned long long)row.hash);
		assert_string_equal(row.text, text);
		at = cnd_digest_find(table, row.hash).at;
		/* it may have given way meanwhile */
		assert_true(at == i || at == CND_DIGEST_OTHERS);
	}
}

#define ROUNDS 1500u

struct lockstep {
	_Atomic unsigned round;
	_Atomic unsigned n_done;
};

/* In each round, all processes need an entry at the same time: for the same digest, or each for its own. */
static void
keep_step(struct lockstep *l, unsigned own)
{
	/* if the test fails, the process that runs it ends */
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (unsigned i = 1; i <= ROUNDS; i++) {
		while (l->round != i)
			sched_yield();
		call(i % 2 != 0 ? i : PROCESSES * i + own, 1, NOW + i);
		l->n_done++;
	}
	_exit(0);
}

static void
processes_that_need_an_entry_at_once_get_one_each(void **state)
{
	struct lockstep *l = mmap(NULL, sizeof(*l), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_true(l != MAP_FAILED);
	for (unsigned i = 0; i < PROCESSES; i++) {
		if (fork() == 0)
			keep_step(l, i);
	}
	for (unsigned i = 1; i <= ROUNDS; i++) {
		l->round = i;
		while (l->n_done < i * PROCESSES) {
			check_entries();
			sched_yield();
		}
		check_entries();
	}
	for (int i = 0; i < PROCESSES; i++)
		assert_true(wait(NULL) > 0);
	assert_int_equal(all_calls(), PROCESSES * ROUNDS);
	assert_int_equal(munmap(l, sizeof(*l)), 0);
}

static void
a_claim_of_a_dead_process_ends(void **state)
{
	(void)get(1, NOW);
	table->claimed_ms = NOW;
	assert_int_equal(get(2, NOW + 999).at, CND_DIGEST_OTHERS);
	/* what is there can be found */
	assert_true(get(1, NOW + 999).at < CND_DIGESTS);
	assert_true(get(2, NOW + 1000).at < CND_DIGESTS);
	assert_true(get(3, NOW + 1000).at < CND_DIGESTS);
	/* a claim from the future is a lie */
	table->claimed_ms = INT64_MAX;
	assert_true(get(4, NOW).at < CND_DIGESTS);
	table->claimed_ms = INT64_MIN;
	assert_true(get(5, NOW).at < CND_DIGESTS);
}

/* A text that comes from two digests would begin with the number of one and end with that of the other. */
static void
replace_without_end(void)
{
	char text[CND_DIGEST_TEXT - 1];

	for (uint64_t i = 0;; i++) {
		const struct cnd_digest_ref ref = { 1 + i, 0 };

		memset(text, 'a' + (int)(i % 26), sizeof(text));
		/* no time passes, so that the claim of a killed process lasts */
		table->claimed_ms = 0;
		(void)cnd_digest_get(table, 1 + i, text, sizeof(text), NOW);
		cnd_digest_add(
			table, &ref, &(struct cnd_digest_call){ .us = 1, .now_ms = NOW });
	}
}

static void
a_process_that_is_killed_leaves_no_broken_text(void **state)
{
	for (int round = 0; round < 100; round++) {
		struct cnd_digest_row row;
		pid_t pid = fork();

		if (pid == 0)
			replace_without_end();
		usleep((useconds_t)(500 + 37 * round));
		assert_int_equal(kill(pid, SIGKILL), 0);
		assert_true(waitpid(pid, NULL, 0) == pid);
		for (uint32_t i = 0; i < CND_DIGESTS; i++) {
			size_t n = cnd_digest_read(table, i, &row) ? strlen(row.text) : 0;

			assert_int_equal(n, strspn(row.text, (char[2]){ row.text[0] }));
		}
	}
	call(UINT64_MAX, 1, NOW + 5 * MINUTE);
	assert_int_equal(calls_of(UINT64_MAX), 1);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(calls_of_one_digest_come_together),
		T(the_others_count_before_there_is_any_digest),
		T(rows_come_by_total_time),
		T(the_least_called_gives_way_to_a_new_digest),
		T(calls_of_long_ago_count_less),
		T(a_reset_keeps_the_places),
		T(a_text_is_cut_at_a_character),
		T(any_bytes_can_be_read),
		T(processes_lose_no_call_and_make_no_digest_twice),
		T(a_claim_of_a_dead_process_ends),
		T(a_process_that_is_killed_leaves_no_broken_text),
		T(processes_that_need_an_entry_at_once_get_one_each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
