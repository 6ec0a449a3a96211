/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The life of a session after its login: attach a client, report the state, ask the server questions of our
 * own, log out. This file owns the facts for info().
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "session.h"

/* The client gets what the server sends beside the answer to our question, but no notices, since these are about our
 * question. After the sink has failed, it gets nothing more, and the answer is read to its end. */
static int
take_beside(struct cnd_session *s, const struct cnd_pg_msg *m)
{
	int r = cnd_pg_async(s, m, m->type == 'N' ? NULL : s->run.sink);

	if (s->is_lost)
		return CENOTE_ERR_CONN;
	if (r < 0 && r != CENOTE_AGAIN) {
		s->run.status = r;
		s->run.sink = NULL;
	}
	return CENOTE_OK;
}

/* Fails with CENOTE_ERR_SERVER and the diagnostics filled, or the session is lost. */
int
cnd_pg_ask_more(struct cnd_session *s, const char *sql, uint8_t *ret_flags, size_t n,
	char *ret_text, size_t room)
{
	struct cnd_pg_msg m;
	int status = CENOTE_OK;
	int r = cnd_pg_add_query(&s->out.buf, 'Q', sql, strlen(sql));

	if (r < 0)
		return r;
	s->out.n_ready++;
	memset(ret_flags, 0, n);
	if (room > 0)
		*ret_text = '\0';
	r = cnd_pg_send(s);
	while (r == CENOTE_OK) {
		r = cnd_pg_next(s, &m);
		if (r < 0 || m.type == 'Z')
			break;
		if (m.type == 'E') {
			if (cnd_pg_is_fatal(m.body, m.len))
				return cnd_pg_fatal(s, &m);
			status = CENOTE_ERR_SERVER;
			(void)cnd_pg_diag(s->diag, m.body, m.len, s->server);
		} else if (m.type == 'D') {
			r = cnd_pg_take_row(s, &m, ret_flags, n, ret_text, room);
		} else {
			r = take_beside(s, &m);
		}
	}
	if (r < 0)
		return r;
	r = cnd_pg_note_ready(s, &m);
	return r < 0 ? r : status;
}

int
cnd_pg_ask(struct cnd_session *s, const char *sql, uint8_t *ret_flags, size_t n)
{
	return cnd_pg_ask_more(s, sql, ret_flags, n, NULL, 0);
}

void
cnd_pg_logout(struct cnd_session *s)
{
	if (s == NULL)
		return;
	s->host->forget(s->host, s);
	cnd_pg_desc_finish(s, &s->desc);
	cnd_pg_stream_finish(s);
	cnc_buf_finish(&s->due.buf);
	cnc_buf_finish(&s->settings.carry);
	cnd_pg_begun_forget(s);
	for (size_t i = 0; i < s->n_parameters; i++) {
		cnc_free(s->mem, s->parameters[i].name);
		cnc_free(s->mem, s->parameters[i].value);
		cnc_free(s->mem, s->parameters[i].at_login);
	}
	cnc_free(s->mem, s->params.types);
	if (s->ready_fd > 0)
		(void)close(s->ready_fd);
	s->close(s);
	cnc_diag_finish(&s->lost);
	cnc_diag_finish(&s->stop.diag);
	cnc_free(s->mem, s);
}

/* ---- while a client has the session ---- */

/* Report the TLS connection to the server. */
static size_t
report_tls(struct cnd_session *s, size_t n)
{
	static const char *const keys[CND_PG_TLS_FACTS] = { "server_tls_version",
		"server_tls_cipher", "server_tls_bits" };

	for (size_t i = 0; i < CND_PG_TLS_FACTS; i++) {
		if (s->tls[i] != NULL)
			s->reported[n++] = (struct cnd_option){ keys[i], s->tls[i] };
	}
	return n;
}

void
cnd_pg_info(const struct cnd_session *s, struct cnd_info *ret_info)
{
	struct cnd_session *w = (struct cnd_session *)s;
	size_t n = 0;

	w->reported[n++] = (struct cnd_option){ "backend_pid", s->backend_pid };
	for (size_t i = 0; i < s->n_parameters; i++)
		w->reported[n++] = (struct cnd_option){ s->parameters[i].name,
			s->parameters[i].value };
	n = report_tls(w, n);
	*ret_info = (struct cnd_info){ .server = s->server,
		.server_version = s->server_version,
		.database = s->database,
		.parameters = w->reported,
		.n_parameters = n,
		.changes = s->n_changes + 1 };
}

/* Send a Sync, the smallest request that the server answers. */
int
cnd_pg_ping(struct cnd_session *s, struct cnc_diag *ret_diag)
{
	int r = cnd_pg_enter(s, ret_diag);

	if (r == CENOTE_OK)
		r = cnd_pg_ready(s, NULL);
	if (r < 0)
		return r;
	/* A Sync would end an unfinished unit or an open result. */
	if (s->sync.is_missing || s->sync.n_ready > 0)
		return CENOTE_OK;
	return cnd_pg_sync_now(s, NULL);
}

int
cnd_pg_attach(
	struct cnd_session *s, const struct cnp_str *carry, struct cnc_diag *ret_diag)
{
	if (s->is_lost) {
		cnc_diag_copy(ret_diag, &s->lost);
		return CENOTE_ERR_CONN;
	}
	cnd_pg_begun_forget(s);
	cnd_pg_settings_forget(s);
	if (carry == NULL || carry->n == 0)
		return CENOTE_OK;
	if (cnd_pg_settings_bring(s, carry) == CENOTE_OK)
		return CENOTE_OK;
	cnc_diag_set(ret_diag, CNC_SQLSTATE(PROTOCOL),
		"what the client carried over is not a PostgreSQL session's state");
	return CENOTE_ERR_SERVER;
}

void
cnd_pg_state(const struct cnd_session *s, struct cnd_state *ret_state)
{
	*ret_state = (struct cnd_state){ .pins = s->client.pins,
		.carry = CNP_STR_NONE,
		.is_over = s->early.n_ready > 0 };
	if (s->is_lost)
		ret_state->tx = CENOTE_TX_UNKNOWN;
	else if (s->tx == 'I')
		ret_state->tx = CENOTE_TX_IDLE;
	else
		ret_state->tx = s->tx == 'T' ? CENOTE_TX_OPEN : CENOTE_TX_FAILED;
	if (cnd_has_portals(s->host->statements))
		ret_state->pins |= CENOTE_PIN_CURSOR;
	/* another client may have resumed the session, and does not know these statements */
	if (s->client.holds_unnamed || s->client.keeps_named ||
		(s->client.has_named && !s->host->restores_names(s->host)))
		ret_state->pins |= CENOTE_PIN_PREPARED;
	/* otherwise settle() compares them */
	if (s->has_pure_queries && s->client.is_used &&
		cnd_pg_has_changed_encoding((struct cnd_session *)s))
		ret_state->pins |= CENOTE_PIN_SETTINGS;
	if (s->settings.is_stale || s->settings.hides)
		ret_state->pins |= CENOTE_PIN_SETTINGS;
	if (!s->settings.is_stale && (s->client.is_manual || s->client.has_carried))
		ret_state->carry = cnd_pg_settings_carry((struct cnd_session *)s);
}

int
cnd_pg_fd(const struct cnd_session *s)
{
	/* The rest of an open result stays in the socket until it is fetched. */
	return s->sync.n_ready > 0 || s->early.n_ready > 0 ? -1 : s->fd;
}

int
cnd_pg_idle(struct cnd_session *s, struct cnd_sink *sink)
{
	struct cnc_diag diag;
	struct cnd_pg_msg m;
	int r;

	cnc_diag_init(&diag, NULL);
	r = cnd_pg_enter(s, sink != NULL ? sink->diag : &diag);
	/* Leave the rest of an open result in the socket. */
	while (r == CENOTE_OK && s->sync.n_ready == 0 && s->early.n_ready == 0) {
		r = cnd_pg_poll(s, &m);
		if (r != CENOTE_OK)
			break;
		r = cnd_pg_async(s, &m, sink);
		if (r != CENOTE_AGAIN)
			continue;
		r = m.type == 'E' ? cnd_pg_fatal(s, &m)
				  : cnd_pg_broken(s, "an answer that nobody asked for");
	}
	cnc_diag_finish(&diag);
	s->diag = NULL;
	return r < 0 ? r : CENOTE_OK;
}
