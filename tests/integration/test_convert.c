/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cenotectl convert: what becomes of a pgbouncer.ini and of a sqlrelay.conf, that cenoted accepts the result, and that psql gets
 * its rows from a converted pool of a real PostgreSQL.
 */
#include "with_pool.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The directory of the running test. */
static char dir[64];
static char result[65536]; /* the cenoted.conf */
static char notes[65536]; /* what cenotectl said of it */

static int
setup(void **state)
{
	snprintf(dir, sizeof(dir), "/tmp/cenote-convert-XXXXXX");
	return mkdtemp(dir) != NULL ? 0 : -1;
}

static int
teardown(void **state)
{
	cnt_remove_tree(dir);
	return 0;
}

/* A test with a daemon. */
static int
teardown_pool(void **state)
{
	int r = wp_teardown(state);

	cnt_remove_tree(dir);
	return r;
}

static const char *
path_of(const char *name)
{
	static char paths[4][128];
	static unsigned next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", dir, name);
	return path;
}

static void
write_file(const char *name, const char *text)
{
	FILE *f = fopen(path_of(name), "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static void
read_file(const char *name, char *text, size_t size)
{
	FILE *f = fopen(path_of(name), "r");
	size_t n;

	assert_non_null(f);
	n = fread(text, 1, size - 1, f);
	text[n] = '\0';
	(void)fclose(f);
}

/* Run a command in the directory of the test. Its exit status. */
__attribute__((format(printf, 1, 2))) static int
run(const char *format, ...)
{
	char command[2048], line[2304];
	va_list args;
	int status;

	va_start(args, format);
	/* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is initialized */
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	snprintf(line, sizeof(line), "cd %s && { %s; } >out 2>err", dir, command);
	status = system(line);
	read_file("out", result, sizeof(result));
	read_file("err", notes, sizeof(notes));
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* cenotectl convert with these words. */
static void
convert(int status, const char *words)
{
	int r = run("%s convert %s", CNT_CENOTECTL_PATH, words);

	if (r != status)
		fail_msg("convert %s: status %d: %s", words, r, notes);
}

static void
expect(const char *where, const char *text)
{
	if (strstr(where, text) == NULL)
		fail_msg("\"%s\" is not in: %s", text, where);
}

static void
expect_not(const char *where, const char *text)
{
	if (strstr(where, text) != NULL)
		fail_msg("\"%s\" is in: %s", text, where);
}

/* cenoted accepts the result of the conversion. It finds the modules of its backends in the build directory. */
static void
expect_accepted(void)
{
	write_file("cenoted.conf", result);
	assert_int_equal(chmod(path_of("cenoted.conf"), 0600), 0);
	if (run("XDG_RUNTIME_DIR=%s CENOTE_BACKEND_DIR=%s %s --check -c cenoted.conf",
		    dir, CNT_MODULE_DIRS, CNT_CENOTED_PATH) != 0)
		fail_msg("cenoted refuses it: %s", notes);
}

/* ---- PgBouncer ---- */

static void
databases_become_pools(void **state)
{
	write_file("userlist.txt",
		"; comment\n\"app\" \"sec\"\"ret\" \"\"\n"
		"\"old\" \"md545f2603610af569b6155c45067268c6b\"\n"
		"\"ready\" \"SCRAM-SHA-256$4096:AAAAAAAAAAAAAAAAAAAAAA==$"
		"YWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWE=:"
		"YWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWE=\"\n");
	write_file("pools.ini",
		"app = host=127.0.0.1 port=5433 dbname=prod user=app pool_size=5 "
		"reserve_pool=2 timezone='Europe/Berlin' datestyle='ISO, DMY'\n"
		"quoted = user=u server_lifetime=0 password='it''s ; it'\n"
		"twice = host=first\n"
		"twice = host=10.0.0.1,10.0.0.2 max_db_connections=30 "
		"server_lifetime=60\n");
	write_file("pgbouncer.ini",
		"[databases]\n%include pools.ini\n"
		"[users]\napp = pool_mode=transaction\n"
		"[pgbouncer]\nlisten_addr = 127.0.0.1, ::1\nlisten_port = 6433\n"
		"auth_type = md5\nauth_file = userlist.txt\nmin_pool_size = 1\n"
		"query_timeout = 2.5\nserver_lifetime = 1200\nlogfile = /tmp/x;y.log\n"
		"idle_transaction_timeout = 30\nmax_client_conn = 500\n"
		"server_tls_sslmode = require\n");
	convert(0, "--users users pgbouncer.ini");
	expect(result, "log                 = /tmp/x;y.log\n");
	expect(result, "listen              = 127.0.0.1:6433\n");
	expect(result, "listen              = [::1]:6433\n");
	expect(result, "socket_mode         = 0777\n");
	expect(result,
		"\n[pool app]\nbackend             = postgresql\n"
		"server              = host=127.0.0.1 port=5433 dbname=prod user=app "
		"password=sec\"ret sslmode=require options='-c datestyle=ISO,\\\\ DMY -c "
		"timezone=Europe/Berlin'\n"
		"sessions            = 1..7\nmode                = transaction\n"
		"queue_timeout       = 120s\nidle_ttl            = 600s\n"
		"max_lifetime        = 1200s\nidle_transaction_timeout = 30s\n"
		"query_timeout       = 2500ms\nauth_timeout        = 60s\n"
		"auth                = scram-sha-256\n"
		"auth                = scram-sha-256 tls=no\n"
		"allow_users         = *\n");
	expect(result, "server              = dbname=quoted user=u password='it\\'s \\; "
		       "it' sslmode=require\n");
	expect(result,
		"[pool twice]\nbackend             = postgresql\n"
		"server              = host=10.0.0.1 dbname=twice sslmode=require\n"
		"server              = host=10.0.0.2 dbname=twice sslmode=require\n"
		"sessions            = 1..30\n");
	expect(result, "max_lifetime        = 60s\n");
	expect(result, "max_lifetime        = 1s\n");
	expect(result, "auth                = pass-through\n");
	expect_not(result, "first");
	expect(notes,
		"pgbouncer.ini:15: max_client_conn: not converted: see max_waiting");
	expect(notes, "user old is not in the users file: nobody can make a SCRAM");
	expect(notes, "pools.ini:4: twice: without user=, clients send their passwords");
	expect_accepted();
	read_file("users", result, sizeof(result));
	expect(result, "app:SCRAM-SHA-256$4096:");
	expect(result, "\nready:SCRAM-SHA-256$4096:AAAAAAAA");
	expect_not(result, "old");
}

/* Without --users, passwords of clients are not converted. Then no client gets in that PgBouncer would refuse. */
static void
nobody_new_gets_in(void **state)
{
	static const struct {
		const char *settings, *auth;
	} cases[] = {
		{ "auth_type = md5\n", "; auth = scram-sha-256, with a users file\n" },
		{ "auth_type = hba\nauth_hba_file = x\n",
			"auth                = reject" },
		{ "auth_type = pam\n", "auth                = reject\n" },
		{ "auth_type = trust\n", "auth                = reject\n" },
		{ "auth_type = trust\nauth_file = userlist.txt\nlisten_addr = *\n",
			"auth                = trust user=app,other\n"
			"auth                = trust door=tcp user=app,other\n" },
	};
	char ini[512];

	write_file("userlist.txt", "\"app\" \"a\"\n\"o t\" \"b\"\n\"other\" \"c\"\n");
	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		snprintf(ini, sizeof(ini),
			"[databases]\ndb = host=x user=app\n[pgbouncer]\n%s",
			cases[i].settings);
		write_file("pgbouncer.ini", ini);
		convert(0, "pgbouncer.ini");
		expect(result, cases[i].auth);
		if (strstr(cases[i].auth, "trust") == NULL)
			expect_not(result, "allow_users");
		expect_accepted();
	}
	write_file("pgbouncer.ini",
		"[databases]\ndb = host=x\n[pgbouncer]\nauth_type = any\n");
	convert(0, "pgbouncer.ini");
	expect(result, "auth                = reject\n");
	expect(notes, "pool db refuses all clients");
}

/* ---- SQL Relay ---- */

static void
instances_become_pools(void **state)
{
	write_file("sqlrelay.conf",
		"<?xml version=\"1.0\"?>\n<!DOCTYPE instances SYSTEM \"sqlrelay.dtd\">\n"
		"<instances>\n"
		"<instance id=\"orders\" dbase=\"postgresql\" connections=\"3\" "
		"maxconnections=\"15\" ttl=\"30\"\n listenertimeout=\"20\">\n"
		"<listeners><listener port=\"9100\" "
		"addresses=\"127.0.0.1\"/></listeners>\n"
		"<users><user user=\"web\" password=\"water\"/></users>\n"
		"<connections><connection string=\"user=app;password=a&amp;b;host=db1;"
		"db=orders;typemangling=yes\"/>\n"
		"<connection "
		"string=\"user=app;password='x;y';host=first;host=db2;db=orders\" "
		"metric=\"3\"/></connections></instance>\n"
		"<instance id=\"notes\" dbase=\"sqlite\" port=\"9101\" "
		"deniedips=\".*\">\n"
		"<connections><connection string=\"db=/tmp/notes.db\"/></connections>\n"
		"<filters><filter module=\"regex\"/></filters></instance>\n"
		"<instance id=\"legacy\"><connections><connection "
		"string=\"user=scott;password=tiger\"/></connections></instance>\n"
		"</instances>\n");
	convert(0, "--users users sqlrelay.conf");
	expect(result, "listen              = 127.0.0.1:9100\n"
		       "listen              = *:9101\n");
	expect(result,
		"[pool orders]\nbackend             = postgresql\n"
		"server              = user=app password=a&b host=db1 dbname=orders\n"
		"server              = user=app password='x\\;y' host=db2 dbname=orders\n"
		"sessions            = 3..15\nidle_ttl            = 30s\n"
		"queue_timeout       = 20s\nsuspend_timeout     = 600s\n"
		"auth                = scram-sha-256 user=web\n"
		"auth                = scram-sha-256 tls=no user=web\n"
		"allow_users         = *\n");
	expect(result, "[pool notes]\nbackend             = sqlite\n"
		       "server              = path=/tmp/notes.db\n"
		       "sessions            = 5..5\n");
	expect(result, "deny                = 0.0.0.0/0, ::/0\n"
		       "auth                = reject\n");
	expect_not(result, "legacy");
	expect(notes, "sqlrelay.conf:8: typemangling: no counterpart");
	expect(notes, "sqlrelay.conf:9: metric: not converted: see weight=");
	expect(notes, "sqlrelay.conf:12: filter: not converted: see rule");
	expect(notes, "sqlrelay.conf:13: legacy: there is no pool for it");
	expect_accepted();
	read_file("users", result, sizeof(result));
	expect(result, "web:SCRAM-SHA-256$4096:");
}

/* ---- what is refused ---- */

static void
wrong_files_are_refused(void **state)
{
	static const struct {
		const char *text, *said;
	} cases[] = {
		{ "", "there is nothing to make a pool of" },
		{ "[pgbouncer]\nlisten_port = 1\n",
			"there is nothing to make a pool of" },
		{ "a = b\n", "file:1: a setting comes before any section" },
		{ "[databases]\nx\n", "file:2: this line is neither a section nor" },
		{ "[databases\n", "file:1: a section is a name in brackets" },
		{ "[databases]\n%include missing\n",
			"file:2: %include: missing: No such file" },
		{ "[databases]\n%include file\n", "files include each other too deeply" },
		{ "[databases]\nx = host\n", "file:2: x: this is not a list of" },
		{ "[databases]\nx = host='a'b\n", "file:2: x: this is not a list of" },
		{ "[databases]\nadmin = host=x\n", "file:2: admin: there is no pool" },
		{ "[databases]\n\"a\x1b[2J\" = host=x\n", "file:2: a\\x1b[2J: there is" },
		{ "[databases]\nx = dbname=a\x01 b=c\n",
			"file:2: x: there is no pool for it: it has no server" },
		{ "<instances>", "file:1: the XML cannot be read: no element found" },
		{ "<!DOCTYPE a [<!ENTITY x \"y\">]>\n<a>&x;</a>",
			"the XML cannot be read: it declares an entity" },
		{ "<instances/>", "there is nothing to make a pool of" },
		{ "<instances><instance id='x' dbase='sqlite'/></instances>",
			"file:1: x: there is no pool for it: it has no server" },
	};

	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		write_file("file", cases[i].text);
		convert(1, "file");
		expect(notes, cases[i].said);
		assert_string_equal(result, "");
	}
	convert(1, "nowhere");
	expect(notes, "cenotectl: nowhere: No such file");
	convert(2, "");
	convert(2, "a b");
	convert(2, "--what a");
	convert(0, "--help");
}

/* A value that cenoted.conf would read as something else is not written. */
static void
values_stay_values(void **state)
{
	write_file("pgbouncer.ini",
		"[databases]\ndb = host=x\n[pgbouncer]\nlogfile = /tmp/a ;b\n"
		"unix_socket_group = ;g\nlisten_addr = a b]\nlisten_port = 0\n"
		"unix_socket_mode = 0999\nclient_login_timeout = 0\nquery_timeout = "
		"soon\nserver_connect_timeout = 0.0001\n");
	convert(0, "pgbouncer.ini");
	expect(result, "login_timeout       = 1ms\n");
	expect(notes, "pgbouncer.ini:4: log: cenoted.conf cannot hold this value");
	expect(notes, "pgbouncer.ini:5: socket_group: cenoted.conf cannot hold");
	expect(notes, "pgbouncer.ini:6: listen: \"b]\" is not an address");
	expect(notes, "pgbouncer.ini:6: listen: \"0\" is not a port");
	expect(notes, "pgbouncer.ini:8: unix_socket_mode: \"0999\" is not a mode");
	expect(notes, "pgbouncer.ini:9: client_login_timeout: a login needs");
	expect(notes, "pgbouncer.ini:10: query_timeout: \"soon\" is not a number");
	expect_accepted();
	write_file("sqlrelay.conf",
		"<instances><instance id='x' dbase='sqlite' runasuser='a&#10;user = "
		"root'>"
		"<connections><connection string='db=/tmp/a&#10;auth = trust'/>"
		"<connection string='db=/tmp/b'/></connections></instance></instances>");
	convert(0, "sqlrelay.conf");
	expect_not(result, "root");
	expect_not(result, "trust");
	expect_accepted();
}

static void
a_users_file_is_not_overwritten(void **state)
{
	struct stat st;

	write_file("userlist.txt", "\"app\" \"a\"\n");
	write_file("pgbouncer.ini", "[databases]\ndb = host=x user=app\n[pgbouncer]\n"
				    "auth_file = userlist.txt\n");
	write_file("users", "mine\n");
	convert(1, "--users users pgbouncer.ini");
	expect(notes, "/users: File exists");
	assert_string_equal(result, "");
	read_file("users", result, sizeof(result));
	assert_string_equal(result, "mine\n");
	assert_int_equal(unlink(path_of("users")), 0);
	convert(0, "--users users pgbouncer.ini");
	assert_int_equal(stat(path_of("users"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
}

/* ---- a converted pool ---- */

/* psql, with the shim in place of libpq. Its exit status. */
static int
psql(const char *password, const char *sql)
{
	return run("LD_LIBRARY_PATH=%s CENOTE_SERVER=unix:%s "
		   "CENOTE_CLIENT_CONF=/nonexistent "
		   "PGPASSWORD=%s psql -XAtw -U alice -d app -c \"%s\"",
		CNT_SHIM_DIR, wp_daemon.run_dir, password, sql);
}

static void
psql_runs_on_a_converted_pool(void **state)
{
	struct cnt_server server;
	static char config[65536];
	char ini[1024];
	const char *lines;

	assert_int_equal(cnt_server_start(&server, CNT_POSTGRESQL, 0), 0);
	write_file("userlist.txt", "\"alice\" \"rabbit\"\n");
	snprintf(ini, sizeof(ini),
		"[databases]\napp = host=%s port=%d user=app\n[pgbouncer]\n"
		"pool_mode = transaction\nauth_type = scram-sha-256\n"
		"auth_file = userlist.txt\ndefault_pool_size = 2\n",
		server.run_dir, server.port);
	write_file("pgbouncer.ini", ini);
	convert(0, "--users users pgbouncer.ini");
	lines = strstr(result, "[cenoted]\n");
	assert_non_null(lines);
	snprintf(config, sizeof(config), "%s%s", CNT_DAEMON_GLOBAL,
		lines + strlen("[cenoted]\n"));
	/* the workers read the directory; the master reads the users file */
	assert_int_equal(chmod(dir, 0711), 0);
	wp_start(config);
	if (psql("rabbit", "select current_user, 6 * 7") != 0)
		fail_msg("psql: %s", notes);
	assert_string_equal(result, "app|42\n");
	assert_int_not_equal(psql("hare", "select 1"), 0);
	expect(notes, "password");
	cnt_server_stop(&server);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(databases_become_pools, setup, teardown),
		cmocka_unit_test_setup_teardown(nobody_new_gets_in, setup, teardown),
		cmocka_unit_test_setup_teardown(instances_become_pools, setup, teardown),
		cmocka_unit_test_setup_teardown(wrong_files_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(values_stay_values, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_users_file_is_not_overwritten, setup, teardown),
		cmocka_unit_test_setup_teardown(
			psql_runs_on_a_converted_pool, setup, teardown_pool),
	};

	cnt_server_need(CNT_POSTGRESQL);
	/* meson names the shim's directory, in which cenoted would find it */
	cnt_clean_environment();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
