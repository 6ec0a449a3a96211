/* SPDX-License-Identifier: BSD-2-Clause */
#include "server.h"

/*
 * What each request does in each state, with a number and as set-up (number 0). f a r: taken, and
 * the state is FIRST, ATTACHED, RUNNING; u: AUTH. x: a violation. .: not looked at yet. -: dropped.
 * c: CLOSING.
 */
struct row {
	const char *name;
	void (*prepare)(struct fixture *f);
	const char *numbered, *setup;
};

static const uint8_t events[] = { CNP_MSG_ATTACH, CNP_MSG_AUTH, CNP_MSG_CANCEL,
	CNP_MSG_RESUME, CNP_MSG_STATUS, CNP_MSG_QUERY, CNP_MSG_PREPARE, CNP_MSG_DESCRIBE,
	CNP_MSG_EXECUTE, CNP_MSG_CLOSE, CNP_MSG_FETCH, CNP_MSG_CLOSE_PORTAL,
	CNP_MSG_BEGIN, CNP_MSG_COMMIT, CNP_MSG_ROLLBACK, CNP_MSG_SAVEPOINT,
	CNP_MSG_AUTOCOMMIT, CNP_MSG_CATALOG, CNP_MSG_PING, CNP_MSG_RESET, CNP_MSG_SYNC,
	CNP_MSG_DETACH, CNP_MSG_SUSPEND, CNP_MSG_CHANGE_USER, CNP_MSG_SELECT_DATABASE,
	CNP_MSG_SET_OPTION, CNP_MSG_COPY_DATA, CNP_MSG_COPY_DONE, CNP_MSG_COPY_FAIL,
	CNP_MSG_HELLO, CNP_MSG_DONE, CNP_MSG_ROWS, CNP_MSG_FUNCTION, CNP_MSG_LONG_DATA };

static void
first_of_attach(struct fixture *f)
{
	opening_kind(f, CNP_OPEN_ATTACH);
}

static void
first_of_cancel(struct fixture *f)
{
	opening_kind(f, CNP_OPEN_CANCEL);
}

static void
first_of_resume(struct fixture *f)
{
	opening_kind(f, CNP_OPEN_RESUME);
}

static void
first_of_status(struct fixture *f)
{
	opening_kind(f, CNP_OPEN_STATUS);
}

static void
in_auth(struct fixture *f)
{
	struct cnp_request req;

	in_first(f);
	assert_ok(cnp_server_hello(&f->s, 0, CNP_AUTH_SASL, "SCRAM-SHA-256"));
	put_request(f, CNP_MSG_ATTACH, 0, 0);
	assert_ok(next(f, &req));
}

static void
skipping(struct fixture *f)
{
	running(f);
	assert_ok(error(f));
	finish(f);
	drop_output(f);
}

static void
closing(struct fixture *f)
{
	attach(f);
	assert_ok(cnp_server_yield(&f->s, CNP_YIELD_DRAIN, NULL));
}

static void
broken(struct fixture *f)
{
	struct cnp_request req;

	attach(f);
	put_request(f, CNP_MSG_DONE, 1, 0);
	assert_int_equal(next(f, &req), CENOTE_ERR_PROTOCOL);
}

/* The columns: ATTACH AUTH CANCEL RESUME STATUS | QUERY PREPARE DESCRIBE EXECUTE CLOSE FETCH
 * CLOSE_PORTAL | BEGIN COMMIT ROLLBACK SAVEPOINT AUTOCOMMIT | CATALOG PING RESET SYNC DETACH SUSPEND |
 * CHANGE_USER SELECT_DATABASE SET_OPTION | COPY ×3 | HELLO DONE ROWS | FUNCTION LONG_DATA */
static const struct row rows[] = {
	{ "first, attach", first_of_attach, "xxxxx xxxxxxx xxxxx xxxxxx xxx xxx xxx xx",
		"fxxxx xxxxxxx xxxxx xxxxxx xxx xxx xxx xx" },
	{ "first, cancel", first_of_cancel, "xxxxx xxxxxxx xxxxx xxxxxx xxx xxx xxx xx",
		"xxfxx xxxxxxx xxxxx xxxxxx xxx xxx xxx xx" },
	{ "first, resume", first_of_resume, "xxxxx xxxxxxx xxxxx xxxxxx xxx xxx xxx xx",
		"xxxfx xxxxxxx xxxxx xxxxxx xxx xxx xxx xx" },
	{ "first, status", first_of_status, "xxxxx xxxxxxx xxxxx xxxxxx xxx xxx xxx xx",
		"xxxxf xxxxxxx xxxxx xxxxxx xxx xxx xxx xx" },
	{ "auth", in_auth, "xxxxx xxxxxxx xxxxx xxxxxx xxx xxx xxx xx",
		"xuxxx xxxxxxx xxxxx xxxxxx xxx xxx xxx xx" },
	{ "attaching", in_attaching, "..... ....... ..... ...... ... ... ... ..",
		"..... ....... ..... ...... ... ... ... .." },
	{ "attached", attach, "xxxxx rrrrrrr rrrrr rrrrrr rrr xxx xxx rr",
		"xxxxx xrxxrxr xxxxr xxxxrx xxr xxx xxx xr" },
	{ "running", running, "..... ....... ..... ...... ... ... ... ..",
		"..... ....... ..... ...... ... ... ... .." },
	{ "skipping", skipping, "xxxxx sssssss sssss sssrss sss xxx xxx ss",
		"xxxxx xrxxrxr xxxxr xxxxrx xxr xxx xxx xr" },
	{ "staying", staying, "xxxxx ------- ----- ------ --- --- xxx --",
		"xxxxx ------- ----- ------ --- --- xxx --" },
	{ "staying, attaching", staying_first,
		"..... ....... ..... ...... ... ... ... ..",
		"..... ....... ..... ...... ... ... ... .." },
	{ "closing", closing, "..... ....... ..... ...... ... ... ... ..",
		"..... ....... ..... ...... ... ... ... .." },
	{ "broken", broken, "xxxxx xxxxxxx xxxxx xxxxxx xxx xxx xxx xx",
		"xxxxx xxxxxxx xxxxx xxxxxx xxx xxx xxx xx" },
};

static char
outcome(const struct row *row, uint8_t code, uint32_t number)
{
	static const char letters[] = "ofuarycx";
	struct cnp_request req;
	struct fixture f;
	char c, text[128];
	int r;

	begin(&f, 0);
	row->prepare(&f);
	drop_output(&f);
	wire_put_code(&f.in, code, number);
	r = next(&f, &req);
	c = letters[cnp_server_state(&f.s)];
	if (r == CENOTE_AGAIN && c == 'y')
		c = cnc_buf_len(&f.s.in) == 0 ? '-' : '.';
	else if (r == CENOTE_AGAIN)
		c = strncmp(SENT(&f), "SKIPPED", 7) == 0 ? 's' : '.';
	else if (r != CENOTE_OK)
		c = r == CENOTE_ERR_PROTOCOL && c == 'x' ? 'x' : '?';
	assert_int_equal(end(&f), 0);
	return c;
}

static void
each_request_does_in_each_state_what_the_table_says(void **state)
{
	static const uint8_t gaps[] = { 5, 12, 17, 23, 26, 29, 32 };
	const char *wanted;
	char got[64];
	size_t i, e, n, gap;
	uint32_t number;

	for (i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
		number = i % 2 == 0 ? 2 : 0;
		for (e = 0, n = 0, gap = 0; e < sizeof events; e++) {
			if (gap < sizeof gaps && e == gaps[gap]) {
				got[n++] = ' ';
				gap++;
			}
			got[n++] = outcome(&rows[i / 2], events[e], number);
		}
		got[n] = '\0';
		wanted = number ? rows[i / 2].numbered : rows[i / 2].setup;
		if (strcmp(got, wanted) != 0)
			print_error("%s, request %u\n", rows[i / 2].name, number);
		assert_string_equal(got, wanted);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_request_does_in_each_state_what_the_table_says),
	};

	return cmocka_run_group_tests_name("server table", tests, NULL, NULL);
}
