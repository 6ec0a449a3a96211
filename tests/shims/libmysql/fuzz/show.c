/* SPDX-License-Identifier: BSD-2-Clause */
#include "older.h"
#include "driver.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Printing. Two drivers must print the same text for the same facts. */

#define MAX_BYTES 200u

#define CR_SERVER_GONE_ERROR       2006u
#define CR_SERVER_LOST             2013u
#define ER_UNKNOWN_STMT_HANDLER    1243u
#define ER_STMT_HAS_NO_OPEN_CURSOR 1421u
#define CR_CANT_READ_CHARSET       2019u
#define CR_UNSUPPORTED_PARAM_TYPE  2036u

/* Status bits of one statement or cursor: the pool reports none for a failed statement,
 * and reads cursors on its own. */
#define VOLATILE 0x48f0u

void
fz_say(struct fz *z, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(z->out, format, args);
	va_end(args);
}

static void
put_bytes(FILE *to, const char *bytes, size_t len)
{
	if (bytes == NULL) {
		fputs("null", to);
		return;
	}
	fputc('"', to);
	for (size_t i = 0; i < len && i < MAX_BYTES; i++) {
		unsigned char c = (unsigned char)bytes[i];

		if (c < 32 || c == 127 || c == '"' || c == '\\')
			fprintf(to, "\\x%02x", c);
		else
			fputc(c, to);
	}
	fputc('"', to);
	if (len > MAX_BYTES)
		fprintf(to, "(%zu bytes)", len);
}

static void
put_text(FILE *to, const char *text)
{
	put_bytes(to, text, text != NULL ? strlen(text) : 0);
}

void
fz_say_bytes(struct fz *z, const char *bytes, size_t len)
{
	put_bytes(z->out, bytes, len);
}

void
fz_say_text(struct fz *z, const char *text)
{
	put_text(z->out, text);
}

void
fz_gave_text(struct fz *z, const char *text)
{
	fz_say(z, " -> ");
	fz_say_text(z, text);
	fz_say(z, "\n");
}

void
fz_gave_int(struct fz *z, long long value)
{
	fz_say(z, " -> %lld\n", value);
}

void
fz_gave_answer(struct fz *z, int r)
{
	fz_say(z, " -> %s fields %u\n", r == 0 ? "well" : "not",
		z->f.mysql_field_count(z->at->my));
}

void
fz_gave_status(struct fz *z, int r)
{
	fz_say(z, " -> %s\n", r == 0 ? "well" : "not");
}

/* ---- results ---- */

void
fz_show_field(struct fz *z, const MYSQL_FIELD *field)
{
	if (field == NULL) {
		fz_say(z, "    no field\n");
		return;
	}
	fz_say(z, "    field %s %s.%s(%s) %s(%s) default ", field->catalog, field->db,
		field->table, field->org_table, field->name, field->org_name);
	fz_say_text(z, cnt_older_text(field->def));
	fz_say(z, " length %lu longest %lu flags %x decimals %u charset %u type %d\n",
		field->length, field->max_length, field->flags, field->decimals,
		field->charsetnr, (int)field->type);
}

void
fz_show_row(struct fz *z, MYSQL_RES *res, MYSQL_ROW row)
{
	unsigned long *lengths;

	if (row == NULL) {
		fz_say(z, "    no row\n");
		return;
	}
	lengths = z->f.mysql_fetch_lengths(res);
	fz_say(z, "    row");
	for (unsigned i = 0; i < res->field_count; i++) {
		fz_say(z, " ");
		fz_say_bytes(z, row[i], lengths[i]);
	}
	fz_say(z, "\n");
}

void
fz_put_error(FILE *to, unsigned code, const char *sqlstate, const char *text)
{
	const char *row = strstr(text, " at row ");
	size_t len = row != NULL ? (size_t)(row - text) : strlen(text);

	/*
	 * The server counts rows even across mysql_reset_connection(), so leave out the row's
	 * number. Oracle's library has one number for all losses, while the pool's number depends
	 * on whether the statement was sent.
	 */
	if (CMY_ORACLE && (code == CR_SERVER_GONE_ERROR || code == CR_SERVER_LOST)) {
		fprintf(to, "error: lost");
		return;
	}
	/* the path depends on the build */
	if (CMY_ORACLE && code == CR_CANT_READ_CHARSET)
		len = strcspn(text, "(");
	/* Oracle's message lacks its arguments */
	if (CMY_ORACLE && code == CR_UNSUPPORTED_PARAM_TYPE)
		len = strcspn(text, ":");
	/* the server chooses a statement's number */
	if (code == ER_UNKNOWN_STMT_HANDLER || code == ER_STMT_HAS_NO_OPEN_CURSOR)
		len = strcspn(text, "(");
	fprintf(to, "error %u %s ", code, sqlstate);
	put_bytes(to, text, len);
}

/* ---- statements ---- */

static int
is_time(enum enum_field_types type)
{
	return type == MYSQL_TYPE_DATE || type == MYSQL_TYPE_TIME ||
	       type == MYSQL_TYPE_DATETIME || type == MYSQL_TYPE_TIMESTAMP;
}

void
fz_show_value(struct fz *z, const MYSQL_BIND *bind)
{
	const MYSQL_TIME *t = bind->buffer;
	/* these and t->neg may hold the fill pattern, which is no valid my_bool: read them as
	 * bytes */
	unsigned char is_null = *(const unsigned char *)bind->is_null;
	unsigned char error = *(const unsigned char *)bind->error;

	fz_say(z, " %d:%d,%lu,%d:", (int)bind->buffer_type, is_null,
		cnt_older_length(*bind->length, is_null || is_time(bind->buffer_type)),
		error);
	if (is_time(bind->buffer_type))
		fz_say(z, "%u-%u-%u %u:%u:%u.%lu%s type %d", t->year, t->month, t->day,
			t->hour, t->minute, t->second, t->second_part,
			*(const unsigned char *)&t->neg ? "-" : "", (int)t->time_type);
	else
		fz_say_bytes(z, bind->buffer, bind->buffer_length);
}

void
fz_show_columns(struct fz *z, const struct fz_stmt *s, unsigned n)
{
	fz_say(z, "    columns");
	for (unsigned i = 0; i < n && i < FZ_COLUMNS; i++)
		fz_show_value(z, &s->columns[i]);
	fz_say(z, "\n");
}

static void
put_stmt(struct fz *z, FILE *to, MYSQL_STMT *stmt, int number, int has_warnings)
{
	fprintf(to, "    statement %d: state %d ", number, (int)stmt->state);
	fz_put_error(to, z->f.mysql_stmt_errno(stmt), z->f.mysql_stmt_sqlstate(stmt),
		z->f.mysql_stmt_error(stmt));
	fprintf(to, "\n    statement %d: parameters %lu fields %u rows %lld alive %d",
		number, z->f.mysql_stmt_param_count(stmt),
		z->f.mysql_stmt_field_count(stmt),
		(long long)z->f.mysql_stmt_num_rows(stmt), stmt->mysql != NULL);
	if (stmt->state >= FZ_EXECUTED)
		fprintf(to, " affected %lld id %lld",
			(long long)z->f.mysql_stmt_affected_rows(stmt),
			(long long)z->f.mysql_stmt_insert_id(stmt));
#if !CMY_ORACLE
	if (stmt->field_count == 0 && has_warnings)
		fprintf(to, " warnings %d", z->f.mysql_stmt_warning_count(stmt));
#else
	(void)has_warnings;
#endif
	fputc('\n', to);
}

/* ---- connections ---- */

/* With an unknown character set the original has none, and crashes when asked for it. Oracle's
 * library also has none after a failed connect. */
static int
has_charset(const struct fz_conn *c)
{
	if (CMY_ORACLE && c->was_connected && c->my->net.FZ_VIO == NULL)
		return 0;
	return c->my->charset != NULL;
}

/* Between the results of a procedure Oracle's library reports the procedure's database. */
int
fz_has_database(struct fz *z, const struct fz_conn *c)
{
	return !CMY_ORACLE || !z->f.mysql_more_results(c->my);
}

static void
put_state(struct fz *z, FILE *to, struct fz_conn *c)
{
	MYSQL *my = c->my;
	int is_ready = my->status == MYSQL_STATUS_READY;
	/* the server reports at the end of a SELECT's rows whether it began a transaction, and the
	 * rows may be unread */
	unsigned bits =
		my->server_status & SERVER_STATUS_AUTOCOMMIT
			? my->server_status & ~VOLATILE
			: my->server_status & ~(VOLATILE | SERVER_STATUS_IN_TRANS);

	fprintf(to, "    status %d ", (int)my->status);
	/* Oracle's library keeps the SQLSTATE of a failed connect */
	fz_put_error(to, z->f.mysql_errno(my),
		CMY_ORACLE && z->f.mysql_errno(my) == 0 ? "" : z->f.mysql_sqlstate(my),
		z->f.mysql_error(my));
	fprintf(to, "\n    affected %lld id %llu bits %x warnings %u more %d info ",
		(long long)z->f.mysql_affected_rows(my),
		(unsigned long long)z->f.mysql_insert_id(my), is_ready ? bits : 0,
		is_ready && !c->is_streamed ? z->f.mysql_warning_count(my) : 0,
		(!CMY_ORACLE || is_ready) && z->f.mysql_more_results(my));
	put_text(to, z->f.mysql_info(my));
	fprintf(to, "\n    connected %d thread %d db ", my->net.FZ_VIO != NULL,
		z->f.mysql_thread_id(my) != 0);
	put_text(to, fz_has_database(z, c) ? my->db : NULL);
	fputs(" user ", to);
	put_text(to, my->user);
	fputs(" host ", to);
	put_text(to, my->host);
	fputs(" charset ", to);
	put_text(to, has_charset(c) ? z->f.mysql_character_set_name(my) : NULL);
	fputc('\n', to);
}

/* Print the lines of a state that have changed. */
static void
say_other_lines(struct fz *z, const char *now, const char *before)
{
	while (*now != '\0') {
		size_t len = strcspn(now, "\n") + 1;

		if (strncmp(now, before, len) != 0)
			fz_say(z, "%.*s", (int)len, now);
		now += len;
		before += strcspn(before, "\n");
		before += *before == '\n';
	}
}

static FILE *
open_state(char *now)
{
	FILE *to = fmemopen(now, FZ_STATE - 1, "w");

	if (to == NULL)
		abort();
	return to;
}

static void
show_stmt(struct fz *z, struct fz_stmt *s, int number, int has_warnings)
{
	char now[FZ_STATE] = "";
	FILE *to;

	if (s->stmt == NULL)
		return;
	to = open_state(now);
	put_stmt(z, to, s->stmt, number, has_warnings);
	fclose(to);
	say_other_lines(z, now, s->state);
	memcpy(s->state, now, sizeof(now));
}

void
fz_show_conn(struct fz *z, struct fz_conn *c)
{
	char now[FZ_STATE] = "";
	FILE *to;

	if (c->my != NULL) {
		to = open_state(now);
		put_state(z, to, c);
		fclose(to);
		say_other_lines(z, now, c->state);
		memcpy(c->state, now, sizeof(now));
	}
	for (unsigned i = 0; i < FZ_STMTS; i++)
		show_stmt(z, &c->stmts[i], (int)i,
			!c->is_streamed && !c->stmts[i].is_streamed);
}
