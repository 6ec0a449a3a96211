/* SPDX-License-Identifier: BSD-2-Clause */
#include "dialect.h"

#include <string.h>
#include <strings.h>

/*
 * Statements that another server would not understand. The shim carries out some of them itself:
 * the transaction statements of PostgreSQL, settings that have the wanted value already, and
 * DEALLOCATE. It refuses statements that only PostgreSQL has, and the error says so. send.c calls
 * this file.
 */

/* At most this many tokens of a text are read. */
#define TOKENS_MAX 24u

struct words {
	struct cnc_sql_token t[TOKENS_MAX + 1]; /* the last one is CNC_SQL_END */
	size_t n;
	size_t at;
};

/* Read all tokens of one statement. 0: the text has too many tokens, or a second statement. */
static int
read_words(struct cnc_sql sql, struct words *w)
{
	int is_over = 0;

	*w = (struct words){ .n = 0 };
	for (;;) {
		struct cnc_sql_token t = cpq_sql_next(&sql);

		w->t[w->n] = t;
		if (t.kind == CNC_SQL_END)
			return w->n > 0;
		if (cnc_sql_is_char(&t, ';'))
			is_over = 1;
		else if (is_over || w->n == TOKENS_MAX)
			return 0;
		else
			w->n++;
	}
}

static int
take(struct words *w, const char *word)
{
	if (w->at == w->n || !cnc_sql_is(&w->t[w->at], word))
		return 0;
	w->at++;
	return 1;
}

static int
take_two(struct words *w, const char *first, const char *second)
{
	size_t before = w->at;

	if (take(w, first) && take(w, second))
		return 1;
	w->at = before;
	return 0;
}

static int
take_byte(struct words *w, char byte)
{
	if (w->at == w->n || !cnc_sql_is_char(&w->t[w->at], byte))
		return 0;
	w->at++;
	return 1;
}

static int
is_all(const struct words *w)
{
	return w->at == w->n;
}

static int
take_level(struct words *w, uint32_t *ret_level)
{
	if (take(w, "serializable"))
		*ret_level = CENOTE_ISOLATION_SERIALIZABLE;
	else if (take_two(w, "repeatable", "read"))
		*ret_level = CENOTE_ISOLATION_REPEATABLE_READ;
	else if (take_two(w, "read", "committed"))
		*ret_level = CENOTE_ISOLATION_READ_COMMITTED;
	else if (take_two(w, "read", "uncommitted"))
		*ret_level = CENOTE_ISOLATION_READ_UNCOMMITTED;
	else
		return 0;
	return 1;
}

static int
take_mode(struct words *w, struct cpq_answer *a)
{
	if (take_two(w, "isolation", "level"))
		return take_level(w, &a->isolation);
	if (take_two(w, "read", "only")) {
		a->flags |= CENOTE_BEGIN_READ_ONLY;
		return 1;
	}
	/* These are the defaults, or have no effect, so nothing must be sent for them. */
	return take_two(w, "read", "write") || take(w, "deferrable") ||
	       take_two(w, "not", "deferrable");
}

static void
skip_noise(struct words *w)
{
	(void)(take(w, "work") || take(w, "transaction"));
}

static void
find_begin(const PGconn *conn, struct words *w, struct cpq_answer *a)
{
	(void)conn;
	skip_noise(w);
	while (!is_all(w)) {
		if (!take_mode(w, a))
			return;
		(void)take_byte(w, ',');
	}
	a->kind = CPQ_ANSWER_BEGIN;
}

static void
find_start(const PGconn *conn, struct words *w, struct cpq_answer *a)
{
	if (w->n > 1 && cnc_sql_is(&w->t[w->at], "transaction"))
		find_begin(conn, w, a);
}

static int
is_plain_end(struct words *w)
{
	skip_noise(w);
	if (take_two(w, "and", "no"))
		return take(w, "chain") && is_all(w);
	return is_all(w);
}

static void
find_commit(const PGconn *conn, struct words *w, struct cpq_answer *a)
{
	(void)conn;
	if (is_plain_end(w))
		a->kind = CPQ_ANSWER_COMMIT;
}

static void
find_rollback(const PGconn *conn, struct words *w, struct cpq_answer *a)
{
	(void)conn;
	if (is_plain_end(w))
		a->kind = CPQ_ANSWER_ROLLBACK;
}

/* Copy a word, or the text in quotes; cut it at the end of the buffer. */
static void
copy_token(const struct cnc_sql_token *t, char *out, size_t size)
{
	size_t n;
	const char *p = cnc_sql_inside(t, &n);

	if (n >= size)
		n = size - 1;
	memcpy(out, p, n);
	out[n] = '\0';
}

/* Change the letters from `first` to `last` to the other case. */
static void
change_case(char *text, char first, char last)
{
	for (; *text != '\0'; text++)
		*text = (char)(*text >= first && *text <= last ? *text ^ 0x20 : *text);
}

/* Is this the session's encoding, or SQL_ASCII? The shim does not convert texts. */
static int
is_encoding(const PGconn *conn, const char *value)
{
	int encoding = pg_char_to_encoding(value);

	return encoding >= 0 && (encoding == conn->inherited.encoding || encoding == 0);
}

static int
is_iso(const PGconn *conn, const char *value)
{
	(void)conn;
	return strncasecmp(value, "iso", 3) == 0;
}

static int
is_strings_rule(const PGconn *conn, const char *value)
{
	return (strcasecmp(value, "on") == 0) == (conn->standard_strings != 0);
}

static int
is_hex(const PGconn *conn, const char *value)
{
	(void)conn;
	return strcasecmp(value, "hex") == 0;
}

static int
is_any(const PGconn *conn, const char *value)
{
	(void)conn;
	(void)value;
	return 1;
}

/* Settings that the shim accepts without the server, because they have that value already or make
 * no difference. */
static const struct {
	const char *name;
	int (*is_so)(const PGconn *conn, const char *value);
} settings[] = {
	{ "client_encoding", is_encoding },
	{ "names", is_encoding },
	{ "datestyle", is_iso },
	{ "standard_conforming_strings", is_strings_rule },
	{ "bytea_output", is_hex },
	{ "application_name", is_any },
	{ "escape_string_warning", is_any },
	{ "extra_float_digits", is_any },
	{ "client_min_messages", is_any },
};

#define N_OF(array) (sizeof(array) / sizeof((array)[0]))

static void
refuse_setting(
	const PGconn *conn, struct cpq_answer *a, const char *name, const char *value)
{
	a->kind = CPQ_ANSWER_REFUSE;
	a->sqlstate = value != NULL ? "0A000" : "42704";
	if (value != NULL)
		snprintf(a->text, sizeof(a->text),
			"a session of %s cannot have %s \"%s\"",
			conn->inherited.dialect->title, name, value);
	else
		snprintf(a->text, sizeof(a->text),
			"unrecognized configuration parameter \"%s\": the server of this "
			"pool is %s",
			name, conn->inherited.dialect->title);
}

static void
find_set(const PGconn *conn, struct words *w, struct cpq_answer *a)
{
	char name[64], value[64];

	(void)(take(w, "session") || take(w, "local"));
	if (is_all(w))
		return;
	copy_token(&w->t[w->at++], name, sizeof(name));
	(void)(take(w, "to") || take_byte(w, '='));
	copy_token(&w->t[w->at], value, sizeof(value));
	for (size_t i = 0; i < N_OF(settings); i++) {
		if (strcasecmp(settings[i].name, name) != 0)
			continue;
		/* MySQL has SET NAMES, too, so send it. */
		if (conn->inherited.dialect->has_set && strcasecmp(name, "names") == 0)
			return;
		if (settings[i].is_so(conn, value)) {
			a->kind = CPQ_ANSWER_DONE;
			a->tag = "SET";
		} else {
			refuse_setting(conn, a, name, value);
		}
		return;
	}
	if (!conn->inherited.dialect->has_set)
		refuse_setting(conn, a, name, NULL);
}

static void
find_deallocate(const PGconn *conn, struct words *w, struct cpq_answer *a)
{
	(void)take(w, "prepare");
	if (w->n != w->at + 1)
		return;
	a->tag = "DEALLOCATE";
	if (take(w, "all")) {
		a->tag = "DEALLOCATE ALL";
		a->kind = CPQ_ANSWER_FORGET;
		return;
	}
	copy_token(&w->t[w->at], a->text, sizeof(a->text));
	if (w->t[w->at].kind != CNC_SQL_TEXT && w->t[w->at].kind != CNC_SQL_NAME)
		change_case(a->text, 'A', 'Z');
	/* If the shim does not know the statement, it may have been prepared in SQL. So send this
	 * to a server that has PREPARE. */
	if (conn->inherited.dialect->has_set && cpq_statement_find(conn, a->text) == NULL)
		return;
	a->kind = CPQ_ANSWER_FORGET;
}

static void
find_refusal(const PGconn *conn, struct words *w, struct cpq_answer *a)
{
	char word[16];

	copy_token(&w->t[0], word, sizeof(word));
	change_case(word, 'a', 'z');
	a->kind = CPQ_ANSWER_REFUSE;
	a->sqlstate = "0A000";
	snprintf(a->text, sizeof(a->text),
		"the server of this pool is %s, which has no %s",
		conn->inherited.dialect->title, word);
}

static const struct {
	const char *word;
	void (*find)(const PGconn *conn, struct words *w, struct cpq_answer *a);
	/* the first word decides, even if the text has too many tokens or several statements */
	int is_long;
} firsts[] = {
	{ "begin", find_begin, 0 },
	{ "start", find_start, 0 },
	{ "commit", find_commit, 0 },
	{ "end", find_commit, 0 },
	{ "rollback", find_rollback, 0 },
	{ "abort", find_rollback, 0 },
	{ "set", find_set, 0 },
	{ "deallocate", find_deallocate, 0 },
	{ "copy", find_refusal, 1 },
	{ "listen", find_refusal, 1 },
	{ "unlisten", find_refusal, 1 },
	{ "notify", find_refusal, 1 },
	{ "declare", find_refusal, 1 },
	{ "fetch", find_refusal, 1 },
	{ "move", find_refusal, 1 },
	{ "discard", find_refusal, 1 },
};

void
cpq_dialect_answer(const PGconn *conn, const char *sql, struct cpq_answer *ret_answer)
{
	const struct cnc_sql all = cpq_dialect_sql(conn, sql);
	struct cnc_sql s = all;
	struct cnc_sql_token first = cpq_sql_next(&s);
	struct words w;
	size_t i = 0;

	*ret_answer = (struct cpq_answer){ .kind = CPQ_ANSWER_NONE };
	while (i < N_OF(firsts) && !cnc_sql_is(&first, firsts[i].word))
		i++;
	if (i == N_OF(firsts) || (!read_words(all, &w) && !firsts[i].is_long))
		return;
	w.at = 1;
	firsts[i].find(conn, &w, ret_answer);
}
