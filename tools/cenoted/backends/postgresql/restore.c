/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Gives a session what its client brings from its previous session (settings.c), once the client's options are set: the
 * settings, and under them the statements prepared by SQL. The server gets everything in one write. What the client
 * brings may be anything, so nothing in it counts until this server has confirmed it.
 */
#include <stdio.h>

#include "../common/text.h"
#include "session.h"

/* Room for the statement that sets all settings: each byte may become two, and each setting is a call. */
#define ROOM 65536u

/* ---- settings ---- */

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

/* Add the call that makes one setting. */
static void
add_call(struct cnd_text *t, const struct cnp_str *setting)
{
	const char *equals = memchr(setting->p, CND_PG_CARRY_EQUALS, setting->n);
	size_t name_len = equals != NULL ? (size_t)(equals - setting->p) : 0;

	if (equals == NULL) {
		t->r = CENOTE_ERR_PROTOCOL;
		return;
	}
	cnd_text_add(t, "pg_catalog.set_config(");
	cnd_text_add_literal(t, setting->p, name_len);
	cnd_text_add(t, ", ");
	cnd_text_add_literal(t, equals + 1, setting->n - name_len - 1);
	cnd_text_add(t, ", false) IS NOT NULL");
}

/* The names that no list shows are needed for the next question. */
static void
learn_name(struct cnd_session *s, const char *setting, size_t n)
{
	char name[CND_PG_NAMES_MAX + 1] = { 0 };
	const char *equals = memchr(setting, CND_PG_CARRY_EQUALS, n);
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

/* Write one statement that makes all settings. If there are none, write nothing. */
static void
add_settings(struct cnd_session *s, struct cnp_str entries, struct cnd_text *t)
{
	const char *before = "SELECT ";
	struct cnp_str entry;

	while (t->r == CENOTE_OK && cnd_pg_settings_next(&entries, &entry)) {
		if (cnd_pg_settings_is_statement(&entry))
			continue;
		cnd_text_add(t, before);
		add_call(t, &entry);
		learn_name(s, entry.p, entry.n);
		before = " AND ";
	}
}

static int
add_query(struct cnd_session *s, struct cnp_str entries, struct cnd_pg_flags *ret_answer)
{
	struct cnd_text t = { .r = CENOTE_OK, .quote = quote };
	int r;

	cnc_buf_init(&t.b, s->mem, ROOM);
	add_settings(s, entries, &t);
	r = t.r;
	if (r == CENOTE_OK && cnc_buf_len(&t.b) > 0) {
		r = cnd_pg_add_query(&s->out.buf, 'Q', (const char *)cnc_buf_head(&t.b),
			cnc_buf_len(&t.b));
		s->out.n_ready++;
		ret_answer->n = 1;
		s->run.flags = ret_answer;
	}
	cnc_buf_finish(&t.b);
	return r;
}

/* ---- statements ---- */

/* The rules by which the server will read the statements: it gets the settings before them. */
static struct cnd_pg_facts
facts_after(const struct cnd_session *s, struct cnp_str entries)
{
	static const char key[] = "standard_conforming_strings\1";
	const size_t n = sizeof(key) - 1;
	struct cnd_pg_facts facts = s->facts;
	struct cnp_str entry;

	while (cnd_pg_settings_next(&entries, &entry)) {
		if (entry.n >= n && memcmp(entry.p, key, n) == 0)
			facts.has_standard_strings =
				entry.n != n + 3 || memcmp(entry.p + n, "off", 3) != 0;
	}
	return facts;
}

/* Add the messages that run a PREPARE. In an extended query, the server accepts one statement only. CENOTE_ERR_PROTOCOL:
 * cenoted never gives such a text to a client. */
static int
add_statement(struct cnd_session *s, const char *text, size_t len,
	const struct cnd_pg_facts *facts)
{
	static const struct cnd_exec plain = { .format = CENOTE_FORMAT_TEXT };
	struct cnd_pg_scan scan;
	int r;

	cnd_pg_memo_scan(&s->memo, text, len, facts, &scan);
	if (scan.prepares == 0)
		return CENOTE_ERR_PROTOCOL;
	cnd_pg_note(s, &scan, 0);
	r = cnd_pg_add_parse(s, text, len, &plain);
	if (r == CENOTE_OK)
		r = cnd_pg_add_bind(s, "", 0, NULL, &plain);
	return r < 0 ? r : cnd_pg_add_execute(&s->out.buf, "", 0);
}

static int
add_statements(struct cnd_session *s, struct cnp_str entries)
{
	struct cnd_pg_facts facts = facts_after(s, entries);
	struct cnp_str entry;
	int n = 0, r = CENOTE_OK;

	while (r == CENOTE_OK && cnd_pg_settings_next(&entries, &entry)) {
		if (!cnd_pg_settings_is_statement(&entry))
			continue;
		r = add_statement(s, entry.p + 1, entry.n - 1, &facts);
		n++;
	}
	return r == CENOTE_OK && n > 0 ? cnd_pg_add_end(s, 1) : r;
}

/* ---- the session ---- */

/* The session is as good as lost for this client: its program connects again after SQLSTATE 08006. */
static void
explain_refusal(struct cnc_diag *diag, int has_settings)
{
	char why[sizeof(diag->message)];

	snprintf(why, sizeof(why), "%s", diag->message);
	cnc_diag_set(diag, CNC_SQLSTATE(CONNECTION_LOST),
		"%s on its next session: %s; connect again",
		has_settings ? "a statement of this connection cannot be prepared again"
			     : "the settings of this connection cannot be set",
		why);
}

/* Everything goes in one write. */
static int
send_all(struct cnd_session *s, struct cnp_str entries, struct cnd_pg_flags *ret_answer)
{
	int r;

	(void)cnd_pg_run_begin(s, NULL);
	s->run.until_ready = 1;
	r = add_query(s, entries, ret_answer);
	if (r == CENOTE_OK)
		r = add_statements(s, entries);
	if (r == CENOTE_OK)
		return cnd_pg_send_run(s);
	cnd_pg_out_clear(s);
	s->out.n_ready = 0;
	return r;
}

/* Whether the session now has what the client brought. The statements were scanned by rules that these settings promised. */
static int
is_restored(const struct cnd_session *s, struct cnp_str entries,
	const struct cnd_pg_flags *answer)
{
	return (answer->n == 0 || answer->flags[0]) &&
	       s->facts.has_standard_strings ==
		       facts_after(s, entries).has_standard_strings;
}

/* Give the session what the client has brought. CENOTE_DONE: it has brought nothing. */
static int
restore(struct cnd_session *s)
{
	struct cnd_pg_flags answer = { .n = 0 };
	int r;

	if (!s->settings.is_due)
		return CENOTE_DONE;
	s->settings.is_due = 0;
	s->client.is_used = 1;
	r = send_all(s, cnd_pg_settings_entries(s), &answer);
	if (r == CENOTE_ERR_PROTOCOL)
		r = cnd_pg_refuse(s, CNC_SQLSTATE(PROTOCOL),
			"what the client carried over has a setting without a value, or "
			"a statement that does not prepare one");
	if (r == CENOTE_ERR_SERVER)
		explain_refusal(s->diag, answer.n == 0 || answer.has_come);
	if (r == CENOTE_OK && !is_restored(s, cnd_pg_settings_entries(s), &answer))
		r = cnd_pg_broken(s, "settings that are not what they were set to");
	/* the server has confirmed the statements of the carry, so it need not be asked about them */
	if (r == CENOTE_OK)
		s->client.pins &= ~(uint32_t)CENOTE_PIN_PREPARED;
	s->settings.is_stale = 0;
	return r;
}

int
cnd_pg_options_are_set(struct cnd_session *s, struct cnc_diag *ret_diag)
{
	int q = CENOTE_DONE;
	int r = cnd_pg_enter(s, ret_diag);

	if (r == CENOTE_OK)
		r = cnd_pg_drop_options(s);
	/* the texts of the settings are in the encoding that the client has chosen */
	if (r >= 0)
		q = restore(s);
	s->diag = NULL;
	return r < 0 || q == CENOTE_DONE ? r : q;
}
