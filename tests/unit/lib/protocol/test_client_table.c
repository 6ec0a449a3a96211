/* SPDX-License-Identifier: BSD-2-Clause */
#include "client.h"

/*
 * A row says how the session got into its state, and what each message does there: once with
 * request 0, and once with the number of the oldest request (1 if there is none).
 *
 *   x              a violation: the session is dead
 *   .              not looked at
 *   o a t r y s d  taken; the new state is OPENING, AUTH, ATTACHING, READY, YIELDED, SUSPENDED, DEAD
 *   O A T R Y S D  the same, and the request is finished
 */
struct row {
	const char *name;
	void (*prepare)(struct fixture *f);
	const char *of_none, *of_oldest;
};

static const uint8_t events[] = { CNP_MSG_AUTH, CNP_MSG_COPY_DATA, CNP_MSG_COPY_DONE,
	CNP_MSG_HELLO, CNP_MSG_ATTACHED, CNP_MSG_READY, CNP_MSG_COLUMNS, CNP_MSG_ROWS,
	CNP_MSG_DONE, CNP_MSG_ERROR, CNP_MSG_NOTICE, CNP_MSG_SKIPPED, CNP_MSG_PARAMS,
	CNP_MSG_NOTIFICATION, CNP_MSG_PARAMETER, CNP_MSG_COPY_IN, CNP_MSG_COPY_OUT,
	CNP_MSG_SUSPENDED, CNP_MSG_YIELD, CNP_MSG_CANCELLED };

static void
in_idle(struct fixture *f)
{
	(void)f;
}

static void
in_attaching(struct fixture *f)
{
	in_opening(f);
	expect(f, CNP_MSG_HELLO, 0, 0);
}

static void
in_cancelling(struct fixture *f)
{
	assert_ok(try_open(&f->c, CNP_OPEN_CANCEL, CNP_TLS_NONE, 0));
	(void)send_all(f);
	expect(f, CNP_MSG_HELLO, 0, 0);
}

static void
in_status(struct fixture *f)
{
	assert_ok(try_open(&f->c, CNP_OPEN_STATUS, CNP_TLS_NONE, 0));
	(void)send_all(f);
	expect(f, CNP_MSG_HELLO, 0, 0);
	expect(f, CNP_MSG_COLUMNS, 0, 0);
}

static void
attached_but_not_greeted(struct fixture *f)
{
	in_attaching(f);
	expect(f, CNP_MSG_ATTACHED, 0, 0);
	(void)ask(f, CNP_MSG_QUERY, 0);
}

static void
nothing_asked(struct fixture *f)
{
	attach(f);
}

static void
query_copy_in(struct fixture *f)
{
	query_fresh(f);
	expect(f, CNP_MSG_COPY_IN, 1, 0);
}

static void
query_copy_out(struct fixture *f)
{
	query_fresh(f);
	expect(f, CNP_MSG_COPY_OUT, 1, 0);
}

static void
query_copied(struct fixture *f)
{
	query_copy_out(f);
	expect(f, CNP_MSG_COPY_DONE, 1, 0);
}

static void
query_more(struct fixture *f)
{
	struct cnp_event ev;
	struct cnp_msg m;

	query_fresh(f);
	wire_least(&m, CNP_MSG_DONE);
	m.as.done.flags = CNP_DONE_MORE_RESULTS;
	assert_ok(give(f, 0, 1, &m, &ev));
	assert_int_equal(ev.is_last, 0);
}

static void
execute_known(struct fixture *f)
{
	struct cnp_msg m;

	attach(f);
	wire_least(&m, CNP_MSG_EXECUTE);
	m.as.execute.known = 1;
	assert_ok(cnp_client_request(&f->c, &m, 0, 0, NULL));
	(void)send_all(f);
}

static void
prepare_fresh(struct fixture *f)
{
	attach(f);
	(void)ask(f, CNP_MSG_PREPARE, 0);
}

static void
prepare_described(struct fixture *f)
{
	prepare_fresh(f);
	expect(f, CNP_MSG_PARAMS, 1, 0);
}

static void
command_fresh(struct fixture *f)
{
	attach(f);
	(void)ask(f, CNP_MSG_COMMIT, CNP_FRAME_SYNC);
}

static void
sync_fresh(struct fixture *f)
{
	attach(f);
	(void)ask(f, CNP_MSG_SYNC, 0);
}

static void
sync_failed(struct fixture *f)
{
	sync_fresh(f);
	expect(f, CNP_MSG_ERROR, 1, 0);
}

/* A yield here would split a unit that its synchronisation point has not yet ended. */
static void
answered_unsynced(struct fixture *f)
{
	attach(f);
	(void)ask(f, CNP_MSG_PING, 0);
	expect(f, CNP_MSG_DONE, 1, 1);
}

static void
catalog_fresh(struct fixture *f)
{
	attach(f);
	(void)ask(f, CNP_MSG_CATALOG, 0);
}

static void
suspend_fresh(struct fixture *f)
{
	attach(f);
	(void)ask(f, CNP_MSG_SUSPEND, 0);
}

static void
skipping_to_sync(struct fixture *f)
{
	attach(f);
	(void)ask(f, CNP_MSG_QUERY, 0);
	(void)ask(f, CNP_MSG_SYNC, 0);
	expect(f, CNP_MSG_ERROR, 1, 1);
}

static void
in_yielded(struct fixture *f)
{
	attach(f);
	expect(f, CNP_MSG_YIELD, 0, 0);
}

static void
in_staying(struct fixture *f)
{
	stay(f);
}

static void
in_attaching_again(struct fixture *f)
{
	struct cnp_msg m;

	stay(f);
	wire_least(&m, CNP_MSG_ATTACH);
	m.as.attach.flags = CNP_ATTACH_AGAIN | CNP_ATTACH_STAYS;
	assert_ok(cnp_client_open_kept(&f->c, &m));
	(void)send_all(f);
}

static void
in_suspended(struct fixture *f)
{
	suspend_fresh(f);
	expect(f, CNP_MSG_SUSPENDED, 1, 1);
}

static void
in_dead(struct fixture *f)
{
	attach(f);
	cnp_client_lost(&f->c);
}

/* The columns: AUTH COPY_DATA COPY_DONE | HELLO ATTACHED READY | COLUMNS ROWS DONE ERROR NOTICE
 * SKIPPED | PARAMS OUTPUT NOTIFICATION PARAMETER | COPY_IN COPY_OUT SUSPENDED YIELD CANCELLED */
static const struct row rows[] = {
	{ "idle", in_idle, "... ... ...... ... .....", "... ... ...... ... ....." },
	{ "opening", in_opening, "xxx txx xxxDxx xxx xxxxx", "xxx xxx xxxxxx xxx xxxxx" },
	{ "auth", in_auth, "axx xrx xxxDax xxx xxxxx", "xxx xxx xxxxxx xxx xxxxx" },
	{ "attaching", in_attaching, "xxx xrx xxxDtx xxx xxxxx",
		"xxx xxx xxxxxx xxx xxxxx" },
	{ "cancelling", in_cancelling, "xxx xxx xxxDtx xxx xxxxS",
		"xxx xxx xxxxxx xxx xxxxx" },
	{ "status", in_status, "xxx xxx xtSDtx xxx xxxxx", "xxx xxx xxxxxx xxx xxxxx" },
	{ "not greeted", attached_but_not_greeted, "xxx xxr xxxrrx xxx xxxxx",
		"xxx xxx xxxxxx xxx xxxxx" },
	{ "nothing asked", nothing_asked, "xxx xxx xxxrrx xrr xxxyx",
		"xxx xxx xxxxxx xxx xxxxx" },
	{ "query", query_fresh, "xxx xxx xxxrrx xrr xxxyx", "xxx xxx rxRRrx xxx rrxxx" },
	{ "query, columns came", query_open, "xxx xxx xxxrrx xrr xxxxx",
		"xxx xxx xrRRrx xxx xxxxx" },
	{ "query, more results", query_more, "xxx xxx xxxrrx xrr xxxxx",
		"xxx xxx rxRRrx xxx rrxxx" },
	{ "execute, known", execute_known, "xxx xxx xxxrrx xrr xxxyx",
		"xxx xxx rrRRrx xxx rrxxx" },
	{ "query, answered", query_answered_with_sync, "xxx xxx xxxrrx xrr xxxxx",
		"xxx xxR xxxxxx xxx xxxxx" },
	{ "prepare", prepare_fresh, "xxx xxx xxxrrx xrr xxxyx",
		"xxx xxx xxxRrx rxx xxxxx" },
	{ "prepare, parameters came", prepare_described, "xxx xxx xxxrrx xrr xxxxx",
		"xxx xxx rxRRrx xxx xxxxx" },
	{ "commit", command_fresh, "xxx xxx xxxrrx xrr xxxyx",
		"xxx xxx xxrrrx xxx xxxxx" },
	{ "sync", sync_fresh, "xxx xxx xxxrrx xrr xxxyx", "xxx xxR xxxrrx xxx xxxxx" },
	{ "suspend", suspend_fresh, "xxx xxx xxxrrx xrr xxxyx",
		"xxx xxx xxxRrx xxx xxSxx" },
	{ "skipping", skipping, "xxx xxx xxxrrx xrr xxxxx", "xxx xxx xxxxxR xxx xxxxx" },
	{ "skipping, sync", skipping_to_sync, "xxx xxx xxxrrx xrr xxxxx",
		"xxx xxR xxxrrx xxx xxxxx" },
	{ "query, copying in", query_copy_in, "xxx xxx xxxrrx xrr xxxxx",
		"xxx xxx xxRRrx xxx xxxxx" },
	{ "query, copying out", query_copy_out, "xxx xxx xxxrrx xrr xxxxx",
		"xrr xxx xxxRrx xxx xxxxx" },
	{ "query, copied", query_copied, "xxx xxx xxxrrx xrr xxxxx",
		"xxx xxx xxRRrx xxx xxxxx" },
	{ "catalog", catalog_fresh, "xxx xxx xxxrrx xrr xxxyx",
		"xxx xxx rxRRrx xxx xxxxx" },
	{ "sync, failed", sync_failed, "xxx xxx xxxrrx xrr xxxxx",
		"xxx xxR xxxxxx xxx xxxxx" },
	{ "answered, no sync", answered_unsynced, "xxx xxx xxxrrx xrr xxxxx",
		"xxx xxx xxxxxx xxx xxxxx" },
	{ "yielded", in_yielded, "... ... ...... ... .....", "... ... ...... ... ....." },
	{ "staying", in_staying, "xxx xxx xxxyyx xxx xxxyx", "xxx xxx xxxxxx xxx xxxxx" },
	{ "staying, attaching", in_attaching_again, "xxx xrx xxxDtx xxx xxxyx",
		"xxx xxx xxxxxx xxx xxxxx" },
	{ "suspended", in_suspended, "... ... ...... ... .....",
		"... ... ...... ... ....." },
	{ "dead", in_dead, "... ... ...... ... .....", "... ... ...... ... ....." },
};

/* The letter for what one message does in a session that the row prepares. */
static char
outcome(const struct row *row, uint8_t code, int of_oldest)
{
	static const char letters[] = "ioatrysd";
	const struct cnp_outstanding *oldest;
	struct cnp_event ev;
	struct fixture f;
	char c;
	int r;

	begin(&f, 0);
	row->prepare(&f);
	oldest = cnp_client_oldest(&f.c);
	r = feed(&f, code, !of_oldest ? 0 : oldest ? oldest->request : 1, &ev);
	c = letters[cnp_client_state(&f.c)];
	if (r == CENOTE_AGAIN)
		c = '.';
	else if (r != CENOTE_OK)
		c = cnp_client_state(&f.c) == CNP_CLIENT_DEAD ? 'x' : '?';
	else if (ev.is_last)
		c = (char)(c - 'a' + 'A');
	assert_int_equal(end(&f), 0);
	return c;
}

static void
each_message_does_in_each_state_what_the_table_says(void **state)
{
	char got[2][64];
	size_t i, e, n;
	int of_oldest;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		for (of_oldest = 0; of_oldest < 2; of_oldest++) {
			for (e = 0, n = 0; e < sizeof events; e++) {
				if (e == 3 || e == 6 || e == 12 || e == 15)
					got[of_oldest][n++] = ' ';
				got[of_oldest][n++] =
					outcome(&rows[i], events[e], of_oldest);
			}
			got[of_oldest][n] = '\0';
		}
		if (strcmp(got[0], rows[i].of_none) != 0 ||
			strcmp(got[1], rows[i].of_oldest) != 0)
			print_error("%s:\n of none   %s\n wanted    %s\n"
				    " of oldest %s\n wanted    %s\n",
				rows[i].name, got[0], rows[i].of_none, got[1],
				rows[i].of_oldest);
		assert_string_equal(got[0], rows[i].of_none);
		assert_string_equal(got[1], rows[i].of_oldest);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_message_does_in_each_state_what_the_table_says),
	};

	return cmocka_run_group_tests_name("client table", tests, NULL, NULL);
}
