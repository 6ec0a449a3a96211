/* SPDX-License-Identifier: BSD-2-Clause */
/* The forms of a line of the log: escapes, fields, and lines that are cut at every byte. */
#include "support/cnt_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/log_line.h"

#define N_ITEMS(a) (sizeof(a) / sizeof((a)[0]))
#define PREFIX     "2026-11-28T18:00:00.007Z cenoted[42] worker main: notice: "
#define HEAD                                                                             \
	"{\"time\":\"2026-11-28T18:00:00.007Z\",\"level\":\"notice\",\"process\":"       \
	"\"worker\",\"pid\":42,\"pool\":\"main\",\"message\":"

static struct cnd_log_line
line_of(const char *message, const struct cnd_log_field *fields, size_t n)
{
	return (struct cnd_log_line){ .time = { .tv_sec = 1795888800,
					      .tv_nsec = 7999999 },
		.level = "notice",
		.process = "worker",
		.pool = "main",
		.pid = 42,
		.message = message,
		.fields = fields,
		.n_fields = n };
}

/* Both forms, in memory of exactly `size` bytes, with a zero byte behind it. */
static char *
form(const struct cnd_log_line *line, bool is_json, size_t size)
{
	char *to = malloc(size), *text = calloc(1, size + 1);
	size_t n = is_json ? cnd_log_line_json(line, to, size)
			   : cnd_log_line_text(line, true, to, size);

	assert_true(n <= size);
	memcpy(text, to, n);
	assert_int_equal(strlen(text), n);
	free(to);
	return text;
}

static void
expect_whole(const struct cnd_log_line *line, bool is_json, const char *wanted)
{
	char *text = form(line, is_json, 4095);

	assert_string_equal(text, wanted);
	free(text);
}

/* ---- whole lines ---- */

static const struct cnd_log_field some[] = {
	{ .name = "duration_ms", .value = "612.345", .is_number = true, .is_said = true },
	{ .name = "user", .value = "joe" },
	{ .name = "application", .value = "a \"b\"\\" },
	{ .name = "sqlstate", .value = "" },
	{ .name = "trace_id", .value = NULL },
	{ .name = "left_out", .value = "3", .is_number = true },
};

static void
text_has_the_fields_that_the_message_does_not_say(void **state)
{
	struct cnd_log_line line = line_of("a b", some, N_ITEMS(some));

	expect_whole(&line, false,
		PREFIX "a b user=joe application=\"a \\\"b\\\"\\\\\" left_out=3");
	line.pool = "";
	line.n_fields = 0;
	expect_whole(
		&line, false, "2026-11-28T18:00:00.007Z cenoted[42] worker: notice: a b");
}

static void
text_for_syslog_lacks_what_syslog_adds(void **state)
{
	struct cnd_log_line line = line_of("a", some, 2);
	char text[64] = "";

	text[cnd_log_line_text(&line, false, text, sizeof(text) - 1)] = '\0';
	assert_string_equal(text, "worker main: a user=joe");
}

static void
json_has_every_field_that_is_known(void **state)
{
	struct cnd_log_line line = line_of("a b", some, N_ITEMS(some));

	expect_whole(&line, true,
		HEAD "\"a b\",\"duration_ms\":612.345,\"user\":\"joe\",\"application\":"
		     "\"a \\\"b\\\"\\\\\",\"left_out\":3}");
	line.pool = "";
	line.n_fields = 0;
	expect_whole(&line, true,
		"{\"time\":\"2026-11-28T18:00:00.007Z\",\"level\":\"notice\",\"process\":"
		"\"worker\",\"pid\":42,\"message\":\"a b\"}");
}

/* ---- bytes ---- */

#define FFFD "\xef\xbf\xbd"

static const struct {
	const char *message;
	const char *text;
	const char *json;
} bytes[] = {
	{ "a\nb\x7f\x01", "a b  ", "a\\nb\\u007f\\u0001" },
	{ "\b\f\r\t", "    ", "\\b\\f\\r\\t" },
	{ "\"\\/", "\"\\/", "\\\"\\\\/" },
	/* two, three and four bytes */
	{ "\xc3\xa4\xe2\x82\xac\xf0\x9f\x90\x98", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x90\x98",
		"\xc3\xa4\xe2\x82\xac\xf0\x9f\x90\x98" },
	/* U+009B begins a sequence for terminals */
	{ "\xc2\x9b[2J", " [2J", "\xc2\x9b[2J" },
	/* alone, cut short, overlong, a surrogate, above U+10FFFF, never in UTF-8 */
	{ "\x80"
	  "a",
		FFFD "a", FFFD "a" },
	{ "\xe2\x82", FFFD FFFD, FFFD FFFD },
	{ "\xe2\x82"
	  "a",
		FFFD FFFD "a", FFFD FFFD "a" },
	{ "\xc0\xaf", FFFD FFFD, FFFD FFFD },
	{ "\xe0\x80\xaf", FFFD FFFD FFFD, FFFD FFFD FFFD },
	{ "\xed\xa0\x80", FFFD FFFD FFFD, FFFD FFFD FFFD },
	{ "\xf0\x80\x80\xaf", FFFD FFFD FFFD FFFD, FFFD FFFD FFFD FFFD },
	{ "\xf4\x90\x80\x80", FFFD FFFD FFFD FFFD, FFFD FFFD FFFD FFFD },
	{ "\xff\xfe", FFFD FFFD, FFFD FFFD },
	/* the ends of the ranges */
	{ "\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf",
		"\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf",
		"\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf" },
};

static void
any_byte_is_made_harmless(void **state)
{
	char wanted[256];

	for (size_t i = 0; i < N_ITEMS(bytes); i++) {
		struct cnd_log_line line = line_of(bytes[i].message, NULL, 0);

		(void)snprintf(wanted, sizeof(wanted), PREFIX "%s", bytes[i].text);
		expect_whole(&line, false, wanted);
		(void)snprintf(wanted, sizeof(wanted), HEAD "\"%s\"}", bytes[i].json);
		expect_whole(&line, true, wanted);
	}
}

/* ---- cuts ---- */

/* Skip a string or a number of JSON. NULL: it is not one. Strings have only escapes that the log writes. */
static const char *
skip_value(const char *p)
{
	if (*p != '"')
		return strchr("-0123456789", *p) != NULL && *p != '\0'
			       ? p + strspn(p, "-.0123456789")
			       : NULL;
	for (p++; *p != '"'; p++) {
		if ((unsigned char)*p < 0x20)
			return NULL;
		if (*p != '\\')
			continue;
		p++;
		if (*p == 'u') {
			if (strspn(p + 1, "0123456789abcdef") < 4)
				return NULL;
			p += 4;
		} else if (*p == '\0' || strchr("\"\\bfnrt", *p) == NULL) {
			return NULL;
		}
	}
	return p + 1;
}

static bool
is_object(const char *p)
{
	if (*p++ != '{')
		return false;
	for (bool is_first = true; *p != '}'; is_first = false) {
		if (!is_first && *p++ != ',')
			return false;
		if (*p != '"' || (p = skip_value(p)) == NULL || *p++ != ':' ||
			(p = skip_value(p)) == NULL)
			return false;
	}
	return p[1] == '\0';
}

/* Whether each character is whole. */
static bool
is_utf8(const char *p)
{
	for (; *p != '\0'; p++) {
		unsigned char c = (unsigned char)*p;
		int n = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : c >= 0xc0 ? 1 : 0;

		if (c >= 0x80 && c < 0xc0)
			return false;
		for (; n > 0; n--) {
			if (((unsigned char)*++p & 0xc0) != 0x80)
				return false;
		}
	}
	return true;
}

static const struct cnd_log_field long_ones[] = {
	{ .name = "user", .value = "j\xc3\xb6 \"\n\x01" },
	{ .name = "duration_ms", .value = "1234567.890", .is_number = true },
	{ .name = "statement", .value = "select \xe2\x82\xac from \"\xf0\x9f\x90\x98\"" },
};

static void
json_is_complete_at_every_cut(void **state)
{
	struct cnd_log_line line =
		line_of("a\n\"\xe2\x82\xac\" \x02 z\xff", long_ones, N_ITEMS(long_ones));
	char *whole = form(&line, true, 4095);

	for (size_t size = 2; size <= strlen(whole) + 2; size++) {
		char *text = form(&line, true, size);

		if (!is_object(text) || !is_utf8(text))
			fail_msg("%zu: %s", size, text);
		if (size >= strlen(whole))
			assert_string_equal(text, whole);
		/* a number is whole or absent */
		if (strstr(text, "duration_ms") != NULL)
			assert_non_null(strstr(text, "\"duration_ms\":1234567.890"));
		free(text);
	}
	free(whole);
}

static void
text_is_cut_at_a_character(void **state)
{
	struct cnd_log_line line =
		line_of("a\n\"\xe2\x82\xac\" \x02 z\xff", long_ones, N_ITEMS(long_ones));
	char *whole = form(&line, false, 4095);

	for (size_t size = 1; size <= strlen(whole) + 2; size++) {
		char *text = form(&line, false, size);

		if (!is_utf8(text) || strchr(text, '\n') != NULL)
			fail_msg("%zu: %s", size, text);
		if (size >= strlen(whole))
			assert_string_equal(text, whole);
		free(text);
	}
	free(whole);
}

static void
a_cut_is_marked(void **state)
{
	struct cnd_log_line line = line_of("abcdefgh", NULL, 0);
	char *text = form(&line, true, strlen(HEAD) + 3 + 6);

	assert_string_equal(text, HEAD "\"abc\xe2\x80\xa6\"}");
	free(text);
	text = form(&line, false, strlen(PREFIX) + 7);
	assert_string_equal(text, PREFIX "abcd\xe2\x80\xa6");
	free(text);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_has_the_fields_that_the_message_does_not_say),
		cmocka_unit_test(text_for_syslog_lacks_what_syslog_adds),
		cmocka_unit_test(json_has_every_field_that_is_known),
		cmocka_unit_test(any_byte_is_made_harmless),
		cmocka_unit_test(json_is_complete_at_every_cut),
		cmocka_unit_test(text_is_cut_at_a_character),
		cmocka_unit_test(a_cut_is_marked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
