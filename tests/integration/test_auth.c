/* SPDX-License-Identifier: BSD-2-Clause */
/* Who may log in. The expected results are written down here, and not computed by the code under
 * test. */
#include "with_pool.h"

#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/cnt_raw.h"

/* the verifier of "pencil", made by PostgreSQL */
#define PENCIL                                                                           \
	"SCRAM-SHA-256$4096:Eud57b8IlfdeEdU2MofEBA==$"                                   \
	"9dW1jSxoilx4I3cPYwirgXEH7tm0KtTsnSMxlcFIfv0=:"                                  \
	"OCzKqPQGQtvtfalsHB2deVv5+NrjkA4ERG/+brYSgbM="

#define LONG_NAME                                                                        \
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

/* ---- the table ---- */

/* The clients. The table below uses their letters. */
static const struct {
	char letter;
	const char *user;
	const char *password;
} guests[] = {
	{ 'k', "known", "pencil" },
	{ 'u', "unknown", "pencil" },
	{ 'd', "disabled", "pencil" },
	{ 'w', "known", "eraser" },
	{ 'p', "known", "" },
	{ 'e', "", "pencil" },
	{ 'n', "", "" },
	{ 'o', LONG_NAME, "pencil" },
};

/* The clients that may log in over the unix socket, and over TCP; no others may. The test's own
 * unix user is not `known`. */
static const struct {
	const char *auth;
	const char *by_unix;
	const char *by_tcp;
} table[] = {
	{ "peer", "en", "" },
	{ "scram-sha-256", "k", "" },
	{ "scram-sha-256 tls=no", "k", "k" },
	{ "scram-sha-256 tls=yes", "", "" },
	{ "scram-sha-256 tls=no door=tcp", "", "k" },
	{ "scram-sha-256 tls=no user=other", "", "" },
	{ "scram-sha-256 tls=no from=10.0.0.0/8", "", "" },
	{ "scram-sha-256 tls=no from=127.0.0.0/8", "", "k" },
	{ "cert", "", "" },
	{ "trust", "kudwpen", "" },
	{ "trust door=tcp", "", "kudwp" },
	{ "trust user=unknown, trust door=tcp user=unknown", "u", "u" },
	{ "reject", "", "" },
	{ "reject user=unknown, trust, trust door=tcp", "kdwpen", "kdwp" },
	{ "peer, scram-sha-256 tls=no", "en", "k" },
	/* a client that names no user becomes the first one in the map: known */
	{ "peer map=@DIR@/map", "kwpen", "" },
};

static int port;

static void
put_file(const char *name, mode_t mode, const char *text)
{
	char path[160];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", wp_daemon.dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(path, mode), 0);
}

/* Start the daemon with `config`, after its files have been made. */
static void
start(const char *config)
{
	const struct passwd *me = getpwuid(geteuid());
	char map[200];

	assert_non_null(me);
	assert_int_equal(cnt_daemon_create(&wp_daemon, config), 0);
	put_file("users", 0600,
		"known:" PENCIL "\n"
		"disabled:!" PENCIL "\n");
	snprintf(map, sizeof(map), "%s known\n%s other\n", me->pw_name, me->pw_name);
	put_file("map", 0644, map);
	assert_int_equal(cnt_daemon_run(&wp_daemon), 0);
}

/* Start a daemon with one pool. Its door is new, so it knows of no failures yet. */
static void
start_row(size_t i)
{
	static char config[2048];

	port = cnt_server_free_port();
	snprintf(config, sizeof(config),
		CNT_DAEMON_GLOBAL "listen = 127.0.0.1:%d\n"
				  "users = @DIR@/users\n"
				  "[pool main]\nbackend = sqlite\n"
				  "server = path=@DIR@/main.db\n"
				  "sessions = 1\nauth = %s\n",
		port, table[i].auth);
	start(config);
}

static cenote_conn *
handle(const char *pool, int is_tcp, const char *user, const char *password)
{
	cenote_conn *conn = wp_handle(pool);
	char text[16];

	if (is_tcp) {
		snprintf(text, sizeof(text), "%d", port);
		assert_ok(cenote_conn_set(conn, "run_dir", NULL));
		assert_ok(cenote_conn_set(conn, "host", "127.0.0.1"));
		assert_ok(cenote_conn_set(conn, "port", text));
	}
	assert_ok(cenote_conn_set(conn, "user", user));
	assert_ok(cenote_conn_set(conn, "password", password));
	return conn;
}

static void
expect(const char *auth, int is_tcp, size_t guest, int gets_in)
{
	cenote_conn *conn =
		handle("main", is_tcp, guests[guest].user, guests[guest].password);
	int r = cenote_connect(conn);

	if ((r == CENOTE_OK) != gets_in || (r < 0 && r != CENOTE_ERR_AUTH))
		fail_msg("%s, by %s, guest %c: %s %s", auth, is_tcp ? "TCP" : "unix",
			guests[guest].letter, cenote_status_name(r), wp_message(conn));
	if (gets_in)
		assert_string_equal(wp_value(conn, "select 1"), "1");
	else if (strcmp(wp_sqlstate(conn), "28000") != 0)
		assert_string_equal(wp_sqlstate(conn), "28P01");
	cenote_conn_destroy(conn);
}

static void
the_table_is_true(void **state)
{
	for (size_t i = 0; i < CNT_COUNT(table); i++) {
		start_row(i);
		for (size_t j = 0; j < CNT_COUNT(guests); j++) {
			expect(table[i].auth, 0, j,
				strchr(table[i].by_unix, guests[j].letter) != NULL);
			expect(table[i].auth, 1, j,
				strchr(table[i].by_tcp, guests[j].letter) != NULL);
		}
		assert_int_equal(wp_teardown(state), 0);
	}
}

/* The milliseconds of one login over TCP that fails. */
static int64_t
time_failure(void)
{
	cenote_conn *conn = handle("main", 1, "known", "eraser");
	int64_t begun = wp_now_ms();

	assert_int_equal(cenote_connect(conn), CENOTE_ERR_AUTH);
	assert_string_equal(wp_sqlstate(conn), "28P01");
	cenote_conn_destroy(conn);
	return wp_now_ms() - begun;
}

static int
fail_in_child(void *arg)
{
	(void)arg;
	return time_failure() >= 4000 - WP_CLOCK_MS ? 0 : 1;
}

static void
guessing_takes_longer_each_time_and_holds_no_worker(void **state)
{
	cenote_conn *conn;
	int64_t begun;
	pid_t child;

	start_row(2);
	assert_true(time_failure() >= 250 - WP_CLOCK_MS);
	assert_true(time_failure() >= 500 - WP_CLOCK_MS);
	assert_true(time_failure() >= 1000 - WP_CLOCK_MS);
	assert_true(time_failure() >= 2000 - WP_CLOCK_MS);
	child = wp_fork(fail_in_child, NULL, -1);
	wp_pause_ms(300);
	/* meanwhile, the only session is free for the next client */
	begun = wp_now_ms();
	conn = handle("main", 0, "known", "pencil");
	assert_ok(cenote_connect(conn));
	assert_true(wp_now_ms() - begun < 3700);
	cenote_conn_destroy(conn);
	assert_int_equal(wp_join(child), 0);
}

/* ---- what a refused client is told ---- */

static void
wrong_unknown_and_disabled_look_the_same(void **state)
{
	static const char *const users[] = { "known", "unknown", "disabled", "" };
	char said[2][200] = { "", "" };

	start(WP_POOL("sessions = 1\nauth = scram-sha-256\nusers = @DIR@/users\n"));
	for (size_t i = 0; i < CNT_COUNT(users); i++) {
		cenote_conn *conn = handle("main", 0, users[i], "eraser");

		assert_int_equal(cenote_connect(conn), CENOTE_ERR_AUTH);
		assert_string_equal(wp_sqlstate(conn), "28P01");
		snprintf(said[i > 0], sizeof(said[0]), "%s", wp_message(conn));
		if (i > 0)
			assert_string_equal(said[0], said[1]);
		cenote_conn_destroy(conn);
	}
	/* the log says more, but repeats no name that is not in the file */
	wp_await_log("user known: wrong password");
	wp_await_log("user disabled: the user is disabled");
	wp_await_log("user (not in the users file): no such user");
	assert_false(wp_log_has("unknown"));
}

static void
who_has_no_password_is_told_to_give_one(void **state)
{
	cenote_conn *conn;

	start(WP_POOL("sessions = 1\nauth = scram-sha-256\nusers = @DIR@/users\n"));
	conn = handle("main", 0, "known", "");
	assert_int_equal(cenote_connect(conn), CENOTE_ERR_AUTH);
	assert_string_equal(wp_sqlstate(conn), "28P01");
	assert_non_null(strstr(wp_message(conn), "asks for a password"));
	cenote_conn_destroy(conn);
}

/* ---- a session's life with a password ---- */

static void
a_yielded_session_is_had_again_with_the_same_password(void **state)
{
	cenote_conn *a, *b;
	cenote_stmt *stmt;
	cenote_result *res;
	const char *value;
	size_t len;

	start(WP_POOL("sessions = 1\nmode = transaction\nauth = scram-sha-256\n"
		      "users = @DIR@/users\n"));
	a = handle("main", 0, "known", "pencil");
	b = handle("main", 0, "known", "pencil");
	assert_ok(cenote_connect(a));
	assert_ok(cenote_stmt_create(a, "select 1", CENOTE_NTS, &stmt));
	assert_ok(cenote_stmt_prepare(stmt));
	assert_ok(cenote_connect(b));
	for (int i = 0; i < 5; i++) {
		assert_string_equal(wp_value(b, "select 2"), "2");
		assert_ok(cenote_stmt_execute(stmt, NULL, NULL, &res));
		assert_ok(cenote_result_row(res, 0, &value, &len));
		assert_string_equal(value, "1");
		cenote_result_destroy(res);
	}
	assert_true(wp_pool_number("main", "yields") > 0);
	cenote_stmt_destroy(stmt);
	cenote_conn_destroy(a);
	cenote_conn_destroy(b);
}

static void
a_reload_takes_new_passwords_and_turns_the_disabled_away(void **state)
{
	cenote_conn *a, *b;

	start(WP_POOL("sessions = 1..2\nauth = scram-sha-256\nusers = @DIR@/users\n"));
	a = handle("main", 0, "known", "pencil");
	assert_ok(cenote_connect(a));
	put_file("users", 0600, "known:!" PENCIL "\nnew:" PENCIL "\n");
	assert_int_equal(kill(wp_daemon.pid, SIGHUP), 0);
	wp_await_log("pool main was changed");
	/* the disabled user's session is taken back, and the client gets no other */
	while (wp_status_of(a, "select 1") == CENOTE_OK)
		wp_pause_ms(20);
	assert_string_equal(wp_sqlstate(a), "28P01");
	b = handle("main", 0, "new", "pencil");
	assert_ok(cenote_connect(b));
	/* a file that others could have written changes nothing */
	put_file("users", 0666, "known:" PENCIL "\n");
	assert_int_equal(kill(wp_daemon.pid, SIGHUP), 0);
	wp_await_log("others than its owner can write it");
	assert_string_equal(wp_value(b, "select 1"), "1");
	put_file("users", 0600, "known:!" PENCIL "\nnew:" PENCIL "\n");
	cenote_conn_destroy(a);
	cenote_conn_destroy(b);
}

static void
a_suspended_session_is_its_users_only(void **state)
{
	cenote_conn *a, *b;
	char token[CENOTE_TOKEN_SIZE];
	cenote_result *res;

	start(WP_POOL("sessions = 1\nauth = trust user=known,other\n"));
	a = handle("main", 0, "known", "");
	assert_ok(cenote_connect(a));
	assert_ok(cenote_suspend(a, NULL, 10000, token));
	b = handle("main", 0, "other", "");
	assert_int_equal(cenote_resume(b, token, &res), CENOTE_ERR_AUTH);
	assert_string_equal(wp_sqlstate(b), "28000");
	wp_await_log("the suspended session belongs to another user");
	cenote_conn_destroy(b);
	b = handle("main", 0, "known", "");
	assert_ok(cenote_resume(b, token, &res));
	assert_string_equal(wp_value(b, "select 1"), "1");
	cenote_conn_destroy(a);
	cenote_conn_destroy(b);
}

/* ---- secrets ---- */

/* Texts that must not appear anywhere: passwords, right and wrong ones, and the users file's
 * verifiers. */
static const char *const secrets[] = { "pencil", "eraser", "Eud57b8IlfdeEdU2MofEBA",
	"9dW1jSxoilx4I3cPYwirgXEH7tm0KtTsnSMxlcFIfv0", "OCzKqPQGQtvtfalsHB2deVv5" };

static void
expect_no_secret(const char *where, const char *text)
{
	for (size_t i = 0; i < CNT_COUNT(secrets); i++) {
		if (strstr(text, secrets[i]) != NULL)
			fail_msg("%s shows \"%s\"", where, secrets[i]);
	}
}

/* Make logins that succeed and logins that fail. */
static void
leave_traces(void)
{
	static const struct {
		const char *user, *password;
	} logins[] = { { "known", "pencil" }, { "known", "eraser" },
		{ "eraser", "pencil" }, { "pencil", "" }, { "disabled", "pencil" } };

	for (size_t i = 0; i < CNT_COUNT(logins); i++) {
		cenote_conn *conn = handle("main", 0, logins[i].user, logins[i].password);
		int r = cenote_connect(conn);

		assert_int_equal(r == CENOTE_OK, i == 0);
		expect_no_secret("a message", wp_message(conn));
		assert_null(cenote_conn_get(conn, "password"));
		cenote_conn_destroy(conn);
	}
}

static void
expect_clean_status(const char *what)
{
	cenote_conn *conn = wp_handle("main");
	cenote_result *res;
	const char *values[32];
	size_t lens[32];

	assert_ok(cenote_status(conn, what, &res));
	for (uint64_t row = 0; row < cenote_result_n_rows(res); row++) {
		assert_ok(cenote_result_row(res, row, values, lens));
		for (uint32_t i = 0; i < cenote_result_n_columns(res); i++)
			expect_no_secret(what, values[i]);
	}
	cenote_result_destroy(res);
	cenote_conn_destroy(conn);
}

/* Check that a file has no secret. Returns whether it has any content. */
static int
is_clean_file(const char *path)
{
	static char text[1 << 20];
	FILE *f = fopen(path, "re");
	size_t n;

	if (f == NULL)
		return 0;
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	for (size_t i = 0; i < n; i++) {
		if (text[i] == '\0')
			text[i] = ' ';
	}
	text[n] = '\0';
	expect_no_secret(path, text);
	return n > 0;
}

static void
expect_clean_processes(void)
{
	pid_t pids[16];
	size_t n = cnt_daemon_children(&wp_daemon, pids, 15);
	char path[64];
	int n_clean = 0;

	/* a helper that answered a login may have ended by now */
	for (size_t i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pids[i]);
		n_clean += is_clean_file(path);
	}
	assert_true(n_clean > 0);
	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)wp_daemon.pid);
	assert_true(is_clean_file(path));
}

static void
expect_clean_check(void)
{
	static char output[65536];
	const char *const argv[] = { cnt_env_or("CNT_CENOTED", CNT_CENOTED_PATH),
		"--check", "-c", wp_daemon.conf, NULL };
	const struct cnt_command check = {
		.argv = argv, .output = output, .size = sizeof(output)
	};

	assert_int_equal(cnt_run(&check), 0);
	assert_non_null(strstr(output, "scram-sha-256"));
	expect_no_secret("--check", output);
}

static void
no_secret_is_shown_anywhere_at_any_level(void **state)
{
	static const char *const levels[] = { "error", "warning", "notice", "info",
		"debug" };

	for (size_t i = 0; i < CNT_COUNT(levels); i++) {
		char config[1024];

		snprintf(config, sizeof(config),
			CNT_DAEMON_GLOBAL "log_level = %s\n" CNT_DAEMON_POOL
					  "sessions = 1\nauth = scram-sha-256\n"
					  "users = @DIR@/users\n",
			levels[i]);
		start(config);
		leave_traces();
		expect_clean_status("pools");
		expect_clean_status("workers");
		expect_clean_processes();
		expect_clean_check();
		if (i > 0)
			assert_true(is_clean_file(wp_daemon.log));
		assert_int_equal(wp_teardown(state), 0);
	}
}

/* ---- clients that do not play by the rules ---- */

#define SCRAM_POOL WP_POOL("sessions = 1\nauth = scram-sha-256\nusers = @DIR@/users\n")

static void
put_auth(struct cnt_raw *c, const char *mechanism, const char *message)
{
	struct cnp_msg m = { .code = CNP_MSG_AUTH };
	struct cnc_buf b;

	cnc_buf_init(&b, &cnc_mem_default, 65536);
	if (mechanism != NULL)
		assert_ok(cnc_buf_str(&b, mechanism, strlen(mechanism)));
	if (message != NULL)
		assert_ok(cnc_buf_str(&b, message, strlen(message)));
	m.as.auth.data.p = (const char *)cnc_buf_head(&b);
	m.as.auth.data.n = cnc_buf_len(&b);
	cnt_raw_send(c, 0, 0, &m);
	cnc_buf_finish(&b);
}

static void
begin_raw(struct cnt_raw *c)
{
	assert_int_equal(cnt_raw_begin(c, wp_daemon.run_dir, "main", NULL), 0);
	assert_int_equal(cnt_raw_expect(c, "HELLO/0"), 0);
	assert_int_equal(c->msg.as.hello.auth, CNP_AUTH_SASL);
	assert_string_equal(c->msg.as.hello.mechanisms.p, "SCRAM-SHA-256");
}

static void
what_is_no_login_is_refused(void **state)
{
	static const struct {
		const char *mechanism, *message, *sqlstate;
	} cases[] = {
		{ "EXTERNAL", "", "28P01" },
		{ "PLAIN", "\0known\0pencil", "08P01" },
		{ "SCRAM-SHA-1", "n,,n=,r=abc", "08P01" },
		{ "SCRAM-SHA-256-PLUS", "p=tls-exporter,,n=,r=abc", "08P01" },
		{ "SCRAM-SHA-256", "p=tls-exporter,,n=,r=abc", "08P01" },
		{ "SCRAM-SHA-256", "", "08P01" },
		{ "SCRAM-SHA-256", "n,,n=known,r=abc", "08P01" },
		{ "SCRAM-SHA-256", "n,a=known,n=,r=abc", "08P01" },
		{ "SCRAM-SHA-256", NULL, "08P01" },
		{ NULL, NULL, "08P01" },
	};

	start(SCRAM_POOL);
	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		struct cnt_raw c;

		begin_raw(&c);
		put_auth(&c, cases[i].mechanism, cases[i].message);
		assert_int_equal(cnt_raw_expect(&c, "ERROR/0"), 0);
		assert_string_equal(cnt_raw_field(&c, 'C'), cases[i].sqlstate);
		assert_int_equal(cnt_raw_expect(&c, "END"), 0);
		cnt_raw_close(&c);
	}
}

static void
no_step_can_be_left_out(void **state)
{
	struct cnt_raw c;

	start(SCRAM_POOL);
	/* a request in place of a login, and in its middle */
	begin_raw(&c);
	cnt_raw_query(&c, 1, 1, "select 1");
	assert_int_equal(cnt_raw_expect(&c, "ERROR/0 END"), 0);
	cnt_raw_close(&c);
	begin_raw(&c);
	put_auth(&c, "SCRAM-SHA-256", "n,,n=,r=abc");
	assert_int_equal(cnt_raw_expect(&c, "AUTH/0"), 0);
	cnt_raw_query(&c, 1, 1, "select 1");
	assert_int_equal(cnt_raw_expect(&c, "ERROR/0 END"), 0);
	cnt_raw_close(&c);
	/* the pool's own message, sent back */
	begin_raw(&c);
	put_auth(&c, "SCRAM-SHA-256", "n,,n=,r=abc");
	assert_int_equal(cnt_raw_expect(&c, "AUTH/0"), 0);
	{
		struct cnp_msg m = c.msg;

		cnt_raw_send(&c, 0, 0, &m);
	}
	assert_int_equal(cnt_raw_expect(&c, "ERROR/0"), 0);
	assert_string_equal(cnt_raw_field(&c, 'C'), "08P01");
	cnt_raw_close(&c);
}

static void
a_login_has_its_bounds(void **state)
{
	static char much[20000];
	cenote_conn *conn;
	struct cnt_raw c;

	start(SCRAM_POOL "auth_timeout = 3s\n");
	memset(much, 'x', sizeof(much) - 1);
	begin_raw(&c);
	put_auth(&c, "SCRAM-SHA-256", much);
	assert_int_equal(cnt_raw_expect(&c, "ERROR/0"), 0);
	cnt_raw_close(&c);
	/* silence costs the pool no more than auth_timeout */
	begin_raw(&c);
	assert_int_equal(cnt_raw_expect(&c, "END"), 0);
	conn = handle("main", 0, "known", "pencil");
	assert_ok(cenote_connect(conn));
	cenote_conn_destroy(conn);
	cnt_raw_close(&c);
}

int
main(void)
{
#define T(name) cmocka_unit_test_teardown(name, wp_teardown)
	const struct CMUnitTest tests[] = {
		T(the_table_is_true),
		T(guessing_takes_longer_each_time_and_holds_no_worker),
		T(wrong_unknown_and_disabled_look_the_same),
		T(who_has_no_password_is_told_to_give_one),
		T(a_yielded_session_is_had_again_with_the_same_password),
		T(a_reload_takes_new_passwords_and_turns_the_disabled_away),
		T(a_suspended_session_is_its_users_only),
		T(no_secret_is_shown_anywhere_at_any_level),
		T(what_is_no_login_is_refused),
		T(no_step_can_be_left_out),
		T(a_login_has_its_bounds),
	};

	return cmocka_run_group_tests_name("auth", tests, NULL, NULL);
}
