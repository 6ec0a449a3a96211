/* SPDX-License-Identifier: BSD-2-Clause */
/* Server lines, logging in, reset. */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The error of check() for a line of "key=value" words, or "ok". */
static const char *
check_line(const char *line)
{
	static struct cnc_diag diag;
	struct cnd_option options[16];
	struct cnd_server_spec spec = { options, 0 };
	char copy[512], *word, *rest = copy, *value;
	struct my t;
	int r;

	my_init(&t);
	cnc_diag_init(&diag, NULL);
	snprintf(copy, sizeof(copy), "%s", line);
	while ((word = strtok_r(rest, " ", &rest))) {
		value = strchr(word, '=');
		*value++ = 0;
		options[spec.n_options++] = (struct cnd_option){ word, value };
	}
	r = t.base.b->check(&spec, &diag);
	my_finish(&t);
	assert_true(r == CENOTE_OK || r == CENOTE_ERR_ARG);
	return r == CENOTE_OK ? "ok" : diag.message;
}

static void
a_server_line_is_checked(void **state)
{
	static const struct {
		const char *line;
		const char *answer;
	} cases[] = {
		{ "host=db1 port=3307 user=app dbname=app", "ok" },
		{ "socket=/run/mysqld/mysqld.sock user=app password=x", "ok" },
		{ "host=db1 ssl_ca=/etc/ca.pem ssl_verify_server_cert=yes", "ok" },
		{ "host=db1 connect_timeout=5s read_timeout=2min compress=on", "ok" },
		{ "hots=db1", "unknown key \"hots\" for MySQL: did you mean host?" },
		{ "ssl-ca=x", "unknown key \"ssl-ca\" for MySQL: did you mean ssl_ca?" },
		{ "zzzzzzzzzzzz=1",
			"unknown key \"zzzzzzzzzzzz\" for MySQL: the common" },
		{ "host=", "host= is not allowed: it is a text that is not empty" },
		{ "port=0", "port=0 is not allowed: it is a number from 1 to 65535" },
		{ "port=65536", "port=65536 is not allowed" },
		{ "port=12x", "port=12x is not allowed" },
		{ "connect_timeout=5", "connect_timeout=5 is not allowed: it is a time" },
		{ "connect_timeout=1500ms", "connect_timeout=1500ms is not allowed" },
		{ "compress=maybe", "compress=maybe is not allowed: it is yes or no" },
		{ "ssl_mode=on",
			"ssl_mode=on is not allowed: it is disabled, preferred" },
		{ "password=", "the password is empty" },
		{ "socket=/x host=y", "socket cannot be given together with host" },
		{ "user=a password=x passfile=/y", "give password or passfile" },
		{ "passfile=/y", "passfile needs user" },
		{ "user=a passfile=/no/such", "passfile /no/such: No such file" },
		{ "user=a passfile=/tmp", "passfile /tmp: not a plain file" },
		{ "ssl_mode=disabled ssl_ca=/x", "ssl_mode=disabled cannot be given" },
		{ "ssl_cert=/x", "ssl_cert and ssl_key go together" },
		{ "default_group=client", "default_group needs default_file" },
		{ "charset=klingon",
			"the client library does not know the character set" },
	};
	size_t i;

	for (i = 0; i < CNT_COUNT(cases); i++)
		assert_prefix(check_line(cases[i].line), cases[i].answer);
}

static void
write_file(const char *path, const char *text, mode_t mode)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	assert_int_equal(chmod(path, mode), 0);
}

static void
a_password_comes_from_a_file_that_only_its_owner_reads(void **state)
{
	char path[160], line[256];
	struct my t;

	snprintf(path, sizeof(path), "%s/my-passfile", my_server.dir);
	snprintf(line, sizeof(line), "user=locked passfile=%s", path);
	write_file(path,
		"# comment\nlock:no\nlocked2:no\nlocked:" CNT_SERVER_PASSWORD "\r\n",
		0644);
	assert_contains(check_line(line), "others than its owner may read it: chmod 600");
	assert_int_equal(chmod(path, 0600), 0);
	assert_string_equal(check_line(line), "ok");
	my_init(&t);
	my_option(&t, "socket", my_server.socket);
	my_option(&t, "user", "locked");
	my_option(&t, "passfile", path);
	assert_ok(my_login(&t));
	assert_prefix(my_value(&t, "select current_user()"), "locked@");
	my_logout(&t);
	write_file(path, "other:x\n", 0600);
	assert_contains(check_line(line), "has no line locked:PASSWORD");
	assert_int_equal(my_login(&t), CENOTE_ERR_ARG);
	write_file(path, "locked:wrong\n", 0600);
	assert_int_equal(my_login(&t), CENOTE_ERR_CONN);
	assert_int_equal(t.base.diag.native, 1045);
	assert_contains(t.base.diag.message, "Access denied for user 'locked'");
	assert_null(strstr(t.base.diag.message, "wrong"));
	my_finish(&t);
	(void)unlink(path);
}

static void
a_login_that_fails_says_why_and_where(void **state)
{
	struct my t;

	my_init(&t);
	my_option(&t, "socket", "/no/such/socket");
	my_option(&t, "user", "app");
	assert_int_equal(my_login(&t), CENOTE_ERR_CONN);
	assert_contains(t.base.diag.message, "/no/such/socket");
	assert_string_equal(t.base.diag.sqlstate, "08001");
	assert_string_equal(cnc_diag_field(&t.base.diag, 'B'), "/no/such/socket");
	my_finish(&t);
	my_init(&t);
	my_app(&t);
	t.base.options[2].value = "nosuchdb";
	assert_int_equal(my_login(&t), CENOTE_ERR_CONN);
	assert_int_equal(t.base.diag.native, 1044);
	my_finish(&t);
	my_init(&t);
	my_app(&t);
	my_option(&t, "init_command", "select * from nothing_here");
	assert_int_equal(my_login(&t), CENOTE_ERR_CONN);
	assert_contains(t.base.diag.message, "nothing_here");
	my_finish(&t);
}

static void
tls_is_as_the_line_asks_for(void **state)
{
	struct my t;
	char port[8], cert[160], key[160], other[160];

	snprintf(port, sizeof(port), "%d", my_server.port);
	snprintf(cert, sizeof(cert), "%s/client.crt", my_server.certs);
	snprintf(key, sizeof(key), "%s/client.key", my_server.certs);
	snprintf(other, sizeof(other), "%s/other-ca.crt", my_server.certs);
	my_init(&t);
	my_option(&t, "host", "127.0.0.1");
	my_option(&t, "port", port);
	my_option(&t, "user", "tls");
	my_option(&t, "password", CNT_SERVER_PASSWORD);
	my_option(&t, "dbname", "app");
	/* the server requires TLS for this user */
	assert_int_equal(my_login(&t), CENOTE_ERR_CONN);
	my_option(&t, "ssl_ca", my_server.ca);
	my_option(&t, "ssl_verify_server_cert", "yes");
	if (my_login(&t) != CENOTE_OK)
		fail_msg("%s", t.base.diag.message);
	assert_true(strlen(my_value(&t, "select variable_value from "
					"information_schema.session_status where "
					"variable_name = 'Ssl_cipher'")) > 0);
	/* waits are interrupted under TLS as well, and long values pass in both directions */
	t.stop_after_ms = 200;
	assert_prefix(my_query(&t, "select sleep(20)"), "columns");
	assert_int_equal(t.base.last, CENOTE_ERR_SERVER);
	assert_true(strstr(t.base.seen.log, "57014") != NULL);
	t.stop_after_ms = 0;
	assert_string_equal(
		my_value(&t, "select length(repeat('x', 16000000))"), "16000000");
	t.base.count_only = 1;
	(void)my_query(&t, "select seq, repeat('y', 1000) from seq_1_to_20000");
	assert_int_equal(t.base.seen.n_rows, 20000);
	t.base.count_only = 0;
	assert_ok(my_reset(&t));
	my_logout(&t);
	t.base.options[5].value = other;
	assert_int_equal(my_login(&t), CENOTE_ERR_CONN);
	assert_int_equal(t.base.diag.native, 2026);
	my_finish(&t);

	my_init(&t);
	my_option(&t, "host", "127.0.0.1");
	my_option(&t, "port", port);
	my_option(&t, "user", "cert");
	my_option(&t, "ssl_ca", my_server.ca);
	my_option(&t, "ssl_cert", cert);
	my_option(&t, "ssl_key", key);
	if (my_login(&t) != CENOTE_OK)
		fail_msg("%s", t.base.diag.message);
	my_finish(&t);
}

static void
tcp_works_plain_and_compressed(void **state)
{
	struct my t;
	char port[8];
	struct cnd_info info;

	snprintf(port, sizeof(port), "%d", my_server.port);
	my_init(&t);
	my_option(&t, "host", "127.0.0.1");
	my_option(&t, "port", port);
	my_option(&t, "user", "app");
	my_option(&t, "password", CNT_SERVER_PASSWORD);
	my_option(&t, "dbname", "app");
	my_option(&t, "compress", "yes");
	/* for MySQL's caching_sha2_password */
	my_option(&t, "get_server_public_key", "yes");
	if (my_login(&t) != CENOTE_OK)
		fail_msg("%s", t.base.diag.message);
	t.base.count_only = 1;
	(void)my_query(&t, "select seq, repeat('y', 1000) from seq_1_to_20000");
	assert_int_equal(t.base.seen.n_rows, 20000);
	t.base.count_only = 0;
	t.base.b->info(t.base.s, &info);
	assert_prefix(info.server, "127.0.0.1:");
	assert_string_equal(info.database, "app");
	assert_contains(info.server_version, cnt_server_is_mysql() ? "9." : "MariaDB");
	assert_string_equal(info.parameters[0].key, "connection_id");
	assert_string_equal(
		info.parameters[0].value, my_value(&t, "select connection_id()"));
	my_finish(&t);
}

static void
found_rows_count_where_the_line_says_so(void **state)
{
	struct my t;

	my_init(&t);
	my_app(&t);
	my_option(&t, "found_rows", "yes");
	my_option(&t, "init_command",
		"set @from_init = 'yes'; set sql_mode = 'ANSI_QUOTES'");
	assert_ok(my_login(&t));
	(void)my_query(&t, "create or replace table r1 as select 1 as a");
	assert_contains(my_query(&t, "update r1 set a = 1"), "affected=1");
	assert_string_equal(my_set_option(&t, "found_rows", "on"), "ok\n");
	assert_string_equal(my_value(&t, "select @from_init"), "yes");
	(void)my_query(&t, "set @from_init = 'no', sql_mode = ''");
	assert_ok(my_reset(&t));
	assert_string_equal(my_value(&t, "select @from_init"), "yes");
	assert_string_equal(my_value(&t, "select @@sql_mode"), "ANSI_QUOTES");
	(void)my_query(&t, "drop table r1");
	my_finish(&t);
}

static const char *
told_of(struct my *t, const char *key)
{
	struct cnd_info info;

	t->base.b->info(t->base.s, &info);
	for (size_t i = 0; i < info.n_parameters; i++) {
		if (strcmp(info.parameters[i].key, key) == 0)
			return info.parameters[i].value;
	}
	return "";
}

/* Programs escape strings for the character set that the session reports. */
static void
what_the_line_sets_is_told(void **state)
{
	struct my t;

	my_init(&t);
	my_app(&t);
	my_option(&t, "init_command",
		"set autocommit = 0, sql_mode = 'NO_BACKSLASH_ESCAPES'");
	assert_ok(my_login(&t));
	assert_string_equal(told_of(&t, "sql_mode"), "NO_BACKSLASH_ESCAPES");
	assert_string_equal(told_of(&t, "autocommit"), "OFF");
	my_finish(&t);
	my_init(&t);
	my_app(&t);
	assert_ok(my_login(&t));
	assert_string_equal(told_of(&t, "autocommit"), "ON");
	my_finish(&t);
}

/* A client's settings for its login act as if the server line had them, and a reset keeps them. */
static void
a_login_is_what_its_client_wants(void **state)
{
	struct my t;

	my_init(&t);
	my_app(&t);
	t.base.settings = "found_rows=on database=none";
	assert_ok(my_login(&t));
	assert_true(t.base.b->has_settings(t.base.s, "database=none found_rows=on"));
	assert_false(t.base.b->has_settings(t.base.s, "found_rows=on"));
	assert_false(t.base.b->has_settings(t.base.s, "database=none"));
	assert_false(t.base.b->has_settings(t.base.s, "nonsense"));
	assert_string_equal(my_value(&t, "select database() is null"), "1");
	(void)my_query(&t, "create or replace table app.r2 as select 1 as a");
	(void)my_query(&t, "use app");
	assert_contains(my_query(&t, "update r2 set a = 1"), "affected=1");
	assert_string_equal(my_set_option(&t, "mysql_login", t.base.settings), "ok\n");
	assert_ok(my_reset(&t));
	assert_string_equal(my_value(&t, "select database() is null"), "1");
	(void)my_query(&t, "drop table app.r2");
	my_finish(&t);
}

static void
what_a_login_cannot_be_is_refused(void **state)
{
	struct my t;

	my_init(&t);
	my_app(&t);
	t.base.settings = "found_rows=on database=app2";
	assert_int_equal(my_login(&t), CENOTE_ERR_ARG);
	assert_string_equal(t.base.diag.message,
		"mysql_login takes found_rows=on|off and database=none, not "
		"\"database=app2\"");
	my_finish(&t);
}

/* ---- the reset ---- */

static const char probes[] =
	"select concat_ws('|', database(), @@character_set_client, "
	"@@character_set_connection, @@character_set_results, @@collation_connection, "
	"last_insert_id(), row_count(), @a, @@autocommit, @@tx_isolation, "
	"@@tx_read_only, "
	"@@in_transaction, @@insert_id, @@profiling, @@sql_select_limit, @@time_zone, "
	"@@sql_mode, current_role(), current_user(), @@pseudo_thread_id = "
	"connection_id(), is_used_lock('l1'), @@max_statement_time, @@timestamp > 1e9, "
	"(select group_concat(variable_name, '=', session_value order by 1) from "
	"information_schema.system_variables where session_value is not null and "
	"variable_name not in ('TIMESTAMP', 'PSEUDO_THREAD_ID', 'RAND_SEED1', "
	"'RAND_SEED2')))";

static void
assert_same(const char *after, const char *text, const char *expected)
{
	size_t i = 0;

	while (text[i] && text[i] == expected[i])
		i++;
	if (text[i] != expected[i])
		fail_msg("after \"%s\": \"%.80s\", where a new session has \"%.80s\"",
			after, text + (i > 40 ? i - 40 : 0),
			expected + (i > 40 ? i - 40 : 0));
}

/* Log in again, and wait until another session sees that the old session's lock is free: the
 * server may be slow to notice that the old session is gone. */
static void
log_in_anew(struct my *t, struct my *other)
{
	int64_t until = cnt_now_ms() + 20000;

	my_logout(t);
	assert_ok(my_login(t));
	while (strcmp(my_value(other, "select is_used_lock('l1')"), "NULL") != 0 &&
		cnt_now_ms() < until)
		usleep(10000);
}

static void
a_reset_session_is_as_a_new_one(void **state)
{
	static const char *const dirt[] = { "use app2", "use mysql", "set names latin1",
		"set @a = 1", "set autocommit = 0",
		"set session transaction isolation level serializable",
		"set transaction isolation level read committed", "do get_lock('l1', 0)",
		"create temporary table app.tmp1 (a int)", "set timestamp = 1",
		"set insert_id = 55", "set last_insert_id = 77", "set profiling = 1",
		"select 'secret'", "set time_zone = '+03:00', sql_select_limit = 3",
		"prepare ps from 'select 1'", "handler app.ht open",
		"select nextval(app.sq)", "set max_statement_time = 5",
		"signal sqlstate '01000'", "select * from nosuch.nosuch", "savepoint s",
		"lock tables app.ht read", "set session sql_mode = 'ANSI'",
		"begin; insert into app.ht values (1)" };
	struct my *t = *state, fresh;
	char *expected;
	size_t i;

	(void)my_query(t, "create or replace table ht (a int)");
	(void)my_query(t, "create or replace sequence sq");
	/* changes inside a view, which no text of a client shows */
	(void)my_query(t,
		"create or replace function hide() returns int begin set profiling = "
		"1; set @a = 5; set role none; return 1; end");
	(void)my_query(t, "create or replace view hidden as select hide()");
	assert_ok(my_reset(t));
	my_init(&fresh);
	my_app(&fresh);
	my_option(&fresh, "local_infile", "yes");
	assert_ok(my_login(&fresh));
	expected = strdup(my_query(&fresh, probes));
	assert_prefix(expected, "columns");
	for (i = 0; i <= CNT_COUNT(dirt); i++) {
		size_t from = i < CNT_COUNT(dirt) ? i : 0;
		size_t to = i < CNT_COUNT(dirt) ? i + 1 : CNT_COUNT(dirt);

		/* each statement alone, then all of them */
		for (; from < to; from++)
			(void)my_query(t, dirt[from]);
		if (my_reset(t) != CENOTE_OK)
			log_in_anew(t, &fresh);
		assert_int_equal(my_pins(t), 0);
		assert_string_equal(my_tx(t), "idle");
		assert_same(i < CNT_COUNT(dirt) ? dirt[i] : "all", my_query(t, probes),
			expected);
		assert_prefix(my_query(t, "select * from app.tmp1"), "error 42S02");
		assert_prefix(my_query(t, "handler ht read first"), "error ");
		assert_prefix(my_query(t, "execute ps"), "error ");
		assert_string_equal(my_value(t, "select lastval(sq)"), "NULL");
		assert_answer(t, "show profiles",
			"columns Query_ID:UINT64 Duration:DOUBLE Query:TEXT\ndone \n");
		assert_string_equal(my_value(t, "select count(*) from ht"), "0");
		assert_contains(my_query(t, "show warnings"), "TEXT\ndone");
	}
	free(expected);
	(void)my_query(t, "drop table ht");
	(void)my_query(t, "drop sequence sq");
	(void)my_query(t, "drop view hidden");
	(void)my_query(t, "drop function hide");
	my_finish(&fresh);
}

static void
without_a_database_the_next_client_has_none_either(void **state)
{
	struct my t;

	my_init(&t);
	my_app(&t);
	t.base.n_options--;
	assert_ok(my_login(&t));
	assert_string_equal(my_value(&t, "select database()"), "NULL");
	assert_contains(my_query(&t, "use app2"), "parameter database=app2\n");
	assert_string_equal(my_value(&t, "select database()"), "app2");
	assert_ok(my_reset(&t));
	assert_string_equal(my_value(&t, "select database()"), "NULL");
	assert_contains(
		my_select_database(&t, "app"), "parameter database=app\ndone USE");
	assert_string_equal(my_value(&t, "select database()"), "app");
	assert_prefix(my_select_database(&t, "nosuch"), "error ");
	assert_ok(my_reset(&t));
	assert_string_equal(my_value(&t, "select database()"), "NULL");
	my_finish(&t);
}

/* MariaDB's own reset would leave half of the XA transaction in the session. What follows would
 * fail with error 1031. */
static void
an_xa_transaction_needs_a_new_login(void **state)
{
	struct my *t = *state;

	(void)my_query(t, "create table branch (a int) engine=innodb");
	(void)my_query(t, "xa start 'a'");
	(void)my_query(t, "insert into branch values (1)");
	(void)my_query(t, "xa end 'a'");
	(void)my_query(t, "xa prepare 'a'");
	/* MySQL's own reset leaves nothing of it in the session */
	assert_int_equal(
		my_reset(t), cnt_server_is_mysql() ? CENOTE_OK : CENOTE_ERR_UNSUPPORTED);
	if (!cnt_server_is_mysql()) {
		my_logout(t);
		assert_ok(my_login(t));
	}
	/* the server may still be ending the session that prepared the transaction */
	for (int i = 0; i < 200 && strncmp(my_query(t, "xa commit 'a'"), "error", 5) == 0;
		i++)
		usleep(20000);
	assert_contains(my_query(t, "select * from branch"), "1");
	assert_ok(my_reset(t));
	(void)my_query(t, "drop table branch");
}

/* Profiling keeps the texts of statements after its end, even if it began and ended in a
 * procedure. */
static void
profiles_need_a_new_login(void **state)
{
	struct my *t = *state;

	(void)my_query(t,
		"create or replace procedure profiled() begin set profiling = 1; "
		"set @a = 'secret'; set @b = 'secret'; set profiling = 0; end");
	(void)my_query(t, "call profiled(); drop procedure profiled");
	assert_contains(my_query(t, "show profiles"), "secret");
	assert_int_equal(my_reset(t), CENOTE_ERR_UNSUPPORTED);
	my_logout(t);
	assert_ok(my_login(t));
	(void)my_query(t, "set profiling = 1, profiling_history_size = 0");
	assert_int_equal(my_reset(t), CENOTE_ERR_UNSUPPORTED);
	my_logout(t);
	assert_ok(my_login(t));
	if (cnt_server_is_mysql())
		return;
	/* after COM_CHANGE_USER, MariaDB goes on profiling but shows @@profiling as 0 */
	(void)my_query(t, "set profiling = 1");
	(void)my_change_user(t, "locked", CNT_SERVER_PASSWORD, "app");
	assert_string_equal(my_value(t, "select @@profiling"), "0");
	(void)my_query(t, "set profiling_history_size = 0");
	assert_int_equal(my_reset(t), CENOTE_ERR_UNSUPPORTED);
	my_logout(t);
	assert_ok(my_login(t));
}

/* A reset undoes a role that a function took, however `sql` calls that function. */
static void
assert_role_is_given_back(struct my *t, const char *sql)
{
	uint32_t pins;

	assert_contains(my_query(t, sql), "424242");
	/* no other statement has pinned the session yet */
	pins = my_pins(t);
	assert_ok(my_reset(t));
	assert_string_equal(my_value(t, "select nullif(current_role(), 'NONE')"), "NULL");
	assert_true(pins & CENOTE_PIN_FUNCTION);
}

static void
make_taker(struct my *t, const char *name)
{
	char sql[200];

	snprintf(sql, sizeof(sql),
		"create function `%s`(a int) returns int begin set role taken; return "
		"424242; end",
		name);
	assert_prefix(my_query(t, sql), "done");
	assert_ok(my_reset(t));
}

static void
stored_functions_of_built_in_names_are_not_pure(void **state)
{
	static const char *const names[] = { "count", "point", "json_table", "trim",
		"against", "lag" };
	struct my *t = *state;
	char sql[200];

	assert_int_equal(
		cnt_server_sql(&my_server, "create or replace role taken; grant taken to "
					   "app@localhost; grant all on app.* to taken"),
		0);
	for (size_t i = 0; i < CNT_COUNT(names); i++) {
		make_taker(t, names[i]);
		snprintf(sql, sizeof(sql), "select %s (1)", names[i]);
		assert_role_is_given_back(t, sql);
		snprintf(sql, sizeof(sql), "select %s/* */(1)", names[i]);
		assert_role_is_given_back(t, sql);
		snprintf(sql, sizeof(sql), "drop function `%s`", names[i]);
		assert_prefix(my_query(t, sql), "done");
	}
	/* native functions of the server leave nothing */
	assert_ok(my_reset(t));
	assert_prefix(
		my_query(t, "select upper('x'), count(*), lag(1) over (order by 1)"),
		"columns");
	assert_int_equal(my_pins(t), 0);
	assert_int_equal(cnt_server_sql(&my_server, "drop role taken"), 0);
}

/* In GBK, \xbf and a backslash are one character, so the quote after them ends the text. In
 * Latin-1, \xa0 is a blank. */
static void
a_character_set_hides_no_call(void **state)
{
	struct my t;

	assert_int_equal(
		cnt_server_sql(&my_server, "create or replace role taken; grant taken to "
					   "app@localhost; grant all on app.* to taken"),
		0);
	my_init(&t);
	my_app(&t);
	my_option(&t, "charset", "gbk");
	assert_ok(my_login(&t));
	make_taker(&t, "taker");
	assert_role_is_given_back(&t, "select '\xbf\\', taker(1) -- '");
	assert_prefix(my_query(&t, "drop function taker"), "done");
	my_finish(&t);
	my_init(&t);
	my_app(&t);
	my_option(&t, "charset", "latin1");
	assert_ok(my_login(&t));
	assert_prefix(my_query(&t, "select 1\xa0into\xa0@a"), "done");
	assert_true(my_pins(&t) != 0);
	my_finish(&t);
	assert_int_equal(cnt_server_sql(&my_server, "drop role taken"), 0);
}

/* The server's own reset sets the variable back, but the server's socket keeps the time limit. */
static void
a_time_limit_of_the_socket_is_undone(void **state)
{
	struct my *t = *state;

	assert_prefix(my_query(t, "set net_write_timeout = 1"), "done");
	assert_ok(my_reset(t));
	t->base.count_only = 1;
	t->rest_ms = 4000;
	assert_contains(
		my_query(t, "select repeat('x', 1000000) from seq_1_to_40"), "done");
	t->rest_ms = 0;
	t->base.count_only = 0;
	assert_string_equal(my_value(t, "select 1"), "1");
}

/* The server does not report that a database was made anew. The session would keep the character
 * set of the former one. */
static void
a_database_that_was_made_anew_needs_a_new_login(void **state)
{
	struct my t;

	assert_int_equal(
		cnt_server_sql(&my_server,
			"create database turned; grant all on turned.* to app@localhost"),
		0);
	my_init(&t);
	my_app(&t);
	t.base.options[2].value = "turned";
	assert_ok(my_login(&t));
	assert_string_equal(my_value(&t, "select 7"), "7");
	assert_ok(my_reset(&t));
	/* a database that is still the same changes nothing */
	usleep(1200000);
	assert_string_equal(my_value(&t, "select 7"), "7");
	assert_ok(my_reset(&t));
	assert_int_equal(cnt_server_sql(&my_server, "drop database turned; create "
						    "database turned character set "
						    "latin2"),
		0);
	usleep(1200000);
	assert_string_equal(my_value(&t, "select 7"), "7");
	assert_int_equal(my_reset(&t), CENOTE_ERR_UNSUPPORTED);
	my_logout(&t);
	assert_ok(my_login(&t));
	assert_string_equal(
		my_value(&t, "select @@collation_database"), "latin2_general_ci");
	my_finish(&t);
	assert_int_equal(cnt_server_sql(&my_server, "drop database turned"), 0);
}

/* Play a client whose statements leave nothing in the session, and reset the session. */
static void
be_harmless(struct my *t)
{
	assert_string_equal(my_value(t, "select 7"), "7");
	assert_prefix(my_query(t, "select nothing_of_that_name"), "error 42S22");
	assert_ok(my_reset(t));
}

/* Change a global variable. A session has the new value only if its reset runs after this. */
static void
set_for_new_sessions(int seconds)
{
	char sql[64];

	snprintf(sql, sizeof(sql), "set global net_write_timeout = %d", seconds);
	assert_int_equal(cnt_server_sql(&my_server, sql), 0);
}

#if MY_LIBRARY_IS_ORACLES

static void
a_reset_cannot_wait(void **state)
{
	struct my *t = *state;

	assert_ok(my_reset(t));
	be_harmless(t);
	set_for_new_sessions(77);
	assert_string_equal(my_value(t, "select @@net_write_timeout"), "60");
	set_for_new_sessions(60);
}

#else

static void
a_reset_that_can_wait_comes_with_the_next_question(void **state)
{
	static const char seconds[] = "select @@net_write_timeout";
	static const char traces[] = "select row_count(), @@error_count";
	struct my *t = *state, fresh;
	char as_new[200];

	my_init(&fresh);
	my_app(&fresh);
	assert_ok(my_login(&fresh));
	snprintf(as_new, sizeof(as_new), "%s", my_query(&fresh, traces));
	my_finish(&fresh);
	assert_ok(my_reset(t));
	be_harmless(t);
	set_for_new_sessions(77);
	assert_string_equal(my_value(t, seconds), "77");
	be_harmless(t);
	assert_answer(t, traces, as_new);
	be_harmless(t);
	/* a second reset without a request in between */
	assert_ok(my_reset(t));
	set_for_new_sessions(78);
	t->base.is_extended = 1;
	assert_contains(my_query(t, seconds), "row 78\n");
	t->base.is_extended = 0;
	/* a reset after a query in the extended form runs at once */
	assert_ok(my_reset(t));
	set_for_new_sessions(60);
	assert_string_equal(my_value(t, seconds), "78");
}

#endif

static void
what_others_could_feel_is_reset_at_once(void **state)
{
	static const char *const texts[] = { "select get_lock('felt', 0)",
		"select @felt := 1", "set autocommit = 0", "begin", "do 1" };
	struct my *t = *state;

	for (size_t i = 0; i < CNT_COUNT(texts); i++) {
		assert_ok(my_reset(t));
		(void)my_query(t, texts[i]);
		set_for_new_sessions(60);
		assert_ok(my_reset(t));
		set_for_new_sessions(77);
		assert_string_equal(my_value(t, "select @@net_write_timeout"), "60");
	}
	set_for_new_sessions(60);
}

static void
a_session_that_ends_while_its_reset_waits_is_lost(void **state)
{
	struct my *t = *state;
	char sql[64];

	assert_ok(my_reset(t));
	snprintf(sql, sizeof(sql), "kill %s", my_value(t, "select connection_id()"));
	assert_ok(my_reset(t));
	assert_int_equal(cnt_server_sql(&my_server, sql), 0);
	assert_prefix(my_query(t, "select 7"), "error lost ");
	assert_int_equal(t->base.last, CENOTE_ERR_CONN);
}

static void
another_user_is_undone(void **state)
{
	struct my *t = *state;

	(void)my_prepare(t, 1, "select 1");
	(void)my_query(t, "set autocommit = 0");
	assert_contains(my_change_user(t, "locked", CNT_SERVER_PASSWORD, "app2"),
		"done CHANGE USER");
	assert_contains(t->base.seen.log, "parameter autocommit=ON\n");
	assert_contains(t->base.seen.log, "parameter sql_mode=");
	assert_prefix(my_value(t, "select current_user()"), "locked@");
	assert_string_equal(my_value(t, "select database()"), "app2");
	assert_prefix(my_execute(t, 1, 0, NULL, 0), "error 26000");
	assert_true(my_pins(t) != 0);
	/* on MySQL, nobody can tell that the resource group is that of a login */
	if (cnt_server_is_mysql()) {
		assert_int_equal(my_reset(t), CENOTE_ERR_UNSUPPORTED);
		my_logout(t);
		assert_ok(my_login(t));
	}
	assert_ok(my_reset(t));
	assert_prefix(my_value(t, "select current_user()"), "app@");
	assert_string_equal(my_value(t, "select database()"), "app");
	assert_contains(my_change_user(t, "locked", "wrong", "app2"), "error ");
	if (t->base.last == CENOTE_ERR_CONN)
		return;
	/* MySQL closes the connection then */
	if (cnt_server_is_mysql()) {
		assert_prefix(my_query(t, "select 1"), "error lost ");
		return;
	}
	/* the failed change of user has reset the settings all the same */
	assert_contains(t->base.seen.log, "parameter autocommit=ON\n");
	/* the server counts failed changes of user, and refuses further ones in the end */
	assert_int_equal(my_reset(t), CENOTE_ERR_UNSUPPORTED);
}

#define T(name) cmocka_unit_test_setup_teardown(name, my_setup, my_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_server_line_is_checked),
		cmocka_unit_test(a_password_comes_from_a_file_that_only_its_owner_reads),
		cmocka_unit_test(a_login_that_fails_says_why_and_where),
		cmocka_unit_test(tls_is_as_the_line_asks_for),
		cmocka_unit_test(tcp_works_plain_and_compressed),
		cmocka_unit_test(found_rows_count_where_the_line_says_so),
		cmocka_unit_test(what_the_line_sets_is_told),
		cmocka_unit_test(a_login_is_what_its_client_wants),
		cmocka_unit_test(what_a_login_cannot_be_is_refused),
		T(a_reset_session_is_as_a_new_one),
		cmocka_unit_test(without_a_database_the_next_client_has_none_either),
		T(an_xa_transaction_needs_a_new_login),
		T(profiles_need_a_new_login),
		T(stored_functions_of_built_in_names_are_not_pure),
		cmocka_unit_test(a_character_set_hides_no_call),
		T(a_time_limit_of_the_socket_is_undone),
		cmocka_unit_test(a_database_that_was_made_anew_needs_a_new_login),
#if MY_LIBRARY_IS_ORACLES
		T(a_reset_cannot_wait),
#else
		T(a_reset_that_can_wait_comes_with_the_next_question),
#endif
		T(what_others_could_feel_is_reset_at_once),
		T(a_session_that_ends_while_its_reset_waits_is_lost),
		T(another_user_is_undone),
	};

	return my_main(tests, CNT_COUNT(tests), "mysql_session", CNT_SERVER_TCP);
}
