/* SPDX-License-Identifier: BSD-2-Clause */
#include "libmysql.h"

#include <stdlib.h>
#include <string.h>

/*
 * The mysql_list_…() functions. A MySQL server gets the statements that the original sends. For
 * other servers the lists come from the pool's catalog requests. face.c calls this file.
 */

/* ---- text that grows ---- */

struct sql {
	char *text;
	size_t len, room;
	int has_failed;
};

static void
put(struct sql *q, const char *text, size_t len)
{
	size_t room = 2 * (q->len + len) + 64;
	char *grown;

	if (q->has_failed)
		return;
	if (q->len + len >= q->room) {
		grown = realloc(q->text, room);
		q->has_failed = !grown;
		if (!grown)
			return;
		q->text = grown;
		q->room = room;
	}
	memcpy(q->text + q->len, text, len);
	q->len += len;
	q->text[q->len] = '\0';
}

static void
puts_sql(struct sql *q, const char *text)
{
	put(q, text, strlen(text));
}

/*
 * Copy one character of a text in quotes. A byte in `doubled` is written twice, unless it is the
 * last byte of a longer character. An incomplete character could swallow the quote after it, so a
 * question mark replaces it.
 */
static size_t
put_character(const MYSQL *my, struct sql *q, const char *p, const char *doubled)
{
	const MARIADB_CHARSET_INFO *cs = my->charset;
	int is_long = cs->char_maxlen > 1 && (unsigned char)*p >= 0x80;
	size_t n = is_long ? cs->mb_valid(p, p + strnlen(p, cs->char_maxlen)) : 1;

	if (n == 0 && cs->mb_charlen((unsigned char)*p) != 1) {
		put(q, "?", 1);
		return 1;
	}
	n = n > 1 ? n : 1;
	if (strchr(doubled, *p))
		put(q, p, 1);
	put(q, p, n);
	return n;
}

/* Write a name as an identifier. */
static void
put_quoted(const MYSQL *my, struct sql *q, const char *text, char quote)
{
	const char quotes[] = { quote, '\0' };

	put(q, &quote, 1);
	while (*text)
		text += put_character(my, q, text, quotes);
	put(q, &quote, 1);
}

/* Write a pattern as the original does. MariaDB's library copies it unchanged. */
static void
put_like(struct sql *q, const char *wild)
{
	puts_sql(q, " LIKE '");
	for (; *wild; wild++) {
		if (CMY_ORACLE && (*wild == '\\' || *wild == '\''))
			put(q, "\\", 1);
		put(q, wild, 1);
	}
	puts_sql(q, "'");
}

/* ---- databases, tables, processes ---- */

static MYSQL_RES *
query(MYSQL *my, struct sql *q)
{
	MYSQL_RES *result = NULL;

	if (q->has_failed)
		cmy_error(my, CR_OUT_OF_MEMORY, NULL);
	else if (cmy_mysql_real_query(my, q->text, q->len) == 0)
		result = cmy_mysql_store_result(my);
	free(q->text);
	return result;
}

static MYSQL_RES *
show(MYSQL *my, const char *what, const char *wild)
{
	struct sql q = { NULL };

	puts_sql(&q, what);
	if (!CMY_ORACLE || (wild && *wild))
		put_like(&q, wild ? wild : "%");
	return query(my, &q);
}

static int
is_mysql(const MYSQL *my)
{
	const struct cmy_session *s = my->extension;

	return !s || s->backend == CMY_BACKEND_MYSQL;
}

/* Get one column of a catalog list. */
static MYSQL_RES *
list(MYSQL *my, uint32_t kind, const cenote_catalog_filter *filter, uint32_t column)
{
	struct cmy_session *s;

	cmy_forget_query(my);
	s = cmy_enter(my);
	if (!s || cmy_check(s, cenote_send_catalog(s->conn, kind, filter)) < 0)
		return NULL;
	return cmy_result_of_column(s, column);
}

MYSQL_RES *
cmy_mysql_list_dbs(MYSQL *mysql, const char *wild)
{
	if (is_mysql(mysql))
		return show(
			mysql, CMY_ORACLE ? "show databases" : "SHOW DATABASES", wild);
	return list(mysql, CENOTE_CATALOG_DATABASES, NULL, 0);
}

MYSQL_RES *
cmy_mysql_list_tables(MYSQL *mysql, const char *wild)
{
	cenote_catalog_filter filter = CENOTE_CATALOG_FILTER_INIT;

	if (is_mysql(mysql))
		return show(mysql, CMY_ORACLE ? "show tables" : "SHOW TABLES", wild);
	filter.object = wild;
	filter.types = "TABLE,VIEW";
	return list(mysql, CENOTE_CATALOG_TABLES, &filter, 2);
}

MYSQL_RES *
cmy_mysql_list_processes(MYSQL *mysql)
{
	struct sql q = { NULL };

	puts_sql(&q, "SHOW PROCESSLIST");
	return query(mysql, &q);
}

/* ---- fields ---- */

/* Where a catalog's list of columns has names and defaults. */
struct columns {
	cenote_result *res;
	uint32_t name, def;
	char quote; /* the most bytes of an identifier */
};

static int
take(struct cmy_session *s, struct sql *q, cenote_result **ret_res)
{
	int r = -1;

	if (q->has_failed)
		cmy_error(s->my, CR_OUT_OF_MEMORY, NULL);
	else
		r = cmy_run(s, q->text, ret_res);
	free(q->text);
	return r;
}

/* Write the pattern as an SQL literal. */
static void
put_pattern(const struct cmy_session *s, struct sql *q, const char *wild)
{
	int has_backslash = !(s->my->server_status & SERVER_STATUS_NO_BACKSLASH_ESCAPES);

	puts_sql(q, " LIKE '");
	while (*wild)
		wild += put_character(s->my, q, wild, has_backslash ? "'\\" : "'");
	puts_sql(q, "'");
}

static int
columns_of_mysql(struct cmy_session *s, const char *table, const char *wild,
	struct columns *ret_columns)
{
	struct sql q = { NULL };

	*ret_columns = (struct columns){ .name = 0, .def = 4, .quote = '`' };
	puts_sql(&q, "SHOW COLUMNS FROM ");
	put_quoted(s->my, &q, table, '`');
	if (wild && *wild)
		put_pattern(s, &q, wild);
	return take(s, &q, &ret_columns->res);
}

/* Write a name as a pattern that matches only this name. */
static void
put_plain(struct sql *q, const char *name)
{
	for (; *name; name++) {
		if (*name == '%' || *name == '_' || *name == '\\')
			put(q, "\\", 1);
		put(q, name, 1);
	}
}

static int
columns_of_other(struct cmy_session *s, const char *table, const char *wild,
	struct columns *ret_columns)
{
	cenote_catalog_filter filter = CENOTE_CATALOG_FILTER_INIT;
	struct sql name = { NULL };
	int r = -1;

	*ret_columns = (struct columns){ .name = 3, .def = 12, .quote = '"' };
	puts_sql(&name, "");
	put_plain(&name, table);
	filter.object = name.text;
	filter.column = wild && *wild ? wild : NULL;
	if (name.has_failed)
		cmy_error(s->my, CR_OUT_OF_MEMORY, NULL);
	else if (cmy_check(s, cenote_send_catalog(
				      s->conn, CENOTE_CATALOG_COLUMNS, &filter)) == 0)
		r = cmy_first_result(s, &ret_columns->res);
	free(name.text);
	return r;
}

/* Select the columns without any row: the result describes the columns. */
static int
describe(struct cmy_session *s, const char *table, const struct columns *columns,
	cenote_result **ret_res)
{
	uint64_t n = cenote_result_n_rows(columns->res);
	struct sql q = { NULL };
	const char *name;

	puts_sql(&q, "SELECT ");
	for (uint64_t i = 0; i < n; i++) {
		name = cenote_result_text(columns->res, i, columns->name, NULL);
		if (!name) {
			free(q.text);
			cmy_error(s->my, CR_MALFORMED_PACKET, NULL);
			return -1;
		}
		puts_sql(&q, i > 0 ? "," : "");
		put_quoted(s->my, &q, name, columns->quote);
	}
	puts_sql(&q, " FROM ");
	put_quoted(s->my, &q, table, columns->quote);
	puts_sql(&q, " WHERE 1=0");
	return take(s, &q, ret_res);
}

/* The value that the server uses for a column that is NOT NULL and has no default. */
static const char *
zero_of(const MYSQL_FIELD *f)
{
	switch (f->type) {
	case MYSQL_TYPE_DATE:
		return "0000-00-00";
	case MYSQL_TYPE_DATETIME:
	case MYSQL_TYPE_TIMESTAMP:
		return "0000-00-00 00:00:00";
	case MYSQL_TYPE_TIME:
		return "00:00:00";
	case MYSQL_TYPE_YEAR:
		return "0000";
	default:
		return f->flags & NUM_FLAG ? "0" : "";
	}
}

/* The default to report. An expression such as current_timestamp() is not a value, so it is not
 * reported. */
static const char *
default_of(const MYSQL_FIELD *f, const char *told)
{
	int is_time = f->type == MYSQL_TYPE_DATE || f->type == MYSQL_TYPE_DATETIME ||
		      f->type == MYSQL_TYPE_TIMESTAMP || f->type == MYSQL_TYPE_TIME;

	if (told && !(is_time && (*told < '0' || *told > '9')))
		return told;
	return f->flags & NOT_NULL_FLAG ? zero_of(f) : NULL;
}

/* Collect all defaults in one block of memory. The fields point into it. */
static char *
set_defaults(MYSQL_FIELD *fields, const struct columns *columns)
{
	uint64_t n = cenote_result_n_rows(columns->res);
	struct sql texts = { NULL };
	const char *def;
	char *at;

	puts_sql(&texts, "");
	for (uint64_t i = 0; i < n; i++) {
		def = default_of(&fields[i],
			cenote_result_text(columns->res, i, columns->def, NULL));
		if (!def)
			continue;
		fields[i].def_length = (unsigned)strlen(def);
		put(&texts, def, strlen(def) + 1);
		fields[i].def = (char *)(uintptr_t)def;
	}
	at = texts.has_failed ? NULL : texts.text;
	for (uint64_t i = 0; at && i < n; i++) {
		if (!fields[i].def)
			continue;
		fields[i].def = at;
		at += fields[i].def_length + 1;
		if (!CMY_ORACLE)
			fields[i].def_length = 0; /* as in the original */
	}
	if (texts.has_failed)
		free(texts.text);
	return texts.has_failed ? NULL : texts.text;
}

static MYSQL_RES *
result_of(struct cmy_session *s, const cenote_result *described,
	const struct columns *columns)
{
	uint32_t n = cenote_result_n_columns(described);
	MYSQL_FIELD *fields = NULL;
	MYSQL_RES *result = NULL;
	char *defaults = NULL;

	if (n == cenote_result_n_rows(columns->res))
		fields = cmy_fields_of_result(s, described);
	if (fields)
		defaults = set_defaults(fields, columns);
	if (defaults)
		result = cmy_result_of_fields(fields, n);
	if (result) {
		cmy_result_keep(result, defaults);
		return result;
	}
	free(fields);
	free(defaults);
	cmy_error(s->my, CR_OUT_OF_MEMORY, NULL);
	return NULL;
}

/* Set the status bits as the original's command leaves them: it begins no transaction and reads no
 * rows. */
static void
take_bits(MYSQL *mysql, unsigned before)
{
	unsigned now = mysql->server_status;
	unsigned lasting = SERVER_STATUS_AUTOCOMMIT | SERVER_STATUS_NO_BACKSLASH_ESCAPES |
			   SERVER_STATUS_ANSI_QUOTES;

	if (now & SERVER_STATUS_AUTOCOMMIT)
		lasting |= SERVER_STATUS_IN_TRANS;
	mysql->server_status = (before & ~lasting) | (now & lasting);
}

MYSQL_RES *
cmy_mysql_list_fields(MYSQL *mysql, const char *table, const char *wild)
{
	struct cmy_session *s = cmy_enter(mysql);
	unsigned bits = mysql->server_status;
	struct columns columns = { NULL };
	cenote_result *described = NULL;
	MYSQL_RES *result = NULL;
	int r;

	if (CMY_ORACLE && mysql->status == MYSQL_STATUS_READY)
		cmy_forget_query(mysql);
	if (!s)
		return NULL;
	/* the original sends a command, whose answer carries no session changes */
	s->is_untracked = 1;
	r = is_mysql(mysql) ? columns_of_mysql(s, table, wild, &columns)
			    : columns_of_other(s, table, wild, &columns);
	if (r == 0 && cenote_result_n_rows(columns.res) == 0)
		result = cmy_result_of_fields(NULL, 0);
	else if (r == 0 && describe(s, table, &columns, &described) == 0)
		result = result_of(s, described, &columns);
	if (result) {
		cmy_forget_query(mysql);
		cmy_track_begin(s);
	}
	s->is_untracked = 0;
	take_bits(mysql, bits);
	mysql->affected_rows = MYSQL_COUNT_ERROR;
	if (CMY_ORACLE && result)
		mysql->field_count = result->field_count;
	cenote_result_destroy(described);
	cenote_result_destroy(columns.res);
	return result;
}
