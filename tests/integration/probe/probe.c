/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A backend for tests of the worker: it does on demand what no server does. Its server is a unix
 * socket (path=…) that the test listens on. The server speaks in lines, and begins with "ok" or
 * with the reason of a refusal. The backend first sends it a client's settings. The text of a
 * statement says what the backend does:
 *
 *     rows N        N rows
 *     noisy N       N rows, after each a notice, a notification and a parameter
 *     ask TEXT      sends the line to the server; its answer is the row
 *     copyin        a copy from the client; its size is the tag; a line from the server ends it
 *     copyout N M   a copy of N pieces of M bytes
 *     tx N, pin N   what state() returns from now on
 *     over N        if the client's turn ends, the reset begins, as state() says; with the pins N
 *     settle N      what settle() makes of the pins
 *     sync WORD     what the next sync() does: fail, lose
 *     exec          a row with the options of the execution
 *     seen          a row with the calls so far
 *
 * All of them may begin with "select ". Any other statement goes to the server.
 */
#include "backends/backend.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/sqlstate.h"

struct cnd_session {
	const struct cnd_host *host;
	int fd;
	char line[256];
	size_t n_line;
	struct cnd_option parameters[1];
	char parameter[32];
	char user[32];
	char version[32]; /* of the server, as the option `version` says */
	uint8_t tx;
	uint32_t pins;
	uint32_t settled_pins;
	int is_over;
	char sync[16];
	unsigned n_syncs, n_settles, n_resets, n_options;
	size_t n_long;
};

static int
lost(struct cnc_diag *diag)
{
	cnc_diag_set(diag, "57P01", "the server said goodbye");
	return CENOTE_ERR_CONN;
}

/* Take a whole line. Returns 1, 0 if the line is not complete, or CENOTE_ERR_CONN at the end of the
 * connection. */
static int
take_line(struct cnd_session *s, char text[256], struct cnc_diag *diag)
{
	char *end = memchr(s->line, '\n', s->n_line);
	ssize_t n;

	if (end == NULL) {
		n = recv(s->fd, s->line + s->n_line, sizeof(s->line) - s->n_line,
			MSG_DONTWAIT);
		if (n == 0 || (n < 0 && errno != EAGAIN))
			return lost(diag);
		s->n_line += n > 0 ? (size_t)n : 0;
		end = memchr(s->line, '\n', s->n_line);
	}
	if (end == NULL)
		return s->n_line < sizeof(s->line) ? 0 : lost(diag);
	*end = '\0';
	strcpy(text, s->line);
	s->n_line -= (size_t)(end + 1 - s->line);
	memmove(s->line, end + 1, s->n_line);
	return 1;
}

static int
await_line(struct cnd_session *s, char text[256], struct cnc_diag *diag)
{
	int r;

	while ((r = take_line(s, text, diag)) == 0) {
		r = s->host->wait(s->host, s->fd, POLLIN, -1, diag);
		if (r < 0)
			return r;
	}
	return r < 0 ? r : CENOTE_OK;
}

static int
say(struct cnd_session *s, const char *text, struct cnc_diag *diag)
{
	char line[256];
	int n = snprintf(line, sizeof(line), "%s\n", text);

	return send(s->fd, line, (size_t)n, MSG_NOSIGNAL) == n ? CENOTE_OK : lost(diag);
}

/* ---- the session ---- */

static int
probe_check(const struct cnd_server_spec *spec, struct cnc_diag *diag)
{
	for (size_t i = 0; i < spec->n_options; i++) {
		if (strcmp(spec->options[i].key, "path") == 0)
			return CENOTE_OK;
	}
	cnc_diag_set(diag, CNC_SQLSTATE(BAD_PARAMETER), "path is missing");
	return CENOTE_ERR_ARG;
}

static void
probe_logout(struct cnd_session *s)
{
	if (s == NULL)
		return;
	close(s->fd);
	s->host->forget(s->host, s);
	free(s);
}

/* Log in. The server accepts, or says why not. */
static int
log_in(struct cnd_session *s, const struct cnd_server_spec *spec, struct cnc_diag *diag)
{
	const char *settings = spec->settings != NULL ? spec->settings : "";
	char text[256];
	int r = *settings != '\0' ? say(s, settings, diag) : CENOTE_OK;

	if (r == CENOTE_OK)
		r = await_line(s, text, diag);
	if (r < 0 || strcmp(text, "ok") == 0)
		return r;
	cnc_diag_set(diag, "28000", "%s", text);
	return CENOTE_ERR_CONN;
}

static void
take_version(struct cnd_session *s, const struct cnd_server_spec *spec)
{
	strcpy(s->version, "1");
	for (size_t i = 0; i < spec->n_options; i++) {
		if (strcmp(spec->options[i].key, "version") == 0)
			snprintf(s->version, sizeof(s->version), "%s",
				spec->options[i].value);
	}
}

static int
probe_login(const struct cnd_host *host, const struct cnd_server_spec *spec,
	struct cnd_session **ret_session, struct cnc_diag *diag)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	struct cnd_session *s = calloc(1, sizeof(*s));
	int r;

	if (s == NULL)
		return CENOTE_ERR_NOMEM;
	s->host = host;
	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", spec->options[0].value);
	s->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (s->fd < 0 || connect(s->fd, (struct sockaddr *)&sa, sizeof(sa)) < 0) {
		cnc_diag_set(diag, CNC_SQLSTATE(CANNOT_CONNECT), "connect: %s",
			strerror(errno));
		r = CENOTE_ERR_CONN;
	} else {
		r = log_in(s, spec, diag);
	}
	if (r < 0) {
		probe_logout(s);
		return r;
	}
	strcpy(s->parameter, "first");
	strcpy(s->user, "pool");
	s->parameters[0] = (struct cnd_option){ "probe", s->parameter };
	take_version(s, spec);
	*ret_session = s;
	return CENOTE_OK;
}

static void
probe_info(const struct cnd_session *s, struct cnd_info *ret)
{
	*ret = (struct cnd_info){ "probe", s->version, s->user, s->parameters, 1 };
}

static int
probe_ping(struct cnd_session *s, struct cnc_diag *diag)
{
	(void)s;
	(void)diag;
	return CENOTE_OK;
}

static int
probe_attach(struct cnd_session *s, const struct cnp_str *carry, struct cnc_diag *diag)
{
	(void)s;
	(void)carry;
	(void)diag;
	return CENOTE_OK;
}

static int
probe_reset(struct cnd_session *s, struct cnc_diag *diag)
{
	char text[256];
	int r = say(s, "reset", diag);

	s->host->forget(s->host, s);
	s->tx = CENOTE_TX_IDLE;
	s->pins = 0;
	s->is_over = 0;
	s->n_options = 0;
	s->n_long = 0;
	s->n_resets++;
	strcpy(s->parameter, "first");
	strcpy(s->user, "pool");
	return r < 0 ? r : await_line(s, text, diag);
}

static void
probe_state(const struct cnd_session *s, struct cnd_state *ret)
{
	*ret = (struct cnd_state){
		.tx = s->tx, .pins = s->pins, .carry = CNP_STR_NONE, .is_over = s->is_over
	};
}

static int
probe_fd(const struct cnd_session *s)
{
	return s->fd;
}

static int
tell(struct cnd_session *s, struct cnd_sink *sink, const char *what, const char *text)
{
	struct cnp_notification n = { 7, cnp_str("channel"), cnp_str(text) };
	struct cnc_diag notice;
	int r = CENOTE_OK;

	if (strcmp(what, "param") == 0)
		snprintf(s->parameter, sizeof(s->parameter), "%.31s", text);
	if (sink == NULL)
		return CENOTE_OK;
	if (strcmp(what, "param") == 0)
		return sink->ops->parameter(sink, "probe", text);
	if (strcmp(what, "notify") == 0)
		return sink->ops->notification(sink, &n);
	cnc_diag_init(&notice, NULL);
	cnc_diag_set(&notice, "01000", "%s", text);
	r = sink->ops->notice(sink, &notice);
	cnc_diag_finish(&notice);
	return r;
}

static int
probe_idle(struct cnd_session *s, struct cnd_sink *sink)
{
	struct cnc_diag unheard;
	char text[256];
	char *blank;
	int r;

	cnc_diag_init(&unheard, NULL);
	while ((r = take_line(s, text, sink != NULL ? sink->diag : &unheard)) > 0) {
		blank = strchr(text, ' ');
		if (blank != NULL)
			*blank = '\0';
		r = tell(s, sink, text, blank != NULL ? blank + 1 : "");
		if (r < 0)
			break;
	}
	cnc_diag_finish(&unheard);
	return r;
}

static int
probe_settle(struct cnd_session *s, struct cnd_sink *sink)
{
	(void)sink;
	s->n_settles++;
	s->pins = s->settled_pins;
	return CENOTE_OK;
}

static int
probe_sync(struct cnd_session *s, struct cnd_sink *sink)
{
	s->n_syncs++;
	if (strcmp(s->sync, "fail") == 0) {
		cnc_diag_set(sink->diag, "40001", "the unit cannot be committed");
		s->sync[0] = '\0';
		return CENOTE_ERR_SERVER;
	}
	return strcmp(s->sync, "lose") == 0 ? lost(sink->diag) : CENOTE_OK;
}

/* ---- statements ---- */

static int
done(struct cnd_sink *sink, const char *tag)
{
	struct cnp_done d = { .tag = cnp_str(tag), .affected = -1 };

	return sink->ops->done(sink, &d);
}

static int
put_row(struct cnd_sink *sink, const char *text)
{
	int r = cnc_batch_row(sink->batch);

	if (r == CENOTE_OK)
		r = cnc_batch_put(sink->batch, text, strlen(text));
	if (r < 0)
		return r;
	cnc_batch_row_done(sink->batch);
	return sink->ops->row_done(sink);
}

static int
begin_rows(struct cnd_sink *sink)
{
	struct cnp_column column = CNP_COLUMN_INIT;

	column.name = cnp_str("text");
	column.type = CENOTE_TYPE_TEXT;
	return sink->ops->columns(sink, &column, 1, 0);
}

static int
one_row(struct cnd_sink *sink, const char *text)
{
	int r = begin_rows(sink);

	if (r == CENOTE_OK)
		r = put_row(sink, text);
	return r < 0 ? r : done(sink, "SELECT 1");
}

static int
on_rows(struct cnd_session *s, struct cnd_sink *sink, int n, int is_noisy)
{
	char text[32];
	int r = begin_rows(sink);

	for (int i = 0; i < n && r == CENOTE_OK; i++) {
		snprintf(text, sizeof(text), "%d", i);
		r = put_row(sink, text);
		if (r == CENOTE_OK && is_noisy)
			r = tell(s, sink, "notice", text);
		if (r == CENOTE_OK && is_noisy)
			r = tell(s, sink, "notify", text);
		if (r == CENOTE_OK && is_noisy)
			r = tell(s, sink, "param", text);
	}
	return r < 0 ? r : done(sink, "SELECT");
}

static int
on_copy_in(struct cnd_session *s, struct cnd_sink *sink)
{
	struct cnp_copy_in m = { .formats = CNP_STR_NONE, .name = CNP_STR_NONE };
	struct cnp_str data;
	char text[256];
	size_t n = 0;
	int r = sink->ops->copy_in(sink, &m);

	if (r < 0)
		return r;
	for (;;) {
		r = sink->ops->copy_read(sink, s->fd, &data);
		if (r == CENOTE_OK) {
			n += data.n;
			continue;
		}
		if (r != CENOTE_AGAIN)
			break;
		r = take_line(s, text, sink->diag);
		if (r > 0) {
			cnc_diag_set(sink->diag, "22000", "%s", text);
			return CENOTE_ERR_SERVER;
		}
		if (r < 0)
			return r;
	}
	snprintf(text, sizeof(text), "COPY %zu", n);
	if (r == CENOTE_DONE)
		return done(sink, text);
	/* as with a server that must hear that the client gave up the copy */
	(void)say(s, "aborted", &(struct cnc_diag){ 0 });
	return r;
}

static int
on_copy_out(struct cnd_sink *sink, const char *args)
{
	struct cnp_copy_out m = { .formats = CNP_STR_NONE };
	static char piece[65536];
	char *end;
	long n = strtol(args, &end, 10);
	long size = strtol(end, NULL, 10);
	int r = sink->ops->copy_out(sink, &m);

	memset(piece, 'x', sizeof(piece));
	for (; n > 0 && r == CENOTE_OK; n--)
		r = sink->ops->copy_data(sink, piece, (size_t)size);
	if (r == CENOTE_OK)
		r = sink->ops->copy_done(sink);
	return r < 0 ? r : done(sink, "COPY");
}

static int
on_ask(struct cnd_session *s, struct cnd_sink *sink, const char *text)
{
	char answer[256];
	int r = say(s, text, sink->diag);

	if (r == CENOTE_OK)
		r = await_line(s, answer, sink->diag);
	return r < 0 ? r : one_row(sink, answer);
}

static int
on_exec(struct cnd_sink *sink, const struct cnd_exec *exec)
{
	char text[128];
	int n = snprintf(text, sizeof(text),
		"sync=%d max=%d params=%u formats=", exec->is_sync, (int)exec->max_rows,
		exec->n_params);

	for (size_t i = 0; i < exec->formats.n && i < 16; i++)
		text[n++] = (char)('0' + exec->formats.p[i]);
	text[n] = '\0';
	return one_row(sink, text);
}

static int
on_seen(struct cnd_session *s, struct cnd_sink *sink)
{
	char text[160];

	snprintf(text, sizeof(text),
		"syncs=%u settles=%u resets=%u options=%u long=%zu user=%s", s->n_syncs,
		s->n_settles, s->n_resets, s->n_options, s->n_long, s->user);
	return one_row(sink, text);
}

static int
on_over(struct cnd_session *s, struct cnd_sink *sink, uint32_t pins)
{
	s->is_over = s->host->ends_turn != NULL && s->host->ends_turn(s->host);
	s->pins = pins;
	return done(sink, s->is_over ? "OVER" : "GO ON");
}

static const char *
after(const char *sql, const char *word)
{
	size_t n = strlen(word);

	return strncmp(sql, word, n) == 0 ? sql + n : NULL;
}

static int
probe_query(struct cnd_session *s, const char *sql, size_t len,
	const struct cnd_exec *exec, struct cnd_sink *sink)
{
	const char *rest;

	(void)len;
	/* some clients judge a statement by its first word */
	if ((rest = after(sql, "select ")) != NULL)
		sql = rest;
	if ((rest = after(sql, "rows ")) != NULL)
		return on_rows(s, sink, atoi(rest), 0);
	if ((rest = after(sql, "noisy ")) != NULL)
		return on_rows(s, sink, atoi(rest), 1);
	if ((rest = after(sql, "over ")) != NULL)
		return on_over(s, sink, (uint32_t)atoi(rest));
	if ((rest = after(sql, "ask ")) != NULL)
		return on_ask(s, sink, rest);
	if (after(sql, "copyin") != NULL)
		return on_copy_in(s, sink);
	if ((rest = after(sql, "copyout ")) != NULL)
		return on_copy_out(sink, rest);
	if (after(sql, "exec") != NULL)
		return on_exec(sink, exec);
	if (after(sql, "seen") != NULL)
		return on_seen(s, sink);
	if ((rest = after(sql, "tx ")) != NULL)
		s->tx = (uint8_t)atoi(rest);
	else if ((rest = after(sql, "pin ")) != NULL)
		s->pins = (uint32_t)atoi(rest);
	else if ((rest = after(sql, "settle ")) != NULL)
		s->settled_pins = (uint32_t)atoi(rest);
	else if ((rest = after(sql, "sync ")) != NULL)
		snprintf(s->sync, sizeof(s->sync), "%s", rest);
	else
		return on_ask(s, sink, sql);
	return done(sink, "OK");
}

static int
probe_prepare(struct cnd_session *s, const struct cnd_prepare *p, struct cnd_sink *sink)
{
	struct cnp_param params[16];
	uint32_t n = p->n_types < 16 ? p->n_types : 16;
	int r;

	if (p->statement != NULL)
		p->statement->own = s;
	for (uint32_t i = 0; i < n; i++)
		params[i] = (struct cnp_param){ .native_type = p->types[i],
			.name = CNP_STR_NONE };
	r = sink->ops->params(sink, params, n);
	return r < 0 ? r : done(sink, p->name.n > 0 ? p->name.p : "");
}

static int
probe_describe(
	struct cnd_session *s, const struct cnd_named *which, struct cnd_sink *sink)
{
	int r = sink->ops->params(sink, NULL, 0);

	(void)s;
	return r < 0 ? r : done(sink, which->name.n > 0 ? which->name.p : "");
}

static int
probe_execute(struct cnd_session *s, const struct cnd_named *which,
	const struct cnd_exec *exec, struct cnd_sink *sink)
{
	(void)which;
	(void)exec;
	return on_ask(s, sink, "execute");
}

static void
probe_forget(struct cnd_session *s, struct cnd_statement *statement)
{
	(void)s;
	statement->own = NULL;
}

static int
probe_begin(
	struct cnd_session *s, uint8_t isolation, uint32_t flags, struct cnd_sink *sink)
{
	(void)isolation;
	(void)flags;
	s->tx = CENOTE_TX_OPEN;
	return done(sink, "BEGIN");
}

static int
probe_commit(struct cnd_session *s, struct cnd_sink *sink)
{
	int r = on_ask(s, sink, "commit");

	if (r == CENOTE_OK)
		s->tx = CENOTE_TX_IDLE;
	return r;
}

static int
probe_rollback(struct cnd_session *s, struct cnd_sink *sink)
{
	s->tx = CENOTE_TX_IDLE;
	return done(sink, "ROLLBACK");
}

static int
probe_savepoint(struct cnd_session *s, uint8_t action, const char *name, size_t len,
	struct cnd_sink *sink)
{
	(void)s;
	(void)action;
	(void)name;
	(void)len;
	return done(sink, "SAVEPOINT");
}

static int
probe_autocommit(struct cnd_session *s, int on, struct cnd_sink *sink)
{
	(void)s;
	(void)on;
	return done(sink, "SET");
}

static int
probe_catalog(
	struct cnd_session *s, const struct cnp_catalog *filter, struct cnd_sink *sink)
{
	(void)s;
	(void)filter;
	(void)sink;
	return CENOTE_ERR_UNSUPPORTED;
}

static int
probe_function(struct cnd_session *s, uint32_t function, const struct cnd_exec *exec,
	struct cnd_sink *sink)
{
	char text[64];

	(void)s;
	snprintf(text, sizeof(text), "function %u of %u", function, exec->n_params);
	return one_row(sink, text);
}

static int
probe_long_data(struct cnd_session *s, struct cnd_statement *statement, uint16_t param,
	struct cnp_str data, struct cnc_diag *diag)
{
	(void)statement;
	if (param > 3) {
		cnc_diag_set(diag, "07009", "there is no such parameter");
		return CENOTE_ERR_SERVER;
	}
	s->n_long += data.n;
	return CENOTE_OK;
}

static int
probe_change_user(
	struct cnd_session *s, const struct cnp_change_user *to, struct cnd_sink *sink)
{
	if (strcmp(to->password.p, "right") != 0) {
		cnc_diag_set(sink->diag, "28P01", "the password is wrong");
		return CENOTE_ERR_SERVER;
	}
	snprintf(s->user, sizeof(s->user), "%s", to->user.p);
	snprintf(s->parameter, sizeof(s->parameter), "%s", s->user);
	return done(sink, "");
}

static int
probe_set_option(
	struct cnd_session *s, const char *name, const char *value, struct cnc_diag *diag)
{
	char text[256];
	int r;

	if (strcmp(name, "ask") == 0) {
		r = say(s, value, diag);
		return r < 0 ? r : await_line(s, text, diag);
	}
	if (strcmp(name, "known") != 0)
		return CENOTE_ERR_ARG;
	if (strcmp(value, "refused") == 0) {
		cnc_diag_set(diag, "42501", "not that");
		return CENOTE_ERR_SERVER;
	}
	s->n_options++;
	return CENOTE_OK;
}

static const struct cnd_statement_ops statements = {
	.prepare = probe_prepare,
	.describe = probe_describe,
	.execute = probe_execute,
	.forget = probe_forget,
	.long_data = probe_long_data,
};

static const char *const tested_versions[] = { "1", "3.4", NULL };

static const struct cnd_backend backend = {
	.abi = CND_BACKEND_ABI,
	.name = "probe",
	.features = CNP_FEATURE_TRANSACTIONS | CNP_FEATURE_COPY | CNP_FEATURE_NOTIFY |
		    CNP_FEATURE_CHANGE_USER | CNP_FEATURE_SELECT_DATABASE |
		    CNP_FEATURE_FUNCTIONS | CNP_FEATURE_LONG_DATA |
		    CNP_FEATURE_NAMED_STATEMENTS | CNP_FEATURE_OPTIONS |
		    CNP_FEATURE_SETTINGS,
	.reset_verb = "a line",
	.settings_option = "settings",
	.check = probe_check,
	.login = probe_login,
	.logout = probe_logout,
	.info = probe_info,
	.ping = probe_ping,
	.attach = probe_attach,
	.reset = probe_reset,
	.state = probe_state,
	.query = probe_query,
	.statements = &statements,
	.begin = probe_begin,
	.commit = probe_commit,
	.rollback = probe_rollback,
	.savepoint = probe_savepoint,
	.autocommit = probe_autocommit,
	.catalog = probe_catalog,
	.fd = probe_fd,
	.idle = probe_idle,
	.sync = probe_sync,
	.settle = probe_settle,
	.settled_pins = CENOTE_PIN_FUNCTION,
	.function = probe_function,
	.change_user = probe_change_user,
	/* the feature is set but the function is missing: the worker must notice */
	.select_database = NULL,
	.set_option = probe_set_option,
	.tested_versions = tested_versions,
};

__attribute__((visibility("default"))) const struct cnd_backend *
cnd_backend_get(uint32_t host_abi)
{
	return host_abi == CND_BACKEND_ABI ? &backend : NULL;
}
