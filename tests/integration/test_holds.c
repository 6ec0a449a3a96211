/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_holds postgresql|mysql: docs/transaction-mode.md says what a session can hold, and what happens to it. This test reads
 * the page's table of a server and tries each row, with two clients and one session: the owner makes something, the
 * other client uses the session in between if it can, the owner still sees what it made, and the other client does not.
 */
#include "with_pool.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MAX  64u
#define CELL_MAX  256u
#define LINE_SIZE 2048u

static enum cnt_server_kind kind;
static struct cnt_server server;

/* ---- the table ---- */

enum {
	WHAT,
	MADE_BY,
	SEEN_BY,
	SHOWS,
	THEN,
	ENDS_BY,
	N_CELLS
};

struct row {
	char cells[N_CELLS][CELL_MAX];
};

static struct row rows[ROWS_MAX];
static size_t n_rows;

/* Copy a cell without blanks and backquotes around it; \| is a bar. Returns what follows the cell. */
static const char *
read_cell(const char *p, char cell[CELL_MAX])
{
	size_t n = 0;

	p += strspn(p, " `");
	for (; *p != '\0' && *p != '|'; p++) {
		if (p[0] == '\\' && p[1] == '|')
			p++;
		assert_true(n < CELL_MAX - 1);
		cell[n++] = *p;
	}
	while (n > 0 && strchr(" `\n", cell[n - 1]) != NULL)
		n--;
	cell[n] = '\0';
	return *p == '|' ? p + 1 : p;
}

static void
read_row(const char *line)
{
	struct row *row = &rows[n_rows++];

	assert_true(n_rows < ROWS_MAX);
	for (size_t i = 0; i < N_CELLS; i++)
		line = read_cell(line, row->cells[i]);
	assert_string_not_equal(row->cells[ENDS_BY], "");
}

/* Read the first table below the heading: its rows follow the line of dashes. */
static void
read_table(const char *heading)
{
	FILE *f = fopen(CNT_HOLDS_PAGE, "re");
	bool is_there = false, is_row = false;
	char line[LINE_SIZE];

	assert_non_null(f);
	while (fgets(line, sizeof(line), f) != NULL && !(is_row && *line != '|')) {
		if (strncmp(line, heading, strlen(heading)) == 0)
			is_there = true;
		else if (is_row)
			read_row(line + 1);
		else
			is_row = is_there && strncmp(line, "|---", 4) == 0;
	}
	fclose(f);
	assert_true(n_rows > 0);
}

/* ---- a row ---- */

/* Run a text that may have several statements. All must succeed. */
static void
run(cenote_conn *conn, const char *sql)
{
	cenote_result *res;
	int r;

	assert_ok(cenote_send_query(conn, sql, CENOTE_NTS, NULL, NULL));
	while ((r = cenote_get_result(conn, &res)) == CENOTE_OK) {
		if (cenote_result_kind(res) == CENOTE_RESULT_ERROR)
			fail_msg("%s: %s", sql,
				cenote_diag_message(cenote_result_diag(res)));
		cenote_result_destroy(res);
	}
	if (r != CENOTE_DONE)
		fail_msg("%s: %s", sql, wp_message(conn));
}

/* The only value of a statement; "error" if it fails. */
static const char *
look(cenote_conn *conn, const char *sql)
{
	static char value[256];
	cenote_result *res;
	const char *text;

	snprintf(value, sizeof(value), "error");
	if (cenote_query(conn, sql, CENOTE_NTS, NULL, NULL, &res) != CENOTE_OK)
		return value;
	text = cenote_result_text(res, 0, 0, NULL);
	snprintf(value, sizeof(value), "%s", text != NULL ? text : "");
	cenote_result_destroy(res);
	return value;
}

static void
owner_sees(cenote_conn *owner, const struct row *row)
{
	const char *value = look(owner, row->cells[SEEN_BY]);

	if (strcmp(value, row->cells[SHOWS]) != 0)
		fail_msg("%s: \"%s\" instead of \"%s\": %s", row->cells[MADE_BY], value,
			row->cells[SHOWS], wp_message(owner));
}

/* The other client gets the session, so the owner holds nothing. */
static void
other_sees_nothing(cenote_conn *other, const struct row *row)
{
	const char *value = look(other, "select 'here'");

	if (strcmp(value, "here") != 0)
		fail_msg("%s: the session is not free: %s", row->cells[MADE_BY],
			wp_message(other));
	if (strcmp(look(other, row->cells[SEEN_BY]), row->cells[SHOWS]) == 0)
		fail_msg("%s: another client sees it", row->cells[MADE_BY]);
}

static void
try_row(const struct row *row)
{
	cenote_conn *owner = wp_attach(NULL), *other;
	bool moves = strcmp(row->cells[THEN], "moves") == 0;

	if (!moves)
		assert_string_equal(row->cells[THEN], "holds");
	run(owner, row->cells[MADE_BY]);
	owner_sees(owner, row);
	if (!moves)
		wp_expect_none_free(NULL);
	other = wp_handle(NULL);
	if (moves) {
		assert_ok(cenote_connect(other));
		other_sees_nothing(other, row);
	}
	owner_sees(owner, row);
	run(owner, row->cells[ENDS_BY]);
	if (!moves)
		assert_ok(cenote_connect(other));
	other_sees_nothing(other, row);
	assert_string_not_equal(look(owner, row->cells[SEEN_BY]), row->cells[SHOWS]);
	cenote_conn_destroy(owner);
	cenote_conn_destroy(other);
}

/* ---- the tests ---- */

static void
each_row_is_true(void **state)
{
	char config[4096];

	wp_start(cnt_server_config(&server,
		"sessions = 1\nmode = transaction\nqueue_timeout = 60s\n", config,
		sizeof(config)));
	for (size_t i = 0; i < n_rows; i++)
		try_row(&rows[i]);
}

static int
setup(void **state)
{
	return cnt_server_start(&server, kind, 0);
}

static int
teardown(void **state)
{
	cnt_server_stop(&server);
	return 0;
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(each_row_is_true, wp_teardown),
	};
	bool is_mysql = argc > 1 && strcmp(argv[1], "mysql") == 0;

	kind = is_mysql ? CNT_MARIADB : CNT_POSTGRESQL;
	cnt_server_need(kind);
	read_table(is_mysql ? "## MySQL and MariaDB" : "## PostgreSQL");
	return cmocka_run_group_tests(tests, setup, teardown);
}
