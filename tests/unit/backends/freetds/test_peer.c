/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench.h"
#include "support/cnt_tds_peer.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The backend against a server that the test plays: failing logins, and answers that no real
 * server can be made to give. */

struct bench {
	struct cnt_tds_peer peer;
	struct tds_bench on;
};

static struct bench *
begin(const struct cnt_tds_peer *peer)
{
	struct bench *b = calloc(1, sizeof(*b));

	assert_non_null(b);
	b->peer = *peer;
	if (!b->peer.encryption)
		b->peer.encryption = CNT_TDS_ENCRYPT_NONE;
	tds_bench_init(&b->on);
	assert_int_equal(cnt_tds_peer_start(&b->peer), 0);
	return b;
}

static void
end(struct bench *b)
{
	int has_given_up;

	tds_bench_finish(&b->on);
	cnt_tds_peer_stop(&b->peer);
	has_given_up = b->peer.has_given_up;
	free(b);
	assert_false(has_given_up);
}

static int
log_in(struct bench *b, const char *const *more)
{
	char port[16];
	struct tds_line line = {
		.options = { { "host", "127.0.0.1" }, { "port", port }, { "user", "app" },
			{ "password", "secret" }, { "tds_version", "7.4" } },
		.n = 5,
	};

	snprintf(port, sizeof(port), "%d", b->peer.port);
	tds_line_set_all(&line, more);
	return tds_log_in(&b->on, &line);
}

static int
query(struct bench *b, const char *sql)
{
	return tds_query(&b->on, sql);
}

/* ---- logins ---- */

static void
a_login_and_a_statement(void **state)
{
	struct bench *b = begin(&(struct cnt_tds_peer){ 0 });
	struct cnd_info info;

	assert_ok(log_in(b, NULL));
	tds_backend->info(b->on.s, &info);
	assert_string_equal(info.database, "peer");
	assert_ok(query(b, "rows 3"));
	assert_string_equal(
		b->on.seen.log, "columns n:TEXT\nrow 1\nrow 2\nrow 3\ndone \n");
	assert_ok(query(b, "print"));
	assert_string_equal(b->on.seen.log, "notice 01000 a message\ndone \n");
	assert_int_equal(query(b, "error"), CENOTE_ERR_SERVER);
	assert_string_equal(b->on.diag.sqlstate, "42P01");
	assert_int_equal(b->on.diag.native, 208);
	assert_string_equal(cnc_diag_field(&b->on.diag, 'S'), "Level 16, State 1");
	assert_string_equal(cnc_diag_field(&b->on.diag, 'B'), "peer");
	assert_ok(query(b, "rows 1"));
	end(b);
}

/* FreeTDS would cut the text at the first byte that is not UTF-8, and the server would run what
 * comes before. */
static void
what_is_no_utf8_is_refused(void **state)
{
	static const char *const broken[] = { "\xff", "\x80", "\xc2", "\xc1\x81",
		"\xe2\x82", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf",
		"\xf4\x90\x80\x80", "\xf5\x80\x80\x80" };
	static const char *const whole[] = { "\x7f", "\xc2\x80", "\xdf\xbf",
		"\xe0\xa0\x81", "\xed\x9f\xbf", "\xef\xbf\xbd", "\xf0\x90\x90\x81",
		"\xf4\x8f\xbf\xbd" };
	static const char *const latin1[] = { "client_charset", "ISO-8859-1", NULL };
	struct bench *b = begin(&(struct cnt_tds_peer){ 0 });
	char sql[64];

	assert_ok(log_in(b, NULL));
	for (size_t i = 0; i < CNT_COUNT(broken); i++) {
		snprintf(sql, sizeof(sql), "delete from t /*%s*/ where a = 1", broken[i]);
		assert_int_equal(query(b, sql), CENOTE_ERR_SERVER);
		assert_string_equal(b->on.diag.sqlstate, "22021");
	}
	for (size_t i = 0; i < CNT_COUNT(whole); i++) {
		snprintf(sql, sizeof(sql), "delete from t /*%s*/ where a = 1", whole[i]);
		assert_ok(query(b, sql));
		assert_non_null(strstr(b->on.seen.log, "*/ where a = 1|"));
	}
	end(b);
	b = begin(&(struct cnt_tds_peer){ 0 });
	assert_ok(log_in(b, latin1));
	assert_ok(query(b, "select '\xe4' as a"));
	assert_non_null(strstr(b->on.seen.log, "\nrow select '\xe4' as a|"));
	end(b);
}

/* Only FreeTDS knows which characters its other character sets have. The connection ends before
 * the whole statement is sent. */
static void
a_statement_that_is_cut_on_the_way_is_not_carried_out(void **state)
{
	static const char *const options[] = { "use_utf-16", "no", NULL };
	struct bench *b = begin(&(struct cnt_tds_peer){ 0 });

	assert_ok(log_in(b, options));
	assert_int_equal(query(b, "rows 1 --\xf0\x9f\x8c\x8a"), CENOTE_ERR_CONN);
	assert_string_equal(b->on.diag.sqlstate, "08006");
	assert_string_equal(b->on.seen.log, "");
	end(b);
}

/* SQL Server's browser, which knows the ports of instances. */
#define BROWSER_PORT 1434

struct browser {
	int fd;
	int port; /* port of the instance */
	pthread_t thread;
};

/* Answer one question: the byte 0x04 and the name of an instance. */
static void *
answer_browser(void *user)
{
	struct browser *br = user;
	struct sockaddr_in from;
	socklen_t len = sizeof(from);
	char asked[64] = "", said[160];
	ssize_t got = recvfrom(br->fd, asked, sizeof(asked) - 1, 0,
		(struct sockaddr *)(void *)&from, &len);
	int n;

	if (got < 2 || asked[0] != 4)
		return NULL;
	n = snprintf(said, sizeof(said),
		"\x05..ServerName;PEER;InstanceName;%s;IsClustered;No;Version;"
		"15.0.2000.5;tcp;%d;;",
		asked + 1, br->port);
	said[1] = (char)(n - 3);
	said[2] = 0;
	(void)sendto(br->fd, said, (size_t)n, 0, (struct sockaddr *)(void *)&from, len);
	return NULL;
}

static int
start_browser(struct browser *br, int port)
{
	const struct sockaddr_in at = { .sin_family = AF_INET,
		.sin_port = htons(BROWSER_PORT),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	br->port = port;
	br->fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (br->fd < 0 ||
		bind(br->fd, (const struct sockaddr *)(const void *)&at, sizeof(at)) < 0)
		return -1;
	return pthread_create(&br->thread, NULL, answer_browser, br) == 0 ? 0 : -1;
}

static void
an_instance_is_asked_for_at_the_browser(void **state)
{
	struct bench *b = begin(&(struct cnt_tds_peer){ 0 });
	struct tds_line line = {
		.options = { { "host", "127.0.0.1" }, { "instance", "water" },
			{ "user", "app" }, { "password", "secret" },
			{ "tds_version", "7.4" } },
		.n = 5,
	};
	struct browser br;
	struct cnd_info info;

	if (start_browser(&br, b->peer.port) < 0) {
		end(b);
		skip();
	}
	if (tds_log_in(&b->on, &line) != CENOTE_OK)
		fail_msg("%s", b->on.diag.message);
	pthread_join(br.thread, NULL);
	close(br.fd);
	tds_backend->info(b->on.s, &info);
	assert_string_equal(info.server, "127.0.0.1\\water");
	assert_ok(query(b, "rows 1"));
	end(b);
}

struct failure {
	struct cnt_tds_peer peer;
	const char *options[9];
	const char *state;
	const char *words;
};

static void
expect_failure(const struct failure *f)
{
	struct bench *b = begin(&f->peer);

	if (log_in(b, f->options) != CENOTE_ERR_CONN)
		fail_msg("no failure, expected %s", f->words);
	if (!strstr(b->on.diag.message, f->words) ||
		strcmp(b->on.diag.sqlstate, f->state) != 0)
		fail_msg("%s %s, expected %s … %s", b->on.diag.sqlstate,
			b->on.diag.message, f->state, f->words);
	end(b);
}

static void
why_a_login_failed_is_told(void **state)
{
	const struct failure failures[] = {
		{ { .login = CNT_TDS_LOGIN_REFUSED }, { NULL }, "28P01",
			"Login failed for user 'app'." },
		{ { .login = CNT_TDS_LOGIN_CLOSED }, { NULL }, "08001",
			"it does not take TDS 7.4 (tds_version)" },
		{ { .is_no_tds = 1 }, { NULL }, "08001", "does not speak TDS" },
		{ { 0 }, { "encryption", "require", NULL }, "08001",
			"the server has no TLS, and the server line asks for it" },
		{ { 0 }, { "host", "no-such-host.invalid", NULL }, "08001",
			"no address is known for no-such-host.invalid" },
	};

	for (size_t i = 0; i < CNT_COUNT(failures); i++)
		expect_failure(&failures[i]);
}

static void
nothing_listens_there(void **state)
{
	struct bench *b = begin(&(struct cnt_tds_peer){ 0 });

	close(b->peer.fd);
	b->peer.fd = -1;
	assert_int_equal(log_in(b, NULL), CENOTE_ERR_CONN);
	assert_non_null(strstr(
		b->on.diag.message, "the server cannot be reached: Connection refused"));
	end(b);
}

static void
certificates_are_checked(void **state)
{
	const struct cnt_tds_peer peer = { .encryption = CNT_TDS_ENCRYPT_ON,
		.certificate = tds_cert("server.crt"),
		.key = tds_cert("server.key") };
	const char *ca = tds_cert("ca.crt"), *other = tds_cert("other-ca.crt");
	const struct failure failures[] = {
		{ peer, { "ca_file", other, NULL }, "08001", "not trusted" },
		{ peer, { "ca_file", ca, "host", "127.1", NULL }, "08001",
			"name mismatch: wanted 127.1, certificate says DNS:localhost, "
			"IP:127.0.0.1" },
	};

	for (size_t i = 0; i < CNT_COUNT(failures); i++)
		expect_failure(&failures[i]);
}

static void
good_certificates_are_taken(void **state)
{
	const struct cnt_tds_peer peer = { .encryption = CNT_TDS_ENCRYPT_ON,
		.certificate = tds_cert("server.crt"),
		.key = tds_cert("server.key") };
	const char *ca = tds_cert("ca.crt");
	const char *const lines[][7] = {
		{ "ca_file", ca, NULL },
		{ "encryption", "require", NULL },
		{ "ca_file", ca, "host", "127.1", "check_certificate_hostname", "no",
			NULL },
	};

	for (size_t i = 0; i < CNT_COUNT(lines); i++) {
		struct bench *b = begin(&peer);
		struct cnd_info info;
		int n = 0;

		if (log_in(b, lines[i]) != CENOTE_OK)
			fail_msg("line %zu: %s", i, b->on.diag.message);
		tds_backend->info(b->on.s, &info);
		for (size_t k = 0; k < info.n_parameters; k++)
			n += strcmp(info.parameters[k].value,
				     "not told by this FreeTDS") == 0;
		assert_int_equal(n, 2);
		assert_ok(query(b, "rows 1"));
		end(b);
	}
}

/* ---- answers that no real server can be made to give ---- */

static void
the_end_in_the_middle_of_a_row(void **state)
{
	struct bench *b = begin(&(struct cnt_tds_peer){ 0 });

	assert_ok(log_in(b, NULL));
	assert_int_equal(query(b, "drop 2"), CENOTE_ERR_CONN);
	assert_string_equal(b->on.seen.log, "columns n:TEXT\nrow 1\nrow 2\n");
	assert_int_equal(strncmp(b->on.diag.sqlstate, "08", 2), 0);
	assert_int_equal(query(b, "rows 1"), CENOTE_ERR_CONN);
	end(b);
}

static void
who_obeys_keeps_the_session(void **state)
{
	struct bench *b = begin(&(struct cnt_tds_peer){ 0 });

	assert_ok(log_in(b, NULL));
	b->on.stop_at_ms = tds_now_ms() + 100;
	assert_int_equal(query(b, "stall"), CENOTE_ERR_SERVER);
	assert_string_equal(b->on.diag.sqlstate, "57014");
	b->on.stop_at_ms = 0;
	assert_ok(query(b, "rows 1"));
	end(b);
}

static void
who_does_not_obey_loses_it(void **state)
{
	struct bench *b = begin(&(struct cnt_tds_peer){ 0 });
	int64_t began;

	assert_ok(log_in(b, NULL));
	began = tds_now_ms();
	b->on.stop_at_ms = began + 100;
	assert_int_equal(query(b, "deaf"), CENOTE_ERR_CONN);
	assert_in_range(tds_now_ms() - began, 2000, 10000);
	end(b);
}

/* A loop in SQL can send results without end and without a pause. */
static void
what_has_no_end_is_stopped(void **state)
{
	static const char *const texts[] = { "endless results", "endless errors",
		"endless prints", "endless rows" };

	for (size_t i = 0; i < CNT_COUNT(texts); i++) {
		struct bench *b = begin(&(struct cnt_tds_peer){ 0 });

		assert_ok(log_in(b, NULL));
		b->on.stop_at_ms = tds_now_ms() + 100;
		if (query(b, texts[i]) != CENOTE_ERR_SERVER)
			fail_msg("%s: %s", texts[i], b->on.diag.message);
		b->on.stop_at_ms = 0;
		assert_ok(query(b, "rows 1"));
		end(b);
	}
}

static void
what_has_no_end_and_does_not_obey_loses_it(void **state)
{
	static const char *const texts[] = { "boundless results", "boundless errors",
		"boundless prints", "boundless rows" };

	for (size_t i = 0; i < CNT_COUNT(texts); i++) {
		struct bench *b = begin(&(struct cnt_tds_peer){ 0 });

		assert_ok(log_in(b, NULL));
		b->on.stop_at_ms = tds_now_ms() + 100;
		if (query(b, texts[i]) != CENOTE_ERR_CONN)
			fail_msg("%s: %s", texts[i], b->on.diag.message);
		end(b);
	}
}

static void
a_server_that_is_silent_for_too_long(void **state)
{
	static const char *const line[] = { "timeout", "1s", NULL };
	struct bench *b = begin(&(struct cnt_tds_peer){ 0 });

	assert_ok(log_in(b, line));
	assert_int_equal(query(b, "deaf"), CENOTE_ERR_CONN);
	assert_non_null(strstr(b->on.diag.message, "did not answer within 1 s"));
	end(b);
}

/* ---- results in batches ---- */

static void
rows_come_in_batches(void **state)
{
	struct bench *b = begin(&(struct cnt_tds_peer){ 0 });
	struct cnd_state held;

	assert_ok(log_in(b, NULL));
	assert_ok(tds_query_batch(&b->on, "select rows 5", 7, 2));
	assert_string_equal(
		b->on.seen.log, "columns n:TEXT\nrow 1\nrow 2\ndone  more-rows\n");
	tds_backend->state(b->on.s, &held);
	assert_int_equal(held.pins, CENOTE_PIN_CURSOR);
	assert_int_equal(tds_backend->fd(b->on.s), -1);
	assert_ok(tds_fetch(&b->on, 7, 2));
	assert_string_equal(
		b->on.seen.log, "columns = n:TEXT\nrow 3\nrow 4\ndone  more-rows\n");
	assert_ok(tds_fetch(&b->on, 7, 0));
	assert_string_equal(b->on.seen.log, "columns = n:TEXT\nrow 5\ndone \n");
	assert_int_equal(tds_fetch(&b->on, 7, 2), CENOTE_ERR_SERVER);
	assert_string_equal(b->on.diag.sqlstate, "34000");
	tds_backend->state(b->on.s, &held);
	assert_int_equal(held.pins, 0);
	assert_true(tds_backend->fd(b->on.s) >= 0);
	end(b);
}

static void
several_results_are_open_at_once(void **state)
{
	struct bench *b = begin(&(struct cnt_tds_peer){ 0 });

	assert_ok(log_in(b, NULL));
	assert_ok(tds_query_batch(&b->on, "select rows 4", 1, 1));
	assert_ok(tds_query_batch(&b->on, "select rows 3", 2, 2));
	assert_ok(query(b, "select rows 1"));
	assert_ok(tds_fetch(&b->on, 1, 2));
	assert_string_equal(
		b->on.seen.log, "columns = n:TEXT\nrow 2\nrow 3\ndone  more-rows\n");
	assert_ok(tds_fetch(&b->on, 2, 2));
	assert_string_equal(b->on.seen.log, "columns = n:TEXT\nrow 3\ndone \n");
	assert_ok(tds_fetch(&b->on, 1, 2));
	assert_string_equal(b->on.seen.log, "columns = n:TEXT\nrow 4\ndone \n");
	end(b);
}

/* The rest of a result is kept even if it is larger than what the backend keeps in memory. */
static void
what_another_request_pushes_aside_is_kept(void **state)
{
	struct bench *b = begin(&(struct cnt_tds_peer){ 0 });

	assert_ok(log_in(b, NULL));
	assert_ok(tds_query_batch(&b->on, "select rows 200000", 1, 1000));
	assert_ok(query(b, "select rows 1"));
	assert_ok(tds_fetch(&b->on, 1, 150000));
	assert_int_equal(b->on.seen.n_rows, 150000);
	assert_ok(tds_fetch(&b->on, 1, 1000000));
	assert_int_equal(b->on.seen.n_rows, 49000);
	end(b);
}

static void
a_result_is_closed_early(void **state)
{
	struct bench *b = begin(&(struct cnt_tds_peer){ 0 });

	assert_ok(log_in(b, NULL));
	assert_ok(tds_query_batch(&b->on, "select rows 200000", 1, 2));
	cnd_portal_close(&b->on.seen.statements, b->on.s, 1);
	assert_ok(query(b, "select rows 1"));
	assert_ok(tds_query_batch(&b->on, "select rows 3", 2, 2));
	assert_ok(query(b, "select rows 1"));
	cnd_portal_close(&b->on.seen.statements, b->on.s, 2);
	cnd_portal_close(&b->on.seen.statements, b->on.s, 3);
	assert_int_equal(tds_fetch(&b->on, 2, 2), CENOTE_ERR_SERVER);
	end(b);
}

static void
the_end_behind_an_open_result(void **state)
{
	struct bench *b = begin(&(struct cnt_tds_peer){ 0 });

	assert_ok(log_in(b, NULL));
	assert_ok(tds_query_batch(&b->on, "select drop 5", 1, 2));
	assert_int_equal(query(b, "select rows 1"), CENOTE_ERR_CONN);
	assert_int_equal(strncmp(b->on.diag.sqlstate, "08", 2), 0);
	end(b);
}

/* ---- copies ---- */

/* Run a COPY. The played server answers an unknown statement with four columns. */
static int
copy(struct bench *b, const char *sql, const char *data, size_t piece, int gives_up)
{
	b->on.data = data;
	b->on.piece = piece;
	b->on.gives_up = gives_up;
	return query(b, sql);
}

static void
a_copy_is_read_in_pieces_of_any_size(void **state)
{
	static const char data[] =
		"1\ta\\tb\t\\N\t\\\\\n2\t\t\\x41\\101\tit's\r\n3\t4\t5\t6";
	struct bench *b = begin(&(struct cnt_tds_peer){ 0 });

	assert_ok(log_in(b, NULL));
	for (size_t piece = 1; piece <= sizeof(data); piece++) {
		assert_ok(copy(b, "copy t (a, b, c, d) from stdin", data, piece, 0));
		assert_string_equal(
			b->on.seen.log, "copy in of 4 columns\ndone COPY 3 affected=3\n");
	}
	end(b);
}

static void
a_copy_that_fails_says_where(void **state)
{
	static const struct {
		const char *sql, *data, *state, *words;
	} cases[] = {
		{ "copy t (a, b, c, d) from stdin", "1\t2\t3\t4\n1\t2\t3\n", "22P04",
			"line 2: there are fewer values" },
		{ "copy t (a, b, c, d) from stdin", "1\t2\t3\t4\t5", "22P04",
			"line 1: there are more values" },
		{ "copy t (a, b, c, d) from stdin", "1\t2\t3\t4\\", "22P04",
			"line 1: a backslash ends a value" },
		{ "copy t (a, b, c, d) from stdin", "1\t2\t\\000\t4\n", "22021",
			"line 1: a text for this server cannot hold a zero byte" },
		{ "copy t (a) from stdin csv", "", "0A000", "text alone" },
	};
	struct bench *b = begin(&(struct cnt_tds_peer){ 0 });

	assert_ok(log_in(b, NULL));
	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		assert_int_equal(
			copy(b, cases[i].sql, cases[i].data, 5, 0), CENOTE_ERR_SERVER);
		assert_string_equal(b->on.diag.sqlstate, cases[i].state);
		assert_non_null(strstr(b->on.diag.message, cases[i].words));
		assert_ok(query(b, "rows 1"));
	}
	end(b);
}

static void
a_copy_that_is_given_up_is_undone(void **state)
{
	struct bench *b = begin(&(struct cnt_tds_peer){ 0 });
	struct cnd_state held;

	assert_ok(log_in(b, NULL));
	assert_int_equal(copy(b, "copy t (a, b, c, d) from stdin", "1\t2\t3\t4\n", 9, 1),
		CENOTE_ERR_SERVER);
	assert_string_equal(b->on.diag.message, "given up by the test");
	tds_backend->state(b->on.s, &held);
	assert_int_equal(held.pins & CENOTE_PIN_FUNCTION, CENOTE_PIN_FUNCTION);
	assert_ok(query(b, "rows 1"));
	end(b);
}

/* ---- the next client ---- */

/* The server does not report that RAND() with a seed ran, and a view may call RAND(). */
static void
only_what_leaves_nothing_is_undone_in_place(void **state)
{
	static const struct {
		const char *sql;
		int is_kept;
	} cases[] = {
		{ "select 1", 1 },
		{ "begin transaction select @@version", 1 },
		{ "select rand(5)", 0 },
		{ "select a from v", 0 },
		{ "select dbo.f (1)", 0 },
		{ "select 1 where (select count(*) from v) > 0", 0 },
	};
	struct bench *b = begin(&(struct cnt_tds_peer){ 0 });

	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		assert_ok(log_in(b, NULL));
		assert_ok(query(b, cases[i].sql));
		if ((tds_backend->reset(b->on.s, &b->on.diag) == CENOTE_OK) !=
			cases[i].is_kept)
			fail_msg("%s: %s", cases[i].sql, b->on.diag.message);
		tds_backend->logout(b->on.s);
		b->on.s = NULL;
	}
	end(b);
}

/* The server reports a level or autocommit that is set back in the same way as one that is set. */
static void
what_a_call_sets_costs_a_new_login(void **state)
{
	struct bench *b = begin(&(struct cnt_tds_peer){ 0 });

	for (int i = 0; i < 3; i++) {
		assert_ok(log_in(b, NULL));
		if (i == 0)
			assert_ok(tds_backend->autocommit(b->on.s, 0, &b->on.seen.sink));
		else
			assert_ok(tds_backend->begin(b->on.s,
				i == 1 ? CENOTE_ISOLATION_SERIALIZABLE
				       : CENOTE_ISOLATION_DEFAULT,
				0, &b->on.seen.sink));
		assert_int_equal(tds_backend->reset(b->on.s, &b->on.diag),
			i < 2 ? CENOTE_ERR_UNSUPPORTED : CENOTE_OK);
		tds_backend->logout(b->on.s);
		b->on.s = NULL;
	}
	end(b);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_login_and_a_statement),
		cmocka_unit_test(what_is_no_utf8_is_refused),
		cmocka_unit_test(a_statement_that_is_cut_on_the_way_is_not_carried_out),
		cmocka_unit_test(why_a_login_failed_is_told),
		cmocka_unit_test(an_instance_is_asked_for_at_the_browser),
		cmocka_unit_test(nothing_listens_there),
		cmocka_unit_test(certificates_are_checked),
		cmocka_unit_test(good_certificates_are_taken),
		cmocka_unit_test(the_end_in_the_middle_of_a_row),
		cmocka_unit_test(who_obeys_keeps_the_session),
		cmocka_unit_test(who_does_not_obey_loses_it),
		cmocka_unit_test(what_has_no_end_is_stopped),
		cmocka_unit_test(what_has_no_end_and_does_not_obey_loses_it),
		cmocka_unit_test(a_server_that_is_silent_for_too_long),
		cmocka_unit_test(rows_come_in_batches),
		cmocka_unit_test(several_results_are_open_at_once),
		cmocka_unit_test(what_another_request_pushes_aside_is_kept),
		cmocka_unit_test(a_result_is_closed_early),
		cmocka_unit_test(the_end_behind_an_open_result),
		cmocka_unit_test(a_copy_is_read_in_pieces_of_any_size),
		cmocka_unit_test(a_copy_that_fails_says_where),
		cmocka_unit_test(a_copy_that_is_given_up_is_undone),
		cmocka_unit_test(only_what_leaves_nothing_is_undone_in_place),
		cmocka_unit_test(what_a_call_sets_costs_a_new_login),
	};

	if (argc != 2)
		return 2;
	tds_backend = cnt_backend_load(argv[1]);
	return cmocka_run_group_tests_name(
		"freetds_peer", tests, tds_certs_make, tds_certs_remove);
}
