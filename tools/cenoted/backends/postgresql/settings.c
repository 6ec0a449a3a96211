/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The settings that a client changed. They move with the client to its next session, so they do not pin it. This file
 * asks the server for their values, which become part of the client's `carry`, and sets them on the next session before
 * the client's first request. It owns s->settings. settle.c calls it when the server says that something was set.
 *
 * The server lists its own settings. It does not list settings with a program's own name, such as app.tenant. Their names
 * come from the client's texts (scan.c), their values from the server.
 */
#include <stdio.h>

#include "../common/text.h"
#include "session.h"

/* In the carry: a byte for autocommit (1: off), then the settings. Each is name, EQUALS, value; SEPARATOR is between two. */
#define EQUALS     '\1'
#define SEPARATOR  '\2'
/* A client with more bytes of settings keeps its session. The question below has the same numbers. */
#define VALUES_MAX 4000
#define ROOM       8192u

/* ---- what the client has ---- */

void
cnd_pg_settings_forget(struct cnd_session *s)
{
	if (s->settings.carry.mem == NULL)
		cnc_buf_init(&s->settings.carry, s->mem, ROOM);
	cnc_buf_clear(&s->settings.carry, ROOM);
	s->settings.names_len = 0;
	s->settings.is_due = 0;
	s->settings.is_stale = 0;
	s->settings.hides = 0;
	s->settings.may_hide = 0;
}

int
cnd_pg_settings_are_any(const struct cnd_session *s)
{
	return cnc_buf_len(&s->settings.carry) > 1 || s->settings.is_stale;
}

static int
has_name(const struct cnd_pg_settings *settings, const char *name)
{
	for (size_t i = 0; i < settings->names_len;
		i += strlen(settings->names + i) + 1) {
		if (strcmp(settings->names + i, name) == 0)
			return 1;
	}
	return 0;
}

void
cnd_pg_settings_learn(struct cnd_session *s, const char *names)
{
	struct cnd_pg_settings *settings = &s->settings;

	settings->is_stale = 1;
	for (; *names != '\0'; names += strlen(names) + 1) {
		size_t n = strlen(names) + 1;

		if (has_name(settings, names))
			continue;
		if (n > sizeof(settings->names) - settings->names_len) {
			settings->hides = 1;
			return;
		}
		memcpy(settings->names + settings->names_len, names, n);
		settings->names_len += n;
	}
}

struct cnp_str
cnd_pg_settings_carry(struct cnd_session *s)
{
	static const char head[] = { 0, 1 };
	uint8_t *carry = (uint8_t *)cnc_buf_head(&s->settings.carry);

	if (carry == NULL || cnc_buf_len(&s->settings.carry) == 0)
		return (struct cnp_str){ &head[s->client.is_manual], 1 };
	*carry = s->client.is_manual;
	return (struct cnp_str){ (const char *)carry, cnc_buf_len(&s->settings.carry) };
}

/* ---- the question for the values ---- */

#define HAS(code)                                                                        \
	"pg_catalog.strpos(v, pg_catalog.chr(" code ")) OPERATOR(pg_catalog.>) 0"
#define SIZE                                                                             \
	"COALESCE(pg_catalog.sum(pg_catalog.octet_length(k) OPERATOR(pg_catalog.+)"      \
	" pg_catalog.octet_length(v) OPERATOR(pg_catalog.+) 2), 0)"
#define ROLE "pg_catalog.current_setting('role')"

/* What the server lists, and what differs from the login there. A user without privileges may set what has the context
 * "user". The options are begun.c's, and the others belong to the running transaction. */
#define LISTED                                                                           \
	"SELECT 1, name, setting, context OPERATOR(pg_catalog.=) 'user' OR"              \
	" pg_catalog.current_setting('is_superuser') OPERATOR(pg_catalog.=) 'on'"        \
	" FROM pg_catalog.pg_settings WHERE source OPERATOR(pg_catalog.=) 'session'"     \
	" AND NOT COALESCE(setting OPERATOR(pg_catalog.=) reset_val, false)"             \
	" AND name OPERATOR(pg_catalog.<>) ALL ('{application_name,client_encoding,"     \
	"transaction_isolation,transaction_read_only,transaction_deferrable}'"           \
	"::pg_catalog.text[])"

/* The role comes last: it may not be allowed to set the others. */
static const char question_begin[] =
	"WITH a (o, k, v, can) AS (" LISTED " UNION ALL SELECT 2, 'role', " ROLE
	", true WHERE " ROLE " OPERATOR(pg_catalog.<>) 'none'"
	" UNION ALL SELECT 1, n, pg_catalog.current_setting(n, true), true"
	" FROM pg_catalog.unnest('{";
static const char question_end[] =
	"}'::pg_catalog.text[]) n WHERE pg_catalog.current_setting(n, true) IS NOT NULL)"
	" SELECT COALESCE(pg_catalog.bool_or(NOT can OR " HAS("1") " OR " HAS(
		"2") "), false), " SIZE " OPERATOR(pg_catalog.>) 4000, CASE WHEN " SIZE
		     " OPERATOR(pg_catalog.<=) 4000 THEN COALESCE(pg_catalog.string_agg(k"
		     " OPERATOR(pg_catalog.||) pg_catalog.chr(1) OPERATOR(pg_catalog.||) "
		     "v,"
		     " pg_catalog.chr(2) ORDER BY o), '') ELSE '' END FROM a";

static void
make_question(const struct cnd_pg_settings *settings, struct cnd_text *t)
{
	cnd_text_add(t, question_begin);
	for (size_t i = 0; i < settings->names_len;
		i += strlen(settings->names + i) + 1) {
		cnd_text_add(t, i > 0 ? "," : "");
		cnd_text_add(t, settings->names + i);
	}
	cnd_text_add(t, question_end);
}

static int
ask_values(struct cnd_session *s, char values[VALUES_MAX + 1], uint8_t *ret_stay)
{
	struct cnd_text t = { .r = CENOTE_OK };
	uint8_t flags[2] = { 0 };

	cnc_buf_init(&t.b, s->mem, ROOM);
	make_question(&s->settings, &t);
	if (t.r == CENOTE_OK)
		t.r = cnc_buf_u8(&t.b, 0);
	if (t.r == CENOTE_OK)
		t.r = cnd_pg_ask_more(s, (const char *)cnc_buf_head(&t.b), flags, 2,
			values, VALUES_MAX + 1);
	cnc_buf_finish(&t.b);
	*ret_stay = flags[0] || flags[1];
	return t.r;
}

static int
is_kept(const struct cnc_buf *carry, const char *values, size_t n)
{
	size_t have = cnc_buf_len(carry) > 0 ? cnc_buf_len(carry) - 1 : 0;

	return have == n && (n == 0 || memcmp(cnc_buf_head(carry) + 1, values, n) == 0);
}

/* Keep the values for the client. */
static int
keep(struct cnd_session *s, const char *values)
{
	struct cnc_buf *carry = &s->settings.carry;
	size_t n = strlen(values);
	int r = CENOTE_OK;

	if (!is_kept(carry, values, n)) {
		/* no text of the client has changed them, so a function has, perhaps since a statement was prepared */
		if (!s->settings.is_stale)
			s->client.keeps_named = s->client.has_named;
		cnc_buf_clear(carry, ROOM);
		r = cnc_buf_u8(carry, s->client.is_manual);
		if (r == CENOTE_OK)
			r = cnc_buf_append(carry, values, n);
		s->client.has_carried = 1;
	}
	if (r == CENOTE_OK)
		s->settings.is_stale = 0;
	return r;
}

/* The server has reported the name, so it need not be asked. */
static void
add_name(struct cnd_session *s, char values[VALUES_MAX + 1], uint8_t *ret_stay)
{
	const char *name = cnd_pg_changed_name(s);
	size_t used = strlen(values);
	int n;

	if (name == NULL)
		return;
	n = snprintf(values + used, VALUES_MAX + 1 - used, "%sapplication_name\1%s",
		used > 0 ? "\2" : "", name);
	*ret_stay |= n < 0 || (size_t)n > VALUES_MAX - used;
}

int
cnd_pg_settings_ask(struct cnd_session *s, int is_listed, uint8_t *ret_stay)
{
	char values[VALUES_MAX + 1] = "";
	int r = CENOTE_OK;

	*ret_stay = 0;
	if (is_listed || s->settings.names_len > 0)
		r = ask_values(s, values, ret_stay);
	add_name(s, values, ret_stay);
	return r < 0 ? r : keep(s, *ret_stay ? "" : values);
}

/* ---- the next session ---- */

/* E'…' means the same whatever the setting standard_conforming_strings is. */
static int
quote(struct cnc_buf *b, const char *p, size_t n)
{
	int r = cnc_buf_append(b, "E'", 2);

	for (size_t i = 0; i < n && r == CENOTE_OK; i++) {
		if (p[i] == '\'' || p[i] == '\\')
			r = cnc_buf_u8(b, (uint8_t)p[i]);
		if (r == CENOTE_OK)
			r = cnc_buf_u8(b, (uint8_t)p[i]);
	}
	return r < 0 ? r : cnc_buf_u8(b, '\'');
}

/* Add the call that makes one setting, which is n bytes of the carry. */
static void
add_call(struct cnd_text *t, const char *setting, size_t n)
{
	const char *equals = memchr(setting, EQUALS, n);
	size_t name_len = equals != NULL ? (size_t)(equals - setting) : n;

	if (equals == NULL) {
		t->r = CENOTE_ERR_PROTOCOL;
		return;
	}
	cnd_text_add(t, "pg_catalog.set_config(");
	cnd_text_add_literal(t, setting, name_len);
	cnd_text_add(t, ", ");
	cnd_text_add_literal(t, equals + 1, n - name_len - 1);
	cnd_text_add(t, ", false) IS NOT NULL");
}

/* The names that no list shows are needed for the next question. */
static void
learn_name(struct cnd_session *s, const char *setting, size_t n)
{
	char name[CND_PG_NAMES_MAX + 1] = { 0 };
	const char *equals = memchr(setting, EQUALS, n);
	size_t len = equals != NULL ? (size_t)(equals - setting) : 0;

	if (cnd_pg_is_reading(setting, len))
		s->client.lasting |= CND_PG_SCAN_DEFINES;
	if (memchr(setting, '.', len) == NULL)
		return;
	if (len >= sizeof(name) - 1 || !cnd_pg_is_setting_name(setting, len)) {
		s->settings.hides = 1;
		return;
	}
	memcpy(name, setting, len);
	cnd_pg_settings_learn(s, name);
}

static void
make_statement(struct cnd_session *s, const char *p, size_t n, struct cnd_text *t)
{
	const char *end = p + n, *next;

	cnd_text_add(t, "SELECT ");
	for (; p < end && t->r == CENOTE_OK; p = next + 1) {
		next = memchr(p, SEPARATOR, (size_t)(end - p));
		if (next == NULL)
			next = end;
		add_call(t, p, (size_t)(next - p));
		learn_name(s, p, (size_t)(next - p));
		cnd_text_add(t, next < end ? " AND " : "");
	}
}

int
cnd_pg_settings_bring(struct cnd_session *s, const struct cnp_str *carry)
{
	if ((carry->p[0] != 0 && carry->p[0] != 1) || carry->n > VALUES_MAX + 1 ||
		memchr(carry->p + 1, 0, carry->n - 1) != NULL)
		return CENOTE_ERR_PROTOCOL;
	s->client.is_manual = (uint8_t)carry->p[0];
	s->client.has_carried = 1;
	s->settings.is_due = carry->n > 1;
	return cnc_buf_append(&s->settings.carry, carry->p, carry->n);
}

/* The session is as good as lost for this client: its program connects again after SQLSTATE 08006. */
static void
explain_refusal(struct cnc_diag *diag)
{
	char why[sizeof(diag->message)];

	snprintf(why, sizeof(why), "%s", diag->message);
	cnc_diag_set(diag, CNC_SQLSTATE(CONNECTION_LOST),
		"the settings of this connection cannot be set on its next session: %s; "
		"connect again",
		why);
}

int
cnd_pg_settings_restore(struct cnd_session *s)
{
	const char *carry = (const char *)cnc_buf_head(&s->settings.carry);
	struct cnd_text t = { .r = CENOTE_OK, .quote = quote };
	uint8_t is_set = 0;
	int r;

	if (!s->settings.is_due)
		return CENOTE_DONE;
	s->settings.is_due = 0;
	s->client.is_used = 1;
	cnc_buf_init(&t.b, s->mem, 8 * ROOM);
	make_statement(s, carry + 1, cnc_buf_len(&s->settings.carry) - 1, &t);
	r = t.r < 0 ? t.r : cnc_buf_u8(&t.b, 0);
	if (r == CENOTE_ERR_PROTOCOL)
		r = cnd_pg_refuse(s, CNC_SQLSTATE(PROTOCOL),
			"what the client carried over has a setting without a value");
	(void)cnd_pg_run_begin(s, NULL);
	if (r == CENOTE_OK)
		r = cnd_pg_ask(s, (const char *)cnc_buf_head(&t.b), &is_set, 1);
	cnc_buf_finish(&t.b);
	if (r == CENOTE_ERR_SERVER)
		explain_refusal(s->diag);
	if (r == CENOTE_OK && !is_set)
		r = cnd_pg_broken(s, "settings that are not what they were set to");
	s->settings.is_stale = 0;
	return r;
}
