/* SPDX-License-Identifier: BSD-2-Clause */
#include "older.h"
#include "stmt_scenes.h"
#include "support/cnt_server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * usage: stmt_scenes LIBRARY SOCKET DIRECTORY SCENE. The same as scenes.c, for prepared
 * statements: it shows in which order functions may be called, and what MYSQL_STMT holds after
 * each call. It does not print MYSQL.server_status while rows are still to come, because the pool
 * reports it at their end.
 */

struct cmy_original f;
MYSQL *my;
const char *directory;
char text[64];
unsigned long text_length;
my_bool text_null;
static my_bool text_cut;

void
show(MYSQL_STMT *stmt, const char *what, int r)
{
	int is_over = my->status == MYSQL_STATUS_READY;

	printf("%s: %d errno %u %s [%s] connection %u status %d more %d\n", what, r,
		f.mysql_stmt_errno(stmt), f.mysql_stmt_sqlstate(stmt),
		f.mysql_stmt_error(stmt), f.mysql_errno(my), (int)my->status,
		is_over && (my->server_status & SERVER_MORE_RESULTS_EXISTS) != 0);
	printf("  state %d fields %u params %lu affected %lld id %llu rows %llu bound "
	       "%d/%d types %d place %d flags %lu connected %d\n",
		(int)stmt->state, f.mysql_stmt_field_count(stmt),
		f.mysql_stmt_param_count(stmt),
		(long long)f.mysql_stmt_affected_rows(stmt),
		(unsigned long long)f.mysql_stmt_insert_id(stmt),
		(unsigned long long)f.mysql_stmt_num_rows(stmt), stmt->bind_param_done,
		stmt->bind_result_done, stmt->send_types_to_server,
		f.mysql_stmt_row_tell(stmt) != NULL, stmt->flags, stmt->mysql != NULL);
	printf("  warnings %d more %d cursor %d executed %u\n",
		f.mysql_stmt_warning_count(stmt), f.mysql_stmt_more_results(stmt),
		stmt->cursor_exists, stmt->execute_count);
}

void
must(int ok, const char *what)
{
	if (ok)
		return;
	printf("cannot go on: %s: %s\n", what, f.mysql_error(my));
	exit(1);
}

void
run(const char *sql)
{
	const char *first, *then = cnt_server_statement(sql, &first);

	if (first)
		must(f.mysql_query(my, first) == 0, first);
	must(f.mysql_query(my, then) == 0, then);
}

void
prepare(MYSQL_STMT *stmt, const char *sql)
{
	printf("> %s\n", sql);
	show(stmt, "prepared", f.mysql_stmt_prepare(stmt, sql, strlen(sql)));
}

MYSQL_STMT *
with_cursor(unsigned long rows)
{
	MYSQL_STMT *stmt = f.mysql_stmt_init(my);
	unsigned long type = CURSOR_TYPE_READ_ONLY;

	f.mysql_stmt_attr_set(stmt, STMT_ATTR_CURSOR_TYPE, &type);
	f.mysql_stmt_attr_set(stmt, STMT_ATTR_PREFETCH_ROWS, &rows);
	return stmt;
}

void
execute(MYSQL_STMT *stmt)
{
	show(stmt, "executed", f.mysql_stmt_execute(stmt));
}

void
bind_text(MYSQL_STMT *stmt)
{
	static MYSQL_BIND b[8];
	unsigned i;

	memset(b, 0, sizeof(b));
	for (i = 0; i < 8; i++)
		b[i].buffer_type = MYSQL_TYPE_STRING;
	b[0].buffer = text;
	b[0].buffer_length = sizeof(text);
	b[0].length = &text_length;
	b[0].is_null = &text_null;
	b[0].error = &text_cut;
	show(stmt, "bound", f.mysql_stmt_bind_result(stmt, b));
}

void
fetch(MYSQL_STMT *stmt)
{
	int r;

	memset(text, 0, sizeof(text));
	r = f.mysql_stmt_fetch(stmt);
	printf("got [%s] %lu null %d cut %d\n", text,
		cnt_older_length(text_length, text_null), text_null, text_cut);
	show(stmt, "fetched", r);
}

void
fetch_rest(MYSQL_STMT *stmt)
{
	int i;

	for (i = 0; i < 20 && stmt->state < MYSQL_STMT_FETCH_DONE; i++)
		fetch(stmt);
}

void
show_fields(MYSQL_STMT *stmt)
{
	MYSQL_RES *meta = f.mysql_stmt_result_metadata(stmt);
	MYSQL_FIELD *field;

	while (meta && (field = f.mysql_fetch_field(meta)))
		printf("  field %s %s %s type %d length %lu longest %lu flags %x "
		       "decimals "
		       "%u charset %u\n",
			field->name, field->org_name, field->table, (int)field->type,
			field->length, field->max_length, field->flags, field->decimals,
			field->charsetnr);
	printf("  metadata %d\n", meta != NULL);
	f.mysql_free_result(meta);
	printf("  of parameters %d\n", f.mysql_stmt_param_metadata(stmt) != NULL);
}

static void
step(MYSQL_STMT *stmt, const char *word)
{
	if (strcmp(word, "execute") == 0)
		execute(stmt);
	else if (strcmp(word, "executed") == 0)
		printf("executed %d\n", f.mysql_stmt_execute(stmt));
	else if (strcmp(word, "fetched") == 0)
		printf("fetched %d %s\n", f.mysql_stmt_fetch(stmt), text);
	else if (strcmp(word, "bind") == 0)
		bind_text(stmt);
	else if (strcmp(word, "fetch") == 0)
		fetch(stmt);
	else if (strcmp(word, "rest") == 0)
		fetch_rest(stmt);
	else if (strcmp(word, "fields") == 0)
		show_fields(stmt);
	else if (strcmp(word, "stored") == 0)
		show(stmt, word, f.mysql_stmt_store_result(stmt));
	else if (strcmp(word, "freed") == 0)
		show(stmt, word, f.mysql_stmt_free_result(stmt));
	else if (strcmp(word, "reset") == 0)
		show(stmt, word, f.mysql_stmt_reset(stmt));
	else if (strcmp(word, "next") == 0)
		show(stmt, word, f.mysql_stmt_next_result(stmt));
	else if (strcmp(word, "closed") == 0)
		printf("closed %d\n", f.mysql_stmt_close(stmt));
	else
		must(0, word);
}

void
steps(MYSQL_STMT *stmt, const char *words)
{
	char word[16];

	for (int n; sscanf(words, "%15s%n", word, &n) == 1; words += n)
		step(stmt, word);
}

void
query(const char *sql)
{
	MYSQL_RES *res;
	MYSQL_ROW row;

	printf("query %d\n", f.mysql_query(my, sql));
	res = f.mysql_store_result(my);
	while (res && (row = f.mysql_fetch_row(res)))
		printf("  row %s %s\n", row[0] ? row[0] : "NULL",
			f.mysql_num_fields(res) > 1 && row[1] ? row[1] : "-");
	printf("  %u [%s]\n", f.mysql_errno(my), f.mysql_error(my));
	f.mysql_free_result(res);
}

void
say_bits(const char *what)
{
	unsigned bits =
		my->server_status & ~0x48f0u; /* without the bits of one statement */

	printf("%s: bits %x errno %u\n", what, bits, f.mysql_errno(my));
}

#define SCENE(name) { #name, name },

static const struct {
	const char *name;
	void (*play)(void);
} scenes[] = { SCENES_OF_STATEMENTS(SCENE) };

int
main(int argc, char **argv)
{
	if (argc < 5)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	cnt_library_open(&f, argv[1]);
	directory = argv[3];
	my = f.mysql_init(NULL);
	must(f.mysql_real_connect(my, NULL, "app", NULL, "app", 0, argv[2], 0) != NULL,
		"connect");
	run("set names utf8mb4");
	for (size_t i = 0; i < sizeof(scenes) / sizeof(*scenes); i++) {
		if (strcmp(scenes[i].name, argv[4]) == 0)
			scenes[i].play();
	}
	f.mysql_close(my);
	return 0;
}
