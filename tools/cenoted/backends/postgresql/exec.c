/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queries, executions, function calls and catalog lists. This file makes the messages, and run.c reads the
 * answers. It owns s->client, which records what the client did.
 */
#include "session.h"

int
cnd_pg_check_text(struct cnd_session *s, const char *text, size_t len)
{
	if (len == 0 || memchr(text, 0, len) == NULL)
		return CENOTE_OK;
	return cnd_pg_refuse(s, "22021",
		"SQL, names and messages cannot hold a zero byte in PostgreSQL");
}

/* Send the BEGIN that has to come first if autocommit is off and the statement needs a transaction. */
static int
begin_first(struct cnd_session *s, const struct cnd_pg_scan *scan)
{
	int r;

	if (!s->client.is_manual || s->tx != 'I' || s->sync.is_missing)
		return CENOTE_OK;
	if (scan->flags & (CND_PG_SCAN_NO_BLOCK | CND_PG_SCAN_TX | CND_PG_SCAN_EMPTY))
		return CENOTE_OK;
	r = cnd_pg_add_query(&s->out.buf, 'Q', "BEGIN", 5);
	if (r == CENOTE_OK) {
		s->out.n_ready++;
		s->run.n_first = 1;
	}
	return r;
}

/* A statement with one of these flags does more than read and write rows. */
#define MORE_THAN_ROWS                                                                   \
	(CND_PG_SCAN_ACTS | CND_PG_SCAN_DEFINES | CND_PG_SCAN_REMOVES | CND_PG_SCAN_STAYS)

/* Whether a statement's calls of functions are known to leave nothing that the client could miss. */
static int
is_harmless(const struct cnd_session *s, const struct cnd_pg_scan *scan)
{
	if (s->has_pure_queries && (scan->flags & CND_PG_SCAN_ACTS) == 0)
		return 1;
	return (scan->flags & MORE_THAN_ROWS) == 0 && cnd_pg_is_proved(s);
}

/* A statement with a name means what the settings made it mean when it was prepared. On another session it would be
 * prepared under later ones. */
static void
note_settings(struct cnd_session *s, const struct cnd_pg_scan *scan)
{
	int is_undone =
		(scan->flags & CND_PG_SCAN_RESETS) != 0 && cnd_pg_settings_are_any(s);

	if ((scan->flags & CND_PG_SCAN_SETS) != 0 || is_undone)
		cnd_pg_settings_learn(s, scan->names);
	if (is_undone || ((scan->flags & CND_PG_SCAN_SETS) != 0 &&
				 (scan->flags & CND_PG_SCAN_LOCAL) != 0)) {
		s->client.keeps_named |= s->client.has_named;
		cnd_pg_prepared_forget(s);
	}
}

/* Whether another session of this client gets the settings that this one has now. */
static int
has_movable_settings(const struct cnd_session *s)
{
	return !s->client.is_local && !s->settings.hides &&
	       (s->client.pins & CENOTE_PIN_SETTINGS) == 0;
}

/* A text with PREPARE or DEALLOCATE changes what settle.c finds. A statement on temporary objects could not be prepared
 * again after their end. */
static void
note_prepared(struct cnd_session *s, const struct cnd_pg_scan *scan)
{
	if (scan->prepares != 0 && has_movable_settings(s) &&
		(s->client.pins & CENOTE_PIN_TEMP) == 0)
		cnd_pg_prepared_note(&s->prepared, scan->prepares);
	if ((scan->flags & CND_PG_SCAN_DEALLOCATES) != 0)
		cnd_pg_settings_doubt(s);
}

void
cnd_pg_note(struct cnd_session *s, const struct cnd_pg_scan *scan, int is_simple)
{
	uint32_t pins = scan->pins & ~(uint32_t)CENOTE_PIN_SETTINGS;
	int harmless;

	/* If the removed function was called before, settle.c can no longer look at its code. So assume it left settings. */
	if ((scan->flags & CND_PG_SCAN_REMOVES) != 0 &&
		((s->client.pins & CENOTE_PIN_FUNCTION) != 0 ||
			(scan->flags & CND_PG_SCAN_SEVERAL) != 0))
		s->settings.hides = 1;
	s->settings.hides |= (scan->flags & CND_PG_SCAN_HIDES) != 0;
	note_settings(s, scan);
	note_prepared(s, scan);
	if ((pins & CENOTE_PIN_FUNCTION) != 0) {
		s->client.is_unproved = 1;
		s->settings.may_hide = 1;
	}
	s->client.has_acted |= (scan->flags & MORE_THAN_ROWS) != 0;
	if ((scan->flags & (CND_PG_SCAN_DEFINES | CND_PG_SCAN_REMOVES)) != 0)
		cnd_pg_proof_end();
	harmless = is_harmless(s, scan);
	s->client.pins |= harmless ? pins & ~(uint32_t)CENOTE_PIN_FUNCTION : pins;
	cnd_pg_known_note(s, scan, harmless);
	s->client.lasting |= scan->flags & (CND_PG_SCAN_DEFINES | CND_PG_SCAN_STAYS);
	if ((pins & CENOTE_PIN_TEMP) != 0)
		s->client.lasting |= CND_PG_SCAN_STAYS;
	s->client.is_local |= (scan->flags & CND_PG_SCAN_LOCAL) != 0;
	if (scan->pins != 0)
		s->client.is_used = 1;
	s->client.has_told |= scan->tells != 0;
	/* Parse leaves the statement that has no name */
	if (!is_simple)
		s->client.has_unnamed = 1;
}

/*
 * Whether the statement means the same on another session. It may use temporary objects: as long as there are any, they hold
 * the session, and after their end the server analyses the statement again. What the statement leaves when it runs by its
 * name must show without its text, since the backend may not know the text (known.c).
 */
static int
can_move(const struct cnd_session *s, const struct cnd_pg_scan *scan)
{
	return (scan->pins & ~(uint32_t)CENOTE_PIN_FUNCTION) == 0 &&
	       (scan->flags & (CND_PG_SCAN_LOCAL | CND_PG_SCAN_SETS)) == 0 &&
	       has_movable_settings(s) && s->host->restores_names != NULL &&
	       s->host->restores_names(s->host);
}

static void
note_name(struct cnd_session *s, const struct cnd_pg_scan *scan, struct cnp_str name)
{
	if (can_move(s, scan)) {
		s->client.has_named = 1;
		cnd_pg_prepared_note(&s->named, cnd_pg_hash(name.p, name.n));
	} else {
		s->client.keeps_named = 1;
		cnd_pg_prepared_drop(&s->named, name.p, name.n);
	}
}

void
cnd_pg_note_prepared(
	struct cnd_session *s, const struct cnd_pg_scan *scan, struct cnp_str name)
{
	if (name.n == 0)
		s->client.holds_unnamed = 1;
	else
		note_name(s, scan, name);
	/* When the statement runs by its name, its text may not be known. */
	if ((scan->flags & CND_PG_SCAN_SETS) != 0)
		cnd_pg_settings_learn(s, scan->names);
	s->settings.hides |= (scan->flags & CND_PG_SCAN_HIDES) != 0;
	s->client.is_used = 1;
	s->client.lasting |= scan->flags & (CND_PG_SCAN_DEFINES | CND_PG_SCAN_STAYS);
	if ((scan->pins & CENOTE_PIN_TEMP) != 0)
		s->client.lasting |= CND_PG_SCAN_STAYS;
}

/* ---- Parse and Bind ---- */

/* A client that gives parameter types as OIDs, as the libpq shim does, gets the server's own errors. */
int
cnd_pg_is_native(const struct cnd_exec *exec)
{
	return exec->n_params == 0 || exec->params[0].is_native;
}

/* How many types to send with Parse; 0: the server decides all of them. */
static uint32_t
n_types(const struct cnd_exec *exec)
{
	for (uint32_t i = 0; i < exec->n_params; i++) {
		if (!exec->params[i].is_native || exec->params[i].native_type != 0)
			return exec->n_params;
	}
	return 0;
}

int
cnd_pg_add_parse(
	struct cnd_session *s, const char *sql, size_t len, const struct cnd_exec *exec)
{
	struct cnc_buf *b = &s->out.buf;
	uint32_t n = n_types(exec);
	size_t mark;
	int r = cnd_pg_msg_begin(b, 'P', &mark);

	if (r == CENOTE_OK)
		r = cnd_pg_add_u8(b, 0);
	if (r == CENOTE_OK)
		r = cnd_pg_add_text(b, sql, len);
	if (r == CENOTE_OK)
		r = cnd_pg_add_u16(b, (uint16_t)n);
	for (uint32_t i = 0; i < n && r == CENOTE_OK; i++)
		r = cnd_pg_add_u32(b, cnd_pg_param_type(&exec->params[i]));
	return r < 0 ? r : cnd_pg_msg_end(b, mark);
}

/* The OID of a parameter's type; 0: not known. */
static uint32_t
type_of(const struct cnd_pg_stmt *st, const struct cnd_exec *exec, uint32_t i)
{
	if (st != NULL)
		return i < st->n_params ? st->types[i] : 0;
	return cnd_pg_param_type(&exec->params[i]);
}

static int
add_params(
	struct cnd_session *s, const struct cnd_pg_stmt *st, const struct cnd_exec *exec)
{
	struct cnc_buf *b = &s->out.buf;
	int r = cnd_pg_add_u16(b, (uint16_t)exec->n_params);

	for (uint32_t i = 0; i < exec->n_params && r == CENOTE_OK; i++)
		r = cnd_pg_add_u16(
			b, cnd_pg_param_format(&exec->params[i], type_of(st, exec, i)));
	if (r == CENOTE_OK)
		r = cnd_pg_add_u16(b, (uint16_t)exec->n_params);
	for (uint32_t i = 0; i < exec->n_params && r == CENOTE_OK; i++) {
		r = cnd_pg_param_put(b, &exec->params[i], type_of(st, exec, i), s->diag);
		if (r == CENOTE_ERR_ARG)
			r = CENOTE_ERR_SERVER;
	}
	return r;
}

/* The wire format to request for a column that the client wants in `format`. */
static uint16_t
wire_format(const struct cnd_session *s, uint8_t format, const struct cnd_pg_desc *d,
	uint32_t i)
{
	if (format == CENOTE_FORMAT_BINARY)
		return CND_PG_BINARY;
	if (format == CENOTE_FORMAT_CANONICAL && d != NULL && i < d->n &&
		!cnd_pg_is_text_enough(&s->facts))
		return cnd_pg_canonical_format(d->columns[i].native_type, &s->facts);
	return CND_PG_TEXT;
}

static int
add_result_formats(
	struct cnd_session *s, const struct cnd_exec *exec, struct cnd_pg_desc *d)
{
	struct cnc_buf *b = &s->out.buf;
	int is_each = d != NULL && exec->format == CENOTE_FORMAT_CANONICAL &&
		      !cnd_pg_is_text_enough(&s->facts);
	uint32_t n = exec->formats.n > 0 ? (uint32_t)exec->formats.n : is_each ? d->n : 1;
	int r = cnd_pg_add_u16(b, (uint16_t)n);

	for (uint32_t i = 0; i < n && r == CENOTE_OK; i++) {
		uint8_t wanted =
			exec->formats.n > 0 ? (uint8_t)exec->formats.p[i] : exec->format;

		r = cnd_pg_add_u16(b, wire_format(s, wanted, d, i));
	}
	for (uint32_t i = 0; d != NULL && i < d->n; i++) {
		uint8_t wanted =
			exec->formats.n > i ? (uint8_t)exec->formats.p[i] : exec->format;

		d->wire[i] = wire_format(s, wanted, d, i);
	}
	return r;
}

/* `st`: the statement, if it has a number; else NULL. `d`: the statement's columns; NULL: not known. */
static int
add_bind(struct cnd_session *s, const char *portal, const char *name, size_t name_len,
	const struct cnd_pg_stmt *st, const struct cnd_exec *exec, struct cnd_pg_desc *d)
{
	struct cnc_buf *b = &s->out.buf;
	size_t mark;
	int r = cnd_pg_msg_begin(b, 'B', &mark);

	if (r == CENOTE_OK)
		r = cnd_pg_add_text(b, portal, strlen(portal));
	if (r == CENOTE_OK)
		r = cnd_pg_add_text(b, name, name_len);
	if (r == CENOTE_OK)
		r = add_params(s, st, exec);
	if (r == CENOTE_OK)
		r = add_result_formats(s, exec, d);
	return r < 0 ? r : cnd_pg_msg_end(b, mark);
}

int
cnd_pg_add_bind(struct cnd_session *s, const char *name, size_t name_len,
	const struct cnd_pg_stmt *st, const struct cnd_exec *exec)
{
	return add_bind(s, "", name, name_len, st, exec, NULL);
}

void
cnd_pg_form_known(struct cnd_session *s, struct cnd_pg_desc *d, uint8_t format)
{
	for (uint32_t i = 0; i < d->n; i++)
		d->wire[i] = wire_format(s, format, d, i);
	(void)cnd_pg_desc_form(s, d, format, CNP_STR_NONE);
}

/* ---- running ---- */

static void
set_run(struct cnd_session *s, const struct cnd_exec *exec)
{
	s->run.format = exec->format;
	s->run.formats = exec->formats;
	s->run.batch_rows = exec->batch_rows;
	s->run.entry = exec->portal;
}

/* The name of the portal on the server. Only a portal that is fetched in batches has a name. */
static void
name_portal(const struct cnd_exec *exec, char name[CND_PG_NAME_MAX])
{
	*name = 0;
	if (exec->batch_rows > 0)
		cnd_pg_portal_name(exec->portal->number, name);
}

/* How many rows the server shall send at once; 0: all. */
static uint32_t
row_limit(const struct cnd_exec *exec)
{
	uint64_t n = exec->batch_rows;

	if (exec->max_rows > 0 && (n == 0 || exec->max_rows < n))
		n = exec->max_rows;
	return n > INT32_MAX ? 0 : (uint32_t)n;
}

/*
 * Add Execute, and the messages after it. Outside a transaction, a portal lives until the next Sync. So do not
 * send Sync before the portal is complete. Do not send Sync with a copy either: the server skips the Sync if it
 * reads the client's data, and answers it if the statement fails before that. So the number of answers would be
 * unknown.
 */
static int
add_execute(struct cnd_session *s, const char *portal, const struct cnd_exec *exec,
	uint32_t may_copy)
{
	int keeps = exec->batch_rows > 0;
	int is_loose = keeps && s->tx == 'I' && s->run.n_first == 0;
	int is_alone = is_loose || may_copy != 0;
	uint32_t limit = row_limit(exec);
	int r = cnd_pg_add_execute(&s->out.buf, portal, limit);

	/* Close a portal that stops at max_rows: it must not keep its tables busy. */
	if (r == CENOTE_OK && limit > 0 && !keeps)
		r = cnd_pg_add_named(&s->out.buf, 'C', 'P', "", 0);
	if (r == CENOTE_OK)
		r = cnd_pg_add_end(s, exec->is_sync && !is_alone);
	s->run.syncs_at_end = exec->is_sync && is_alone;
	return r;
}

static int
check_formats(struct cnd_session *s, const struct cnd_exec *exec)
{
	for (size_t i = 0; i < exec->formats.n; i++) {
		if ((uint8_t)exec->formats.p[i] > CENOTE_FORMAT_BINARY)
			return cnd_pg_refuse(
				s, CNC_SQLSTATE(PROTOCOL), "there is no such format");
	}
	return CENOTE_OK;
}

static int
has_binary(const struct cnd_exec *exec)
{
	if (exec->formats.n == 0)
		return exec->format == CENOTE_FORMAT_BINARY;
	return memchr(exec->formats.p, CENOTE_FORMAT_BINARY, exec->formats.n) != NULL;
}

static int
has_canonical(const struct cnd_exec *exec)
{
	if (exec->formats.n == 0)
		return exec->format == CENOTE_FORMAT_CANONICAL;
	return memchr(exec->formats.p, CENOTE_FORMAT_CANONICAL, exec->formats.n) != NULL;
}

int
cnd_pg_needs_columns_first(const struct cnd_session *s, const struct cnd_exec *exec)
{
	return has_canonical(exec) && !cnd_pg_is_text_enough(&s->facts);
}

/* Send the request that is in s->out, and perhaps the reset after it. */
static int
send_last(struct cnd_session *s, const struct cnd_pg_scan *scan)
{
	int r = cnd_pg_add_early_reset(s, scan);

	return r < 0 ? r : cnd_pg_send_run(s);
}

static int
query_simple(struct cnd_session *s, const char *sql, size_t len,
	const struct cnd_exec *exec, const struct cnd_pg_scan *scan)
{
	int r;

	if (has_binary(exec))
		return cnd_pg_refuse(s, CNC_SQLSTATE(UNSUPPORTED),
			"PostgreSQL gives binary values for one statement at a time "
			"only");
	set_run(s, exec);
	s->run.is_simple = 1;
	s->run.until_ready = 1;
	r = begin_first(s, scan);
	if (r == CENOTE_OK)
		r = cnd_pg_add_query(&s->out.buf, 'Q', sql, len);
	if (r < 0)
		return r;
	s->out.n_ready++;
	return send_last(s, scan);
}

/* Send Parse, and ask for the columns before Bind. */
static int
parse_first(struct cnd_session *s, const char *sql, size_t len,
	const struct cnd_exec *exec, struct cnd_sink *sink)
{
	int r = cnd_pg_add_parse(s, sql, len, exec);

	if (r == CENOTE_OK)
		r = cnd_pg_add_named(&s->out.buf, 'D', 'S', "", 0);
	if (r == CENOTE_OK)
		r = cnd_pg_add_end(s, 0);
	if (r < 0)
		return r;
	s->run.sink = NULL;
	s->run.is_describing = 1;
	r = cnd_pg_send_run(s);
	if (r < 0)
		return r;
	if (!s->run.has_columns)
		s->desc.n = 0;
	(void)cnd_pg_run_begin(s, sink);
	return CENOTE_OK;
}

static int
query_extended(struct cnd_session *s, const char *sql, size_t len,
	const struct cnd_exec *exec, const struct cnd_pg_scan *scan,
	struct cnd_sink *sink)
{
	char portal[CND_PG_NAME_MAX];
	int is_first = cnd_pg_needs_columns_first(s, exec);
	int r = begin_first(s, scan);

	if (r == CENOTE_OK && is_first)
		r = parse_first(s, sql, len, exec, sink);
	else if (r == CENOTE_OK)
		r = cnd_pg_add_parse(s, sql, len, exec);
	if (r < 0)
		return r;
	set_run(s, exec);
	name_portal(exec, portal);
	r = add_bind(s, portal, "", 0, NULL, exec, is_first ? &s->desc : NULL);
	if (r == CENOTE_OK)
		r = cnd_pg_add_named(&s->out.buf, 'D', 'P', portal, strlen(portal));
	if (r == CENOTE_OK)
		r = add_execute(s, portal, exec, scan->flags & CND_PG_SCAN_COPY);
	return r < 0 ? r : send_last(s, scan);
}

/* `text`: SQL or a name from the client. */
static int
begin(struct cnd_session *s, const char *text, size_t len, const struct cnd_exec *exec,
	struct cnd_sink *sink)
{
	int r = cnd_pg_enter(s, sink->diag);

	if (r == CENOTE_OK)
		r = cnd_pg_check_text(s, text, len);
	if (r == CENOTE_OK)
		r = check_formats(s, exec);
	return r < 0 ? r : cnd_pg_ready(s, sink);
}

int
cnd_pg_query(struct cnd_session *s, const char *sql, size_t len,
	const struct cnd_exec *exec, struct cnd_sink *sink)
{
	struct cnd_pg_scan scan;
	int is_several;
	int r = begin(s, sql, len, exec, sink);

	if (r == CENOTE_OK)
		r = cnd_pg_check_strict(s, sql, len);
	if (r < 0)
		return r;
	cnd_pg_memo_scan(&s->memo, sql, len, &s->facts, &scan);
	/* If Parse gives the types, the server accepts more parameters than the statement has. */
	if (!cnd_pg_is_native(exec) && scan.n_params != exec->n_params)
		return cnd_pg_refuse(s, CNC_SQLSTATE(WRONG_PARAM_COUNT),
			"the statement has %u parameters, %u values were given",
			(unsigned)scan.n_params, (unsigned)exec->n_params);
	(void)cnd_pg_run_begin(s, sink);
	s->client.holds_unnamed = 0;
	is_several = (scan.flags & CND_PG_SCAN_SEVERAL) != 0;
	if (exec->is_simple &&
		(is_several || (exec->is_sync && exec->max_rows == 0 &&
				       exec->batch_rows == 0 && !has_binary(exec) &&
				       !cnd_pg_needs_columns_first(s, exec)))) {
		cnd_pg_note(s, &scan, 1);
		return query_simple(s, sql, len, exec, &scan);
	}
	cnd_pg_note(s, &scan, 0);
	return query_extended(s, sql, len, exec, &scan, sink);
}

/* ---- prepared statements ---- */

static int
check_count(
	struct cnd_session *s, const struct cnd_pg_stmt *st, const struct cnd_exec *exec)
{
	if (exec->n_params != st->n_params)
		return cnd_pg_refuse(s, CNC_SQLSTATE(WRONG_PARAM_COUNT),
			"the statement has %u parameters, %u values were given",
			(unsigned)st->n_params, (unsigned)exec->n_params);
	if (exec->formats.n > 0 && st->has_rows && exec->formats.n != st->desc.n)
		return cnd_pg_refuse(s, CNC_SQLSTATE(PROTOCOL),
			"%zu formats were given for %u columns", exec->formats.n,
			(unsigned)st->desc.n);
	return CENOTE_OK;
}

static int
execute_numbered(struct cnd_session *s, struct cnd_pg_stmt *st,
	const struct cnd_exec *exec, struct cnd_sink *sink)
{
	char portal[CND_PG_NAME_MAX];
	struct cnd_pg_run *run = cnd_pg_run_begin(s, sink);
	struct cnd_pg_desc *d = st->has_rows ? &st->desc : NULL;
	int r = check_count(s, st, exec);

	if (r == CENOTE_OK)
		r = begin_first(s, &st->scan);
	if (r < 0)
		return r;
	cnd_pg_note(s, &st->scan, 0);
	set_run(s, exec);
	name_portal(exec, portal);
	r = add_bind(s, portal, st->name, strlen(st->name), st, exec, d);
	if (r < 0)
		return r;
	if (st->is_stable) {
		run->is_cached = st->has_rows;
		run->is_known = exec->columns_known;
		run->desc = &st->desc;
		if (d != NULL)
			(void)cnd_pg_desc_form(s, d, exec->format, exec->formats);
	} else {
		r = cnd_pg_add_named(&s->out.buf, 'D', 'P', portal, strlen(portal));
	}
	if (r == CENOTE_OK)
		r = add_execute(s, portal, exec, st->scan.flags & CND_PG_SCAN_COPY);
	return r < 0 ? r : send_last(s, &st->scan);
}

const struct cnd_pg_scan cnd_pg_unknown = { .pins = CENOTE_PIN_FUNCTION,
	.flags = CND_PG_SCAN_ACTS };

/* Execute a statement that only the server knows, by its name. */
static int
execute_named(struct cnd_session *s, struct cnp_str name, const struct cnd_exec *exec,
	struct cnd_sink *sink)
{
	char portal[CND_PG_NAME_MAX];
	struct cnd_pg_scan scan;
	int r;

	(void)cnd_pg_run_begin(s, sink);
	if (cnd_pg_is_due(s, name))
		cnd_pg_known_add(s, name, &s->due.scan);
	scan = *cnd_pg_known_find(s, name);
	r = begin_first(s, &scan);
	if (r < 0)
		return r;
	cnd_pg_note(s, &scan, 0);
	set_run(s, exec);
	name_portal(exec, portal);
	r = cnd_pg_add_due(s, name);
	if (r == CENOTE_OK)
		r = add_bind(s, portal, name.p, name.n, NULL, exec, NULL);
	if (r == CENOTE_OK)
		r = cnd_pg_add_named(&s->out.buf, 'D', 'P', portal, strlen(portal));
	if (r == CENOTE_OK)
		r = add_execute(s, portal, exec, s->client.may_copy);
	return r < 0 ? r : send_last(s, &scan);
}

int
cnd_pg_execute(struct cnd_session *s, const struct cnd_named *which,
	const struct cnd_exec *exec, struct cnd_sink *sink)
{
	int r = begin(s, which->name.p, which->name.n, exec, sink);

	if (r == CENOTE_OK && which->statement != NULL)
		r = execute_numbered(s, which->statement->own, exec, sink);
	else if (r == CENOTE_OK)
		r = execute_named(s, which->name, exec, sink);
	cnd_pg_forget_due(s);
	return r;
}

/* ---- fast path ---- */

static int
is_hiding(uint32_t function)
{
	static const uint32_t hiding[] = { CND_PG_HIDING_FUNCTIONS };

	for (size_t i = 0; i < sizeof(hiding) / sizeof(hiding[0]); i++) {
		if (hiding[i] == function)
			return 1;
	}
	return 0;
}

int
cnd_pg_function(struct cnd_session *s, uint32_t function, const struct cnd_exec *exec,
	struct cnd_sink *sink)
{
	const int hides = is_hiding(function);
	const struct cnd_pg_scan any = {
		.pins = CENOTE_PIN_FUNCTION | (hides ? CENOTE_PIN_SETTINGS : 0),
		.flags = CND_PG_SCAN_ACTS |
			 (hides ? CND_PG_SCAN_DEFINES | CND_PG_SCAN_STAYS |
						 CND_PG_SCAN_HIDES
				: 0),
	};
	struct cnc_buf *b = &s->out.buf;
	size_t mark;
	int r = cnd_pg_enter(s, sink->diag);

	if (r == CENOTE_OK)
		r = cnd_pg_ready(s, sink);
	if (r < 0)
		return r;
	(void)cnd_pg_run_begin(s, sink);
	set_run(s, exec);
	cnd_pg_note(s, &any, 0);
	r = begin_first(s, &any);
	if (r == CENOTE_OK)
		r = cnd_pg_msg_begin(b, 'F', &mark);
	if (r == CENOTE_OK)
		r = cnd_pg_add_u32(b, function);
	if (r == CENOTE_OK)
		r = add_params(s, NULL, exec);
	if (r == CENOTE_OK)
		r = cnd_pg_add_u16(b, exec->format == CENOTE_FORMAT_BINARY ? CND_PG_BINARY
									   : CND_PG_TEXT);
	if (r == CENOTE_OK)
		r = cnd_pg_msg_end(b, mark);
	if (r < 0)
		return r;
	s->out.n_ready++;
	s->run.until_ready = 1;
	return cnd_pg_send_run(s);
}

/* ---- catalog ---- */

int
cnd_pg_catalog(
	struct cnd_session *s, const struct cnp_catalog *filter, struct cnd_sink *sink)
{
	static const struct cnd_pg_scan none = { 0, 0, 0 };
	struct cnd_exec exec = { .format = CENOTE_FORMAT_CANONICAL, .is_sync = 1 };
	struct cnd_pg_catalog q = { .sql = "" };
	int r = cnd_pg_enter(s, sink->diag);

	if (r == CENOTE_OK)
		r = cnd_pg_ready(s, sink);
	if (r == CENOTE_OK)
		r = cnd_pg_catalog_query(filter, s->version, &q, sink->diag);
	if (r < 0)
		return r;
	exec.params = q.params;
	exec.n_params = q.n_params;
	/* In a pipeline, the query is part of the unit. */
	exec.is_sync = !s->sync.is_missing;
	cnd_pg_note(s, &none, 0);
	(void)cnd_pg_run_begin(s, sink);
	return query_extended(s, q.sql, strlen(q.sql), &exec, &none, sink);
}
