/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Find out from a statement's text whether its result may be kept, and what it changes for the statements after it (reach.h).
 * lib/cache.c and cenoted's query/touch.c call this file. It owns no state.
 *
 * It ignores quotes, so that it sees every word that any server may see. A word inside a string literal only makes the answer
 * more cautious.
 */
#include "core/reach.h"

#include <string.h>

/* ---- words ---- */

/* A statement whose result may be kept begins with one of these words. */
static const char *const queries[] = { "select", "values", "table", "with", NULL };

/* Statements that begin with one of these words read, or begin or end a transaction. */
static const char *const reads[] = { "select", "values", "table", "with", "begin",
	"start", "commit", "end", "rollback", "abort", "savepoint", "release", "show",
	"describe", "desc", "fetch", "move", "close", "declare", NULL };

/* Statements that begin with one of these words change only data. */
static const char *const changes[] = { "insert", "update", "delete", "merge", "replace",
	"explain", "analyze", "truncate", "notify", "listen", "unlisten", "lock", "copy",
	NULL };

/* A query with one of these words may give another answer each time, or may lock rows. */
static const char *const varies[] = { "for", "lock", "sql_calc_found_rows",
	"current_date", "current_time", "current_timestamp", "localtime",
	"localtimestamp", "sysdate", "systimestamp", "getdate", "utc_date", "utc_time",
	"utc_timestamp", "current_user", "session_user", "system_user", "user",
	"current_role", "current_schema", "current_catalog", "random", "rand",
	"tablesample", "rowversion", "now", "today", "tomorrow", "yesterday", NULL };

/* A query with one of these words may write. Some of the words begin statements, because T-SQL needs no semicolon before
 * these. */
static const char *const may_write[] = { "into", "nextval", "next", "insert", "update",
	"delete", "merge", "exec", "execute", "call", "create", "alter", "drop",
	"truncate", "grant", "revoke", "deny", "backup", "restore", "kill", "shutdown",
	"dbcc", "waitfor", "raiserror", "throw", "set", "use", "begin", "commit",
	"rollback", "save", "declare", "bulk", "checkpoint", "reconfigure", "setuser",
	"revert", "receive", "enable", "disable", "writetext", "updatetext", "if",
	"while", "print", "currval", "lastval", NULL };

/* A statement with one of these words may change its session. */
static const char *const changes_session[] = { "reset", "use", "call", "exec", "execute",
	"pragma", "attach", "detach", "discard", "prepare", "deallocate", "create",
	"alter", "drop", "grant", "revoke", "load", "setuser", "revert", "handler",
	NULL };

/* Statements that begin with one of these words make a setting. */
static const char *const sets[] = { "set", "reset", "use", NULL };

/* A statement with one of these words may be PRIVATE. */
static const char *const makes_private[] = { "temp", "temporary", "password",
	"identified", NULL };

/* ---- what may stand before a parenthesis ---- */

/* These words are no functions. */
static const char *const keywords[] = { "all", "and", "any", "array", "as", "between",
	"by", "case", "char", "character", "conflict", "decimal", "distinct", "else",
	"except", "exists", "filter", "float", "from", "group", "having", "in",
	"intersect", "interval", "is", "join", "key", "lateral", "like", "limit",
	"materialized", "not", "numeric", "offset", "on", "or", "over", "partition",
	"returning", "row", "select", "set", "some", "then", "union", "using", "values",
	"varchar", "when", "where", "within", NULL };

/* Functions of the servers. Their answers depend only on the arguments and on settings. */
static const char *const pure[] = { "abs", "array_agg", "array_length", "array_position",
	"array_to_string", "avg", "bool_and", "bool_or", "btrim", "cast", "ceil",
	"ceiling", "char_length", "character_length", "coalesce", "concat", "concat_ws",
	"convert", "count", "cume_dist", "date_format", "date_part", "date_trunc", "day",
	"dense_rank", "every", "exp", "extract", "first_value", "floor", "format",
	"greatest", "group_concat", "hour", "ifnull", "initcap", "instr", "isnull",
	"json_agg", "json_array", "json_arrayagg", "json_build_array",
	"json_build_object", "json_extract", "json_object", "json_objectagg", "jsonb_agg",
	"jsonb_build_array", "jsonb_build_object", "lag", "last_value", "lead", "least",
	"left", "len", "length", "ln", "locate", "log", "lower", "lpad", "ltrim", "max",
	"md5", "min", "minute", "mod", "month", "nth_value", "ntile", "nullif",
	"octet_length", "percent_rank", "position", "power", "quarter", "rank", "repeat",
	"replace", "reverse", "right", "round", "row_number", "rpad", "rtrim", "second",
	"sign", "split_part", "sqrt", "stddev", "string_agg", "strpos", "substr",
	"substring", "sum", "to_char", "to_date", "to_number", "total", "translate",
	"trim", "trunc", "unnest", "upper", "var_pop", "var_samp", "variance", "week",
	"year", NULL };

/* Functions whose answers may differ each time. A later statement without such a function does not notice that they were
 * called. */
static const char *const harmless[] = { "changes", "clock_timestamp", "connection_id",
	"curdate", "current_database", "current_setting", "curtime", "database", "date",
	"datetime", "found_rows", "gen_random_uuid", "getdate", "julianday", "now",
	"rand", "random", "row_count", "statement_timestamp", "strftime", "sysdate",
	"time", "timestamp", "transaction_timestamp", "unix_timestamp", "user", "uuid",
	"version", NULL };

/* ---- reading ---- */

struct reading {
	struct cnc_sql_token first; /* the text's first word */
	struct cnc_sql_token before; /* the token before the current one */
	struct cnc_sql_token two_before;
	bool is_kept; /* so far, its result may be kept */
	bool is_read; /* so far, it only reads */
	bool is_data; /* so far, it changes only data, or makes settings that its text names */
	bool is_private;
	bool is_naming; /* the name after INTO is being read */
	bool has_conflict;
	bool is_over; /* a semicolon came */
	uint32_t n_set;
};

static bool
touches(const struct cnc_sql_token *a, const struct cnc_sql_token *b)
{
	return a->kind != CNC_SQL_END && a->p + a->n == b->p;
}

/* A number with letters, such as 1.5into, which MySQL reads as two tokens. */
static bool
is_run_together(const struct cnc_sql_token *t)
{
	if (t->kind != CNC_SQL_WORD || *t->p < '0' || *t->p > '9')
		return false;
	for (size_t i = 0; i < t->n; i++) {
		if (t->p[i] < '0' || t->p[i] > '9')
			return true;
	}
	return false;
}

/* Is the word before the parenthesis a part of a longer name, such as s.count or "my count"? */
static bool
is_part(const struct reading *rd)
{
	const struct cnc_sql_token *t = &rd->two_before;

	if (t->kind != CNC_SQL_CHAR)
		return false;
	return strchr(".$#@\"`\\[]", *t->p) != NULL || (unsigned char)*t->p >= 0x80;
}

/* A parenthesis opens. Find out whether the token before it is a function, and which. */
static void
read_paren(struct reading *rd)
{
	const struct cnc_sql_token *t = &rd->before;

	if (t->kind == CNC_SQL_CHAR) {
		/* An operator, a comma or a parenthesis calls nothing. */
		if (*t->p == '\0' || !strchr("(,=<>+-*/%|&!~^:'", *t->p)) {
			rd->is_kept = false;
			rd->is_data = rd->is_data && rd->is_naming;
		}
		return;
	}
	if (t->kind != CNC_SQL_WORD || rd->is_naming)
		return;
	if (is_part(rd)) {
		rd->is_kept = rd->is_data = false;
		return;
	}
	if (cnc_sql_is_one_of(t, keywords) || cnc_sql_is_one_of(t, pure))
		return;
	rd->is_kept = false;
	if (!cnc_sql_is_one_of(t, harmless))
		rd->is_data = false;
}

/* The word SET came. Is it a part of this statement? UPDATE has one SET, and so has INSERT … ON CONFLICT DO UPDATE. */
static bool
may_set(struct reading *rd)
{
	rd->n_set++;
	return rd->n_set == 1 && (cnc_sql_is(&rd->first, "update") || rd->has_conflict);
}

/* The word INTO came. Does it name a table for new rows? In a SELECT, it may make a temporary table, or set variables. */
static bool
may_have_into(const struct reading *rd)
{
	static const char *const inserts[] = { "insert", "replace", "merge", NULL };

	return cnc_sql_is_one_of(&rd->first, inserts);
}

static void
read_word(struct reading *rd, const struct cnc_sql_token *t)
{
	if (is_run_together(t))
		rd->is_kept = rd->is_data = false;
	if (rd->first.kind == CNC_SQL_END) {
		rd->first = *t;
		rd->is_kept = cnc_sql_is_one_of(t, queries);
		rd->is_read = cnc_sql_is_one_of(t, reads);
		rd->is_data = rd->is_read || cnc_sql_is_one_of(t, changes) ||
			      cnc_sql_is_one_of(t, sets);
		return;
	}
	if (rd->is_naming && rd->before.kind == CNC_SQL_WORD &&
		!cnc_sql_is(&rd->before, "into"))
		rd->is_naming = false;
	if (rd->is_kept && cnc_sql_is_one_of(t, varies))
		rd->is_kept = false;
	if (rd->is_read && cnc_sql_is_one_of(t, may_write))
		rd->is_kept = rd->is_read = false;
	if (rd->is_data && cnc_sql_is_one_of(t, changes_session))
		rd->is_data = false;
	if (cnc_sql_is(t, "conflict") || cnc_sql_is(t, "duplicate"))
		rd->has_conflict = true;
	if (cnc_sql_is(t, "set") && !may_set(rd))
		rd->is_data = false;
	if (cnc_sql_is(t, "into")) {
		rd->is_naming = may_have_into(rd);
		rd->is_data = rd->is_data && rd->is_naming;
	}
	if (cnc_sql_is_one_of(t, makes_private))
		rd->is_private = true;
}

/* A mark that may begin a comment, a variable, an escape of ODBC, or another statement. */
static void
read_char(struct reading *rd, const struct cnc_sql_token *t)
{
	bool follows = touches(&rd->before, t);

	switch (*t->p) {
	case '(':
		read_paren(rd);
		rd->is_naming = false;
		break;
	case '@':
		rd->is_kept = false;
		/* A mail address in a text is no variable. */
		if (!follows || rd->before.kind != CNC_SQL_WORD)
			rd->is_data = false;
		break;
	case '#':
	case '{':
		rd->is_kept = rd->is_data = false;
		break;
	case '*':
	case '-':
		if (follows && *rd->before.p == (*t->p == '*' ? '/' : '-'))
			rd->is_kept = rd->is_data = false;
		break;
	case ';':
		rd->is_over = true;
		break;
	default:
		break;
	}
}

bool
cnc_sql_is_known_function(const struct cnc_sql_token *name)
{
	return cnc_sql_is_one_of(name, pure) || cnc_sql_is_one_of(name, harmless) ||
	       cnc_sql_is_one_of(name, keywords);
}

uint8_t
cnc_sql_reach(const char *sql, size_t len)
{
	struct cnc_sql x = cnc_sql_begin(sql, len, CNC_SQL_RAW);
	struct reading rd = {
		.first = { .kind = CNC_SQL_END },
		.before = { .kind = CNC_SQL_END },
		.two_before = { .kind = CNC_SQL_END },
	};
	struct cnc_sql_token t;

	while ((t = cnc_sql_next(&x)).kind != CNC_SQL_END) {
		/* Another statement follows the semicolon. */
		if (rd.is_over && !cnc_sql_is_char(&t, ';'))
			rd.is_kept = rd.is_data = false;
		if (t.kind == CNC_SQL_WORD) {
			read_word(&rd, &t);
		} else if (rd.first.kind == CNC_SQL_END) {
			return CNC_REACH_SESSION;
		} else {
			read_char(&rd, &t);
		}
		rd.two_before = rd.before;
		rd.before = t;
	}
	if (rd.is_kept)
		return CNC_REACH_NONE;
	if (!rd.is_data)
		return rd.is_private ? CNC_REACH_PRIVATE : CNC_REACH_SESSION;
	if (cnc_sql_is_one_of(&rd.first, sets))
		return rd.is_private ? CNC_REACH_PRIVATE : CNC_REACH_SETTING;
	return rd.is_read ? CNC_REACH_READ : CNC_REACH_DATA;
}
