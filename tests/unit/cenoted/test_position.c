/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Positions as texts: which ones a server has, and which ones are refused. Clients bring such texts, so each text is also
 * read up to each of its bytes.
 */
#include "support/cnt_cmocka.h"

#include <string.h>

#include "cenote/types.h"

#include "backends/common/position.h"

#define N_ITEMS(a) (sizeof(a) / sizeof((a)[0]))

typedef int covers_fn(const char *have, const char *wanted, const char **ret_why);

struct pair {
	const char *have, *wanted;
	int result;
};

static void
compare(covers_fn *covers, const struct pair *pairs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *why;
		int r = covers(pairs[i].have, pairs[i].wanted, &why);

		if (r != pairs[i].result)
			fail_msg("%s covers %s: %d", pairs[i].have, pairs[i].wanted, r);
	}
}

static void
an_lsn_is_reached_on_its_timeline_or_after_a_promotion(void **state)
{
	static const struct pair pairs[] = {
		{ "7/1/0/3000060", "7/1/0/3000060", 1 },
		{ "7/1/0/300005F", "7/1/0/3000060", 0 },
		{ "7/1/1/0", "7/1/0/FFFFFFFF", 1 },
		{ "7/1/0/FFFFFFFF", "7/1/1/0", 0 },
		/* promoted since: it has what the promoted server had */
		{ "7/2/0/3000000", "7/1/0/3000060", 1 },
		/* it does not follow the promoted server yet, whatever its LSN */
		{ "7/1/9/0", "7/2/0/3000060", 0 },
		/* the server has said nothing yet */
		{ "", "7/1/0/0", 0 },
		{ "18446744073709551615/1/0/0", "18446744073709551615/1/0/0", 1 },
		{ "8/1/0/3000060", "7/1/0/3000060", CENOTE_ERR_ARG },
	};

	(void)state;
	compare(cnd_lsn_covers, pairs, N_ITEMS(pairs));
}

static void
a_gtid_is_reached_in_its_domain(void **state)
{
	static const struct pair pairs[] = {
		{ "0-1-5", "0-1-5", 1 },
		{ "0-1-4", "0-1-5", 0 },
		/* another server of the domain has gone on */
		{ "0-2-6", "0-1-5", 1 },
		{ "1-1-9,0-1-5", "0-1-5,1-1-8", 1 },
		{ "1-1-7,0-1-5", "0-1-5,1-1-8", 0 },
		{ "1-1-9", "0-1-5", 0 },
		{ "", "0-1-5", 0 },
		{ "", "", 1 },
		{ "0-1-18446744073709551615", "0-1-18446744073709551615", 1 },
	};

	(void)state;
	compare(cnd_gtid_covers, pairs, N_ITEMS(pairs));
}

static void
other_texts_are_refused(void **state)
{
	static const char *const lsns[] = { "", "7", "7/1/0", "7/1/0/", "/1/0/0",
		"7/1/0/0/0", "7/1/0/0 ", " 7/1/0/0", "-7/1/0/0", "7/1/0/g", "7/1/0/a0",
		"7/4294967296/0/0", "7/1/100000000/0", "7/1/0/100000000",
		"18446744073709551616/1/0/0", "7/1/0/0'; select 1", "0-1-5" };
	static const char *const gtids[] = { "0", "0-1", "0-1-", "0-1-5,", ",0-1-5",
		"0-1-5,,1-1-8", "0-1-5 ", "0-1-5;1-1-8", "0-1-A", "4294967296-1-5",
		"0-4294967296-5", "0-1-18446744073709551616", "0-1-5'", "7/1/0/3000060" };
	const char *why;

	(void)state;
	for (size_t i = 0; i < N_ITEMS(lsns); i++) {
		if (cnd_lsn_covers(NULL, lsns[i], &why) != CENOTE_ERR_ARG)
			fail_msg("an LSN: %s", lsns[i]);
	}
	for (size_t i = 0; i < N_ITEMS(gtids); i++) {
		if (cnd_gtid_covers(NULL, gtids[i], &why) != CENOTE_ERR_ARG)
			fail_msg("GTIDs: %s", gtids[i]);
	}
}

/* A cut may leave a shorter number, but nothing before `least` bytes is a position. */
static void
cut(covers_fn *covers, const char *text, size_t least)
{
	char part[64];
	const char *why;

	for (size_t n = 1; n < strlen(text); n++) {
		memcpy(part, text, n);
		part[n] = '\0';
		if ((covers(NULL, part, &why) == 1) != (n >= least))
			fail_msg("%s", part);
	}
}

static void
a_text_that_was_cut_off_is_refused(void **state)
{
	(void)state;
	cut(cnd_lsn_covers, "7300000000000000001/12/A/3000060",
		strlen("7300000000000000001/12/A/3"));
	cut(cnd_gtid_covers, "10-33-1", strlen("10-33-1"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_lsn_is_reached_on_its_timeline_or_after_a_promotion),
		cmocka_unit_test(a_gtid_is_reached_in_its_domain),
		cmocka_unit_test(other_texts_are_refused),
		cmocka_unit_test(a_text_that_was_cut_off_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
