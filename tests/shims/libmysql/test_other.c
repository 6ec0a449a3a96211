/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "library.h"
#include "support/cnt_daemon.h"
#include "support/cnt_server.h"

/* Pools of other servers as MySQL's API shows them: types, values, errors and lists.
 * Built for each flavour. */

struct fixture {
	struct cmy_original f;
	struct cnt_server server;
	struct cnt_daemon daemon;
	char text[8192];
};

static int
setup(void **state)
{
	static struct fixture f;
	char config[1024], server[160];

	cnt_clean_environment();
	if (cnt_server_start(&f.server, CNT_POSTGRESQL, 0) < 0 ||
		cnt_daemon_start(&f.daemon, cnt_server_config(&f.server,
						    "sessions = 1..4\n"
						    "\n[pool lite]\n"
						    "backend = sqlite\n"
						    "server = path=@DIR@/lite.db\n"
						    "sessions = 1..4\n",
						    config, sizeof(config))) < 0)
		return -1;
	cnt_library_open(&f.f, CNT_OURS);
	snprintf(server, sizeof(server), "unix:%s", f.daemon.run_dir);
	setenv("CENOTE_SERVER", server, 1);
	unsetenv("CENOTE_FALLBACK");
	unsetenv("CENOTE_CLIENT_CONF");
	unsetenv("CENOTE_MYSQL_MAP_DATE_TO_DATETIME");
	*state = &f;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;
	int r = cnt_daemon_stop(&f->daemon);

	cnt_server_stop(&f->server);
	return r;
}

static MYSQL *
connected_to(struct fixture *f, const char *db)
{
	MYSQL *my = f->f.mysql_init(NULL);

	assert_non_null(my);
	if (!f->f.mysql_real_connect(my, NULL, "app", NULL, db, 0, NULL, 0))
		fail_msg("%s", f->f.mysql_error(my));
	return my;
}

static MYSQL *
connected(struct fixture *f, const char *pool)
{
	setenv("CENOTE_POOL", pool, 1);
	return connected_to(f, NULL);
}

static void add(struct fixture *f, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void
add(struct fixture *f, const char *format, ...)
{
	size_t n = strlen(f->text);
	va_list args;

	va_start(args, format);
	vsnprintf(f->text + n, sizeof(f->text) - n, format, args);
	va_end(args);
}

/* A result as text: name:type of each column, then the rows. */
static const char *
shown(struct fixture *f, MYSQL_RES *res)
{
	MYSQL_FIELD *field;
	MYSQL_ROW row;

	f->text[0] = '\0';
	assert_non_null(res);
	while ((field = f->f.mysql_fetch_field(res)))
		add(f, "%s:%d%s ", field->name, (int)field->type,
			field->charsetnr == 63 ? "" : "t");
	while (res->data && (row = f->f.mysql_fetch_row(res))) {
		add(f, "\n");
		for (unsigned i = 0; i < f->f.mysql_num_fields(res); i++)
			add(f, "%lu %s|", f->f.mysql_fetch_lengths(res)[i],
				row[i] ? row[i] : "NULL");
	}
	f->f.mysql_free_result(res);
	return f->text;
}

static const char *
asked(struct fixture *f, MYSQL *my, const char *sql)
{
	if (f->f.mysql_query(my, sql) != 0) {
		snprintf(f->text, sizeof(f->text), "%u %s", f->f.mysql_errno(my),
			f->f.mysql_sqlstate(my));
		return f->text;
	}
	if (f->f.mysql_field_count(my) == 0) {
		snprintf(f->text, sizeof(f->text), "affected %lld",
			(long long)f->f.mysql_affected_rows(my));
		return f->text;
	}
	return shown(f, f->f.mysql_store_result(my));
}

static void
postgresql_is_seen_as_mysql(void **state)
{
	struct fixture *f = *state;
	MYSQL *my = connected(f, "main");

	assert_string_equal(
		asked(f, my,
			"select true as a, 7::int4 as b, 8::int8 as c, 1.5::float8 as d,"
			" 2.50::numeric(5,2) as e, 'x'::varchar(9) as f, 'y'::text as g,"
			" null as h"),
		"a:1 b:8 c:8 d:5 e:246 f:253t g:252t h:252t \n"
		"1 1|1 7|1 8|3 1.5|4 2.50|1 x|1 y|0 NULL|");
	assert_string_equal(
		asked(f, my,
			"select date '2024-01-02' as a, time '03:04:05' as b,"
			" timestamp '2024-01-02 03:04:05.25' as c,"
			" timestamptz '2024-01-02 03:04:05+00' at time zone 'UTC' as d"),
		"a:10 b:11 c:12 d:12 \n10 2024-01-02|8 03:04:05|22 2024-01-02 "
		"03:04:05.25|"
		"19 2024-01-02 03:04:05|");
	assert_string_equal(asked(f, my, "set time zone 'Europe/Rome'"), "affected 0");
	assert_string_equal(asked(f, my,
				    "select timestamptz '2024-01-02 03:04:05+00' as a, "
				    "timetz '01:02:03+05' as b"),
		"a:12 b:11 \n19 2024-01-02 04:04:05|8 01:02:03|");
	assert_string_equal(
		asked(f, my, "create temp table t (a int primary key)"), "affected 0");
	assert_string_equal(asked(f, my, "insert into t values (1), (2)"), "affected 2");
	assert_string_equal(asked(f, my, "insert into t values (1)"), "1062 23505");
	assert_string_equal(asked(f, my, "select * from nowhere"), "1146 42P01");
	assert_string_equal(asked(f, my, "selec"), "1064 42601");
	assert_string_equal(asked(f, my, "begin"), "affected 0");
	assert_true(my->server_status & SERVER_STATUS_IN_TRANS);
	assert_string_equal(asked(f, my, "rollback"), "affected 0");
	assert_false(my->server_status & SERVER_STATUS_IN_TRANS);
	f->f.mysql_close(my);
}

static void
sqlite_is_seen_as_mysql(void **state)
{
	struct fixture *f = *state;
	MYSQL *my = connected(f, "lite");

	assert_string_equal(
		asked(f, my,
			"create table t (a integer primary key, b varchar(20), c text,"
			" d date, e decimal(8,2), f boolean, g blob, i double)"),
		"affected 0");
	assert_string_equal(
		asked(f, my,
			"insert into t values (1, 'x', 'text', '2024-01-02', 1.5, 1,"
			" x'41', 2.5)"),
		"affected 1");
	assert_int_equal(f->f.mysql_insert_id(my), 1);
	assert_string_equal(asked(f, my, "select * from t"),
		"a:8 b:253t c:252t d:10 e:246 f:1 g:252 i:5 \n"
		"1 1|1 x|4 text|10 2024-01-02|3 1.5|1 1|1 A|3 2.5|");
	assert_string_equal(asked(f, my, "insert into t (a) values (1)"), "1062 23505");
	assert_string_equal(
		shown(f, f->f.mysql_list_tables(my, "t%")), "table_name:252t \n1 t|");
	assert_string_equal(shown(f, f->f.mysql_list_fields(my, "t", "b%")), "b:253t ");
	assert_null(f->f.mysql_list_processes(my));
	f->f.mysql_close(my);
}

#define ODD_TEXT "no number, but longer than one"

/* A buffer for a number or time has the size of its type, whatever its length says. */
struct guarded {
	union {
		int64_t number;
		MYSQL_TIME time;
	} as;
	char behind[64];
};

static void
bind_guarded(MYSQL_BIND *b, enum enum_field_types type, struct guarded *to)
{
	memset(to, 'g', sizeof(*to));
	b->buffer_type = type;
	b->buffer = to;
	b->buffer_length = sizeof(*to);
}

static int
is_intact(const struct guarded *g, size_t size)
{
	for (size_t i = size; i < sizeof(*g); i++) {
		if (((const char *)g)[i] != 'g')
			return 0;
	}
	return 1;
}

static void
odd_values_are_fetched(struct fixture *f, MYSQL *my)
{
	static const char sql[] = "select b, a, a, c from odd";
	MYSQL_STMT *stmt = f->f.mysql_stmt_init(my);
	char texts[2][64] = { "", "" };
	struct guarded time, number;
	MYSQL_BIND binds[4];
	int r;

	memset(binds, 0, sizeof(binds));
	for (unsigned i = 0; i < 2; i++) {
		binds[i].buffer_type = MYSQL_TYPE_STRING;
		binds[i].buffer = texts[i];
		binds[i].buffer_length = sizeof(texts[i]);
	}
	bind_guarded(&binds[2], MYSQL_TYPE_DATETIME, &time);
	bind_guarded(&binds[3], MYSQL_TYPE_LONGLONG, &number);
	assert_int_equal(f->f.mysql_stmt_prepare(stmt, sql, sizeof(sql) - 1), 0);
	assert_int_equal(f->f.mysql_stmt_execute(stmt), 0);
	assert_int_equal(f->f.mysql_stmt_bind_result(stmt, binds), 0);
	r = f->f.mysql_stmt_fetch(stmt);
	assert_true(r == 0 || r == MYSQL_DATA_TRUNCATED);
	assert_string_equal(texts[0], "");
	assert_string_equal(texts[1], "123456789");
	assert_true(is_intact(&time, sizeof(MYSQL_TIME)));
	assert_true(is_intact(&number, sizeof(int64_t)));
	assert_int_equal(number.as.number, 0);
	f->f.mysql_stmt_close(stmt);
}

static void
odd_values_are_used(struct fixture *f, MYSQL *my)
{
	MYSQL_RES *res;

	assert_int_equal(f->f.mysql_query(my, "select a, d from odd"), 0);
	res = f->f.mysql_use_result(my);
	assert_non_null(res);
	assert_string_equal(f->f.mysql_fetch_row(res)[0], "123456789");
	assert_int_equal(f->f.mysql_fetch_lengths(res)[0], 9);
	f->f.mysql_free_result(res);
}

/* SQLite stores any text in any column. */
static void
values_need_not_fit_their_columns(void **state)
{
	struct fixture *f = *state;
	MYSQL *my = connected(f, "lite");

	assert_string_equal(
		asked(f, my,
			"create temp table odd"
			" (a datetime, b time, c bigint, d text, e datetime)"),
		"affected 0");
	assert_string_equal(asked(f, my,
				    "insert into odd values ('123456789', '',"
				    " '" ODD_TEXT "', 'what - is behind',"
				    " '2024-01-02 03:04:05')"),
		"affected 1");
	assert_string_equal(asked(f, my, "select a, d, b, c, e from odd"),
		"a:12 d:252t b:11 c:8 e:12 \n9 123456789|16 what - is behind|0 "
		"|30 " ODD_TEXT "|19 2024-01-02 03:04:05|");
	odd_values_are_used(f, my);
	odd_values_are_fetched(f, my);
	f->f.mysql_close(my);
}

/* These servers do not escape with backslashes: with one, the text would end too early. */
static void
escaping_needs_no_connection(void **state)
{
	static const char text[] = "it's \\ \"";
	static const char *const pools[] = { "main", "lite" };
	struct fixture *f = *state;
	char escaped[64], sql[96];

	for (size_t i = 0; i < CNT_COUNT(pools); i++) {
		MYSQL *my = connected(f, pools[i]);

		(void)f->f.mysql_escape_string(escaped, text, sizeof(text) - 1);
		snprintf(sql, sizeof(sql), "select '%s' as a", escaped);
		if (!strstr(asked(f, my, sql), "\n8 it's \\ \"|"))
			fail_msg("%s: %s: %s", pools[i], sql, f->text);
		f->f.mysql_close(my);
	}
}

/* The connection accepts the names of the pool and refuses others. The session keeps its temporary
 * table. */
static void
knows_its_names(struct fixture *f, MYSQL *my, const char *given, const char *pool)
{
	assert_string_equal(my->db, given);
	assert_string_equal(asked(f, my, "create temp table here (a int)"), "affected 0");
	assert_int_equal(f->f.mysql_select_db(my, given), 0);
	assert_int_not_equal(f->f.mysql_select_db(my, "nowhere"), 0);
	assert_string_equal(f->f.mysql_sqlstate(my), "0A000");
	assert_string_equal(my->db, given);
	assert_int_equal(f->f.mysql_select_db(my, pool), 0);
	assert_string_equal(my->db, pool);
	assert_string_equal(asked(f, my, "insert into here values (1)"), "affected 1");
	f->f.mysql_close(my);
}

static void
a_database_chooses_the_pool(void **state)
{
	struct fixture *f = *state;

	unsetenv("CENOTE_POOL");
	knows_its_names(f, connected_to(f, "lite"), "lite", "lite");
	knows_its_names(f, connected_to(f, "main"), "main", "main");
	setenv("CENOTE_POOL", "lite", 1);
	knows_its_names(f, connected_to(f, "inventory"), "inventory", "lite");
	setenv("CENOTE_POOL", "main", 1);
	knows_its_names(f, connected_to(f, "inventory"), "inventory", "main");
}

static void
gets_by(struct fixture *f, MYSQL *my, const char *const texts[][2])
{
	for (size_t i = 0; texts[i][0]; i++) {
		if (strcmp(asked(f, my, texts[i][0]), texts[i][1]) != 0)
			fail_msg("%s: %s", texts[i][0], f->text);
	}
}

/* Statements that drivers send on their own. */
static void
what_each_program_says_is_understood(void **state)
{
	static const char *const settings[][2] = {
		{ "SET NAMES utf8mb4", "affected 0" },
		{ " set names 'utf8' collate utf8_bin ; ", "affected 0" },
		{ "SET CHARACTER SET \"utf8\"", "affected 0" },
		{ "SET character_set_server = 'utf8mb4'", "affected 0" },
		{ "SET collation_connection = 'utf8mb4_unicode_ci'", "affected 0" },
		{ "SET NAMES latin1", "1115 42000" },
		{ "USE inventory", "affected 0" },
		{ "use `inventory`;", "affected 0" },
		{ "USE nowhere", "1235 0A000" },
		{ NULL, NULL },
	};
	static const char *const one[][2] = {
		{ "start transaction", "affected 0" },
		{ "create table other (a int)", "affected 0" },
		{ "set names utf8mb4", "affected 0" },
		{ "rollback", "affected 0" },
		{ "rollback work", "affected 0" },
		{ "commit", "affected 0" },
		{ "select * from other", "1146 42P01" },
		{ "begin", "affected 0" },
		{ "create table other (a int)", "affected 0" },
		/* as in MySQL, this commits the open transaction */
		{ "START TRANSACTION WITH CONSISTENT SNAPSHOT", "affected 0" },
		{ "insert into other values (1)", "affected 1" },
		{ "ROLLBACK;", "affected 0" },
		{ "insert into other values (2), (3)", "affected 2" },
		{ "SET @@session.autocommit = OFF", "affected 0" },
		{ "delete from other where a = 2", "affected 1" },
		{ "rollback", "affected 0" },
		{ "delete from other where a = 3", "affected 1" },
		{ "commit work", "affected 0" },
		{ "insert into other values (4)", "affected 1" },
		/* this commits, too */
		{ "set autocommit=1", "affected 0" },
		{ "rollback", "affected 0" },
		{ "delete from other", "affected 2" },
		{ "rollback", "affected 0" },
		{ "drop table other", "affected 0" },
		{ "start transaction read only", "affected 0" },
		{ "rollback", "affected 0" },
		{ NULL, NULL },
	};
	static const char *const pools[] = { "main", "lite" };
	struct fixture *f = *state;

	for (size_t i = 0; i < CNT_COUNT(pools); i++) {
		MYSQL *my;

		setenv("CENOTE_POOL", pools[i], 1);
		my = connected_to(f, "inventory");
		gets_by(f, my, settings);
		assert_string_equal(my->db, "inventory");
		gets_by(f, my, one);
		assert_true(my->server_status & SERVER_STATUS_AUTOCOMMIT);
		assert_false(my->server_status & SERVER_STATUS_IN_TRANS);
		f->f.mysql_close(my);
	}
}

/* A part that is too large must be refused, and not lose its upper bits. */
static void
times_are_sent_or_refused(void **state)
{
	static const char sql[] = "insert into times values (?, ?, ?)";
	static const char *const pools[] = { "main", "lite" };
	static const struct {
		MYSQL_TIME datetime, time;
		int is_refused;
	} cases[] = {
		{ { .year = 2024, .month = 1, .day = 2, .hour = 3, .second_part = 5 },
			{ .hour = 23, .minute = 59 }, 0 },
		{ { .year = 2024, .month = 257, .day = 2 }, { .hour = 1 }, 1 },
		{ { .year = 2024, .month = 1, .day = 258 }, { .hour = 1 }, 1 },
		{ { .year = 4294967295u, .month = 1, .day = 2 }, { .hour = 1 }, 1 },
		{ { .year = 2024, .month = 1, .day = 2, .second_part = 4294968 },
			{ .hour = 1 }, 1 },
		{ { .year = 2024, .month = 1, .day = 2 }, { .hour = 257 }, 1 },
		{ { .year = 2024, .month = 1, .day = 2 }, { .day = 1, .hour = 1 }, 1 },
		{ { .year = 2024, .month = 1, .day = 2 }, { .hour = 1, .neg = 1 }, 1 },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < CNT_COUNT(pools); i++) {
		MYSQL *my = connected(f, pools[i]);
		MYSQL_STMT *stmt = f->f.mysql_stmt_init(my);

		assert_string_equal(asked(f, my,
					    "create temp table times"
					    " (a date, b timestamp, c time)"),
			"affected 0");
		assert_int_equal(f->f.mysql_stmt_prepare(stmt, sql, sizeof(sql) - 1), 0);
		for (size_t j = 0; j < CNT_COUNT(cases); j++) {
			MYSQL_TIME datetime = cases[j].datetime, time = cases[j].time;
			MYSQL_BIND binds[] = {
				{ .buffer_type = MYSQL_TYPE_DATE, .buffer = &datetime },
				{ .buffer_type = MYSQL_TYPE_DATETIME,
					.buffer = &datetime },
				{ .buffer_type = MYSQL_TYPE_TIME, .buffer = &time },
			};

			assert_int_equal(f->f.mysql_stmt_bind_param(stmt, binds), 0);
			if ((f->f.mysql_stmt_execute(stmt) != 0) != cases[j].is_refused)
				fail_msg("%s, case %zu: %s", pools[i], j,
					f->f.mysql_stmt_error(stmt));
		}
		f->f.mysql_stmt_close(stmt);
		assert_string_equal(asked(f, my, "select a, b, c from times"),
			"a:10 b:12 c:11 \n10 2024-01-02|26 2024-01-02 "
			"03:00:00.000005|8 23:59:00|");
		f->f.mysql_close(my);
	}
}

#if !CMY_ORACLE
static int
is_taken(MYSQL *my, MYSQL_STMT *stmt)
{
	size_t length;

	return my->methods->db_execute_generate_request(stmt, &length, 1) != NULL;
}

/* A server without MariaDB's indicator for a column's default must not take it for a
 * value. */
static void
an_array_has_values_only(void **state)
{
	static const char sql[] = "insert into t values (?)";
	static const char *const pools[] = { "main", "lite" };
	struct fixture *f = *state;

	for (size_t i = 0; i < CNT_COUNT(pools); i++) {
		MYSQL *my = connected(f, pools[i]);
		MYSQL_STMT *stmt = f->f.mysql_stmt_init(my);
		int values[] = { 3, 4 };
		char told[] = { STMT_INDICATOR_NULL, STMT_INDICATOR_DEFAULT };
		unsigned size = 2;
		MYSQL_BIND bind = { .buffer_type = MYSQL_TYPE_LONG,
			.buffer = values,
			.u.indicator = told };

		assert_string_equal(
			asked(f, my, "create temp table t (a int)"), "affected 0");
		assert_int_equal(f->f.mysql_stmt_prepare(stmt, sql, sizeof(sql) - 1), 0);
		assert_int_equal(
			f->f.mysql_stmt_attr_set(stmt, STMT_ATTR_ARRAY_SIZE, &size), 0);
		assert_int_equal(f->f.mysql_stmt_bind_param(stmt, &bind), 0);
		assert_int_not_equal(f->f.mysql_stmt_execute(stmt), 0);
		assert_int_equal(f->f.mysql_stmt_errno(stmt), 1235);
		assert_non_null(strstr(f->f.mysql_stmt_error(stmt), "DEFAULT"));
		assert_false(is_taken(my, stmt));
		assert_int_equal(f->f.mysql_stmt_errno(stmt), 1235);
		told[1] = STMT_INDICATOR_NONE;
		assert_int_equal(f->f.mysql_stmt_execute(stmt), 0);
		values[1] = 5;
		assert_true(is_taken(my, stmt));
		values[1] = 6;
		assert_int_equal(f->f.mysql_stmt_execute(stmt), 0);
		/* the statement frees a request that is never executed; the original
		 * leaks it */
		assert_true(is_taken(my, stmt));
		f->f.mysql_stmt_close(stmt);
		assert_string_equal(
			asked(f, my, "delete from t where a in (4, 5)"), "affected 2");
		f->f.mysql_close(my);
	}
}
#endif

#if !CMY_ORACLE
/* ---- members of MariaDB's structures ---- */

struct called_back {
	struct fixture *f;
	const MYSQL_STMT *stmt;
};

static void
show_value(void *data, unsigned column, unsigned char **row)
{
	struct called_back *c = data;
	enum enum_field_types type = c->stmt->fields[column].type;
	unsigned long n = type == MYSQL_TYPE_LONGLONG || type == MYSQL_TYPE_DOUBLE ? 8
			  : type == MYSQL_TYPE_LONG                                ? 4
			  : type == MYSQL_TYPE_TINY                                ? 1
										   : 0;

	if (row && n == 0)
		n = c->f->f.mysql_net_field_length(row);
	add(c->f, row ? "%d:" : "%d: NULL", (int)type);
	for (unsigned long i = 0; row && i < n; i++)
		add(c->f, "%02x", (*row)[i]);
	add(c->f, "\n");
}

/* A program's function gets values of any server in the form of MySQL's protocol. */
static void
values_are_called_back(void **state)
{
	static const struct {
		const char *pool, *sql, *values;
	} cases[] = {
		{ "main",
			"select true, 258::int4, -2::int8, 0.5::float8, "
			"2.50::numeric(5,2), "
			"date '2026-01-02', timestamp '2026-01-02 03:04:05.000006', "
			"time '01:02:03', '\\x00ff'::bytea, 'text'::varchar(9), null",
			"1:01\n8:0201000000000000\n8:feffffffffffffff\n5:"
			"000000000000e03f\n"
			"246:322e3530\n10:ea070102\n12:ea07010203040506000000\n"
			"11:0000000000010203\n252:00ff\n253:74657874\n252: NULL\n" },
		{ "lite", "select 7, -0.5, 'text', x'00', null",
			"8:0700000000000000\n5:000000000000e0bf\n252:74657874\n"
			"252:00\n252: NULL\n" },
	};
	struct fixture *f = *state;
	void (*callback)(void) = (void (*)(void))show_value;
	const void *given;

	memcpy(&given, &callback, sizeof(given));
	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		MYSQL *my = connected(f, cases[i].pool);
		MYSQL_STMT *stmt = f->f.mysql_stmt_init(my);
		struct called_back c = { f, stmt };

		f->text[0] = '\0';
		assert_int_equal(
			f->f.mysql_stmt_prepare(stmt, cases[i].sql, strlen(cases[i].sql)),
			0);
		(void)f->f.mysql_stmt_attr_set(stmt, STMT_ATTR_CB_USER_DATA, &c);
		(void)f->f.mysql_stmt_attr_set(stmt, STMT_ATTR_CB_RESULT, given);
		assert_int_equal(f->f.mysql_stmt_execute(stmt), 0);
		assert_int_equal(f->f.mysql_stmt_fetch(stmt), 0);
		assert_string_equal(f->text, cases[i].values);
		f->f.mysql_stmt_close(stmt);
		f->f.mysql_close(my);
	}
}

/* The pool has no bytes of the protocol. A program that asks for them gets an error. */
static void
what_methods_cannot_do_is_an_error(void **state)
{
	struct fixture *f = *state;
	MYSQL *my = connected(f, "lite");
	MYSQL_STMT *stmt = f->f.mysql_stmt_init(my);
	const struct cmy_methods *methods = my->methods;
	unsigned char *row = NULL;
	unsigned long lengths[1];
	size_t length = 7;

	assert_int_equal(f->f.mysql_stmt_prepare(stmt, "select 1", 8), 0);
	assert_int_equal(methods->db_stmt_get_result_metadata(stmt), 0);
	assert_null(methods->db_execute_generate_request(stmt, &length, 0));
	assert_int_equal(length, 0);
	assert_int_equal(f->f.mysql_stmt_errno(stmt), 2054);
	assert_int_equal(f->f.mysql_errno(my), 2054);
	assert_int_equal(f->f.mysql_stmt_execute(stmt), 0);
	assert_int_equal(stmt->fetch_row_func(stmt, &row, lengths), 1);
	assert_int_equal(f->f.mysql_stmt_errno(stmt), 2054);
	assert_int_equal(methods->db_stmt_fetch(stmt, &row, lengths), 1);
	assert_int_equal(methods->db_stmt_fetch_to_bind(stmt, row, 0), 1);
	assert_null(methods->db_read_rows(my, stmt->fields, 1));
	assert_int_equal(methods->db_read_one_row(my, 1, NULL, lengths), -1);
	assert_int_equal(f->f.mysql_errno(my), 2054);
	/* the statement still works */
	assert_int_equal(methods->db_stmt_read_all_rows(stmt), 1);
	assert_int_equal(f->f.mysql_stmt_execute(stmt), 0);
	assert_int_equal(methods->db_stmt_read_all_rows(stmt), 0);
	assert_int_equal(f->f.mysql_stmt_num_rows(stmt), 1);
	f->f.mysql_close(my);
	assert_null(methods->db_execute_generate_request(stmt, &length, 1));
	assert_int_equal(methods->db_stmt_fetch(stmt, &row, lengths), 1);
	assert_int_equal(f->f.mysql_stmt_errno(stmt), 2013);
	f->f.mysql_stmt_close(stmt);
}
#endif

/* ---- rows without columns ---- */

/* MySQL has no such results: the program gets the number of rows, and nothing to read. */
static void
is_a_command(struct fixture *f, MYSQL *my, unsigned long long n)
{
	assert_int_equal(f->f.mysql_field_count(my), 0);
	assert_int_equal(f->f.mysql_affected_rows(my), n);
	assert_null(f->f.mysql_store_result(my));
	assert_null(f->f.mysql_use_result(my));
	assert_string_equal(f->f.mysql_error(my), "");
}

static void
a_result_without_columns(void **state)
{
	struct fixture *f = *state;
	MYSQL *my = connected(f, "main");

	assert_int_equal(f->f.mysql_query(my, "select from pg_class limit 3"), 0);
	is_a_command(f, my, 3);
	assert_int_equal(f->f.mysql_query(my, "select from generate_series(1, 5000)"), 0);
	is_a_command(f, my, 5000);
	assert_int_equal(f->f.mysql_query(my, "select from pg_class where false"), 0);
	is_a_command(f, my, 0);
	assert_string_equal(asked(f, my, "select 7 as a"), "a:8 \n1 7|");
	f->f.mysql_close(my);
}

static void
a_statement_without_columns(void **state)
{
	static const char sql[] = "select from generate_series(1, ?::int4)";
	struct fixture *f = *state;
	MYSQL *my = connected(f, "main");

	for (unsigned long cursor = 0; cursor <= CURSOR_TYPE_READ_ONLY; cursor++) {
		MYSQL_STMT *stmt = f->f.mysql_stmt_init(my);
		int n = 3;
		MYSQL_BIND bind = { .buffer_type = MYSQL_TYPE_LONG, .buffer = &n };

		assert_int_equal(
			f->f.mysql_stmt_attr_set(stmt, STMT_ATTR_CURSOR_TYPE, &cursor),
			0);
		assert_int_equal(f->f.mysql_stmt_prepare(stmt, sql, sizeof(sql) - 1), 0);
		assert_int_equal(f->f.mysql_stmt_field_count(stmt), 0);
		assert_int_equal(f->f.mysql_stmt_bind_param(stmt, &bind), 0);
		for (int i = 0; i < 2; i++) {
			assert_int_equal(f->f.mysql_stmt_execute(stmt), 0);
			assert_int_equal(f->f.mysql_stmt_affected_rows(stmt), 3);
			assert_int_equal(f->f.mysql_stmt_num_rows(stmt), 0);
			assert_int_not_equal(f->f.mysql_stmt_fetch(stmt), 0);
			f->f.mysql_stmt_data_seek(stmt, 1);
			assert_int_equal(f->f.mysql_stmt_free_result(stmt), 0);
		}
		assert_int_equal(f->f.mysql_stmt_execute(stmt), 0);
		(void)f->f.mysql_stmt_store_result(stmt);
		assert_int_equal(f->f.mysql_stmt_close(stmt), 0);
		assert_string_equal(asked(f, my, "select 7 as a"), "a:8 \n1 7|");
	}
	f->f.mysql_close(my);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(postgresql_is_seen_as_mysql),
		cmocka_unit_test(sqlite_is_seen_as_mysql),
		cmocka_unit_test(values_need_not_fit_their_columns),
		cmocka_unit_test(a_database_chooses_the_pool),
		cmocka_unit_test(what_each_program_says_is_understood),
		cmocka_unit_test(times_are_sent_or_refused),
		cmocka_unit_test(escaping_needs_no_connection),
		cmocka_unit_test(a_result_without_columns),
		cmocka_unit_test(a_statement_without_columns),
#if !CMY_ORACLE
		cmocka_unit_test(an_array_has_values_only),
		cmocka_unit_test(values_are_called_back),
		cmocka_unit_test(what_methods_cannot_do_is_an_error),
#endif
	};

	cnt_server_need(CNT_POSTGRESQL);
	return cmocka_run_group_tests(tests, setup, teardown);
}
