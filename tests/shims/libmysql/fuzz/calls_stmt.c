/* SPDX-License-Identifier: BSD-2-Clause */
#include "driver.h"

#include <stdlib.h>
#include <string.h>

/* Prepared statements. */

#define MAX_ROWS                40
#define CR_MIN_ERROR            2000u
#define CR_COMMANDS_OUT_OF_SYNC 2014u

int
fz_has_stored(const struct fz_stmt *s)
{
	return s->stmt->result.data != NULL || s->has_cursor;
}

void
fz_close_stmt(struct fz *z, struct fz_stmt *s)
{
	my_bool r = 0;

	if (s->stmt == NULL)
		return;
	FZ_DO(z, s->stmt, r, mysql_stmt_close, s->stmt);
	(void)r;
	memset(s, 0, sizeof(*s));
}

void
fz_stmt_init(struct fz *z, const uint32_t n[4])
{
	(void)n;
	fz_say(z, "\n");
	fz_close_stmt(z, z->stmt);
	z->stmt->stmt = z->f.mysql_stmt_init(z->at->my);
}

static const char *
choose_sql(struct fz *z, const uint32_t n[4])
{
	const char *sql =
		n[1] % 8 ? fz_bound_word(z, n[1] / 8) : fz_query_word(z, n[1] / 8);

	fz_say(z, " ");
	fz_say_text(z, sql);
	return sql;
}

static void
forget_values(struct fz_stmt *s)
{
	memset(s->is_ahead, 0, sizeof(s->is_ahead));
	memset(s->is_lost, 0, sizeof(s->is_lost));
}

/* The bound columns belong to another statement now. */
static void
forget_columns(struct fz_stmt *s)
{
	s->has_columns = 0;
	s->offset = NULL;
}

/* In MariaDB's library each execution of a procedure brings new columns. */
static void
note_execution(struct fz_stmt *s)
{
	s->was_run = 1;
#if !CMY_ORACLE
	s->had_cursor |= s->stmt->cursor_exists;
#endif
	if (CMY_ORACLE || strncmp(s->sql, "call", 4) != 0)
		return;
	s->has_old_columns |= s->has_columns;
	s->has_columns = 0;
}

static void
take_text(struct fz_stmt *s, const char *sql)
{
	s->sql = sql;
	s->has_old_columns |= s->has_columns;
	s->was_run = 0;
	s->is_direct = 0;
	s->is_refused = 0;
	s->has_old_charset = 0;
	s->has_failed_cursor = 0;
	s->n_fetched = 0;
	s->is_bound = 0;
	forget_values(s);
	forget_columns(s);
}

void
fz_stmt_prepare(struct fz *z, const uint32_t n[4])
{
	const char *sql = choose_sql(z, n);
	int r = 0;

	z->stmt->has_old_rows |= fz_has_stored(z->stmt);
	FZ_DO(z, z->stmt->stmt, r, mysql_stmt_prepare, z->stmt->stmt, sql,
		(unsigned long)strlen(sql));
	take_text(z->stmt, sql);
	fz_gave_status(z, r);
}

static void
give_params(struct fz *z, uint32_t number)
{
	struct fz_stmt *s = z->stmt;

	for (unsigned i = 0; i < FZ_PARAMS; i++, number = number * 69069 + 12345)
		fz_give(z, &s->params[i], &s->given[i], number >> 3);
}

void
fz_stmt_bind_param(struct fz *z, const uint32_t n[4])
{
	struct fz_stmt *s = z->stmt;

	give_params(z, n[1]);
	memset(s->is_lost, 0, sizeof(s->is_lost));
	s->is_half_bound = z->f.mysql_stmt_bind_param(s->stmt, s->params) != 0;
	s->is_bound |= !s->is_half_bound;
	fz_gave_status(z, s->is_half_bound);
}

void
fz_stmt_execute(struct fz *z, const uint32_t n[4])
{
	int has_types = z->stmt->stmt->send_types_to_server, r = 0;

	(void)n;
	FZ_DO(z, z->stmt->stmt, r, mysql_stmt_execute, z->stmt->stmt);
	if (r == 0)
		z->stmt->is_refused = 0;
	else if (z->f.mysql_stmt_errno(z->stmt->stmt) == CR_COMMANDS_OUT_OF_SYNC)
		z->stmt->is_refused |= has_types;
	/* unless the library itself refused the execution */
	if (z->f.mysql_stmt_errno(z->stmt->stmt) < CR_MIN_ERROR) {
		forget_values(z->stmt);
		z->stmt->has_old_rows = 0;
		z->stmt->is_past_rows = 0;
	}
	if (r == 0)
		note_execution(z->stmt);
	z->stmt->n_fetched = 0;
	z->stmt->has_cursor = z->stmt->stmt->flags != 0;
	z->stmt->has_failed_cursor = z->stmt->has_cursor && r != 0 &&
				     z->f.mysql_stmt_errno(z->stmt->stmt) < CR_MIN_ERROR;
	z->stmt->offset = NULL;
	fz_gave_status(z, r);
}

void
fz_stmt_bind_result(struct fz *z, const uint32_t n[4])
{
	struct fz_stmt *s = z->stmt;
	uint32_t number = n[1];

	for (unsigned i = 0; i < FZ_COLUMNS; i++, number = number * 69069 + 12345)
		fz_take(&s->columns[i], &s->taken[i], number >> 3);
	s->has_columns = z->f.mysql_stmt_bind_result(s->stmt, s->columns) == 0;
	s->has_old_columns &= !s->has_columns;
	s->has_new_columns = 1;
	fz_gave_status(z, !s->has_columns);
}

void
fz_stmt_fetch(struct fz *z, const uint32_t n[4])
{
	struct fz_stmt *s = z->stmt;
	int left = n[1] % 3 ? 1 : MAX_ROWS;
	int r = 0;

	while (left-- > 0 && (r == 0 || r == MYSQL_DATA_TRUNCATED)) {
		FZ_DO(z, s->stmt, r, mysql_stmt_fetch, s->stmt);
		s->has_new_columns = 0;
		s->is_row_over = 0;
		fz_gave_int(z, r);
		if (r != 0 && r != MYSQL_DATA_TRUNCATED)
			continue;
		s->n_fetched++;
		if (s->has_columns)
			fz_show_columns(z, s, z->f.mysql_stmt_field_count(s->stmt));
	}
}

void
fz_stmt_fetch_column(struct fz *z, const uint32_t n[4])
{
	MYSQL_BIND bind;
	struct fz_value value;
	int r;

	fz_take(&bind, &value, n[2]);
	r = z->f.mysql_stmt_fetch_column(
		z->stmt->stmt, &bind, n[1] % 4, n[3] % 3 ? 0 : n[3] % 5);
	fz_say(z, " %u", n[1] % 4);
	fz_show_value(z, &bind);
	fz_gave_status(z, r);
}

void
fz_stmt_store_result(struct fz *z, const uint32_t n[4])
{
	int r = 0;

	(void)n;
	FZ_DO(z, z->stmt->stmt, r, mysql_stmt_store_result, z->stmt->stmt);
	if (r == 0)
		z->stmt->is_past_rows = 0;
	z->stmt->is_row_over |= r == 0 && !z->stmt->has_cursor;
	fz_gave_status(z, r);
}

void
fz_stmt_free_result(struct fz *z, const uint32_t n[4])
{
	my_bool r = 0;

	(void)n;
	FZ_DO(z, z->stmt->stmt, r, mysql_stmt_free_result, z->stmt->stmt);
	z->stmt->n_fetched = 0;
	z->stmt->offset = NULL;
	z->stmt->has_failed_cursor = 0;
	fz_gave_status(z, r);
}

void
fz_stmt_reset(struct fz *z, const uint32_t n[4])
{
	my_bool r = 0;

	(void)n;
	FZ_DO(z, z->stmt->stmt, r, mysql_stmt_reset, z->stmt->stmt);
	forget_values(z->stmt);
	z->stmt->offset = NULL;
	z->stmt->has_failed_cursor = 0;
	fz_gave_status(z, r);
}

void
fz_stmt_close(struct fz *z, const uint32_t n[4])
{
	(void)n;
	fz_say(z, "\n");
	fz_close_stmt(z, z->stmt);
}

void
fz_stmt_seek(struct fz *z, const uint32_t n[4])
{
	fz_say(z, " %u\n", n[1] % 5);
	z->f.mysql_stmt_data_seek(z->stmt->stmt, n[1] % 5);
}

void
fz_stmt_row_seek(struct fz *z, const uint32_t n[4])
{
	struct fz_stmt *s = z->stmt;
	MYSQL_ROW_OFFSET now = z->f.mysql_stmt_row_tell(s->stmt);

	fz_say(z, " %s", now != NULL ? "somewhere" : "nowhere");
	if (n[1] % 2) {
		s->offset = now;
		fz_say(z, "\n");
		return;
	}
	now = z->f.mysql_stmt_row_seek(s->stmt, s->offset);
	fz_say(z, " -> %s\n", now != NULL ? "somewhere" : "nowhere");
}

void
fz_stmt_attr(struct fz *z, const uint32_t n[4])
{
	static const enum enum_stmt_attr_type kinds[] = { STMT_ATTR_UPDATE_MAX_LENGTH,
		STMT_ATTR_CURSOR_TYPE, STMT_ATTR_PREFETCH_ROWS };
	enum enum_stmt_attr_type kind = kinds[n[1] % 3];
	unsigned long number = n[2] % 3;
	my_bool is_on = n[2] % 2 != 0;
	const void *value =
		kind == STMT_ATTR_UPDATE_MAX_LENGTH ? (void *)&is_on : &number;
	int r;

	fz_say(z, " %d %lu %d", (int)kind, number, is_on);
	/* the pool got the number with the execution, and has sent the first rows */
	if (kind == STMT_ATTR_PREFETCH_ROWS && z->stmt->has_cursor) {
		fz_say(z, " left out: the cursor is open\n");
		return;
	}
	r = z->f.mysql_stmt_attr_set(z->stmt->stmt, kind, value);
	fz_gave_status(z, r);
	number = 0;
	r = z->f.mysql_stmt_attr_get(z->stmt->stmt, kind, &number);
	fz_say(z, "    is %lu",
		kind == STMT_ATTR_UPDATE_MAX_LENGTH ? number & 1 : number);
	fz_gave_status(z, r);
}

/* Whether the parameter is no text. Oracle's library crashes on the message for this error. */
static int
is_no_text(const struct fz_stmt *s, unsigned param)
{
	enum enum_field_types type = s->is_bound ? s->params[param].buffer_type : 0;

	return param < s->stmt->param_count &&
	       (type < MYSQL_TYPE_TINY_BLOB || type > MYSQL_TYPE_STRING);
}

void
fz_stmt_long_data(struct fz *z, const uint32_t n[4])
{
	const char *text = FZ_PICK(values, n[2]);
	my_bool r = 0;

	fz_say(z, " %u ", n[1] % 3);
	fz_say_text(z, text);
	if (CMY_ORACLE && is_no_text(z->stmt, n[1] % 3)) {
		fz_say(z, " left out: the original ends\n");
		return;
	}
	FZ_DO(z, z->stmt->stmt, r, mysql_stmt_send_long_data, z->stmt->stmt, n[1] % 3,
		text, (unsigned long)strlen(text));
	z->stmt->is_ahead[n[1] % 3] |= r == 0;
	z->stmt->is_lost[n[1] % 3] |= r != 0;
	fz_gave_status(z, r);
}

void
fz_stmt_metadata(struct fz *z, const uint32_t n[4])
{
	MYSQL_RES *res = n[1] % 4 ? z->f.mysql_stmt_result_metadata(z->stmt->stmt)
				  : z->f.mysql_stmt_param_metadata(z->stmt->stmt);

	fz_say(z, " -> %s\n", res != NULL ? "a result" : "none");
	for (unsigned i = 0; res != NULL && i < z->f.mysql_num_fields(res); i++)
		fz_show_field(z, z->f.mysql_fetch_field(res));
	z->f.mysql_free_result(res);
}

void
fz_stmt_next_result(struct fz *z, const uint32_t n[4])
{
	struct fz_stmt *s = z->stmt;
	int r = 0;

	(void)n;
	FZ_DO(z, s->stmt, r, mysql_stmt_next_result, s->stmt);
	if (r == 0)
		forget_columns(s);
	s->is_past_rows |= r == 0;
	/* Oracle's library returns the number of an error, see fz_put_error() */
	if (r > 1)
		r = 1;
	fz_gave_int(z, r);
}

/* ---- functions of MariaDB's flavour only ---- */

#if CMY_ORACLE

void
fz_stmt_array(struct fz *z, const uint32_t n[4])
{
	(void)n;
	fz_say(z, " is MariaDB's\n");
}

void
fz_stmt_direct(struct fz *z, const uint32_t n[4])
{
	(void)n;
	fz_say(z, " is MariaDB's\n");
}

#else

#define ARRAY 3

/* An array of parameters: a number and a text in each row, some NULL or left out. */
void
fz_stmt_array(struct fz *z, const uint32_t n[4])
{
	static const char *const queries[] = {
		"insert into items (id, name) values (?, ?)",
		"update items set name = concat(?, name) where id > ?",
		"delete from items where id = ? or name = ?",
		"replace into items (id, name) values (?, ?)",
		"select ?, ?",
	};
	static const char indicators[] = { STMT_INDICATOR_NONE, STMT_INDICATOR_NONE,
		STMT_INDICATOR_NULL, STMT_INDICATOR_DEFAULT, STMT_INDICATOR_NTS };
	const char *sql = queries[n[1] % 5];
	int numbers[ARRAY];
	const char *texts[ARRAY];
	unsigned long lengths[ARRAY];
	char told[2][ARRAY];
	MYSQL_BIND binds[2];
	unsigned size = ARRAY, none = 0;
	MYSQL_STMT *stmt = z->f.mysql_stmt_init(z->at->my);
	int r = 0;

	fz_say(z, " %s", sql);
	if (stmt == NULL) {
		fz_say(z, " -> none\n");
		return;
	}
	memset(binds, 0, sizeof(binds));
	for (int i = 0; i < ARRAY; i++) {
		numbers[i] = (int)(n[2] >> i) % 200;
		texts[i] = FZ_PICK(values, (n[3] >> i));
		lengths[i] = (unsigned long)strlen(texts[i]);
		told[0][i] = indicators[(n[2] >> (4 * i)) % 4];
		told[1][i] = indicators[(n[3] >> (4 * i)) % 5];
	}
	binds[0].buffer_type = MYSQL_TYPE_LONG;
	binds[0].buffer = numbers;
	binds[0].u.indicator = told[0];
	binds[1].buffer_type = MYSQL_TYPE_STRING;
	binds[1].buffer = texts;
	binds[1].length = lengths;
	binds[1].u.indicator = told[1];
	FZ_DO(z, stmt, r, mysql_stmt_prepare, stmt, sql, (unsigned long)strlen(sql));
	if (r == 0)
		r = z->f.mysql_stmt_attr_set(stmt, STMT_ATTR_ARRAY_SIZE, &size);
	if (r == 0)
		r = z->f.mysql_stmt_bind_param(stmt, binds);
	if (r == 0)
		FZ_DO(z, stmt, r, mysql_stmt_execute, stmt);
	fz_gave_status(z, r);
	fz_say(z, "    error %u ", z->f.mysql_stmt_errno(stmt));
	fz_say_text(z, z->f.mysql_stmt_error(stmt));
	fz_say(z, " affected %lld\n", (long long)z->f.mysql_stmt_affected_rows(stmt));
	(void)z->f.mysql_stmt_attr_set(stmt, STMT_ATTR_ARRAY_SIZE, &none);
	(void)z->f.mysql_stmt_close(stmt);
}

void
fz_stmt_direct(struct fz *z, const uint32_t n[4])
{
	struct fz_stmt *s = z->stmt;
	const char *sql = choose_sql(z, n);
	unsigned count = 0;
	int r = 0;

	if (fz_lacks_cursor(s, sql)) {
		fz_say(z, " left out: the original is out of sync with itself\n");
		return;
	}
	s->has_old_rows |= fz_has_stored(s);
	for (const char *p = sql; *p != '\0'; p++)
		count += *p == '?';
	(void)z->f.mysql_stmt_attr_set(s->stmt, STMT_ATTR_PREBIND_PARAMS, &count);
	give_params(z, n[2]);
	if (count > 0)
		r = z->f.mysql_stmt_bind_param(s->stmt, s->params);
	/* without values the original leaves answers unread, and waits for others */
	if (r == 0)
		r = z->f.mariadb_stmt_execute_direct(s->stmt, sql, strlen(sql));
	take_text(s, sql);
	s->was_run = r == 0;
	s->is_direct = 1;
	s->had_cursor |= s->stmt->cursor_exists;
	s->is_bound = count > 0;
	fz_gave_status(z, r);
}

#endif
