/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "library.h"
#include "rig.h"
#include "shims/starve.h"

/* Let each allocation fail in turn. Built for each flavour. */

#define PIECE 200000

struct fixture {
	struct cmy_original f;
	struct cnt_rig rig;
	char piece[PIECE]; /* a piece of a long value */
};

static int
setup(void **state)
{
	static struct fixture f;

	if (cnt_rig_start(&f.rig) < 0)
		return -1;
	cnt_library_open_shared(&f.f, CNT_OURS);
	*state = &f;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	return cnt_rig_stop(&f->rig);
}

static MYSQL *
connected(struct fixture *f)
{
	MYSQL *my = f->f.mysql_init(NULL);
	unsigned on = 1;

	if (!my)
		return NULL;
	(void)f->f.mysql_options(my, MYSQL_OPT_LOCAL_INFILE, &on);
	(void)f->f.mysql_options(my, MYSQL_SET_CHARSET_NAME, "utf8mb4");
	if (f->f.mysql_real_connect(my, NULL, "app", NULL, "app", 0, f->rig.server.socket,
		    CLIENT_MULTI_STATEMENTS))
		return my;
	assert_int_not_equal(f->f.mysql_errno(my), 0);
	assert_true(*f->f.mysql_error(my) != '\0');
	f->f.mysql_close(my);
	return NULL;
}

/* ---- programs that check what each call returns ---- */

static void
read_result(struct fixture *f, MYSQL_RES *res)
{
	MYSQL_ROW row;

	if (!res)
		return;
	while ((row = f->f.mysql_fetch_row(res)))
		(void)f->f.mysql_fetch_lengths(res)[0];
	(void)f->f.mysql_fetch_fields(res);
	f->f.mysql_free_result(res);
}

static void
run(struct fixture *f, MYSQL *my, const char *sql, int is_used)
{
	int r = f->f.mysql_query(my, sql);

	while (r == 0) {
		read_result(f, is_used ? f->f.mysql_use_result(my)
				       : f->f.mysql_store_result(my));
		r = f->f.mysql_next_result(my);
	}
}

static void
use_queries(struct fixture *f, MYSQL *my)
{
	for (int is_used = 0; is_used < 2; is_used++) {
		run(f, my, "select seq, repeat('x', 300), null from seq_1_to_40",
			is_used);
		run(f, my, "select 1; select 2; select nix", is_used);
		run(f, my, "set @a = 1, session_track_system_variables = 'autocommit'",
			is_used);
		run(f, my, "set autocommit = 0; set autocommit = 1", is_used);
	}
}

static void
use_lists(struct fixture *f, MYSQL *my)
{
	run(f, my,
		"create temporary table nm (a int not null, b varchar(20) default 'x')",
		0);
	f->f.mysql_free_result(f->f.mysql_list_dbs(my, "app%"));
	f->f.mysql_free_result(f->f.mysql_list_tables(my, NULL));
	f->f.mysql_free_result(f->f.mysql_list_fields(my, "nm", ""));
}

static void
use_files(struct fixture *f, MYSQL *my)
{
	run(f, my, "create temporary table lo (a varchar(9))", 0);
	run(f, my, "load data local infile '/proc/self/comm' into table lo", 0);
	run(f, my, "load data local infile '/nonexistent' into table lo", 0);
}

static void
use_statements(struct fixture *f, MYSQL *my)
{
	static const char sql[] = "select seq, ?, repeat('y', 200) from seq_1_to_20";
	MYSQL_STMT *stmt = f->f.mysql_stmt_init(my);
	char text[256] = "param";
	MYSQL_BIND bind[3];

	if (!stmt)
		return;
	memset(bind, 0, sizeof(bind));
	for (int i = 0; i < 3; i++) {
		bind[i].buffer_type = MYSQL_TYPE_STRING;
		bind[i].buffer = text;
		bind[i].buffer_length = sizeof(text);
	}
	for (int is_stored = 0; is_stored < 2; is_stored++) {
		if (f->f.mysql_stmt_prepare(stmt, sql, sizeof(sql) - 1) != 0 ||
			f->f.mysql_stmt_bind_param(stmt, bind) ||
			f->f.mysql_stmt_execute(stmt) != 0 ||
			f->f.mysql_stmt_bind_result(stmt, bind))
			break;
		f->f.mysql_free_result(f->f.mysql_stmt_result_metadata(stmt));
		if (is_stored && f->f.mysql_stmt_store_result(stmt) != 0)
			break;
		while (f->f.mysql_stmt_fetch(stmt) == 0)
			;
		(void)f->f.mysql_stmt_free_result(stmt);
	}
	(void)f->f.mysql_stmt_close(stmt);
}

/* Pieces of a value, rows of a cursor, storing the rest, and several results. */
static void
use_parts(struct fixture *f, MYSQL *my)
{
	static const char sql[] = "select seq, ? from seq_1_to_9";
	static const char call[] = "execute immediate 'select 1, 2'";
	MYSQL_STMT *stmt = f->f.mysql_stmt_init(my);
	unsigned long cursor = CURSOR_TYPE_READ_ONLY, rows = 4;
	char text[64] = "param", *piece = f->piece;
	MYSQL_BIND bind[2];

	if (!stmt)
		return;
	memset(bind, 0, sizeof(bind));
	for (int i = 0; i < 2; i++) {
		bind[i].buffer_type = MYSQL_TYPE_STRING;
		bind[i].buffer = text;
		bind[i].buffer_length = sizeof(text);
	}
	(void)f->f.mysql_stmt_attr_set(stmt, STMT_ATTR_CURSOR_TYPE, &cursor);
	(void)f->f.mysql_stmt_attr_set(stmt, STMT_ATTR_PREFETCH_ROWS, &rows);
	if (f->f.mysql_stmt_prepare(stmt, sql, sizeof(sql) - 1) == 0 &&
		!f->f.mysql_stmt_bind_param(stmt, bind) &&
		!f->f.mysql_stmt_send_long_data(stmt, 0, piece, PIECE) &&
		!f->f.mysql_stmt_send_long_data(stmt, 0, "more", 4) &&
		f->f.mysql_stmt_execute(stmt) == 0 &&
		!f->f.mysql_stmt_bind_result(stmt, bind)) {
		(void)f->f.mysql_stmt_fetch(stmt);
		(void)f->f.mysql_stmt_store_result(stmt);
		(void)f->f.mysql_stmt_fetch(stmt);
		(void)f->f.mysql_stmt_reset(stmt);
	}
	if (f->f.mysql_stmt_prepare(stmt, call, sizeof(call) - 1) == 0 &&
		f->f.mysql_stmt_execute(stmt) == 0) {
		(void)f->f.mysql_stmt_store_result(stmt);
		(void)f->f.mysql_stmt_next_result(stmt);
	}
	(void)f->f.mysql_stmt_close(stmt);
}

#if !CMY_ORACLE
/* Arrays of parameters: of values, and of pointers. */
static void
use_arrays(struct fixture *f, MYSQL *my)
{
	static const char sql[] = "insert into na values (?, ?) returning a";
	int numbers[] = { 1, 2, 3 };
	const char *texts[] = { "one", "two", "three" };
	unsigned long lengths[] = { 3, 3, 5 };
	char indicators[] = { STMT_INDICATOR_NONE, STMT_INDICATOR_NULL,
		STMT_INDICATOR_NONE };
	unsigned rows = 3;
	MYSQL_BIND bind[2] = { { .buffer_type = MYSQL_TYPE_LONG, .buffer = numbers },
		{ .buffer_type = MYSQL_TYPE_STRING,
			.buffer = texts,
			.length = lengths,
			.u.indicator = indicators } };
	MYSQL_STMT *stmt;

	run(f, my, "create temporary table na (a int, b varchar(20))", 0);
	stmt = f->f.mysql_stmt_init(my);
	if (!stmt)
		return;
	if (f->f.mysql_stmt_prepare(stmt, sql, sizeof(sql) - 1) == 0 &&
		!f->f.mysql_stmt_attr_set(stmt, STMT_ATTR_ARRAY_SIZE, &rows) &&
		!f->f.mysql_stmt_bind_param(stmt, bind) &&
		f->f.mysql_stmt_execute(stmt) == 0)
		(void)f->f.mysql_stmt_store_result(stmt);
	(void)f->f.mysql_stmt_close(stmt);
}
#endif

static void
use_session(struct fixture *f, MYSQL *my)
{
	char text[64];

	(void)f->f.mysql_real_escape_string(my, text, "it's", 4);
	(void)f->f.mysql_select_db(my, "app2");
	(void)f->f.mysql_set_character_set(my, "latin1");
	(void)f->f.mysql_stat(my);
	(void)f->f.mysql_ping(my);
	(void)f->f.mysql_reset_connection(my);
	(void)f->f.mysql_change_user(my, "app", NULL, "app");
}

/* ---- at each allocation ---- */

/* The connection works again, or it is lost and says so. */
static void
look(struct fixture *f, MYSQL *my)
{
	MYSQL_RES *res;
	unsigned code;

	if (f->f.mysql_query(my, "select 42") == 0) {
		res = f->f.mysql_store_result(my);
		assert_non_null(res);
		assert_string_equal(f->f.mysql_fetch_row(res)[0], "42");
		f->f.mysql_free_result(res);
		return;
	}
	code = f->f.mysql_errno(my);
	if (code != 2006 && code != 2013)
		fail_msg("%u %s", code, f->f.mysql_error(my));
}

static void
starve(struct fixture *f, void (*use)(struct fixture *f, MYSQL *my), int all)
{
	int has_failed = 1;

	for (long n = 1; has_failed; n++) {
		MYSQL *my = connected(f);

		assert_non_null(my);
		alarm(20);
		cnt_starve(n, all);
		use(f, my);
		has_failed = cnt_starve_end();
		look(f, my);
		f->f.mysql_close(my);
		assert_true(n < 5000);
	}
	alarm(0);
}

#define STARVED(name)                                                                    \
	static void name##_without_memory(void **state)                                  \
	{                                                                                \
		starve(*state, use_##name, 0);                                           \
		starve(*state, use_##name, 1);                                           \
	}
STARVED(queries)
STARVED(lists)
STARVED(files)
STARVED(statements)
STARVED(parts)
STARVED(session)
#if !CMY_ORACLE
STARVED(arrays)
#endif

static void
connecting_without_memory(void **state)
{
	struct fixture *f = *state;
	MYSQL *my;

	for (int all = 0; all < 2; all++) {
		int has_failed = 1;

		for (long n = 1; has_failed; n++) {
			alarm(20);
			cnt_starve(n, all);
			my = connected(f);
			has_failed = cnt_starve_end();
			if (my)
				look(f, my);
			f->f.mysql_close(my);
		}
	}
	alarm(0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(connecting_without_memory),
		cmocka_unit_test(queries_without_memory),
		cmocka_unit_test(lists_without_memory),
		cmocka_unit_test(files_without_memory),
		cmocka_unit_test(statements_without_memory),
		cmocka_unit_test(parts_without_memory),
		cmocka_unit_test(session_without_memory),
#if !CMY_ORACLE
		cmocka_unit_test(arrays_without_memory),
#endif
	};

	cnt_server_need(CNT_MARIADB);
	return cmocka_run_group_tests(tests, setup, teardown);
}
