/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The client's `carry`: the settings that it changed, and the statements that it prepared by SQL. They move with the client
 * to its next session, so they do not pin it. This file asks the server for them; restore.c gives them to the next session.
 * It owns s->settings. settle.c calls it when the server says that there is something.
 *
 * The server lists its own settings. It does not list settings with a program's own name, such as app.tenant. Their names
 * come from the client's texts (scan.c), their values from the server. prepared.c says which statements move.
 */
#include <stdio.h>

#include "../common/text.h"
#include "code.h"
#include "session.h"

#define EQUALS     CND_PG_CARRY_EQUALS
#define SEPARATOR  CND_PG_CARRY_SEPARATOR
#define VALUES_MAX CND_PG_CARRY_MAX
#define ROOM       8192u

/* ---- entries ---- */

int
cnd_pg_settings_next(struct cnp_str *left, struct cnp_str *ret_entry)
{
	const char *end = left->n > 0 ? memchr(left->p, SEPARATOR, left->n) : NULL;
	size_t n = end != NULL ? (size_t)(end - left->p) : left->n;

	if (left->n == 0)
		return 0;
	*ret_entry = (struct cnp_str){ left->p, n };
	n += end != NULL;
	left->p += n;
	left->n -= n;
	return 1;
}

int
cnd_pg_settings_is_statement(const struct cnp_str *entry)
{
	return entry->n > 0 && *entry->p == EQUALS;
}

/* The statements that stand after the settings. */
static struct cnp_str
statements_of(struct cnp_str entries)
{
	struct cnp_str left = entries, entry;

	while (cnd_pg_settings_next(&left, &entry)) {
		if (!cnd_pg_settings_is_statement(&entry))
			continue;
		left = entries;
		left.p = entry.p;
		left.n -= (size_t)(entry.p - entries.p);
		return left;
	}
	return left;
}

static struct cnp_str
settings_of(struct cnp_str entries)
{
	size_t n = entries.n - statements_of(entries).n;

	/* without the separator before the statements */
	return (struct cnp_str){ entries.p, n - (n > 0 && n < entries.n) };
}

static const char name_key[] = "application_name\1";

/* The settings on which the meaning of SQL may depend. application_name, which comes first, is not one of them. */
static struct cnp_str
meaning_of(struct cnp_str entries)
{
	struct cnp_str settings = settings_of(entries), left = settings, entry;
	const size_t n = sizeof(name_key) - 1;

	return cnd_pg_settings_next(&left, &entry) && entry.n >= n &&
			       memcmp(entry.p, name_key, n) == 0
		       ? left
		       : settings;
}

static int
is_same(struct cnp_str a, struct cnp_str b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

/* ---- what the client has ---- */

struct cnp_str
cnd_pg_settings_entries(const struct cnd_session *s)
{
	const char *carry = (const char *)cnc_buf_head(&s->settings.carry);
	size_t n = cnc_buf_len(&s->settings.carry);

	return carry != NULL && n > 1 ? (struct cnp_str){ carry + 1, n - 1 }
				      : CNP_STR_NONE;
}

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
	cnd_pg_prepared_forget(s);
}

int
cnd_pg_settings_are_any(const struct cnd_session *s)
{
	return settings_of(cnd_pg_settings_entries(s)).n > 0 || s->settings.is_stale;
}

void
cnd_pg_settings_doubt(struct cnd_session *s)
{
	if (statements_of(cnd_pg_settings_entries(s)).n > 0)
		s->client.pins |= CENOTE_PIN_PREPARED;
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
#define HAS_MARK "(" HAS("1") " OR " HAS("2") ")"
/* Whether the settings, or all entries, are too long. The client's encoding may need more bytes than the server's. */
#define IS_LONG(which)                                                                   \
	"COALESCE(pg_catalog.sum(pg_catalog.octet_length(k) OPERATOR(pg_catalog.+)"      \
	" pg_catalog.octet_length(pg_catalog.convert_to(v,"                              \
	" pg_catalog.pg_client_encoding())) OPERATOR(pg_catalog.+) 2)" which             \
	", 0) OPERATOR(pg_catalog.>) " STRING_OF(CND_PG_CARRY_MAX)
#define ENTRIES                                                                          \
	"pg_catalog.string_agg(k OPERATOR(pg_catalog.||) pg_catalog.chr(1)"              \
	" OPERATOR(pg_catalog.||) v, pg_catalog.chr(2) ORDER BY o, k, v)"
#define OF_SETTINGS " FILTER (WHERE o OPERATOR(pg_catalog.<) 3)"
#define ROLE        "pg_catalog.current_setting('role')"

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

/* The role is the last setting: it may not be allowed to set the others. */
static const char question_begin[] =
	"WITH a (o, k, v, can) AS (" LISTED " UNION ALL SELECT 2, 'role', " ROLE
	", true WHERE " ROLE " OPERATOR(pg_catalog.<>) 'none'"
	" UNION ALL SELECT 1, n, pg_catalog.current_setting(n, true), true"
	" FROM pg_catalog.unnest('{";
static const char question_names_end[] =
	"}'::pg_catalog.text[]) n WHERE pg_catalog.current_setting(n, true) IS NOT NULL";
static const char question_statements[] =
	" UNION ALL SELECT 3, '', statement, true"
	" FROM pg_catalog.pg_prepared_statements WHERE from_sql";
static const char question_end[] =
	") SELECT COALESCE(pg_catalog.bool_or(NOT can OR " HAS_MARK ")" OF_SETTINGS
	", false) OR " IS_LONG(
		OF_SETTINGS) ", COALESCE(pg_catalog.bool_or(" HAS_MARK
			     "), false) OR " IS_LONG(
				     "") ", COALESCE(CASE WHEN "
					 "NOT " IS_LONG(
						 "") " THEN " ENTRIES
						     " WHEN NOT " IS_LONG(
							     OF_SETTINGS) " THEN " ENTRIES
							     OF_SETTINGS " END, '') FROM "
									  "a";

/* The flags of the answer. After them comes a text with the entries that can move. */
enum {
	STAY_SETTINGS,
	STAY_STATEMENTS,
	N_STAY
};

static void
make_question(
	const struct cnd_pg_settings *settings, int has_statements, struct cnd_text *t)
{
	cnd_text_add(t, question_begin);
	for (size_t i = 0; i < settings->names_len;
		i += strlen(settings->names + i) + 1) {
		cnd_text_add(t, i > 0 ? "," : "");
		cnd_text_add(t, settings->names + i);
	}
	cnd_text_add(t, question_names_end);
	cnd_text_add(t, has_statements ? question_statements : "");
	cnd_text_add(t, question_end);
}

static int
ask_values(struct cnd_session *s, int has_statements, char values[VALUES_MAX + 1],
	uint8_t ret_stay[N_STAY])
{
	struct cnd_text t = { .r = CENOTE_OK };

	cnc_buf_init(&t.b, s->mem, ROOM);
	make_question(&s->settings, has_statements, &t);
	if (t.r == CENOTE_OK)
		t.r = cnc_buf_u8(&t.b, 0);
	if (t.r == CENOTE_OK)
		t.r = cnd_pg_ask_more(s, (const char *)cnc_buf_head(&t.b), ret_stay,
			N_STAY, values, VALUES_MAX + 1);
	cnc_buf_finish(&t.b);
	return t.r;
}

/* application_name comes first, since the statements have to be last. The server has reported it, so the question does not
 * ask for it. */
static void
add_name(struct cnd_session *s, char values[VALUES_MAX + 1], uint8_t *ret_stay)
{
	const char *name = cnd_pg_changed_name(s);
	size_t used = strlen(values);
	size_t n = name != NULL ? sizeof(name_key) - 1 + strlen(name) : 0;

	if (name == NULL)
		return;
	if (used + n + 1 > VALUES_MAX) {
		*ret_stay = 1;
		return;
	}
	memmove(values + n + 1, values, used + 1);
	(void)snprintf(values, n + 1, "%s%s", name_key, name);
	values[n] = used > 0 ? SEPARATOR : '\0';
}

/* ---- what moves ---- */

/* Whether the client itself has prepared all of these statements. If so, forget the others, which have ended. */
static int
have_come_from_client(struct cnd_session *s, struct cnp_str statements)
{
	struct cnp_str left = statements, entry;

	while (cnd_pg_settings_next(&left, &entry)) {
		if (!cnd_pg_prepared_is_known(&s->prepared, entry.p + 1, entry.n - 1))
			return 0;
	}
	s->prepared.n = 0;
	while (cnd_pg_settings_next(&statements, &entry))
		cnd_pg_prepared_note(&s->prepared, cnd_pg_hash(entry.p + 1, entry.n - 1));
	return 1;
}

/* No text of the client has changed the settings, so a function has, perhaps since a statement was prepared. */
static void
note_change(struct cnd_session *s)
{
	s->client.keeps_named |= s->client.has_named;
	cnd_pg_prepared_forget(s);
}

/* Keep the entries for the client. */
static int
keep(struct cnd_session *s, struct cnp_str entries)
{
	struct cnc_buf *carry = &s->settings.carry;
	int r = CENOTE_OK;

	if (!is_same(entries, cnd_pg_settings_entries(s))) {
		cnc_buf_clear(carry, ROOM);
		r = cnc_buf_u8(carry, s->client.is_manual);
		if (r == CENOTE_OK)
			r = cnc_buf_append(carry, entries.p, entries.n);
		s->client.has_carried = 1;
	}
	if (r == CENOTE_OK)
		s->settings.is_stale = 0;
	return r;
}

/* Keep what can move, and take its pins out. */
static int
keep_movable(struct cnd_session *s, struct cnp_str entries, const uint8_t stay[N_STAY],
	uint32_t *pins)
{
	struct cnp_str before = meaning_of(cnd_pg_settings_entries(s));

	if (!s->settings.is_stale && !is_same(meaning_of(entries), before))
		note_change(s);
	if (stay[STAY_SETTINGS])
		return keep(s, CNP_STR_NONE);
	*pins &= ~(uint32_t)CENOTE_PIN_SETTINGS;
	if (stay[STAY_STATEMENTS] || !have_come_from_client(s, statements_of(entries)))
		return keep(s, settings_of(entries));
	*pins &= ~(uint32_t)CENOTE_PIN_PREPARED;
	return keep(s, entries);
}

int
cnd_pg_settings_ask(struct cnd_session *s, uint32_t *pins)
{
	char values[VALUES_MAX + 1] = "";
	uint8_t stay[N_STAY] = { 0 };
	/* the texts may not be in the client's present encoding */
	int has_statements = (*pins & CENOTE_PIN_PREPARED) != 0 && s->prepared.n > 0 &&
			     !cnd_pg_has_changed_encoding(s);
	int r = CENOTE_OK;

	if ((*pins & CENOTE_PIN_SETTINGS) != 0 || s->settings.names_len > 0 ||
		has_statements)
		r = ask_values(s, has_statements, values, stay);
	if (r < 0)
		return r;
	add_name(s, values, &stay[STAY_SETTINGS]);
	if (stay[STAY_SETTINGS])
		*pins |= CENOTE_PIN_SETTINGS;
	stay[STAY_STATEMENTS] |= (*pins & CENOTE_PIN_PREPARED) != 0 && !has_statements;
	return keep_movable(s, cnp_str(values), stay, pins);
}

/* ---- the next session ---- */

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
