/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Write a text of SQL in another way that means the same: with the server's placeholders and quoted names, and in one line
 * without comments. worker/query.c and `cenoted --explain-sql` call it. It owns no state.
 *
 * A text in quotes is always read by the rules of the pool's server, even if the program was written for another one. The
 * functions that escape texts, in the shims and in libcenote, write for the pool's server. If settings of the session may
 * change how the server reads a text, the text stays as it is: a change could fall inside of a quoted text.
 */
#include "respell.h"

#include <stdio.h>
#include <string.h>

#include "core/sql.h"
#include "core/sqlstate.h"

#define N_ITEMS(a) (sizeof(a) / sizeof((a)[0]))

struct respelling {
	const struct cnd_respelling *how;
	struct cnc_sql x;
	struct cnc_buf *to;
	struct cnc_diag *diag;
	struct cnc_sql_token before; /* END: none */
	bool is_before_changed; /* that token was written in another way */
	uint32_t max; /* the highest number of a placeholder so far */
	uint32_t n_written; /* placeholders so far */
	/* placeholder i + 1 has the number numbers[i] */
	struct cnc_sql_token names[CND_RESPELL_NAMES_MAX];
	uint32_t numbers[CND_RESPELL_NAMES_MAX];
	uint32_t n_names;
};

static bool
is_for(const struct respelling *r, uint32_t rule)
{
	return (r->how->dialect & rule) != 0;
}

static bool
is_mysql(uint32_t dialect)
{
	return (dialect & CNC_SQL_HASH) != 0;
}

static bool
is_tsql(uint32_t dialect)
{
	return (dialect & CNC_SQL_WORD_SIGNS) != 0;
}

static int
put(struct respelling *r, const char *p, size_t n)
{
	return cnc_buf_append(r->to, p, n);
}

static int
put_blank(struct respelling *r)
{
	return put(r, " ", 1);
}

static int
refuse(struct respelling *r, const char *why)
{
	cnc_diag_set(r->diag, CNC_SQLSTATE(UNSUPPORTED),
		"the statement cannot be written for this server (program_sql): %s", why);
	return CENOTE_ERR_UNSUPPORTED;
}

/* ---- how the text is read ---- */

/* Notations that programs for these servers may use, and other servers do not have. */
static const uint32_t program_rules[] = {
	[CND_PROGRAM_AS_SERVER] = 0,
	[CND_PROGRAM_POSTGRESQL] = CNC_SQL_DOLLAR,
	[CND_PROGRAM_MYSQL] = CNC_SQL_QUESTION | CNC_SQL_BACKQUOTES | CNC_SQL_HASH,
	[CND_PROGRAM_SQLITE] = CNC_SQL_QUESTION | CNC_SQL_QUESTION_NUMBER |
			       CNC_SQL_COLON | CNC_SQL_VARIABLES | CNC_SQL_BACKQUOTES |
			       CNC_SQL_BRACKETS,
	[CND_PROGRAM_TSQL] = CNC_SQL_QUESTION | CNC_SQL_VARIABLES | CNC_SQL_BRACKETS,
};

static bool
is_program_of_server(const struct cnd_respelling *how)
{
	static const uint32_t dialects[] = {
		[CND_PROGRAM_POSTGRESQL] = CNC_SQL_POSTGRESQL,
		[CND_PROGRAM_MYSQL] = CNC_SQL_MYSQL,
		[CND_PROGRAM_SQLITE] = CNC_SQL_SQLITE,
		[CND_PROGRAM_TSQL] = CNC_SQL_TDS,
	};

	return how->program == CND_PROGRAM_AS_SERVER ||
	       dialects[how->program] == how->dialect;
}

bool
cnd_respells(const struct cnd_respelling *how)
{
	return how->normalizes || !is_program_of_server(how);
}

/* An executed comment is read as a comment, and is kept: the server decides about it. */
static uint32_t
rules_of(const struct cnd_respelling *how)
{
	uint32_t rules = how->dialect & ~(uint32_t)CNC_SQL_EXECUTED;

	if (is_program_of_server(how))
		return rules;
	/* only MySQL's programs mean a text by "…"; in others it is a name */
	if (how->program != CND_PROGRAM_MYSQL)
		rules &= ~(uint32_t)CNC_SQL_DOUBLE_QUOTED_TEXT;
	return rules | program_rules[how->program];
}

/* Whether both sets of rules find the same tokens in the text. False if a token does not end. */
static bool
is_read_alike(const char *sql, size_t len, uint32_t rules, uint32_t others)
{
	struct cnc_sql x = cnc_sql_begin(sql, len, rules);
	struct cnc_sql y = cnc_sql_begin(sql, len, others);
	struct cnc_sql_token t, u;

	do {
		t = cnc_sql_next(&x);
		u = cnc_sql_next(&y);
		if (t.kind == CNC_SQL_BAD || t.p != u.p || t.n != u.n)
			return false;
	} while (t.kind != CNC_SQL_END);
	return ((x.seen | y.seen) &
		       (uint32_t)(CNC_SQL_SEEN_NESTED | CNC_SQL_SEEN_RETURN)) == 0;
}

/* In some character sets of MySQL, a backquote may also be the second byte of a character. */
static bool
depends_on_character_set(const char *sql, size_t len, uint32_t dialect)
{
	for (size_t i = 1; i < len; i++) {
		if ((unsigned char)sql[i - 1] >= 0x80 &&
			(sql[i] == '\\' || (sql[i] == '`' && is_mysql(dialect))))
			return true;
	}
	return false;
}

/* Whether the server reads the text in one way, whatever the settings of its session are. */
static bool
is_certain(const struct cnd_respelling *how, const char *sql, size_t len, uint32_t rules)
{
	uint32_t others = rules;

	if (how->dialect == CNC_SQL_UNKNOWN ||
		depends_on_character_set(sql, len, how->dialect))
		return false;
	if (is_mysql(how->dialect) || (how->dialect & CNC_SQL_DOLLAR_QUOTES) != 0)
		others ^= CNC_SQL_BACKSLASH;
	if (!is_read_alike(sql, len, rules, others))
		return false;
	/* sql_mode may have ANSI_QUOTES */
	return !is_mysql(how->dialect) ||
	       is_read_alike(sql, len, rules, rules ^ CNC_SQL_DOUBLE_QUOTED_TEXT);
}

/* ---- between the tokens ---- */

/* Whether the comment contains nothing that begins a text, a quoted name or another comment. Only then are the tokens behind
 * it the same for a server that executes it and for one that does not. */
static bool
is_closed(const char *p, const char *end)
{
	for (p += 2, end -= 2; p < end; p++) {
		if (strchr("'\"`#[$-/\\", *p) != NULL)
			return false;
	}
	return true;
}

/* Copy a comment. Only MySQL has comments that begin with #; for other servers, write -- in its place. */
static int
copy_comment(struct respelling *r, const struct cnc_sql_gap *gap)
{
	static const char dashes[] = { '-', '-' };
	bool is_foreign = gap->kind == CNC_SQL_GAP_HASH && !is_mysql(r->how->dialect);
	int status = is_foreign ? put(r, dashes, sizeof(dashes)) : CENOTE_OK;

	return status == CENOTE_OK ? put(r, gap->p + is_foreign, gap->n - is_foreign)
				   : status;
}

/* Write a comment if it must stay. CENOTE_DONE: it is not certain where the comment ends. */
static int
put_comment(struct respelling *r, const struct cnc_sql_gap *gap)
{
	bool is_executed = gap->kind == CNC_SQL_GAP_EXECUTED && is_mysql(r->how->dialect);
	int status = CENOTE_OK;

	if (is_executed && !is_closed(gap->p, gap->p + gap->n))
		return CENOTE_DONE;
	if (!r->how->normalizes)
		return copy_comment(r, gap);
	if (!is_executed && gap->kind != CNC_SQL_GAP_HINT)
		return CENOTE_OK;
	if (r->before.kind != CNC_SQL_END)
		status = put_blank(r);
	return status == CENOTE_OK ? put(r, gap->p, gap->n) : status;
}

/* Write the blanks and comments before the token `t`. x: where they begin. */
static int
put_gap(struct respelling *r, struct cnc_sql x, const struct cnc_sql_token *t)
{
	int status = CENOTE_OK;

	while (x.p < t->p && status == CENOTE_OK) {
		struct cnc_sql_gap gap = cnc_sql_next_gap(&x);

		if (gap.kind != CNC_SQL_GAP_BLANK)
			status = put_comment(r, &gap);
		else if (!r->how->normalizes)
			status = put(r, gap.p, gap.n);
	}
	if (status == CENOTE_OK && r->how->normalizes && t->has_space &&
		cnc_buf_len(r->to) > 0 && t->kind != CNC_SQL_END)
		status = put_blank(r);
	return status;
}

/* ---- names ---- */

static bool
is_name_of_server(const struct respelling *r, char quote)
{
	switch (quote) {
	case '"':
		return !is_for(r, CNC_SQL_DOUBLE_QUOTED_TEXT);
	case '`':
		return is_for(r, CNC_SQL_BACKQUOTES);
	case '[':
		return is_for(r, CNC_SQL_BRACKETS);
	default:
		return true;
	}
}

/* Write a quoted name with the server's quotes. */
static int
put_name(struct respelling *r, const struct cnc_sql_token *t)
{
	char close = (char)(*t->p == '[' ? ']' : *t->p);
	const char *quotes = is_mysql(r->how->dialect)  ? "``"
			     : is_tsql(r->how->dialect) ? "[]"
							: "\"\"";
	int status = put(r, quotes, 1);
	size_t n;
	const char *p = cnc_sql_inside(t, &n);

	for (size_t i = 0; i < n && status == CENOTE_OK; i++) {
		if (p[i] == quotes[1])
			status = put(r, quotes + 1, 1);
		if (status == CENOTE_OK)
			status = put(r, p + i, 1);
		i += p[i] == close;
	}
	return status == CENOTE_OK ? put(r, quotes + 1, 1) : status;
}

/* ---- placeholders ---- */

static bool
is_placeholder(const struct respelling *r, const struct cnc_sql_token *t)
{
	if (t->kind == CNC_SQL_PLACEHOLDER)
		return true;
	/* this is @name, and neither @@name nor @'name' */
	return t->kind == CNC_SQL_VARIABLE && t->n > 1 &&
	       (r->how->program == CND_PROGRAM_SQLITE ||
		       r->how->program == CND_PROGRAM_TSQL) &&
	       strchr("@'\"`", t->p[1]) == NULL;
}

/* The number that follows the first byte. 0: it is no number, or too high. */
static uint32_t
read_number(const struct cnc_sql_token *t)
{
	uint32_t number = 0;

	for (size_t i = 1; i < t->n; i++) {
		number = number * 10 + (uint32_t)(t->p[i] - '0');
		if (t->p[i] < '0' || t->p[i] > '9' || number > CND_RESPELL_VALUES_MAX)
			return 0;
	}
	return number;
}

/* The number of the placeholder of this name. 0: there are too many names. */
static uint32_t
number_of_name(struct respelling *r, const struct cnc_sql_token *t)
{
	for (uint32_t i = 0; i < r->n_names; i++) {
		if (r->names[i].n == t->n && memcmp(r->names[i].p, t->p, t->n) == 0)
			return r->numbers[i];
	}
	if (r->n_names == CND_RESPELL_NAMES_MAX)
		return 0;
	r->names[r->n_names] = *t;
	return r->numbers[r->n_names++] = r->max + 1;
}

/* Write a placeholder. Its number is the one that SQLite would give it: `?` and a new name get the number after the highest
 * one so far. */
static int
put_placeholder(struct respelling *r, const struct cnc_sql_token *t)
{
	uint32_t number;
	char text[16];
	int n;

	if (t->n == 1)
		number = r->max + 1;
	else if (*t->p == '?' || *t->p == '$')
		number = read_number(t);
	else
		number = number_of_name(r, t);
	if (number == 0 || number > CND_RESPELL_VALUES_MAX)
		return refuse(r, "a placeholder has no number from 1 to 65535, or there "
				 "are too many names");
	if (number > r->max)
		r->max = number;
	r->n_written++;
	if (is_for(r, CNC_SQL_DOLLAR) || is_for(r, CNC_SQL_QUESTION_NUMBER)) {
		n = snprintf(text, sizeof(text), "%c%u",
			is_for(r, CNC_SQL_DOLLAR) ? '$' : '?', (unsigned)number);
		return put(r, text, (size_t)n);
	}
	if (number != r->n_written)
		return refuse(r, "its placeholders have no numbers, and the statement "
				 "uses one twice or in another order");
	return put(r, "?", 1);
}

/* ---- words ---- */

/* Words that are not names in MySQL, SQLite and T-SQL, unless they are quoted or a point stands before them. */
static const char *const reserved[] = { "and", "case", "create", "delete", "distinct",
	"drop", "else", "exists", "from", "group", "having", "in", "insert", "into", "is",
	"join", "not", "null", "on", "or", "order", "select", "set", "table", "then",
	"union", "update", "values", "when", "where", NULL };

/* Whether the word may be written in lower case. PostgreSQL reads words without quotes as if they were. On other servers, the
 * case of a name may matter. */
static bool
is_lower(const struct respelling *r, const struct cnc_sql_token *t)
{
	static const char *const before_by[] = { "group", "order", NULL };

	if (!r->how->normalizes || t->kind != CNC_SQL_WORD ||
		(*t->p >= '0' && *t->p <= '9'))
		return false;
	if (is_for(r, CNC_SQL_DOLLAR_QUOTES))
		return true;
	if (cnc_sql_is_char(&r->before, '.'))
		return false;
	return cnc_sql_is_one_of(t, reserved) ||
	       (cnc_sql_is(t, "by") && cnc_sql_is_one_of(&r->before, before_by));
}

static int
put_lower(struct respelling *r, const struct cnc_sql_token *t)
{
	uint8_t *room;
	int status = cnc_buf_reserve(r->to, t->n, &room);

	if (status < 0)
		return status;
	for (size_t i = 0; i < t->n; i++)
		room[i] = (uint8_t)(t->p[i] >= 'A' && t->p[i] <= 'Z' ? t->p[i] | 0x20
								     : t->p[i]);
	cnc_buf_commit(r->to, t->n);
	return CENOTE_OK;
}

/* ---- tokens ---- */

/* In MySQL, the dashes of `1--#comment` are minus signs. Without the comment behind them, they would begin a comment. */
static bool
becomes_comment(const struct respelling *r, const struct cnc_sql_token *t)
{
	struct cnc_sql ahead = r->x;

	if (!r->how->normalizes || !is_for(r, CNC_SQL_DASH_BLANK) ||
		!cnc_sql_is_char(t, '-') || !cnc_sql_is_char(&r->before, '-'))
		return false;
	return ahead.p == ahead.end || cnc_sql_next_gap(&ahead).n > 0;
}

/* Whether the token needs a blank before it. If one of the two tokens is written in another way, they could become one:
 * `?and` must become `$1 and`. In PostgreSQL, U& would belong to a name in double quotes behind it. */
static bool
needs_blank(const struct respelling *r, const struct cnc_sql_token *t, bool is_changed)
{
	const struct cnc_sql_token *before = &r->before;

	if (t->has_space || before->kind == CNC_SQL_END)
		return false;
	if (becomes_comment(r, t))
		return true;
	if (!(is_changed || r->is_before_changed))
		return false;
	return (before->kind != CNC_SQL_CHAR || strchr("$&?:@#", *before->p) != NULL) &&
	       (t->kind != CNC_SQL_CHAR || strchr("$&?:@#", *t->p) != NULL);
}

static int
put_token(struct respelling *r, const struct cnc_sql_token *t)
{
	bool is_translated = !is_program_of_server(r->how);
	bool is_mark = is_translated && is_placeholder(r, t);
	bool is_name =
		is_translated && t->kind == CNC_SQL_NAME && !is_name_of_server(r, *t->p);
	int status = CENOTE_OK;

	if (needs_blank(r, t, is_mark || is_name))
		status = put_blank(r);
	if (status == CENOTE_OK && is_mark)
		status = put_placeholder(r, t);
	else if (status == CENOTE_OK && is_name)
		status = put_name(r, t);
	else if (status == CENOTE_OK)
		status = is_lower(r, t) ? put_lower(r, t) : put(r, t->p, t->n);
	r->is_before_changed = is_mark || is_name;
	r->before = *t;
	return status;
}

int
cnd_respell(const struct cnd_respelling *how, const char *sql, size_t len,
	struct cnc_buf *to, struct cnc_diag *ret_diag)
{
	uint32_t rules = rules_of(how);
	struct respelling r = { .how = how,
		.x = cnc_sql_begin(sql, len, rules),
		.to = to,
		.diag = ret_diag };
	int status;

	if (!is_certain(how, sql, len, rules))
		return CENOTE_DONE;
	for (;;) {
		struct cnc_sql gap = r.x;
		struct cnc_sql_token t = cnc_sql_next(&r.x);

		status = put_gap(&r, gap, &t);
		if (status != CENOTE_OK || t.kind == CNC_SQL_END)
			break;
		status = put_token(&r, &t);
		if (status != CENOTE_OK)
			break;
	}
	if (status == CENOTE_ERR_LIMIT || status == CENOTE_ERR_NOMEM)
		cnc_diag_set(ret_diag,
			status == CENOTE_ERR_LIMIT ? CNC_SQLSTATE(LIMIT)
						   : CNC_SQLSTATE(NO_MEMORY),
			status == CENOTE_ERR_LIMIT ? "the statement is too long"
						   : "out of memory");
	return status;
}

/* ---- names of programs ---- */

static const char *const program_names[] = {
	[CND_PROGRAM_AS_SERVER] = "server",
	[CND_PROGRAM_POSTGRESQL] = "postgresql",
	[CND_PROGRAM_MYSQL] = "mysql",
	[CND_PROGRAM_SQLITE] = "sqlite",
	[CND_PROGRAM_TSQL] = "tsql",
};

int
cnd_program_sql_named(const char *name)
{
	for (size_t i = 0; i < N_ITEMS(program_names); i++) {
		if (strcmp(program_names[i], name) == 0)
			return (int)i;
	}
	return -1;
}

const char *
cnd_program_sql_name(uint8_t program)
{
	return program_names[program];
}
