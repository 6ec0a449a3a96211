/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A session in the process of a client that has borrowed the server's socket (docs/lending.md). It begins with the facts
 * that loan.c wrote. Everything else is the same code as in a worker, but for logging in and cancelling, which
 * only the worker can do.
 */
#include "session.h"

/* ---- the facts ---- */

static int
read_text(struct cnc_reader *r, char *to, size_t size)
{
	size_t n;
	const char *text = cnc_read_str(r, &n);

	if (r->bad || n >= size || memchr(text, 0, n) != NULL)
		return CENOTE_ERR_PROTOCOL;
	memcpy(to, text, n + 1);
	return CENOTE_OK;
}

static int
read_parameter(struct cnd_session *s, struct cnc_reader *r)
{
	size_t n_name, n_value, n_login;
	const char *name = cnc_read_str(r, &n_name);
	const char *value = cnc_read_str(r, &n_value);
	uint8_t has_login = cnc_read_u8(r);
	const char *at_login = cnc_read_str(r, &n_login);
	struct cnd_pg_parameter *p;

	if (r->bad || n_name == 0)
		return CENOTE_ERR_PROTOCOL;
	if (cnd_pg_set_parameter(s, name, value) < 0)
		return CENOTE_ERR_NOMEM;
	p = cnd_pg_parameter(s, name);
	if (p == NULL || p->at_login != NULL)
		return CENOTE_ERR_PROTOCOL;
	if (!has_login)
		return CENOTE_OK;
	p->at_login = cnc_strndup(s->mem, at_login, strlen(at_login));
	return p->at_login != NULL ? CENOTE_OK : CENOTE_ERR_NOMEM;
}

static int
read_facts(struct cnd_session *s, const uint8_t *facts, size_t size)
{
	struct cnc_reader r;
	uint32_t version, n;
	int status;

	cnc_reader_init(&r, facts, size);
	version = cnc_read_u32(&r);
	if (!r.bad && version != CND_PG_FACTS_VERSION)
		return CENOTE_ERR_UNSUPPORTED;
	s->version = (int)cnc_read_u32(&r);
	status = read_text(&r, s->server, sizeof(s->server));
	if (status == CENOTE_OK)
		status = read_text(&r, s->server_version, sizeof(s->server_version));
	if (status == CENOTE_OK)
		status = read_text(&r, s->database, sizeof(s->database));
	if (status == CENOTE_OK)
		status = read_text(&r, s->backend_pid, sizeof(s->backend_pid));
	s->keeps_compiled = cnc_read_u8(&r) != 0;
	s->has_pure_queries = cnc_read_u8(&r) != 0;
	s->spent.has_unnamed = cnc_read_u8(&r) != 0;
	s->client.lasting = cnc_read_u32(&r);
	n = cnc_read_u32(&r);
	if (n > CND_PG_PARAMETERS_MAX)
		return CENOTE_ERR_PROTOCOL;
	while (status == CENOTE_OK && n-- > 0)
		status = read_parameter(s, &r);
	return status < 0 ? status : cnc_reader_end(&r);
}

/* ---- what only the worker can do ---- */

/* The worker cancels, since it has the key. */
static int
cancel_nothing(struct cnd_session *s, int timeout_ms)
{
	(void)s;
	(void)timeout_ms;
	return CENOTE_OK;
}

/* The socket belongs to the loan. */
static void
close_nothing(struct cnd_session *s)
{
	(void)s;
}

int
cnd_pg_borrow(const struct cnd_host *host, int fd, const uint8_t *facts, size_t n,
	struct cnd_session **ret_session, struct cnc_diag *ret_diag)
{
	struct cnd_session *s = cnc_calloc(host->mem, 1, sizeof(*s));
	int r;

	if (s == NULL)
		return CENOTE_ERR_NOMEM;
	s->host = host;
	s->mem = host->mem;
	s->fd = fd;
	s->tx = 'I';
	s->stream.transport = &cnd_pg_plain;
	s->cancel = cancel_nothing;
	s->close = close_nothing;
	cnc_diag_init(&s->lost, s->mem);
	cnc_diag_init(&s->stop.diag, s->mem);
	r = read_facts(s, facts, n);
	if (r == CENOTE_OK) {
		*ret_session = s;
		return CENOTE_OK;
	}
	if (r != CENOTE_ERR_NOMEM)
		cnc_diag_set(ret_diag, CNC_SQLSTATE(PROTOCOL),
			"the pool's description of the session is %s",
			r == CENOTE_ERR_UNSUPPORTED ? "of another version" : "malformed");
	cnd_pg_logout(s);
	return r;
}

uint32_t
cnd_pg_left(const struct cnd_session *s)
{
	uint32_t left = s->client.lasting;

	if (s->login.changes || s->login.was_told)
		left |= CND_PG_LEFT_LOGIN_CHANGED;
	if (s->login.may_change)
		left |= CND_PG_LEFT_LOGIN_MAY_CHANGE;
	return left;
}

static const struct cnd_backend backend = {
	.abi = CND_BACKEND_ABI,
	.name = "postgresql",
	CND_PG_REQUESTS,
	.borrow = cnd_pg_borrow,
	.left = cnd_pg_left,
};

const struct cnd_backend *
cnd_pg_borrowed(void)
{
	return &backend;
}
