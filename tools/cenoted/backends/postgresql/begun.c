/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The options application_name and client_encoding, which a client sets when it attaches. They are set on each session
 * that the client gets, so they do not pin the client to one session. The server reports every change of both. So the
 * backend knows without a query whether a client has changed them, and settle.c does not ask for them. A changed name moves
 * with the other settings (settings.c). A changed encoding keeps the session.
 *
 * A reset leaves both as the client began with them, since the next client often wants the same values. When that client
 * attaches, an option that it does not set gets its value at login.
 */
#include <stdio.h>

#include "session.h"

static const char *const names[] = { "application_name", "client_encoding" };

#define N_NAMES (sizeof(names) / sizeof(names[0]))

/* The server truncates longer values. */
#define VALUE_MAX 63u

static int
is_one(const char *name)
{
	for (size_t i = 0; i < N_NAMES; i++) {
		if (strcmp(names[i], name) == 0)
			return 1;
	}
	return 0;
}

/* Write the value as the server shows it: a byte outside ASCII is \xHH from version 16 on, and a question mark before. */
static void
put_value(const struct cnd_session *s, char *to, const char *value)
{
	for (size_t i = 0; value[i] != '\0' && i < VALUE_MAX; i++) {
		unsigned char c = (unsigned char)value[i];

		if (c < ' ' || c > '~') {
			to += snprintf(to, 6, s->version < 160000 ? "?" : "\\\\x%02x", c);
			continue;
		}
		if (c == '\'' || c == '\\')
			*to++ = (char)c;
		*to++ = (char)c;
	}
	*to = '\0';
}

#define SET_MAX (5 * VALUE_MAX + 64)

static void
put_set(const struct cnd_session *s, char sql[SET_MAX], const char *name,
	const char *value)
{
	char quoted[5 * VALUE_MAX + 1];

	put_value(s, quoted, value);
	(void)snprintf(sql, SET_MAX, "SET %s TO E'%s'", name, quoted);
}

static int
set_one(struct cnd_session *s, const char *name, const char *value)
{
	char sql[SET_MAX];
	uint8_t nothing;

	put_set(s, sql, name, value);
	(void)cnd_pg_run_begin(s, NULL);
	return cnd_pg_ask(s, sql, &nothing, 0);
}

/* Keep the present value as the value that the client began with. */
static int
keep(struct cnd_session *s, const char *name)
{
	struct cnd_pg_parameter *p = cnd_pg_parameter(s, name);

	if (p == NULL)
		return CENOTE_OK;
	cnc_free(s->mem, p->begun);
	p->begun = cnc_strndup(s->mem, p->value, strlen(p->value));
	return p->begun != NULL ? CENOTE_OK : CENOTE_ERR_NOMEM;
}

int
cnd_pg_set_option(struct cnd_session *s, const char *name, const char *value,
	struct cnc_diag *ret_diag)
{
	const struct cnd_pg_parameter *p = cnd_pg_parameter(s, name);
	int r, is_new;

	/* After a reset, libcenote sets all its options again. `settings` belongs to the login, which has not changed. */
	if (strcmp(name, "settings") == 0)
		return CENOTE_DONE;
	if (!is_one(name)) {
		cnc_diag_set(ret_diag, CNC_SQLSTATE(BAD_PARAMETER),
			"there is no option \"%s\": there are application_name and "
			"client_encoding",
			name);
		return CENOTE_ERR_ARG;
	}
	r = cnd_pg_enter(s, ret_diag);
	if (r == CENOTE_OK && (s->tx != 'I' || s->sync.is_missing || s->sync.n_ready > 0))
		r = cnd_pg_refuse(s, CNC_SQLSTATE(TX_ACTIVE),
			"options of a session can be set between transactions only");
	is_new = p == NULL || strcmp(p->value, value) != 0;
	if (r == CENOTE_OK && is_new)
		r = set_one(s, name, value);
	if (r == CENOTE_OK)
		r = keep(s, name);
	s->diag = NULL;
	return r < 0 || is_new ? r : CENOTE_DONE;
}

int
cnd_pg_is_option(const struct cnd_pg_parameter *p)
{
	return is_one(p->name);
}

int
cnd_pg_add_options(struct cnd_session *s)
{
	int r = CENOTE_OK;

	for (size_t i = 0; i < N_NAMES && r >= 0; i++) {
		const struct cnd_pg_parameter *p = cnd_pg_parameter(s, names[i]);
		char sql[SET_MAX];

		if (p == NULL || p->begun == NULL || p->at_login == NULL ||
			strcmp(p->begun, p->at_login) == 0)
			continue;
		put_set(s, sql, names[i], p->begun);
		r = cnd_pg_add_query(&s->out.buf, 'Q', sql, strlen(sql));
		if (r == CENOTE_OK)
			s->out.n_ready++;
	}
	return r;
}

/* Give an option its value at login. */
static int
drop_one(struct cnd_session *s, const char *name)
{
	char sql[64];
	uint8_t nothing;

	(void)snprintf(sql, sizeof(sql), "RESET %s", name);
	(void)cnd_pg_run_begin(s, NULL);
	return cnd_pg_ask(s, sql, &nothing, 0);
}

int
cnd_pg_drop_options(struct cnd_session *s)
{
	int r = CENOTE_DONE;

	for (size_t i = 0; i < N_NAMES && r >= 0; i++) {
		const struct cnd_pg_parameter *p = cnd_pg_parameter(s, names[i]);

		if (p == NULL || p->begun != NULL || p->at_login == NULL ||
			strcmp(p->value, p->at_login) == 0)
			continue;
		r = drop_one(s, names[i]);
	}
	return r;
}

void
cnd_pg_begun_forget(struct cnd_session *s)
{
	for (size_t i = 0; i < s->n_parameters; i++) {
		cnc_free(s->mem, s->parameters[i].begun);
		s->parameters[i].begun = NULL;
	}
}

/* Whether an option has another value than the client began with. */
static int
is_changed(struct cnd_session *s, const char *name)
{
	const struct cnd_pg_parameter *p = cnd_pg_parameter(s, name);
	const char *begun = NULL;

	if (p != NULL)
		begun = p->begun != NULL ? p->begun : p->at_login;
	return begun == NULL || strcmp(p->value, begun) != 0;
}

int
cnd_pg_has_changed_encoding(struct cnd_session *s)
{
	return is_changed(s, "client_encoding");
}

const char *
cnd_pg_changed_name(struct cnd_session *s)
{
	const struct cnd_pg_parameter *p = cnd_pg_parameter(s, "application_name");

	return p != NULL && is_changed(s, "application_name") ? p->value : NULL;
}
