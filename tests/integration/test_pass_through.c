/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pools whose clients log in to the server as themselves (auth = pass-through): the server sees
 * each client's own user, a login that the server refuses fails, and two users never have the same
 * session. The argument names the kind of server.
 */
#include "with_tls.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/cnt_server.h"

/* SQL for each kind of server. */
static const struct words {
	enum cnt_server_kind kind;
	const char *who; /* asks who is logged in */
	const char *session; /* asks which session this is */
	const char *endless;
	const char *make_user; /* creates USER, with the password PASSWORD */
	const char *new_password;
	const char *lock_user;
	const char *count; /* counts the sessions of USER */
	const char *hold; /* leaves something that the next client must not see */
	int is_replaced; /* whether only a new session is without what `hold` left */
} kinds[] = {
	{ CNT_POSTGRESQL, "select session_user", "select pg_backend_pid()",
		"select pg_sleep(60)", "create role USER login password 'PASSWORD'",
		"alter role USER password 'PASSWORD'", "alter role USER nologin",
		"select count(*) from pg_stat_activity where usename = 'USER'",
		"create temp table left_over (x int)", 1 },
	{ CNT_MARIADB, "select substring_index(user(), '@', 1)", "select connection_id()",
		"select sleep(60)",
		"create user USER@'%' identified by 'PASSWORD'; grant all on app.* to "
		"USER@'%'",
		"alter user USER@'%' identified by 'PASSWORD'",
		"alter user USER@'%' account lock",
		"select count(*) from information_schema.processlist where user = "
		"'USER'",
		"create temporary table left_over (x int)", 0 },
};

static const struct words *words;
static struct cnt_server server;
static int port; /* cenoted's TCP port */
static const char *auth = "pass-through";
static char more[600]; /* of the server line */

#define ANNS "Ann-4711-secret"
#define BOBS "Bob-4712-secret"

/* ---- servers and pools ---- */

/* Replace each USER and PASSWORD in the pattern. Valid until the next call. */
static const char *
fill(const char *pattern, const char *user, const char *password)
{
	static char sql[400];
	size_t n = 0;

	while (*pattern != '\0') {
		int is_user = strncmp(pattern, "USER", 4) == 0;
		int is_password = strncmp(pattern, "PASSWORD", 8) == 0;

		assert_true(n < sizeof(sql) - 100);
		if (!is_user && !is_password) {
			sql[n++] = *pattern++;
			continue;
		}
		n += (size_t)snprintf(sql + n, 100, "%s", is_user ? user : password);
		pattern += is_user ? 4 : 8;
	}
	sql[n] = '\0';
	return sql;
}

static void
as_superuser(const char *pattern, const char *user, const char *password)
{
	assert_int_equal(cnt_server_sql(&server, fill(pattern, user, password)), 0);
}

static int
n_sessions_of(const char *user)
{
	const char *sql = fill(words->count, user, "");
	char text[32];

	assert_int_equal(cnt_server_ask(&server, sql, text, sizeof(text)), 0);
	return atoi(text);
}

/* Wait until ann and bob together have at most this many sessions. A server ends a session some
 * time after its client has gone. */
static void
await_sessions(int most)
{
	int n = most + 1;

	for (int i = 0; i < 200 && n > most; i++) {
		n = n_sessions_of("ann") + n_sessions_of("bob");
		if (n > most)
			wp_pause_ms(50);
	}
	assert_true(n <= most);
}

static int
group_setup(void **state)
{
	if (wt_make_certs(state) < 0 ||
		cnt_server_start(&server, words->kind, CNT_SERVER_TCP) < 0)
		return -1;
	/* MySQL gets passwords encrypted with its RSA key, because there is no TLS */
	if (words->kind == CNT_MARIADB && cnt_server_is_mysql())
		(void)snprintf(more, sizeof(more),
			" server_public_key=%s/data/public_key.pem", server.dir);
	as_superuser(words->make_user, "ann", ANNS);
	as_superuser(words->make_user, "bob", BOBS);
	return 0;
}

static int
group_teardown(void **state)
{
	cnt_server_stop(&server);
	return wt_remove_certs(state);
}

static char *
config_with(const char *lines)
{
	static char config[2048];

	port = cnt_server_free_port();
	(void)snprintf(config, sizeof(config),
		CNT_DAEMON_GLOBAL
		"log_level = debug\nlisten = 127.0.0.1:%d\n"
		"tls_cert = @DIR@/certs/pool.crt\ntls_key = @DIR@/certs/server.key\n"
		"[pool main]\nbackend = %s\nserver = host=127.0.0.1 port=%d "
		"dbname=app%s\n"
		"auth = %s\n%s",
		port, server.backend, server.port, more, auth, lines);
	return config;
}

static void
start(const char *lines)
{
	wt_start(config_with(lines), "server.crt");
}

/* ---- clients ---- */

enum way {
	BY_UNIX,
	BY_TCP, /* without TLS */
	BY_TLS, /* TLS that verifies nothing */
	BY_VERIFIED_TLS
};

static const char *const ways[] = { "unix", "TCP", "TLS", "TLS that verifies" };

static cenote_conn *
handle(enum way way, const char *user, const char *password)
{
	static const char *const tls[] = { "disable", "disable", "require",
		"verify-full" };
	cenote_conn *conn =
		way == BY_UNIX ? wp_handle(NULL) : wt_joe(port, NULL, tls[way]);

	wt_set(conn, "user", user);
	wt_set(conn, "password", password);
	if (way == BY_TLS)
		wt_set(conn, "ca", "");
	return conn;
}

static cenote_conn *
attached(const char *user, const char *password)
{
	cenote_conn *conn = handle(BY_UNIX, user, password);

	if (cenote_connect(conn) != CENOTE_OK)
		fail_msg("%s: %s", user, wp_message(conn));
	assert_string_equal(cenote_info(conn, "user"), user);
	assert_string_equal(cenote_info(conn, "login"), "PLAIN");
	assert_string_equal(wp_value(conn, words->who), user);
	return conn;
}

/* Attach once. Returns which session the client got. */
static int
session_of(const char *user, const char *password)
{
	cenote_conn *conn = attached(user, password);
	int session = atoi(wp_value(conn, words->session));

	cenote_conn_destroy(conn);
	wp_await("main", "in_use", 0);
	/* the worker that answered the status is idle again after this */
	wp_pause_ms(20);
	return session;
}

static void
assert_denied(enum way way, const char *user, const char *password)
{
	cenote_conn *conn = handle(way, user, password);
	int r = cenote_connect(conn);

	if (r != CENOTE_ERR_AUTH || strcmp(wp_sqlstate(conn), "28P01") != 0)
		fail_msg("%s by %s: %s %s", user, ways[way], cenote_status_name(r),
			wp_message(conn));
	cenote_conn_destroy(conn);
}

/* ---- who gets in ---- */

static const struct {
	const char *user, *password;
	int is_right;
} guests[] = {
	{ "ann", ANNS, 1 }, { "bob", BOBS, 1 }, { "ann", BOBS, 0 }, { "ann", "", 0 },
	{ "unknown", ANNS, 0 }, { "", ANNS, 0 }, { "", "", 0 },
	{ "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", ANNS,
		0 },
	{ "ann dbname=postgres", ANNS, 0 },
	{ "gone", ANNS, 0 }, /* locked at the server */
};

static void
every_way_in_is_as_the_manual_says(void **state)
{
	as_superuser(words->make_user, "gone", ANNS);
	as_superuser(words->lock_user, "gone", "");
	start("sessions = 2\n");
	for (unsigned i = 0; i < CNT_COUNT(guests) * 4; i++) {
		enum way way = i % 4;
		const char *user = guests[i / 4].user;
		cenote_conn *conn = handle(way, user, guests[i / 4].password);
		int wanted = guests[i / 4].is_right &&
			     (way == BY_UNIX || way == BY_VERIFIED_TLS);
		int r = cenote_connect(conn);

		if ((r == CENOTE_OK) != wanted ||
			(r < 0 && strncmp(wp_sqlstate(conn), "28", 2) != 0))
			fail_msg("\"%s\" by %s: %s", user, ways[way], wp_message(conn));
		if (r == CENOTE_OK)
			assert_string_equal(wp_value(conn, words->who), user);
		cenote_conn_destroy(conn);
		/* a new daemon has forgotten the address's failures */
		if (r < 0 && way != BY_UNIX) {
			assert_int_equal(cnt_daemon_end(&wp_daemon), 0);
			assert_int_equal(cnt_daemon_run(&wp_daemon), 0);
		}
	}
}

/* Check that cenoted refuses this pool and says why. */
static void
assert_config_fault(const char *pool, const char *fault)
{
	static char output[8192], config[1024];
	const char *const argv[] = { "sh", "-c", "! \"$0\" --check -c \"$1\" 2>&1",
		cnt_env_or("CNT_CENOTED", CNT_CENOTED_PATH), wp_daemon.conf, NULL };
	const struct cnt_command check = {
		.argv = argv, .output = output, .size = sizeof(output)
	};

	(void)snprintf(config, sizeof(config), CNT_DAEMON_GLOBAL "[pool main]\n%s", pool);
	assert_int_equal(cnt_daemon_create(&wp_daemon, config), 0);
	assert_int_equal(cnt_run(&check), 0);
	if (strstr(output, fault) == NULL)
		fail_msg("\"%s\" is not in: %s", fault, output);
	assert_int_equal(wp_teardown(NULL), 0);
}

static void
a_server_that_asks_for_no_password_lets_nobody_in(void **state)
{
	static char config[1024];

	if (words->kind == CNT_MARIADB) {
		assert_config_fault("backend = mysql\nserver = socket=/tmp/x\nauth = "
				    "pass-through\n",
			"pass-through needs the server's host");
		return;
	}
	/* the server's socket trusts all users but locked */
	(void)snprintf(config, sizeof(config),
		CNT_DAEMON_GLOBAL "[pool main]\nbackend = postgresql\nauth = "
				  "pass-through\nserver = host=%s port=%d dbname=app\n",
		server.run_dir, server.port);
	wp_start(config);
	assert_denied(BY_UNIX, "ann", ANNS);
	assert_denied(BY_UNIX, "ann", BOBS);
	wp_await_log("did not accept it (SQLSTATE 28000)");
	session_of("locked", CNT_SERVER_PASSWORD);
}

/* ---- by other plugins of MariaDB's ---- */

static const struct plugin {
	const char *user;
	const char *file; /* of the server; NULL: built in */
	const char *make;
} plugins[] = {
	{ "native", NULL, "via mysql_native_password using password('" ANNS "')" },
	{ "ed25519", "auth_ed25519", "via ed25519 using password('" ANNS "')" },
	{ "parsec", "auth_parsec", "via parsec using password('" ANNS "')" },
};

static int
make_user_of(const struct plugin *p)
{
	char sql[300];

	if (p->file != NULL && !cnt_server_add_plugin(&server, p->file))
		return 0;
	(void)snprintf(sql, sizeof(sql),
		"create user %s@'%%' identified %s; grant all on app.* to %s@'%%'",
		p->user, p->make, p->user);
	as_superuser(sql, "", "");
	return 1;
}

static int
n_users_named(const char *user)
{
	char sql[100], text[32];

	(void)snprintf(sql, sizeof(sql),
		"select count(*) from mysql.user where user = '%s'", user);
	assert_int_equal(cnt_server_ask(&server, sql, text, sizeof(text)), 0);
	return atoi(text);
}

static void
a_user_of_each_plugin_is_himself(void **state)
{
	if (cnt_server_client_plugins() != NULL)
		(void)snprintf(more, sizeof(more), " plugin_dir=%s",
			cnt_server_client_plugins());
	start("sessions = 1\n");
	more[0] = '\0';
	for (size_t i = 0; i < CNT_COUNT(plugins); i++) {
		if (!make_user_of(&plugins[i]))
			continue;
		session_of(plugins[i].user, ANNS);
		assert_denied(BY_UNIX, plugins[i].user, BOBS);
	}
}

/* The client is not told that its password is wrong. */
static void
a_plugin_that_is_missing_is_no_wrong_password(void **state)
{
	cenote_conn *conn;

	(void)snprintf(more, sizeof(more), " plugin_dir=/nonexistent");
	start("sessions = 1\n");
	more[0] = '\0';
	for (size_t i = 1; i < CNT_COUNT(plugins); i++) {
		if (n_users_named(plugins[i].user) == 0)
			continue;
		conn = handle(BY_UNIX, plugins[i].user, ANNS);
		assert_int_equal(cenote_connect(conn), CENOTE_ERR_CONN);
		assert_string_equal(wp_sqlstate(conn), "08004");
		assert_non_null(strstr(wp_message(conn), "/nonexistent/"));
		assert_non_null(strstr(wp_message(conn), "libmariadb3"));
		cenote_conn_destroy(conn);
	}
	session_of("native", ANNS);
}

/* ---- by SCRAM ---- */

/* The version of the libpq that the daemon finds; 0: there is none. */
static int
libpq_version(void)
{
	void *libpq = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
	void *symbol = libpq != NULL ? dlsym(libpq, "PQlibVersion") : NULL;
	int (*version)(void);

	memcpy(&version, &symbol, sizeof(version));
	return symbol != NULL ? version() : 0;
}

/* Write a users file with the server's own verifiers of the passwords. */
static void
write_users(const char *path)
{
	char lines[1024];
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	assert_int_equal(cnt_server_ask(&server,
				 "select rolname || ':' || rolpassword from pg_authid "
				 "where rolname in ('ann', 'bob')",
				 lines, sizeof(lines)),
		0);
	fputs(lines, f);
	/* this user has another password at the server */
	fputs("\nlocked:" WT_SECRET "\n", f);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(path, 0600), 0);
}

static cenote_conn *
proved(const char *user, const char *password)
{
	cenote_conn *conn = handle(BY_TLS, user, password);

	if (cenote_connect(conn) != CENOTE_OK)
		fail_msg("%s: %s", user, wp_message(conn));
	assert_string_equal(cenote_info(conn, "login"), "SCRAM-SHA-256-PLUS");
	assert_string_equal(wp_value(conn, words->who), user);
	return conn;
}

static void
a_pool_by_scram_works(const char *lines)
{
	cenote_conn *conn;
	int session;

	start(lines);
	conn = proved("ann", ANNS);
	session = atoi(wp_value(conn, words->session));
	cenote_conn_destroy(conn);
	wp_await("main", "in_use", 0);
	conn = proved("ann", ANNS);
	assert_int_equal(atoi(wp_value(conn, words->session)), session);
	cenote_conn_destroy(conn);
	conn = proved("bob", BOBS);
	assert_int_not_equal(atoi(wp_value(conn, words->session)), session);
	cenote_conn_destroy(conn);
	assert_denied(BY_UNIX, "ann", BOBS);
	assert_denied(BY_UNIX, "unknown", ANNS);
	/* the pool's file accepts this password, and the server does not */
	assert_denied(BY_UNIX, "locked", "secret");
	wp_await_log("did not accept it (SQLSTATE 28P01)");
}

static void
a_password_that_is_only_proved_is_proved_to_the_server(void **state)
{
	char path[] = "/tmp/cenote-users-XXXXXX", lines[200];
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	if (words->kind == CNT_MARIADB) {
		assert_config_fault("backend = mysql\nserver = host=127.0.0.1\nauth = "
				    "scram-pass-through\n",
			"cannot log in as its clients with keys of SCRAM");
	} else if (libpq_version() < 180000) {
		assert_config_fault("backend = postgresql\nserver = host=127.0.0.1\n"
				    "auth = scram-pass-through\n",
			"scram-pass-through needs libpq 18 or newer");
	} else {
		write_users(path);
		(void)snprintf(lines, sizeof(lines), "sessions = 1\nusers = %s\n", path);
		auth = "scram-pass-through";
		a_pool_by_scram_works(lines);
		auth = "pass-through";
	}
	unlink(path);
}

/* ---- a session belongs to one user ---- */

static void
a_session_is_its_users_only(void **state)
{
	int ann, bob;

	start("sessions = 1\n");
	ann = session_of("ann", ANNS);
	assert_int_equal(session_of("ann", ANNS), ann);
	bob = session_of("bob", BOBS);
	assert_int_not_equal(bob, ann);
	assert_int_equal(session_of("bob", BOBS), bob);
	assert_int_not_equal(session_of("ann", ANNS), ann);
	/* the session that was replaced has gone from the server */
	await_sessions(1);
	assert_int_equal(n_sessions_of("ann"), 1);
}

static void
users_in_turn_keep_their_sessions(void **state)
{
	int last[2] = { 0, 0 }, n_new = 0;

	start("sessions = 2\n");
	for (int i = 0; i < 40; i++) {
		int session = i % 2 ? session_of("bob", BOBS) : session_of("ann", ANNS);

		n_new += session != last[i % 2];
		last[i % 2] = session;
	}
	/* on a busy machine, a worker may not be idle yet when the next client comes */
	assert_true(n_new >= 2 && n_new <= 8);
}

static int
come_and_go(void *arg)
{
	const char *const *login = arg;
	int n_good = 0;

	for (int i = 0; i < 60; i++) {
		cenote_conn *conn = handle(BY_UNIX, login[0], login[1]);

		n_good += cenote_connect(conn) == CENOTE_OK &&
			  strcmp(wp_value(conn, words->who), login[0]) == 0;
		cenote_conn_destroy(conn);
	}
	return n_good == 60 ? 0 : 1;
}

static void
whoever_comes_at_once_is_himself(void **state)
{
	static const char *const logins[][2] = { { "ann", ANNS }, { "bob", BOBS },
		{ "locked", CNT_SERVER_PASSWORD } };
	pid_t pids[9];

	start("sessions = 3\n");
	for (size_t i = 0; i < CNT_COUNT(pids); i++)
		pids[i] = wp_fork(come_and_go, (void *)(uintptr_t)logins[i % 3], -1);
	/* also while workers are replaced */
	for (int i = 0; i < 3; i++) {
		wp_pause_ms(200);
		assert_int_equal(
			cnt_daemon_configure(&wp_daemon,
				config_with(i % 2 ? "sessions = 3\n" : "sessions = 4\n")),
			0);
		assert_int_equal(kill(wp_daemon.pid, SIGHUP), 0);
	}
	for (size_t i = 0; i < CNT_COUNT(pids); i++)
		assert_int_equal(wp_join(pids[i]), 0);
	assert_false(wp_log_has("refused"));
}

static void
who_fails_takes_no_session_from_others(void **state)
{
	int ann;

	start("sessions = 1\n");
	ann = session_of("ann", ANNS);
	assert_denied(BY_UNIX, "ann", BOBS);
	assert_denied(BY_UNIX, "ann", ANNS "x");
	assert_denied(BY_UNIX, "bob", ANNS);
	assert_denied(BY_UNIX, "unknown", ANNS);
	assert_int_equal(session_of("ann", ANNS), ann);
}

static void
nothing_is_left_for_the_same_user(void **state)
{
	cenote_conn *conn;
	int session;

	start("sessions = 1\n");
	session = session_of("ann", ANNS);
	conn = attached("ann", ANNS);
	wp_exec(conn, words->hold);
	cenote_conn_destroy(conn);
	conn = attached("ann", ANNS);
	assert_int_equal(
		atoi(wp_value(conn, words->session)) != session, words->is_replaced);
	assert_int_equal(wp_pool_number("main", "relogins"), words->is_replaced);
	assert_int_equal(
		wp_status_of(conn, "select * from left_over"), CENOTE_ERR_SERVER);
	wp_exec(conn, words->hold);
	assert_ok(cenote_reset(conn));
	wp_exec(conn, words->hold);
	cenote_conn_destroy(conn);
}

static void
a_session_that_is_yielded_is_had_again_as_the_same_user(void **state)
{
	cenote_conn *ann, *bob;

	start("sessions = 1\nmode = transaction\n");
	ann = attached("ann", ANNS);
	bob = attached("bob", BOBS);
	for (int i = 0; i < 10; i++) {
		assert_string_equal(wp_value(ann, words->who), "ann");
		assert_string_equal(wp_value(bob, words->who), "bob");
	}
	assert_true(wp_pool_number("main", "yields") > 5);
	cenote_conn_destroy(ann);
	cenote_conn_destroy(bob);
}

static void
more_users_than_sessions_wait_for_each_other(void **state)
{
	static const char *const names[] = { "ann", "bob" };
	static const char *const passwords[] = { ANNS, BOBS };
	cenote_conn *conns[8];

	start("sessions = 2\nmode = transaction\n");
	for (int i = 0; i < 8; i++)
		conns[i] = attached(names[i % 2], passwords[i % 2]);
	for (int i = 0; i < 64; i++)
		assert_string_equal(
			wp_value(conns[i * 5 % 8], words->who), names[i * 5 % 8 % 2]);
	for (int i = 0; i < 8; i++)
		cenote_conn_destroy(conns[i]);
	await_sessions(2);
}

static void
a_suspended_session_is_its_users_only(void **state)
{
	char token[CENOTE_TOKEN_SIZE];
	cenote_conn *ann, *other;
	cenote_result *res;
	int session;

	start("sessions = 2\n");
	ann = attached("ann", ANNS);
	session = atoi(wp_value(ann, words->session));
	assert_ok(cenote_suspend(ann, NULL, 10000, token));
	other = handle(BY_UNIX, "bob", BOBS);
	assert_int_equal(cenote_resume(other, token, &res), CENOTE_ERR_AUTH);
	assert_string_equal(wp_sqlstate(other), "28000");
	cenote_conn_destroy(other);
	other = handle(BY_UNIX, "ann", ANNS);
	assert_ok(cenote_resume(other, token, &res));
	assert_int_equal(atoi(wp_value(other, words->session)), session);
	assert_string_equal(wp_value(other, words->who), "ann");
	cenote_conn_destroy(other);
	cenote_conn_destroy(ann);
}

/* ---- how long a session stays its user's ---- */

static void
a_changed_password_is_wrong_once_credential_ttl_has_passed(void **state)
{
	start("sessions = 1\ncredential_ttl = 400ms\n");
	as_superuser(words->make_user, "tom", "first");
	session_of("tom", "first");
	as_superuser(words->new_password, "tom", "second");
	wp_pause_ms(450);
	assert_denied(BY_UNIX, "tom", "first");
	session_of("tom", "second");
	as_superuser(words->lock_user, "tom", "");
	wp_pause_ms(450);
	assert_denied(BY_UNIX, "tom", "second");
}

static void
without_credential_ttl_the_server_is_asked_each_time(void **state)
{
	int session;

	start("sessions = 1\ncredential_ttl = 0\n");
	session = session_of("ann", ANNS);
	assert_int_not_equal(session_of("ann", ANNS), session);
}

static void
an_idle_session_is_logged_out(void **state)
{
	start("sessions = 1\nidle_ttl = 300ms\n");
	session_of("ann", ANNS);
	await_sessions(0);
	session_of("ann", ANNS);
}

static void
a_session_that_the_server_ended_is_logged_in_anew(void **state)
{
	cenote_conn *conn;

	start("sessions = 1\n");
	session_of("ann", ANNS);
	assert_int_equal(cnt_server_restart(&server), 0);
	session_of("ann", ANNS);
	assert_int_equal(cnt_server_shutdown(&server), 0);
	conn = handle(BY_UNIX, "ann", ANNS);
	assert_int_equal(cenote_connect(conn), CENOTE_ERR_CONN);
	assert_int_equal(strncmp(wp_sqlstate(conn), "08", 2), 0);
	assert_int_equal(cnt_server_run(&server), 0);
	assert_ok(cenote_connect(conn));
	assert_string_equal(wp_value(conn, words->who), "ann");
	cenote_conn_destroy(conn);
}

static void
a_reload_takes_nobodys_session_away(void **state)
{
	cenote_conn *conn;

	start("sessions = 1\n");
	conn = attached("ann", ANNS);
	assert_int_equal(
		cnt_daemon_configure(&wp_daemon, config_with("sessions = 1..2\n")), 0);
	assert_int_equal(kill(wp_daemon.pid, SIGHUP), 0);
	wp_await_log("pool main was changed");
	for (int i = 0; i < 20; i++) {
		assert_string_equal(wp_value(conn, words->who), "ann");
		wp_pause_ms(10);
	}
	cenote_conn_destroy(conn);
}

static void
a_cancel_ends_its_users_statement(void **state)
{
	cenote_conn *conn;
	cenote_cancel *cancel;
	cenote_result *res;

	start("sessions = 1\n");
	conn = handle(BY_VERIFIED_TLS, "ann", ANNS);
	assert_ok(cenote_connect(conn));
	assert_ok(cenote_send_query(conn, words->endless, CENOTE_NTS, NULL, NULL));
	assert_ok(cenote_flush(conn));
	wp_pause_ms(100);
	assert_ok(cenote_cancel_create(conn, &cancel));
	assert_ok(cenote_cancel_send(cancel));
	cenote_cancel_destroy(cancel);
	assert_ok(cenote_get_result(conn, &res));
	cenote_result_destroy(res);
	while (cenote_get_result(conn, &res) == CENOTE_OK)
		cenote_result_destroy(res);
	assert_string_equal(wp_value(conn, words->who), "ann");
	cenote_conn_destroy(conn);
}

/* ---- secrets, and those who guess them ---- */

static void
guessing_by_tcp_takes_longer_each_time(void **state)
{
	int64_t begun;

	start("sessions = 2\n");
	begun = wp_now_ms();
	assert_denied(BY_VERIFIED_TLS, "ann", BOBS);
	assert_denied(BY_VERIFIED_TLS, "ann", "guess");
	assert_true(wp_now_ms() - begun >= 750 - WP_CLOCK_MS);
}

static void
no_password_is_sent_where_somebody_may_read_it(void **state)
{
	cenote_conn *conn;

	start("sessions = 1\n");
	conn = handle(BY_TLS, "ann", ANNS);
	assert_int_equal(cenote_connect(conn), CENOTE_ERR_AUTH);
	assert_string_equal(wp_sqlstate(conn), "28000");
	assert_non_null(strstr(wp_message(conn), "tls=verify-full"));
	cenote_conn_destroy(conn);
	/* the client did not even begin a login */
	assert_false(wp_log_has("login refused"));
	await_sessions(0);
}

static void
the_log_has_neither_names_nor_passwords(void **state)
{
	static const char *const not_there[] = { ANNS, BOBS, "my-own-secret" };

	start("sessions = 1\n");
	session_of("ann", ANNS);
	assert_denied(BY_UNIX, "ann", BOBS);
	/* the password is in the field of the name */
	assert_denied(BY_UNIX, "my-own-secret", ANNS);
	wp_await_log("did not accept it (SQLSTATE 28");
	for (size_t i = 0; i < CNT_COUNT(not_there); i++)
		assert_false(wp_log_has(not_there[i]));
}

/* ---- configuration ---- */

static void
what_does_not_go_together_is_told(void **state)
{
	char pool[400];

	(void)snprintf(pool, sizeof(pool),
		"backend = %s\nserver = host=127.0.0.1 user=app\nauth = pass-through\n",
		server.backend);
	assert_config_fault(
		pool, "user: with auth = pass-through, the client has its own");
	(void)snprintf(pool, sizeof(pool),
		"backend = %s\nserver = host=127.0.0.1\nauth = peer, pass-through\n",
		server.backend);
	assert_config_fault(pool, "besides pass-through, auth can only have reject");
	assert_config_fault(
		"backend = sqlite\nserver = path=@DIR@/x.db\nauth = pass-through\n",
		"backend sqlite cannot log in as its clients");
}

#define TEST(name) cmocka_unit_test_teardown(name, wp_teardown)

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(every_way_in_is_as_the_manual_says),
		TEST(a_server_that_asks_for_no_password_lets_nobody_in),
		TEST(a_password_that_is_only_proved_is_proved_to_the_server),
		TEST(a_session_is_its_users_only),
		TEST(users_in_turn_keep_their_sessions),
		TEST(whoever_comes_at_once_is_himself),
		TEST(who_fails_takes_no_session_from_others),
		TEST(nothing_is_left_for_the_same_user),
		TEST(a_session_that_is_yielded_is_had_again_as_the_same_user),
		TEST(more_users_than_sessions_wait_for_each_other),
		TEST(a_suspended_session_is_its_users_only),
		TEST(a_changed_password_is_wrong_once_credential_ttl_has_passed),
		TEST(without_credential_ttl_the_server_is_asked_each_time),
		TEST(an_idle_session_is_logged_out),
		TEST(a_session_that_the_server_ended_is_logged_in_anew),
		TEST(a_reload_takes_nobodys_session_away),
		TEST(a_cancel_ends_its_users_statement),
		TEST(guessing_by_tcp_takes_longer_each_time),
		TEST(no_password_is_sent_where_somebody_may_read_it),
		TEST(the_log_has_neither_names_nor_passwords),
		cmocka_unit_test(what_does_not_go_together_is_told),
		/* these are for MariaDB only */
		TEST(a_user_of_each_plugin_is_himself),
		TEST(a_plugin_that_is_missing_is_no_wrong_password),
	};
	size_t n = CNT_COUNT(tests);

	words = &kinds[argc > 1 && strcmp(argv[1], "mysql") == 0];
	cnt_server_need(words->kind);
	if (words->kind == CNT_POSTGRESQL || cnt_server_is_mysql())
		n -= 2;
	return _cmocka_run_group_tests(
		"pass_through", tests, n, group_setup, group_teardown);
}
