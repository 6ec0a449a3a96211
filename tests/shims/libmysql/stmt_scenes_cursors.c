/* SPDX-License-Identifier: BSD-2-Clause */
#include "stmt_scenes.h"

#include <stdio.h>

/* Statements that read through a cursor. */

void
stmt_cursors(void)
{
	MYSQL_STMT *stmt = f.mysql_stmt_init(my);
	unsigned long type = CURSOR_TYPE_READ_ONLY, rows = 2,
		      bad = CURSOR_TYPE_FOR_UPDATE;

	show(stmt, "type", f.mysql_stmt_attr_set(stmt, STMT_ATTR_CURSOR_TYPE, &bad));
	show(stmt, "type", f.mysql_stmt_attr_set(stmt, STMT_ATTR_CURSOR_TYPE, &type));
	show(stmt, "rows", f.mysql_stmt_attr_set(stmt, STMT_ATTR_PREFETCH_ROWS, &rows));
	rows = 0;
	printf("rows %d\n", f.mysql_stmt_attr_get(stmt, STMT_ATTR_PREFETCH_ROWS, &rows));
	printf("are %lu\n", rows);
	run("create or replace table stmt_cursor as select seq as v from seq_1_to_5");
	prepare(stmt, "select v from stmt_cursor order by v");
	steps(stmt, "executed bind fetched");
	query("select 'in between'");
	run("drop table if exists stmt_nowhere");
	printf("fetched %d %s\n", f.mysql_stmt_fetch(stmt), text);
	printf("warnings %u\n", f.mysql_warning_count(my));
	printf("fetched %d %s\n", f.mysql_stmt_fetch(stmt), text);
	printf("warnings %u\n", f.mysql_warning_count(my));
	query("select 'in between'");
	steps(stmt, "fetched fetched fetched fetched executed");
	printf("stored %d\n", f.mysql_stmt_store_result(stmt));
	printf("rows %llu\n", (unsigned long long)f.mysql_stmt_num_rows(stmt));
	query("select 'stored'");
	while (f.mysql_stmt_fetch(stmt) == 0)
		printf("fetched %s\n", text);
	steps(stmt, "executed fetched");
	printf("reset %d\n", f.mysql_stmt_reset(stmt));
	steps(stmt, "fetched executed closed");
	query("select 'closed'");
	run("drop table stmt_cursor");
}

/* After a portion that the server reported as the last, the next fetch needs no command. The
 * original then loses its place in the answers. */
void
stmt_cursors_and_queries(void)
{
	MYSQL_STMT *stmt = with_cursor(2);

	prepare(stmt, "select seq from seq_1_to_3");
	printf("executed %d\n", f.mysql_stmt_execute(stmt));
	for (int i = 0; i < 3; i++)
		printf("fetched %d\n", f.mysql_stmt_fetch(stmt));
	run("select 1");
	printf("fetched %d", f.mysql_stmt_fetch(stmt));
	printf(" errno %u\n", f.mysql_stmt_errno(stmt));
	f.mysql_stmt_close(stmt);
}

/* A failed statement ends a transaction, which the next answer reports. */
void
stmt_cursors_and_transactions(void)
{
	MYSQL_STMT *stmt = with_cursor(1);

	run("begin");
	prepare(stmt, "select 1");
	printf("executed %d\n", f.mysql_stmt_execute(stmt));
	printf("failed %d\n", f.mysql_query(my, "truncate nowhere"));
	for (int i = 0; i < 2; i++)
		printf("fetched %d, in a transaction %d\n", f.mysql_stmt_fetch(stmt),
			(my->server_status & SERVER_STATUS_IN_TRANS) != 0);
	printf("closed %d\n", f.mysql_stmt_close(stmt));

	/* the request for rows is the connection's next command */
	stmt = with_cursor(1);
	prepare(stmt, "select seq from seq_1_to_3");
	printf("executed %d\n", f.mysql_stmt_execute(stmt));
	printf("failed %d\n", f.mysql_query(my, "not sql"));
	printf("stored %d", f.mysql_stmt_store_result(stmt));
	printf(" errno %u\n", f.mysql_errno(my));
	f.mysql_stmt_close(stmt);
}

static void
details_of_cursors(void)
{
	MYSQL_STMT *stmt = with_cursor(1);
	unsigned long rows = 2;

	must(f.mysql_stmt_prepare(stmt, "select seq from seq_1_to_3", 26) == 0,
		"prepare");
	steps(stmt, "execute stored");
	printf("stored %d errno %u, %llu rows\n", f.mysql_stmt_store_result(stmt),
		f.mysql_stmt_errno(stmt),
		(unsigned long long)f.mysql_stmt_num_rows(stmt));
	must(f.mysql_stmt_prepare(stmt, "select seq from seq_1_to_3 where seq = 4", 40) ==
			0,
		"prepare");
	execute(stmt);
	query("select nothing");
	steps(stmt, "fetch execute freed");
	/* fetched rows also count if no row is left to be stored */
	must(f.mysql_stmt_prepare(stmt, "select 1", 8) == 0, "prepare");
	steps(stmt, "execute fetch stored fetch");
	printf("%llu rows\n", (unsigned long long)f.mysql_stmt_num_rows(stmt));
	/* a portion with fewer rows is the last */
	f.mysql_stmt_attr_set(stmt, STMT_ATTR_PREFETCH_ROWS, &rows);
	must(f.mysql_stmt_prepare(stmt, "select seq from seq_1_to_5", 26) == 0,
		"prepare");
	execute(stmt);
	while (f.mysql_stmt_fetch(stmt) == 0)
		;
	printf("%llu rows\n", (unsigned long long)f.mysql_stmt_num_rows(stmt));
	printf("closed %d\n", f.mysql_stmt_close(stmt));
}

/* Wrong values are reported before the missing cursor. */
static void
piece_of_no_cursor(void)
{
	MYSQL_STMT *stmt = with_cursor(1);
	int number = 1;
	MYSQL_BIND b = { .buffer_type = MYSQL_TYPE_LONG, .buffer = &number };

	prepare(stmt, "select ? into @a");
	show(stmt, "given", f.mysql_stmt_bind_param(stmt, &b));
	show(stmt, "piece", f.mysql_stmt_send_long_data(stmt, 0, "one", 3));
	steps(stmt, "execute execute closed");
}

/* Print a cursor's state, without the original's own places in the portion. */
static void
show_cursor(MYSQL_STMT *stmt, const char *what, int r)
{
	printf("%s: %d errno %u connection %u state %d rows %llu affected %lld\n", what,
		r, f.mysql_stmt_errno(stmt), f.mysql_errno(my), (int)stmt->state,
		(unsigned long long)f.mysql_stmt_num_rows(stmt),
		(long long)f.mysql_stmt_affected_rows(stmt));
}

/* Free a cursor's result after n rows: the rest of the fetched portion is lost. */
static void
freed_cursor(unsigned long rows)
{
	MYSQL_STMT *stmt = with_cursor(rows);

	prepare(stmt, "select seq from seq_1_to_9");
	for (int n = 0; n < 4; n++) {
		steps(stmt, "execute bind");
		for (int i = 0; i < n; i++)
			printf("fetched %d %s\n", f.mysql_stmt_fetch(stmt), text);
		show_cursor(stmt, "freed", f.mysql_stmt_free_result(stmt));
		show_cursor(stmt, "fetched", f.mysql_stmt_fetch(stmt));
		if ((unsigned)n % rows != 0)
			show_cursor(stmt, "stored", f.mysql_stmt_store_result(stmt));
		while (f.mysql_stmt_fetch(stmt) == 0)
			printf("got %s\n", text);
		show_cursor(stmt, "read", 0);
	}
	execute(stmt);
	for (int i = 0; i < 9; i++)
		(void)f.mysql_stmt_fetch(stmt);
	(void)f.mysql_stmt_fetch_column(stmt, NULL, 7, 0);
	show_cursor(stmt, "behind the last", f.mysql_stmt_fetch(stmt));
	printf("closed %d\n", f.mysql_stmt_close(stmt));
}

void
stmt_odd_cursors(void)
{
	details_of_cursors();
	piece_of_no_cursor();
	for (unsigned long rows = 1; rows < 4; rows++)
		freed_cursor(rows);
}
