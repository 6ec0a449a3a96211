/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "support/cnt_random.h"

#include "harness.h"

/*
 * A server that accepts every login and then sends what the test wants. After that, it reads until
 * the client closes the connection.
 */
struct hostile {
	char dir[64];
	int listener;
	pthread_t thread;
	pthread_mutex_t lock;
	uint8_t script[8192];
	size_t len;
	int closes; /* the server closes the connection after the script */
	/* answers to the client's later messages */
	struct {
		int after; /* it comes after so many further messages */
		uint8_t bytes[512];
		size_t len;
	} then[2];
	int then_closes; /* the server closes the connection after them */
	int floods; /* the server sends the script again and again, for a minute */
	int has_given_up;
};

static struct hostile server;

/* Messages of the server, made when the tests begin. */
struct talk {
	uint8_t bytes[1024];
	size_t len;
};

static struct talk welcome, asked, good;
static size_t first_row; /* offset of the two rows in `good` */
static size_t behind_rows;

static void
put(struct talk *t, char type, const char *body, size_t n)
{
	uint8_t *p = t->bytes + t->len;
	uint32_t len = (uint32_t)n + 4;

	assert_in_range(t->len + n + 5, 0, sizeof(t->bytes));
	p[0] = (uint8_t)type;
	p[1] = (uint8_t)(len >> 24);
	p[2] = (uint8_t)(len >> 16);
	p[3] = (uint8_t)(len >> 8);
	p[4] = (uint8_t)len;
	memcpy(p + 5, body, n);
	t->len += n + 5;
}

/* A string literal without the zero byte that C appends. */
#define PUT(t, type, text) put(t, type, text, sizeof(text) - 1)

static void
make_talks(void)
{
	PUT(&welcome, 'R', "\0\0\0\0");
	PUT(&welcome, 'S',
		"server_version\0"
		"15.4\0");
	PUT(&welcome, 'S',
		"DateStyle\0"
		"ISO, MDY\0");
	PUT(&welcome, 'S',
		"client_encoding\0"
		"UTF8\0");
	PUT(&welcome, 'K', "\0\0\0\1\0\0\0\2");
	PUT(&welcome, 'Z', "I");
	/* the answer to the backend's query at login: the role has no settings */
	PUT(&asked, 'T', "\0\1a\0\0\0\0\0\0\0\0\0\0\x19\xff\xff\xff\xff\xff\xff\0\0");
	PUT(&asked, 'D', "\0\1\0\0\0\0");
	PUT(&asked, 'C', "SELECT 1\0");
	PUT(&asked, 'Z', "I");
	PUT(&good, 'S',
		"DateStyle\0"
		"ISO, DMY\0");
	PUT(&good, 'T',
		"\0\2a\0\0\0\0\0\0\0\0\0\0\x17\0\4\xff\xff\xff\xff\0\0"
		"b\0\0\0\0\0\0\0\0\0\0\x11\xff\xff\xff\xff\xff\xff\0\0");
	first_row = good.len;
	PUT(&good, 'D',
		"\0\2\0\0\0\1"
		"1\0\0\0\4\\x41");
	PUT(&good, 'D', "\0\2\xff\xff\xff\xff\xff\xff\xff\xff");
	behind_rows = good.len;
	PUT(&good, 'N', "SNOTICE\0C00000\0Mhi\0\0");
	PUT(&good, 'C', "SELECT 2\0");
	PUT(&good, 'Z', "I");
}

static int
take(int fd, void *bytes, size_t n)
{
	uint8_t *p = bytes;

	while (n > 0) {
		ssize_t got = recv(fd, p, n, 0);

		if (got <= 0)
			return -1;
		p += got;
		n -= (size_t)got;
	}
	return 0;
}

static uint32_t
number(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* Read a message of the client; -1 if the client has closed. */
static int
skip_message(int fd, int has_type)
{
	uint8_t head[5];
	uint8_t body[4096];
	uint32_t len;

	if (take(fd, head + !has_type, 4u + (unsigned)has_type) < 0)
		return -1;
	len = number(head + 1) - 4;
	return len > sizeof(body) ? -1 : take(fd, body, len);
}

static void
say(int fd, const void *bytes, size_t n)
{
	(void)!send(fd, bytes, n, MSG_NOSIGNAL);
}

static void
flood(int fd)
{
	static uint8_t much[1u << 18];
	size_t n = 0;
	time_t until = time(NULL) + 60;

	while (n + server.len <= sizeof(much)) {
		memcpy(much + n, server.script, server.len);
		n += server.len;
	}
	while (send(fd, much, n, MSG_NOSIGNAL) == (ssize_t)n && !server.has_given_up)
		server.has_given_up = time(NULL) > until;
}

static void
answer_later(int fd)
{
	for (size_t i = 0; i < 2 && server.then[i].after > 0; i++) {
		for (int n = 0; n < server.then[i].after; n++) {
			if (skip_message(fd, 1) < 0)
				return;
		}
		say(fd, server.then[i].bytes, server.then[i].len);
	}
	if (server.then_closes)
		(void)shutdown(fd, SHUT_RDWR);
}

static void *
serve(void *unused)
{
	uint8_t rest[4096];
	int fd;

	while ((fd = accept(server.listener, NULL, NULL)) >= 0) {
		int is_in = skip_message(fd, 0) == 0;

		if (is_in) {
			say(fd, welcome.bytes, welcome.len);
			is_in = skip_message(fd, 1) == 0;
			say(fd, asked.bytes, asked.len);
			is_in = is_in && skip_message(fd, 1) == 0;
		}
		if (is_in) {
			(void)pthread_mutex_lock(&server.lock);
			say(fd, server.script, server.len);
			if (server.floods)
				flood(fd);
			if (server.closes)
				(void)shutdown(fd, SHUT_RDWR);
			(void)pthread_mutex_unlock(&server.lock);
			answer_later(fd);
			while (recv(fd, rest, sizeof(rest), 0) > 0)
				continue;
		}
		(void)close(fd);
	}
	return unused;
}

static int
start(void **state)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };

	make_talks();
	(void)signal(SIGPIPE, SIG_IGN);
	strcpy(server.dir, "/tmp/cenote-hostile-XXXXXX");
	if (mkdtemp(server.dir) == NULL)
		return -1;
	snprintf(to.sun_path, sizeof(to.sun_path), "%s/.s.PGSQL.5432", server.dir);
	server.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(server.listener, (struct sockaddr *)&to, sizeof(to)) < 0 ||
		listen(server.listener, 8) < 0)
		return -1;
	(void)pthread_mutex_init(&server.lock, NULL);
	snprintf(pg_server.run_dir, sizeof(pg_server.run_dir), "%s", server.dir);
	pg_server.port = 5432;
	return pthread_create(&server.thread, NULL, serve, NULL);
}

static int
stop(void **state)
{
	char path[128];

	(void)shutdown(server.listener, SHUT_RDWR);
	(void)pthread_join(server.thread, NULL);
	(void)close(server.listener);
	snprintf(path, sizeof(path), "%s/.s.PGSQL.5432", server.dir);
	(void)unlink(path);
	return rmdir(server.dir);
}

static void
set_script(const void *bytes, size_t n, int closes)
{
	assert_in_range(n, 0, sizeof(server.script));
	(void)pthread_mutex_lock(&server.lock);
	if (n > 0)
		memcpy(server.script, bytes, n);
	server.len = n;
	server.closes = closes;
	(void)pthread_mutex_unlock(&server.lock);
}

/* Log in and run a request; returns its transcript. */
static const char *
ask(struct pg *t, int kind)
{
	pg_setup(t);
	if (pg_login(t) < 0)
		fail_msg("%s", t->base.diag.message);
	t->base.format = kind & 1 ? CENOTE_FORMAT_CANONICAL : CENOTE_FORMAT_TEXT;
	t->base.is_extended = kind >> 1 & 1;
	t->base.batch_rows = kind >> 2 & 1 ? 1 : 0;
	return kind == 8 ? pg_prepare(t, 1, "", "select 1")
			 : pg_query(t, "select 1 as a, 'x' as b");
}

static void
an_answer_that_is_cut_at_any_byte_loses_the_session(void **state)
{
	const size_t whole = good.len;
	struct pg t;

	for (size_t n = 0; n <= whole; n++) {
		set_script(good.bytes, n, 1);
		(void)ask(&t, 0);
		if (n < whole) {
			assert_int_equal(t.base.last, CENOTE_ERR_CONN);
			assert_string_equal(t.base.diag.sqlstate, "08006");
			assert_int_equal(pg_query(&t, "select 2") != NULL, 1);
			assert_int_equal(t.base.last, CENOTE_ERR_CONN);
			assert_string_equal(pg_state(&t), "unknown pins=0");
		} else {
			assert_ok(t.base.last);
		}
		pg_teardown(&t);
	}
}

static void
nonsense_loses_the_session(void **state)
{
	static const struct {
		char type;
		const char *body;
		size_t len;
	} bad[] = {
#define BAD(type, text) { type, text, sizeof(text) - 1 }
		BAD('D', "\0\0"), /* a row without columns */
		BAD('T', "\xff\xff"), /* more columns than bytes */
		BAD('T', "\0\1"),
		BAD('T', "\0\1a\0\0\0\0\0\0\0\0\0\0\x17\0\4\xff\xff\xff\xff\0\2"),
		BAD('T', "\0\1a\0\0\0\0\0\0\0\0\0\0\x17\0\4\xff\xff\xff\xff\0\0x"),
		BAD('Z', "X"), BAD('Z', ""), BAD('C', "X"), BAD('E', "S"),
		BAD('W', "\0\0\0"), /* copy in both directions */
		BAD('G', ""), BAD('H', "\7\0\0"), BAD('H', "\0\0\1"),
		BAD('V', "\0\0\0\7"), BAD('t', "\0\1"), BAD('A', "\0\0\0\1"),
		BAD('S', "x\0"), BAD('N', "S"), BAD('\x7f', ""), BAD('\xff', ""),
		BAD('R', "\0\0\0\0"), /* a login message after the login */
		BAD('d', "x"), BAD('c', ""), /* copy data without a copy */
	};
	struct talk talk;
	struct pg t;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		talk.len = 0;
		put(&talk, bad[i].type, bad[i].body, bad[i].len);
		set_script(talk.bytes, talk.len, 0);
		(void)ask(&t, 0);
		if (t.base.last != CENOTE_ERR_CONN ||
			strcmp(t.base.diag.sqlstate, "08P01") != 0)
			fail_msg("number %zu: %s", i, t.base.seen.log);
		pg_teardown(&t);
	}
}

static void
what_does_not_fit_together_loses_the_session(void **state)
{
	static const char *const raw[] = { "D\xff\xff\xff\xff", "D\0\0\0\0",
		"D\0\0\0\3" };
	struct talk talk = { .len = 0 };
	struct pg t;

	for (size_t i = 0; i < sizeof(raw) / sizeof(raw[0]); i++) {
		set_script(raw[i], 5, 0);
		(void)ask(&t, 0);
		assert_string_equal(t.base.diag.sqlstate, "08P01");
		pg_teardown(&t);
	}
	/* a row with another number of columns */
	PUT(&talk, 'T', "\0\0");
	PUT(&talk, 'D', "\0\1\0\0\0\0");
	set_script(talk.bytes, talk.len, 0);
	(void)ask(&t, 0);
	assert_string_equal(t.base.diag.sqlstate, "08P01");
	pg_teardown(&t);
	/* a ReadyForQuery that answers nothing */
	talk = good;
	PUT(&talk, 'Z', "I");
	set_script(talk.bytes, talk.len, 1);
	(void)ask(&t, 0);
	assert_int_equal(pg_query(&t, "select 1") != NULL, 1);
	assert_int_equal(t.base.last, CENOTE_ERR_CONN);
	pg_teardown(&t);
}

static void
rows_whose_lengths_lie_are_refused(void **state)
{
	static const uint8_t values[] = { 0x00, 0x01, 0x02, 0x03, 0x7f, 0x80, 0xff };
	uint8_t script[1024];
	struct pg t;

	/* change each byte of both rows, and read the rows in both formats */
	for (size_t at = first_row; at < behind_rows; at++) {
		for (size_t v = 0; v < 2 * sizeof(values); v++) {
			memcpy(script, good.bytes, good.len);
			script[at] = values[v / 2];
			set_script(script, good.len, 1);
			(void)ask(&t, (int)(v & 1));
			assert_true(t.base.last == CENOTE_OK ||
				    t.base.last == CENOTE_ERR_CONN);
			pg_teardown(&t);
		}
	}
}

/* Long rows whose lengths do not fit. The backend refuses them before the rest has come. */
static void
long_rows_whose_lengths_lie_are_refused(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		const char *sqlstate;
	} rows[] = {
#define LONG(text, sqlstate)                                                             \
	{ "D\0\x20\0\0" text, sizeof("D\0\x20\0\0" text) - 1, sqlstate }
		LONG("\0\1", "08P01"), /* another number of columns */
		LONG("\0\2\x7f\0\0\0", "08P01"),
		LONG("\0\2\0\x20\0\0", "08P01"),
		LONG("\0\2\xff\xff\xff\xff\0\x20\0\0", "08P01"),
		/* bytes follow the values */
		LONG("\0\2\xff\xff\xff\xff\xff\xff\xff\xff", "08P01"),
		/* the server closes the connection after these bytes */
		LONG("", "08006"),
		LONG("\0\2\xff\xff", "08006"),
		LONG("\0\2\0\x10\0\0abc", "08006"),
#undef LONG
	};
	uint8_t script[1024];
	struct pg t;

	memcpy(script, good.bytes, first_row);
	for (size_t i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
		memcpy(script + first_row, rows[i / 2].bytes, rows[i / 2].len);
		set_script(script, first_row + rows[i / 2].len, 1);
		(void)ask(&t, (int)(i & 1));
		assert_int_equal(t.base.last, CENOTE_ERR_CONN);
		assert_string_equal(t.base.diag.sqlstate, rows[i / 2].sqlstate);
		pg_teardown(&t);
	}
}

static void
random_changes_do_no_harm(void **state)
{
	struct cnt_random random;
	uint8_t script[1024];
	struct pg t;

	cnt_random_init(&random, 20261121);
	for (int i = 0; i < 1500; i++) {
		size_t n = good.len;
		uint64_t changes = 1 + cnt_random_below(&random, 4);

		memcpy(script, good.bytes, n);
		while (changes-- > 0)
			script[cnt_random_below(&random, n)] =
				(uint8_t)cnt_random_below(&random, 256);
		if (cnt_random_below(&random, 4) == 0)
			n = cnt_random_below(&random, n);
		set_script(script, n, 1);
		(void)ask(&t, (int)cnt_random_below(&random, 9));
		(void)pg_fetch(&t, t.base.portal, 1);
		(void)pg_reset(&t);
		pg_teardown(&t);
	}
}

/* The i-th answer to later messages, of which `after` come first. */
static void
set_later(size_t i, int after, const void *bytes, size_t n)
{
	assert_in_range(n, 0, sizeof(server.then[i].bytes));
	memcpy(server.then[i].bytes, bytes, n);
	server.then[i].len = n;
	server.then[i].after = after;
}

/* Reset a session: the server answers DISCARD ALL and the new random seed. */
static int
reset_answered(const struct talk *first, const struct talk *then)
{
	struct pg t;

	set_script(first->bytes, first->len, 0);
	set_later(0, 1, then->bytes, then->len);
	pg_setup(&t);
	assert_int_equal(pg_login(&t), 0);
	(void)pg_query(&t, "set x.y = 'z'");
	assert_ok(t.base.last);
	(void)pg_reset(&t);
	server.then[0].after = 0;
	if (t.base.last < 0)
		assert_string_equal(t.base.diag.sqlstate, "08P01");
	pg_teardown(&t);
	return t.base.last;
}

/* Otherwise the next client would get the answers that are left. */
static void
answers_that_are_left_behind_a_reset_lose_the_session(void **state)
{
	struct talk set = { .len = 0 }, reset = { .len = 0 }, surplus = { .len = 0 };

	PUT(&set, 'C', "SET\0");
	PUT(&set, 'Z', "I");
	PUT(&reset, 'C', "DISCARD ALL\0");
	PUT(&reset, 'Z', "I");
	surplus = reset;
	PUT(&reset, 'V', "\0\0\0\0");
	PUT(&reset, 'Z', "I");
	/* the answer to the seed is still on its way */
	PUT(&surplus, 'Z', "I");
	assert_ok(reset_answered(&set, &reset));
	assert_int_equal(reset_answered(&set, &surplus), CENOTE_ERR_CONN);
}

/* ---- a reset that goes along with a request ---- */

static int
ends_turn(const struct cnd_host *host)
{
	(void)host;
	return 1;
}

/* The request, DISCARD ALL, a question and the seed go in one write. The answers to the first and the rest are `select` and
 * `discarded`. If the reset is sent again, the answer is `again`. Returns the status of the reset. */
static int
reset_early(const struct talk *select, const void *discarded, size_t n,
	const struct talk *again)
{
	struct pg t;
	int r;

	set_script(select->bytes, select->len, 0);
	set_later(0, 1, discarded, n);
	server.then_closes = again == NULL;
	if (again != NULL)
		set_later(1, 4, again->bytes, again->len);
	pg_setup(&t);
	pg_option(&t, "queries", "pure");
	assert_ok(pg_login(&t));
	t.base.host.ends_turn = ends_turn;
	(void)pg_query(&t, "select a from t");
	assert_ok(t.base.last);
	(void)pg_reset(&t);
	r = t.base.last;
	pg_teardown(&t);
	server.then_closes = server.then[0].after = server.then[1].after = 0;
	return r;
}

static void
an_early_reset_counts_only_if_it_is_whole(void **state)
{
	static const struct talk nothing = { .len = 0 };
	struct talk select = { .len = 0 }, discard = { .len = 0 }, refused = { .len = 0 };
	struct talk rest = { .len = 0 }, whole, early;

	PUT(&select, 'T', "\0\1a\0\0\0\0\0\0\0\0\0\0\x17\0\4\xff\xff\xff\xff\0\0");
	PUT(&select, 'C', "SELECT 0\0");
	PUT(&select, 'Z', "I");
	PUT(&discard, 'C', "DISCARD ALL\0");
	PUT(&discard, 'Z', "I");
	PUT(&refused, 'E', "SERROR\0VERROR\0C57014\0Mcanceled\0\0");
	PUT(&refused, 'Z', "I");
	PUT(&rest, 'T',
		"\0\3a\0\0\0\0\0\0\0\0\0\0\x10\0\1\xff\xff\xff\xff\0\0"
		"b\0\0\0\0\0\0\0\0\0\0\x10\0\1\xff\xff\xff\xff\0\0"
		"c\0\0\0\0\0\0\0\0\0\0\x10\0\1\xff\xff\xff\xff\0\0");
	PUT(&rest, 'D', "\0\3\0\0\0\1f\0\0\0\1f\0\0\0\1f");
	PUT(&rest, 'C', "SELECT 1\0");
	PUT(&rest, 'Z', "I");
	PUT(&rest, 'V', "\0\0\0\0");
	PUT(&rest, 'Z', "I");
	whole = discard;
	memcpy(whole.bytes + whole.len, rest.bytes, rest.len);
	whole.len += rest.len;
	assert_ok(reset_early(&select, whole.bytes, whole.len, &nothing));
	for (size_t n = 0; n < whole.len; n++)
		assert_int_equal(
			reset_early(&select, whole.bytes, n, NULL), CENOTE_ERR_CONN);
	/* an answer that nobody asked for, before the last ones */
	early = discard;
	PUT(&early, 'Z', "I");
	memcpy(early.bytes + early.len, rest.bytes, rest.len);
	assert_int_equal(
		reset_early(&select, early.bytes, early.len + rest.len, &nothing),
		CENOTE_ERR_CONN);
	/* the cancel of the request has hit the reset */
	early = refused;
	memcpy(early.bytes + early.len, rest.bytes, rest.len);
	early.len += rest.len;
	assert_ok(reset_early(&select, early.bytes, early.len, &whole));
}

/* There is always something to read, so the backend never waits. */
static void
a_server_that_never_pauses_is_left(void **state)
{
	struct talk talk = { .len = 0 };
	struct pg t;

	PUT(&talk, '1', "");
	set_script(talk.bytes, talk.len, 1);
	server.floods = 1;
	pg_setup(&t);
	assert_int_equal(pg_login(&t), 0);
	t.base.count_only = 1;
	t.interrupt_with = CENOTE_ERR_CONN;
	t.stop_at_question = 2;
	(void)pg_query(&t, "select 1");
	assert_int_equal(t.base.last, CENOTE_ERR_CONN);
	pg_teardown(&t);
	server.floods = 0;
	assert_false(server.has_given_up);
}

static void
the_last_words_of_a_server_are_passed_on(void **state)
{
	struct talk talk = { .len = 0 };
	struct pg t;

	PUT(&talk, 'E', "SFATAL\0VFATAL\0C57P01\0Mthat was it\0\0");
	set_script(talk.bytes, talk.len, 1);
	(void)ask(&t, 0);
	assert_int_equal(t.base.last, CENOTE_ERR_CONN);
	assert_string_equal(t.base.diag.sqlstate, "57P01");
	assert_string_equal(t.base.diag.message, "that was it");
	pg_teardown(&t);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_answer_that_is_cut_at_any_byte_loses_the_session),
		cmocka_unit_test(nonsense_loses_the_session),
		cmocka_unit_test(what_does_not_fit_together_loses_the_session),
		cmocka_unit_test(rows_whose_lengths_lie_are_refused),
		cmocka_unit_test(long_rows_whose_lengths_lie_are_refused),
		cmocka_unit_test(random_changes_do_no_harm),
		cmocka_unit_test(answers_that_are_left_behind_a_reset_lose_the_session),
		cmocka_unit_test(an_early_reset_counts_only_if_it_is_whole),
		cmocka_unit_test(a_server_that_never_pauses_is_left),
		cmocka_unit_test(the_last_words_of_a_server_are_passed_on),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
