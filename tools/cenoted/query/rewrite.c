/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Change the text of a statement before the server gets it: by the pool's settings (respell.c), and by rules with the action
 * `rewrite`. worker/query.c and `cenoted --explain-sql` call this file. It owns no state.
 *
 * libcenote and the shims know only the text that the program sent. From it they learn what a lost statement may have done
 * (core/effect.c), and which prepared statements it needs (lib/named.c). So a rule's text may do no more than the program's
 * text: it has the same classes, or it only reads, and statements that concern the session or a transaction stay as they are.
 */
#include "rewrite.h"

#include <string.h>

#include "core/digest.h"
#include "core/effect.h"
#include "core/sqlstate.h"

/* ---- the text of a rule ---- */

/* A reference to a group: \1 or \{name}. */
struct reference {
	unsigned group;
	size_t n; /* how many bytes it has; 0: this is not a reference */
};

static const struct cnd_pattern *
pattern_of(const struct cnd_query_rule *rule)
{
	for (size_t i = 0; i < rule->n_conditions; i++) {
		if (rule->conditions[i].pattern != NULL && !rule->conditions[i].is_not)
			return rule->conditions[i].pattern;
	}
	return NULL;
}

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Read the reference at p, which begins with a backslash. */
static struct reference
read_reference(const struct cnd_pattern *pattern, const char *p)
{
	struct reference none = { 0, 0 };
	const char *end;
	unsigned group;

	if (pattern == NULL)
		return none;
	if (is_digit(p[1])) {
		group = (unsigned)(p[1] - '0');
		return group <= cnd_pattern_count(pattern)
			       ? (struct reference){ group, 2 }
			       : none;
	}
	if (p[1] != '{' || (end = strchr(p, '}')) == NULL)
		return none;
	group = cnd_pattern_group(pattern, p + 2, (size_t)(end - p) - 2);
	return group > 0 && group < CND_PATTERN_GROUPS
		       ? (struct reference){ group, (size_t)(end - p) + 1 }
		       : none;
}

int
cnd_rewrite_check(const struct cnd_query_rule *rule, char error[CND_QUERY_ERROR_MAX])
{
	const struct cnd_pattern *pattern = pattern_of(rule);

	if (rule->message == NULL || *rule->message == '\0') {
		snprintf(error, CND_QUERY_ERROR_MAX,
			"rule: write the new text in double quotes after rewrite");
		return -1;
	}
	for (const char *p = rule->message; (p = strchr(p, '\\')) != NULL;) {
		struct reference r = read_reference(pattern, p);

		if (p[1] == '\\')
			r.n = 2;
		if (r.n == 0) {
			snprintf(error, CND_QUERY_ERROR_MAX,
				"rule: rewrite: \"%.16s\" is no group of the rule's "
				"text~; a backslash is written \\\\\\\\",
				p);
			return -1;
		}
		p += r.n;
	}
	return 0;
}

static int
put_reference(const struct cnd_captures *c, const struct cnd_pattern *pattern,
	struct cnc_buf *to, const char **p)
{
	struct reference r = read_reference(pattern, *p);
	const char *from = *p + 1;

	if (r.n == 0) {
		*p += 2;
		return cnc_buf_append(to, from, 1);
	}
	*p += r.n;
	return cnc_buf_append(to, c->groups[r.group].p, c->groups[r.group].n);
}

static int
expand(const struct cnd_query_rule *rule, const struct cnd_captures *captures,
	struct cnc_buf *to)
{
	const struct cnd_pattern *pattern = pattern_of(rule);
	const char *p = rule->message;
	int r = CENOTE_OK;

	while (*p != '\0' && r == CENOTE_OK) {
		size_t n = strcspn(p, "\\");

		r = cnc_buf_append(to, p, n);
		p += n;
		if (*p == '\\' && r == CENOTE_OK)
			r = put_reference(captures, pattern, to, &p);
	}
	return r;
}

/* ---- what a rule may make of a text ---- */

/* Whether the text is one that no rule may change, and that no rule may make. */
static bool
is_fixed(const struct cnd_summary *s)
{
	return s->is_unsure ||
	       (s->classes & (CND_CLASS_SESSION | CND_CLASS_TRANSACTION)) != 0;
}

static bool
is_one_statement(const char *sql, size_t len, uint32_t dialect)
{
	struct cnc_sql x = cnc_sql_begin(sql, len, dialect);
	struct cnc_sql_token t;

	do
		t = cnc_sql_next(&x);
	while (t.kind != CNC_SQL_END && !cnc_sql_is_char(&t, ';'));
	return cnc_sql_next(&x).kind == CNC_SQL_END;
}

static int
check_new(const struct cnd_query_text *t, const struct cnd_query_rule *rule,
	const struct cnd_query *old, uint32_t old_classes)
{
	const struct cnd_query *q = &t->query;
	uint32_t more = t->summary->classes & ~(old_classes | (uint32_t)CND_CLASS_READ);
	char text[CND_CLASSES_TEXT_MAX];

	if (t->summary->classes == 0 || is_fixed(t->summary) ||
		!is_one_statement(q->sql, q->sql_len, t->style.dialect))
		cnc_diag_set(t->diag, CNC_SQLSTATE(UNSUPPORTED),
			"the text of the pool's rule of line %u must be one statement, "
			"read in one way, and not of the classes session and transaction",
			rule->line);
	else if (more != 0 || (cnc_sql_names(q->sql, q->sql_len) &
				      ~cnc_sql_names(old->sql, old->sql_len)) != 0)
		cnc_diag_set(t->diag, CNC_SQLSTATE(UNSUPPORTED),
			"the text of the pool's rule of line %u does more than the "
			"statement: its class is %s",
			rule->line, cnd_classes_text(t->summary->classes, text));
	else
		return CENOTE_OK;
	return CENOTE_ERR_SERVER;
}

/* ---- from the program to the server ---- */

static void
look(struct cnd_query_text *t)
{
	struct cnd_query *q = &t->query;

	cnd_summarize(q->sql, q->sql_len, t->style.dialect, t->summary);
	q->summary = t->summary;
	q->digest = 0;
	if (t->has_digest)
		(void)cnc_digest(
			q->sql, q->sql_len, t->style.dialect, NULL, 0, &q->digest);
	if (q->sql == NULL) {
		/* a call of a function by its number */
		t->summary->classes = CND_CLASS_CALL;
		t->summary->is_unsure = true;
	}
}

/* Put the text in the buffer in the place of the old one. */
static int
take(struct cnd_query_text *t, const struct cnc_buf *b)
{
	size_t n = cnc_buf_len(b);
	const char *copy = cnc_arena_strndup(
		t->arena, n > 0 ? (const char *)cnc_buf_head(b) : "", n);

	if (copy == NULL) {
		cnc_diag_set(t->diag, CNC_SQLSTATE(NO_MEMORY), "out of memory");
		return CENOTE_ERR_NOMEM;
	}
	t->query.sql = copy;
	t->query.sql_len = n;
	return CENOTE_OK;
}

/* Write the text as the pool's settings say. CENOTE_DONE: it stays as it is. */
static int
respell(struct cnd_query_text *t, bool normalizes)
{
	struct cnd_respelling how = { .dialect = t->style.dialect,
		.program = normalizes ? (uint8_t)CND_PROGRAM_AS_SERVER : t->style.program,
		.normalizes = normalizes };
	struct cnc_buf b;
	int r;

	if (!cnd_respells(&how))
		return CENOTE_DONE;
	cnc_buf_init(&b, t->arena->mem, 2 * t->query.sql_len + CND_REWRITE_MAX);
	r = cnd_respell(&how, t->query.sql, t->query.sql_len, &b, t->diag);
	if (r == CENOTE_OK)
		r = take(t, &b);
	cnc_buf_finish(&b);
	return r;
}

/* Whether the text may become one line. Not that of CREATE: servers keep it, and so its comments must stay. */
static bool
may_normalize(const struct cnd_query_text *t)
{
	return t->style.normalizes && t->summary->classes != 0 &&
	       !t->summary->is_unsure &&
	       (t->summary->classes & ~(uint32_t)(CND_CLASS_READ | CND_CLASS_WRITE)) == 0;
}

int
cnd_query_text_begin(struct cnd_query_text *t, const char *sql, size_t len)
{
	int r = CENOTE_OK;

	t->query.sql = sql;
	t->query.sql_len = len;
	if (sql != NULL)
		r = respell(t, false);
	if (r < 0)
		return r;
	look(t);
	if (!may_normalize(t))
		return CENOTE_OK;
	r = respell(t, true);
	if (r == CENOTE_OK)
		look(t);
	return r < 0 ? r : CENOTE_OK;
}

int
cnd_query_text_rewrite(struct cnd_query_text *t, const struct cnd_query_rule *rule)
{
	const struct cnd_pattern *pattern = pattern_of(rule);
	const struct cnd_query old = t->query;
	uint32_t old_classes = t->summary->classes;
	struct cnd_captures captures = { .groups = { { NULL, 0 } } };
	struct cnc_buf b;
	int r;

	if (is_fixed(t->summary) ||
		(pattern != NULL &&
			cnd_pattern_match(pattern, old.sql, old.sql_len, &captures) != 1))
		return CENOTE_DONE;
	cnc_buf_init(&b, t->arena->mem, CND_REWRITE_MAX);
	r = expand(rule, &captures, &b);
	if (r == CENOTE_OK)
		r = take(t, &b);
	else
		cnc_diag_set(t->diag, CNC_SQLSTATE(LIMIT),
			"the text of the pool's rule of line %u is longer than 1 MB",
			rule->line);
	cnc_buf_finish(&b);
	if (r < 0)
		return r;
	look(t);
	return check_new(t, rule, &old, old_classes);
}
