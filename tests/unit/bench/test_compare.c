/* SPDX-License-Identifier: BSD-2-Clause */
/* Reports as JSON: they are read as they were written, and refused if they are cut. And which changes
 * the command compare reports. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "figures.h"
#include "support/cnt_cmocka.h"

static void
add(struct cnb_report *report, const char *target, double wall, double half, double ratio)
{
	struct cnb_figure f;

	cnb_figure_init(&f);
	snprintf(f.set, sizeof(f.set), "work");
	snprintf(f.server, sizeof(f.server), "sqlite");
	snprintf(f.workload, sizeof(f.workload), "connect");
	snprintf(f.target, sizeof(f.target), "%s", target);
	f.x = f.clients = 1;
	f.rounds = 9;
	f.wall_us = wall;
	f.wall_us_p25 = wall - half;
	f.wall_us_p75 = wall + half;
	if (ratio > 0) {
		snprintf(f.base, sizeof(f.base), "direct");
		f.wall_ratio = ratio;
		f.wall_ratio_p25 = ratio * 0.99;
		f.wall_ratio_p75 = ratio * 1.01;
	}
	assert_int_equal(cnb_figures_add(&report->figures, &f), 0);
}

static struct cnb_report
report_of(double wall, double half, double ratio)
{
	struct cnb_report report = { .version = "1.2.3",
		.cpu = "a \"CPU\", \\ and more" };

	add(&report, "pooled", wall, half, ratio);
	add(&report, "direct", 100, 1, 0);
	return report;
}

static char *
to_json(const struct cnb_report *report, size_t *ret_len)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, ret_len);

	assert_non_null(f);
	cnb_report_put_json(report, f);
	assert_int_equal(fclose(f), 0);
	return text;
}

static void
a_report_is_read_as_it_was_written(void **state)
{
	struct cnb_report report = report_of(50, 2, 0.5), back;
	struct cnb_error error;
	size_t len, again_len;
	char *text = to_json(&report, &len), *again;

	assert_int_equal(cnb_report_parse(text, len, &back, &error), 0);
	assert_string_equal(back.cpu, report.cpu);
	assert_int_equal(back.figures.n, 2);
	assert_true(isnan(back.figures.list[0].p50_us));
	again = to_json(&back, &again_len);
	assert_int_equal(again_len, len);
	assert_memory_equal(again, text, len);
	free(text);
	free(again);
	cnb_figures_finish(&report.figures);
	cnb_figures_finish(&back.figures);
}

/* Parse a copy that has no byte after its end, so sanitizers find a read behind it. */
static int
parse_copy(const char *text, size_t len, struct cnb_report *ret_report)
{
	struct cnb_error error;
	char *copy = malloc(len > 0 ? len : 1);
	int r;

	assert_non_null(copy);
	memcpy(copy, text, len);
	r = cnb_report_parse(copy, len, ret_report, &error);
	free(copy);
	return r;
}

static void
a_report_cut_at_any_byte_is_refused(void **state)
{
	struct cnb_report report = report_of(50, 2, 0.5), back;
	size_t len, cut;
	char *text = to_json(&report, &len);

	while (text[len - 1] == '\n')
		len--;
	for (cut = 0; cut < len; cut++)
		assert_int_equal(parse_copy(text, cut, &back), -1);
	assert_int_equal(parse_copy(text, len, &back), 0);
	cnb_figures_finish(&back.figures);
	cnb_figures_finish(&report.figures);
	free(text);
}

static void
unknown_members_are_skipped_and_long_texts_cut(void **state)
{
	static const char text[] =
		"{\"more\": [1, {\"a\": [true, false, null, \"\\u00e4\\n\"]}], "
		"\"version\": "
		"\"2\", \"figures\": [{\"x\": 3, \"colour\": \"blue\", \"target\": "
		"\"a name that is too long for this member, and cut\"}]}";
	struct cnb_report back;

	assert_int_equal(parse_copy(text, sizeof(text) - 1, &back), 0);
	assert_true(back.figures.list[0].x == 3);
	assert_int_equal(strlen(back.figures.list[0].target),
		sizeof(back.figures.list[0].target) - 1);
	cnb_figures_finish(&back.figures);
}

static void
nesting_too_deep_is_refused(void **state)
{
	static const size_t depths[] = { 3, 1000 };
	struct cnb_report back;
	char text[4000];
	size_t i, n;

	for (i = 0; i < 2; i++) {
		n = (size_t)snprintf(text, sizeof(text), "{\"version\":\"1\",\"a\":");
		memset(text + n, '[', depths[i]);
		memset(text + n + depths[i], ']', depths[i]);
		n += 2 * depths[i];
		text[n++] = '}';
		assert_int_equal(parse_copy(text, n, &back), i == 0 ? 0 : -1);
	}
}

static void
text_after_the_report_is_refused(void **state)
{
	static const char text[] = "{\"version\": \"1\"} x";
	struct cnb_report back;

	assert_int_equal(parse_copy(text, sizeof(text) - 3, &back), 0);
	assert_int_equal(parse_copy(text, sizeof(text) - 1, &back), -1);
}

/* Compare. Returns the number of changes; *ret_n_slower is how many of them are for the worse. */
static size_t
changes_between(struct cnb_report before, struct cnb_report after, size_t *ret_n_slower)
{
	struct cnb_changes changes;
	size_t n;

	assert_int_equal(cnb_compare(&before, &after, 0.05, &changes), 0);
	n = changes.n;
	*ret_n_slower = changes.n_slower;
	free(changes.list);
	cnb_figures_finish(&before.figures);
	cnb_figures_finish(&after.figures);
	return n;
}

static void
a_report_equals_itself(void **state)
{
	size_t n_slower;

	assert_int_equal(
		changes_between(report_of(50, 2, 0.5), report_of(50, 2, 0.5), &n_slower),
		0);
}

static void
a_worse_ratio_is_a_regression_and_a_better_one_is_not(void **state)
{
	size_t n_slower;

	assert_int_equal(
		changes_between(report_of(50, 2, 0.5), report_of(50, 2, 0.6), &n_slower),
		1);
	assert_int_equal(n_slower, 1);
	assert_int_equal(
		changes_between(report_of(50, 2, 0.6), report_of(50, 2, 0.5), &n_slower),
		1);
	assert_int_equal(n_slower, 0);
}

/* If everything became slower, the machine is the reason. */
static void
the_ratio_counts_where_there_is_one(void **state)
{
	size_t n_slower;

	assert_int_equal(
		changes_between(report_of(50, 2, 0.5), report_of(80, 2, 0.5), &n_slower),
		0);
}

static void
a_change_within_the_spread_is_noise(void **state)
{
	size_t n_slower;

	assert_int_equal(
		changes_between(report_of(50, 1, 0), report_of(60, 1, 0), &n_slower), 1);
	assert_int_equal(n_slower, 1);
	/* the same change, but the rounds differ as much */
	assert_int_equal(
		changes_between(report_of(50, 10, 0), report_of(60, 10, 0), &n_slower),
		0);
	/* no noise, but a change of less than 5 % */
	assert_int_equal(
		changes_between(report_of(50, 0, 0), report_of(52, 0, 0), &n_slower), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_report_is_read_as_it_was_written),
		cmocka_unit_test(a_report_cut_at_any_byte_is_refused),
		cmocka_unit_test(unknown_members_are_skipped_and_long_texts_cut),
		cmocka_unit_test(nesting_too_deep_is_refused),
		cmocka_unit_test(text_after_the_report_is_refused),
		cmocka_unit_test(a_report_equals_itself),
		cmocka_unit_test(a_worse_ratio_is_a_regression_and_a_better_one_is_not),
		cmocka_unit_test(the_ratio_counts_where_there_is_one),
		cmocka_unit_test(a_change_within_the_spread_is_noise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
