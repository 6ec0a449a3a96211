/* SPDX-License-Identifier: BSD-2-Clause */
#include "dialect.h"

#include <string.h>

/* Send requests to servers other than PostgreSQL, as request.c does for PostgreSQL. */

static cenote_exec_options
canonical(const PGconn *conn)
{
	cenote_exec_options o = CENOTE_EXEC_OPTIONS_INIT;

	o.format = CENOTE_FORMAT_CANONICAL;
	o.stream = cpq_is_streamed(conn);
	return o;
}

static int
no_memory(PGconn *conn)
{
	cpq_say(conn, "out of memory");
	return 0;
}

/* Make a request whose command tags come from its SQL text, if the backend makes no tags. */
static struct cpq_request *
request(PGconn *conn, enum cpq_request_kind kind, const char *query)
{
	struct cpq_request *req = cpq_request_new(conn, kind, query);

	if (req == NULL)
		return NULL;
	/* CALL, and a batch that the server reads as one statement, give several results. */
	req->is_many = kind == CPQ_EXTENDED;
	if (conn->inherited.dialect->makes_tags)
		req->sql = cpq_dialect_sql(conn, req->query);
	return req;
}

/*
 * Programs wait for the socket before they ask for a result, and a pipeline answers in order. So
 * the shim also sends a query for an answer of its own, and replaces the server's answer by its
 * own.
 */
static int
send_answer(PGconn *conn, enum cpq_request_kind kind, PGresult *answer)
{
	const cenote_exec_options options = CENOTE_EXEC_OPTIONS_INIT;
	struct cpq_request *req;

	if (answer == NULL)
		return no_memory(conn);
	req = cpq_request_new(conn, kind, NULL);
	if (req == NULL) {
		cpq_PQclear(answer);
		return 0;
	}
	req->answer = answer;
	req->is_stream = 0;
	return cpq_request_sent(conn, req,
		cenote_send_query(conn->session, "select 1", CENOTE_NTS, NULL, &options));
}

/* In a pipeline nothing is sent: the server would carry out the requests that follow, although
 * PostgreSQL would skip them. */
static int
refuse(PGconn *conn, const char *sqlstate, const char *text)
{
	if (conn->pipeline == PQ_PIPELINE_OFF)
		return send_answer(
			conn, CPQ_SIMPLE, cpq_result_refusal(conn, sqlstate, text));
	cpq_say(conn, "%s", text);
	return 0;
}

static int
send_done(PGconn *conn, enum cpq_request_kind kind, const char *tag)
{
	PGresult *res = cpq_PQmakeEmptyPGresult(conn, PGRES_COMMAND_OK);

	if (res != NULL)
		cpq_result_set_tag(res, tag);
	return send_answer(conn, kind, res);
}

static int
no_statement(PGconn *conn, const char *name)
{
	char text[160];

	snprintf(text, sizeof(text), "prepared statement \"%.60s\" does not exist", name);
	return refuse(conn, "26000", text);
}

static int
send_forgotten(PGconn *conn, const struct cpq_answer *a)
{
	struct cpq_statement *s;

	if (*a->text == '\0') {
		cpq_statements_drop(conn);
		return send_done(conn, CPQ_SIMPLE, a->tag);
	}
	s = cpq_statement_find(conn, a->text);
	if (s == NULL)
		return no_statement(conn, a->text);
	cpq_statement_forget(conn, s);
	return send_done(conn, CPQ_SIMPLE, a->tag);
}

static int
send_transaction(PGconn *conn, const struct cpq_answer *a, const char *query)
{
	struct cpq_request *req = cpq_request_new(conn, CPQ_SIMPLE, query);
	int r;

	if (req == NULL)
		return 0;
	cpq_trace_query(conn, query);
	if (a->kind == CPQ_ANSWER_BEGIN)
		r = cenote_send_begin(conn->session, a->isolation, a->flags);
	else if (a->kind == CPQ_ANSWER_COMMIT)
		r = cenote_send_commit(conn->session);
	else
		r = cenote_send_rollback(conn->session);
	return cpq_request_sent(conn, req, r);
}

/* Does the shim answer the text itself? 1: the caller returns *ret_sent. */
static int
is_answered(PGconn *conn, const char *query, int *ret_sent)
{
	struct cpq_answer a;

	cpq_dialect_answer(conn, query, &a);
	switch (a.kind) {
	case CPQ_ANSWER_NONE:
		return 0;
	case CPQ_ANSWER_DONE:
		*ret_sent = send_done(conn, CPQ_SIMPLE, a.tag);
		break;
	case CPQ_ANSWER_FORGET:
		*ret_sent = send_forgotten(conn, &a);
		break;
	case CPQ_ANSWER_REFUSE:
		*ret_sent = refuse(conn, a.sqlstate, a.text);
		break;
	default:
		*ret_sent = send_transaction(conn, &a, query);
		break;
	}
	return 1;
}

static int
refuse_value(
	PGconn *conn, const struct cpq_values *v, int i, Oid type, enum cpq_outcome why)
{
	int is_binary = v->formats != NULL && v->formats[i] != 0;
	char text[160];

	switch (why) {
	case CPQ_NO_FORM:
		snprintf(text, sizeof(text),
			"parameter $%d: a pool of %s takes no binary values of type %u",
			i + 1, conn->inherited.dialect->title, type);
		return refuse(conn, "0A000", text);
	case CPQ_OUT_OF_RANGE:
		snprintf(text, sizeof(text),
			"parameter $%d: the value is out of range for type %s", i + 1,
			cpq_type_name(type));
		return refuse(conn, "22003", text);
	case CPQ_NOT_OF_TYPE:
		snprintf(text, sizeof(text),
			"parameter $%d: this is no value of type %s in %s form", i + 1,
			cpq_type_name(type), is_binary ? "binary" : "text");
		return refuse(conn, is_binary ? "22P03" : "22P02", text);
	default:
		return no_memory(conn);
	}
}

/* Add the i-th value; values count from 0. */
static enum cpq_outcome
add_value(PGconn *conn, const struct cpq_values *v, int i, Oid type)
{
	const char *bytes = v->values != NULL ? v->values[i] : NULL;
	int is_binary = v->formats != NULL && v->formats[i] != 0;
	size_t len = 0;

	if (bytes != NULL)
		len = is_binary ? (size_t)v->lengths[i] : strlen(bytes);
	return cpq_bind(conn->params, type, bytes, len, is_binary);
}

static Oid
type_of(const struct cpq_values *v, const struct cpq_statement *s, int i)
{
	if (s != NULL)
		return cpq_statement_type(s, i);
	return v->types != NULL ? v->types[i] : 0;
}

/* Fill conn->params, in the order of the placeholders in the text. 1; 0: the caller returns *ret_sent. */
static int
are_bound(PGconn *conn, const struct cpq_values *v, const struct cpq_places *places,
	const struct cpq_statement *s, int *ret_sent)
{
	size_t n = places->order != NULL ? places->n : (size_t)v->n;
	char text[160];

	*ret_sent = 0;
	if (!cpq_values_begin(conn, v))
		return 0;
	if (places->highest > 0 && places->highest != (unsigned)v->n) {
		snprintf(text, sizeof(text),
			"bind message supplies %d parameters, but prepared statement "
			"\"%.60s\" requires %u",
			v->n, s != NULL ? s->name : "", places->highest);
		*ret_sent = refuse(conn, "08P01", text);
		return 0;
	}
	for (size_t k = 0; k < n; k++) {
		int i = places->order != NULL ? places->order[k] - 1 : (int)k;
		Oid type = type_of(v, s, i);
		enum cpq_outcome r = add_value(conn, v, i, type);

		if (r != CPQ_DONE) {
			*ret_sent = refuse_value(conn, v, i, type, r);
			return 0;
		}
	}
	return 1;
}

/* PostgreSQL accepts one statement per request with parameters, and programs rely on
 * that. 1; 0: the caller returns *ret_sent. */
static int
is_single(PGconn *conn, const char *query, int *ret_sent)
{
	struct cnc_sql sql = cpq_dialect_sql(conn, query);

	if (cpq_sql_is_single(sql) || conn->inherited.dialect->has_batches)
		return 1;
	*ret_sent = refuse(conn, "42601",
		"cannot insert multiple commands into a prepared statement");
	return 0;
}

/* Write the text with the server's placeholders. 1; 0: the caller returns *ret_sent. */
static int
is_translated(PGconn *conn, const char *sql, PQExpBuffer out, struct cpq_places *places,
	int *ret_sent)
{
	char text[64];
	int r;

	*ret_sent = 0;
	initPQExpBuffer(out);
	r = cpq_sql_translate(cpq_dialect_sql(conn, sql),
		conn->inherited.dialect->placeholder, out, places);
	if (r == 0)
		return 1;
	if (r < 0) {
		(void)no_memory(conn);
	} else {
		snprintf(
			text, sizeof(text), "there is no parameter $%u", places->highest);
		*ret_sent = refuse(conn, "42P02", text);
	}
	return 0;
}

int
cpq_dialect_send_query(PGconn *conn, const char *query)
{
	const cenote_exec_options options = canonical(conn);
	struct cpq_request *req;
	int sent;

	if (is_answered(conn, query, &sent))
		return sent;
	req = request(conn, CPQ_SIMPLE, query);
	if (req == NULL)
		return 0;
	cpq_trace_query(conn, query);
	return cpq_request_sent(conn, req,
		cenote_send_query(conn->session, query, CENOTE_NTS, NULL, &options));
}

static int
send_translated(PGconn *conn, const char *command, const struct cpq_values *v,
	int result_format, const char *sql, const struct cpq_places *places)
{
	const cenote_exec_options options = canonical(conn);
	struct cpq_request *req;
	int sent;

	if (!are_bound(conn, v, places, NULL, &sent))
		return sent;
	req = request(conn, CPQ_EXTENDED, command);
	if (req == NULL)
		return 0;
	cpq_trace_parse(conn, "", command, v->n, v->types);
	cpq_trace_run(conn, "", v, result_format);
	cpq_trace_end_of_unit(conn);
	req->is_binary = result_format != 0;
	return cpq_request_sent(conn, req,
		cenote_send_query(
			conn->session, sql, CENOTE_NTS, conn->params, &options));
}

int
cpq_dialect_send_params(
	PGconn *conn, const char *command, const struct cpq_values *v, int result_format)
{
	struct cpq_places places;
	PQExpBufferData sql;
	int sent;

	if (v->n == 0 && is_answered(conn, command, &sent))
		return sent;
	if (!is_single(conn, command, &sent))
		return sent;
	if (is_translated(conn, command, &sql, &places, &sent))
		sent = send_translated(
			conn, command, v, result_format, sql.data, &places);
	termPQExpBuffer(&sql);
	cpq_places_finish(&places);
	return sent;
}

static void
use_statement(struct cpq_request *req, struct cpq_statement *s)
{
	req->statement = s;
	s->n_requests++;
}

static int
send_new_statement(PGconn *conn, const char *name, const char *query, const char *sql,
	struct cpq_places *places, const Oid *types, int n_types)
{
	struct cnc_sql text = cpq_dialect_sql(conn, query);
	struct cpq_request *req = cpq_request_new(conn, CPQ_PREPARE, query);
	struct cpq_statement *s;

	if (req == NULL)
		return 0;
	s = cpq_statement_find(conn, name);
	if (s != NULL)
		cpq_statement_forget(conn, s);
	s = cpq_statement_new(conn, name, sql, places, types, n_types);
	if (s == NULL)
		return cpq_request_sent(conn, req, CENOTE_ERR_NOMEM);
	s->has_head =
		conn->inherited.dialect->makes_tags && cpq_sql_head(&text, &s->head);
	use_statement(req, s);
	cpq_trace_parse(conn, name, query, n_types, types);
	cpq_trace_end_of_unit(conn);
	return cpq_request_sent(conn, req, cenote_send_prepare(s->stmt));
}

int
cpq_dialect_send_prepare(
	PGconn *conn, const char *name, const char *query, int n_types, const Oid *types)
{
	struct cpq_places places;
	PQExpBufferData sql;
	char text[160];
	int sent;

	if (!is_single(conn, query, &sent))
		return sent;
	if (*name != '\0' && cpq_statement_find(conn, name) != NULL) {
		snprintf(text, sizeof(text),
			"prepared statement \"%.60s\" already exists", name);
		return refuse(conn, "42P05", text);
	}
	if (is_translated(conn, query, &sql, &places, &sent))
		sent = send_new_statement(
			conn, name, query, sql.data, &places, types, n_types);
	termPQExpBuffer(&sql);
	cpq_places_finish(&places);
	return sent;
}

/* Make a request that uses a prepared statement. */
static struct cpq_request *
request_for(PGconn *conn, enum cpq_request_kind kind, struct cpq_statement *s)
{
	struct cpq_request *req = cpq_request_new(conn, kind, NULL);

	if (req == NULL)
		return NULL;
	use_statement(req, s);
	req->is_many = kind == CPQ_EXTENDED;
	req->head = s->head;
	req->has_head = s->has_head;
	return req;
}

int
cpq_dialect_send_prepared(
	PGconn *conn, const char *name, const struct cpq_values *v, int result_format)
{
	const cenote_exec_options options = canonical(conn);
	struct cpq_statement *s = cpq_statement_find(conn, name);
	struct cpq_request *req;
	int sent;

	if (s == NULL)
		return no_statement(conn, name);
	if (!are_bound(conn, v, &s->places, s, &sent))
		return sent;
	req = request_for(conn, CPQ_EXTENDED, s);
	if (req == NULL)
		return 0;
	req->is_prepared = 1;
	req->is_binary = result_format != 0;
	cpq_trace_run(conn, name, v, result_format);
	cpq_trace_end_of_unit(conn);
	return cpq_request_sent(
		conn, req, cenote_send_execute(s->stmt, conn->params, &options));
}

static int
send_describe(PGconn *conn, const char *name)
{
	struct cpq_statement *s = cpq_statement_find(conn, name);
	struct cpq_request *req;
	int r;

	if (s == NULL)
		return no_statement(conn, name);
	req = request_for(conn, CPQ_DESCRIBE, s);
	if (req == NULL)
		return 0;
	cpq_trace_named(conn, 0, 'S', name);
	cpq_trace_end_of_unit(conn);
	r = cenote_send_describe(s->stmt);
	/* PREPARE failed, but the program has not asked for that result yet. */
	if (r == CENOTE_ERR_STATE)
		r = cenote_send_prepare(s->stmt);
	return cpq_request_sent(conn, req, r);
}

static int
refuse_portal(PGconn *conn, const char *name)
{
	char text[160];

	snprintf(text, sizeof(text),
		"portal \"%.60s\" does not exist: %s has no cursors in SQL", name,
		conn->inherited.dialect->title);
	return refuse(conn, "34000", text);
}

int
cpq_dialect_send_named(
	PGconn *conn, enum cpq_request_kind kind, int is_portal, const char *name)
{
	struct cpq_statement *s;

	if (kind == CPQ_DESCRIBE)
		return is_portal ? refuse_portal(conn, name) : send_describe(conn, name);
	/* Closing a statement or portal that does not exist is not an error. */
	s = is_portal ? NULL : cpq_statement_find(conn, name);
	if (s != NULL)
		cpq_statement_forget(conn, s);
	return send_done(conn, CPQ_CLOSE, "");
}
