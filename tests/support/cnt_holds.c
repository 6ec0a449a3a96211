/* SPDX-License-Identifier: BSD-2-Clause */
#include "cnt_holds.h"
#include "cnt_server.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cnt_cmocka.h"

#define ROWS_MAX  64u
#define CELL_SIZE 256u
#define LINE_SIZE 2048u
/* So long another client gets no session while the owner holds it. */
#define HELD_US   300000

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
	char cells[N_CELLS][CELL_SIZE];
};

struct table {
	struct row rows[ROWS_MAX];
	size_t n;
};

/* Copy a cell without blanks and backquotes around it; \| is a bar. Returns what follows the cell. */
static const char *
read_cell(const char *p, char cell[CELL_SIZE])
{
	size_t n = 0;

	p += strspn(p, " `");
	for (; *p != '\0' && *p != '|'; p++) {
		if (p[0] == '\\' && p[1] == '|')
			p++;
		assert_true(n < CELL_SIZE - 1);
		cell[n++] = *p;
	}
	while (n > 0 && strchr(" `\n", cell[n - 1]) != NULL)
		n--;
	cell[n] = '\0';
	return *p == '|' ? p + 1 : p;
}

/* MySQL tells neither that a transaction is open, nor that all user variables are NULL. */
static bool
is_for_this_server(const struct row *row)
{
	return !cnt_server_is_mysql() ||
	       (strstr(row->cells[SEEN_BY], "@@in_transaction") == NULL &&
		       strcmp(row->cells[ENDS_BY], "set @a = null") != 0);
}

static void
read_row(struct table *table, const char *line)
{
	struct row *row = &table->rows[table->n++];

	assert_true(table->n < ROWS_MAX);
	for (size_t i = 0; i < N_CELLS; i++) {
		char cell[CELL_SIZE];

		line = read_cell(line, cell);
		snprintf(row->cells[i], CELL_SIZE, "%s", cnt_server_text(cell));
	}
	assert_string_not_equal(row->cells[ENDS_BY], "");
	if (!is_for_this_server(row))
		table->n--;
}

/* Read the first table below the heading: its rows follow the line of dashes. */
static void
read_table(struct table *ret_table, const char *heading)
{
	FILE *f = fopen(CNT_HOLDS_PAGE, "re");
	bool is_there = false, is_row = false;
	char line[LINE_SIZE];

	assert_non_null(f);
	ret_table->n = 0;
	while (fgets(line, sizeof(line), f) != NULL && !(is_row && *line != '|')) {
		if (strncmp(line, heading, strlen(heading)) == 0)
			is_there = true;
		else if (is_row)
			read_row(ret_table, line + 1);
		else
			is_row = is_there && strncmp(line, "|---", 4) == 0;
	}
	fclose(f);
	assert_true(ret_table->n > 0);
}

/* ---- a row ---- */

/* The other client wants the session, in a thread of its own. */
struct wish {
	const struct cnt_holds_face *face;
	void *conn;
	char value[CNT_HOLDS_VALUE_MAX];
	atomic_bool is_answered;
	pthread_t thread;
};

static void *
ask(void *arg)
{
	struct wish *w = arg;

	w->face->look(w->conn, "select 'here'", w->value);
	atomic_store(&w->is_answered, true);
	return NULL;
}

static void
begin_to_ask(struct wish *w, const struct cnt_holds_face *face, void *conn)
{
	w->face = face;
	w->conn = conn;
	atomic_store(&w->is_answered, false);
	assert_int_equal(pthread_create(&w->thread, NULL, ask, w), 0);
}

static void
run(const struct cnt_holds_face *face, void *conn, const char *sql)
{
	if (face->run(conn, sql) < 0)
		fail_msg("%s: %s", sql, face->message(conn));
}

static void
owner_sees(const struct cnt_holds_face *face, void *owner, const struct row *row)
{
	char value[CNT_HOLDS_VALUE_MAX];

	face->look(owner, row->cells[SEEN_BY], value);
	if (strcmp(value, row->cells[SHOWS]) != 0)
		fail_msg("%s: \"%s\" instead of \"%s\": %s", row->cells[MADE_BY], value,
			row->cells[SHOWS], face->message(owner));
}

/* The other client gets the session, and finds nothing there. */
static void
get(struct wish *w, const struct row *row)
{
	char value[CNT_HOLDS_VALUE_MAX];

	assert_int_equal(pthread_join(w->thread, NULL), 0);
	if (strcmp(w->value, "here") != 0)
		fail_msg("%s: the session is not free: %s", row->cells[MADE_BY],
			w->face->message(w->conn));
	w->face->look(w->conn, row->cells[SEEN_BY], value);
	if (strcmp(value, row->cells[SHOWS]) == 0)
		fail_msg("%s: another client sees it", row->cells[MADE_BY]);
}

static void
wait_in_vain(struct wish *w, const struct row *row)
{
	usleep(HELD_US);
	if (atomic_load(&w->is_answered))
		fail_msg("%s: the session is not held", row->cells[MADE_BY]);
}

static void
try_row(const struct cnt_holds_face *face, void *other, const struct row *row)
{
	bool moves = strcmp(row->cells[THEN], "moves") == 0;
	char value[CNT_HOLDS_VALUE_MAX];
	struct wish wish;
	void *owner = face->connect();

	assert_true(moves || strcmp(row->cells[THEN], "holds") == 0);
	run(face, owner, row->cells[MADE_BY]);
	owner_sees(face, owner, row);
	begin_to_ask(&wish, face, other);
	if (moves)
		get(&wish, row);
	else
		wait_in_vain(&wish, row);
	owner_sees(face, owner, row);
	run(face, owner, row->cells[ENDS_BY]);
	if (moves)
		begin_to_ask(&wish, face, other);
	get(&wish, row);
	face->look(owner, row->cells[SEEN_BY], value);
	assert_string_not_equal(value, row->cells[SHOWS]);
	face->disconnect(owner);
}

void
cnt_holds_try(const struct cnt_holds_face *face, const char *heading)
{
	static struct table table;
	void *other = face->connect();

	read_table(&table, heading);
	for (size_t i = 0; i < table.n; i++)
		try_row(face, other, &table.rows[i]);
	face->disconnect(other);
}
