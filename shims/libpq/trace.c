/* SPDX-License-Identifier: BSD-2-Clause */
#include "pq.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

/*
 * PQtrace(): write the messages of PostgreSQL's protocol, in libpq's form, as if the program had
 * spoken that protocol. While there is a trace, all rows come as streams, so that the messages stay
 * in the order in which the server sent them.
 *
 * A notice is written before the end of its statement. A parameter or a notification is written
 * before ReadyForQuery. This file keeps these lines until then. It owns conn->trace.
 */

#define TRACE_NO_TIMES 1 /* PQTRACE_SUPPRESS_TIMESTAMPS */
#define TRACE_REGRESS  2 /* PQTRACE_REGRESS_MODE */

#define OID_BYTES 4u

/* A message that is being built: its text, and the length that it would have in the protocol. */
struct line {
	PQExpBufferData text;
	size_t len;
	int is_regress;
};

static void
begin(const PGconn *conn, struct line *l, const char *name)
{
	initPQExpBuffer(&l->text);
	l->len = 4;
	l->is_regress = (conn->trace.flags & TRACE_REGRESS) != 0;
	appendPQExpBufferStr(&l->text, name);
}

static void
put_byte(struct line *l, char c)
{
	if (isprint((unsigned char)c))
		appendPQExpBuffer(&l->text, " %c", c);
	else
		appendPQExpBuffer(&l->text, " \\x%02x", (unsigned char)c);
	l->len++;
}

static void
put_int16(struct line *l, int n)
{
	appendPQExpBuffer(&l->text, " %d", (int)(uint16_t)n);
	l->len += 2;
}

static void
put_int32(struct line *l, int n)
{
	appendPQExpBuffer(&l->text, " %d", n);
	l->len += 4;
}

/* Append a number that differs between servers: PQTRACE_REGRESS_MODE hides it. */
static void
put_oid(struct line *l, Oid oid)
{
	if (l->is_regress) {
		appendPQExpBufferStr(&l->text, " NNNN");
		l->len += OID_BYTES;
	} else {
		put_int32(l, (int)oid);
	}
}

static void
put_text(struct line *l, const char *text)
{
	appendPQExpBuffer(&l->text, " \"%s\"", text);
	l->len += strlen(text) + 1;
}

static void
put_bytes(struct line *l, const char *bytes, size_t n)
{
	appendPQExpBufferStr(&l->text, " '");
	for (size_t i = 0; i < n; i++) {
		if (isprint((unsigned char)bytes[i]))
			appendPQExpBufferChar(&l->text, bytes[i]);
		else
			appendPQExpBuffer(&l->text, "\\x%02x", (unsigned char)bytes[i]);
	}
	appendPQExpBufferChar(&l->text, '\'');
	l->len += n;
}

/* Append a value or NULL, after its length. */
static void
put_value(struct line *l, const char *bytes, size_t n)
{
	put_int32(l, bytes != NULL ? (int)n : -1);
	if (bytes != NULL)
		put_bytes(l, bytes, n);
}

static void
put_time(PQExpBuffer out)
{
	struct timeval now;
	struct tm broken;
	char text[64];

	gettimeofday(&now, NULL);
	if (localtime_r(&now.tv_sec, &broken) == NULL ||
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &broken) == 0)
		text[0] = '\0';
	appendPQExpBuffer(out, "%s.%06u\t", text, (unsigned)now.tv_usec);
}

static void
put_line(PQExpBuffer out, const PGconn *conn, char from, const struct line *l)
{
	if (!(conn->trace.flags & TRACE_NO_TIMES))
		put_time(out);
	appendPQExpBuffer(out, "%c\t%zu\t%s\n", from, l->len, l->text.data);
}

/* Write the line. Without memory the trace lacks the line. */
static void
end(PGconn *conn, char from, struct line *l)
{
	PQExpBufferData out;

	initPQExpBuffer(&out);
	put_line(&out, conn, from, l);
	if (l->text.maxlen > 0 && out.maxlen > 0)
		fwrite(out.data, 1, out.len, conn->trace.file);
	termPQExpBuffer(&out);
	termPQExpBuffer(&l->text);
}

static void
say(PGconn *conn, char from, const char *name)
{
	struct line l;

	begin(conn, &l, name);
	end(conn, from, &l);
}

static void
say_text(PGconn *conn, char from, const char *name, const char *text)
{
	struct line l;

	begin(conn, &l, name);
	put_text(&l, text);
	end(conn, from, &l);
}

void
cpq_trace_query(PGconn *conn, const char *query)
{
	if (conn->trace.file != NULL)
		say_text(conn, 'F', "Query\t", query);
}

void
cpq_trace_parse(
	PGconn *conn, const char *name, const char *query, int n, const Oid *types)
{
	struct line l;

	if (conn->trace.file == NULL)
		return;
	begin(conn, &l, "Parse\t");
	put_text(&l, name);
	put_text(&l, query);
	n = types != NULL ? n : 0;
	put_int16(&l, n);
	for (int i = 0; i < n; i++)
		put_oid(&l, types[i]);
	end(conn, 'F', &l);
}

static void
say_bind(PGconn *conn, const char *name, const struct cpq_values *v, int result_format)
{
	int n_formats = v->formats != NULL ? v->n : 0;
	struct line l;

	begin(conn, &l, "Bind\t");
	put_text(&l, "");
	put_text(&l, name);
	put_int16(&l, n_formats);
	for (int i = 0; i < n_formats; i++)
		put_int16(&l, v->formats[i]);
	put_int16(&l, v->n);
	for (int i = 0; i < v->n; i++) {
		const char *bytes = v->values != NULL ? v->values[i] : NULL;
		size_t len = 0;

		if (bytes != NULL)
			len = v->formats != NULL && v->formats[i] != 0
				      ? (size_t)v->lengths[i]
				      : strlen(bytes);
		put_value(&l, bytes, len);
	}
	put_int16(&l, 1);
	put_int16(&l, result_format);
	end(conn, 'F', &l);
}

static void
say_named(PGconn *conn, const char *what, char kind, const char *name)
{
	struct line l;

	begin(conn, &l, what);
	put_byte(&l, kind);
	put_text(&l, name);
	end(conn, 'F', &l);
}

void
cpq_trace_run(
	PGconn *conn, const char *name, const struct cpq_values *v, int result_format)
{
	struct line l;

	if (conn->trace.file == NULL)
		return;
	say_bind(conn, name, v, result_format);
	say_named(conn, "Describe\t", 'P', "");
	begin(conn, &l, "Execute\t");
	put_text(&l, "");
	put_int32(&l, 0);
	end(conn, 'F', &l);
}

void
cpq_trace_named(PGconn *conn, int is_close, char kind, const char *name)
{
	if (conn->trace.file != NULL)
		say_named(conn, is_close ? "Close\t" : "Describe\t", kind, name);
}

void
cpq_trace_end_of_unit(PGconn *conn)
{
	if (conn->trace.file != NULL && conn->pipeline == PQ_PIPELINE_OFF)
		say(conn, 'F', "Sync");
}

void
cpq_trace_word(PGconn *conn, const char *word)
{
	if (conn->trace.file == NULL)
		return;
	say(conn, 'F', word);
}

void
cpq_trace_function(PGconn *conn, int fnid, const PQArgBlock *args, int n)
{
	struct line l;

	if (conn->trace.file == NULL)
		return;
	begin(conn, &l, "FunctionCall\t");
	put_oid(&l, (Oid)fnid);
	put_int16(&l, 1);
	put_int16(&l, 1);
	put_int16(&l, n);
	for (int i = 0; i < n; i++) {
		unsigned v = (unsigned)args[i].u.integer;
		const char number[4] = { (char)(v >> 24), (char)(v >> 16), (char)(v >> 8),
			(char)v };

		if (args[i].len < 0)
			put_value(&l, NULL, 0);
		else if (args[i].isint)
			put_value(&l, args[i].len == 2 ? number + 2 : number,
				args[i].len == 2 ? 2 : 4);
		else
			put_value(&l, (const char *)args[i].u.ptr, (size_t)args[i].len);
	}
	put_int16(&l, 1);
	end(conn, 'F', &l);
}

/* Keep a line until its place in the trace comes. */
static void
keep(PGconn *conn, PQExpBuffer kept, struct line *l)
{
	if (kept->maxlen == 0)
		initPQExpBuffer(kept);
	if (l->text.maxlen > 0)
		put_line(kept, conn, 'B', l);
	termPQExpBuffer(&l->text);
}

static void
write_kept(PGconn *conn, PQExpBuffer kept)
{
	if (kept->maxlen > 0 && kept->len > 0)
		fwrite(kept->data, 1, kept->len, conn->trace.file);
	if (kept->maxlen > 0)
		resetPQExpBuffer(kept);
}

/* How many steps an extended query had finished when it failed. */
static int
steps_of(const cenote_diag *diag)
{
	static const char *const names[] = { "parsed", "bound", "described" };
	const char *how_far = diag != NULL ? cenote_diag_field(diag, 'A') : NULL;

	for (int i = 0; how_far != NULL && i < 3; i++) {
		if (strcmp(how_far, names[i]) == 0)
			return i + 1;
	}
	return 0;
}

static void
say_steps(PGconn *conn, int n)
{
	const struct cpq_request *req = conn->queue.first;

	if (req == NULL || req->kind != CPQ_EXTENDED || req->is_answered)
		return;
	if (n >= 1 && !req->is_prepared)
		say(conn, 'B', "ParseComplete");
	if (n >= 2)
		say(conn, 'B', "BindComplete");
}

static int
is_function(const PGconn *conn)
{
	return conn->queue.first != NULL && conn->queue.first->kind == CPQ_FUNCTION;
}

static void
mark_answered(PGconn *conn)
{
	if (conn->queue.first != NULL)
		conn->queue.first->is_answered = 1;
}

/* Has the trace begun the answer, because a notice came early? */
static int
is_begun(const PGconn *conn)
{
	return conn->queue.first != NULL && conn->queue.first->kind == CPQ_EXTENDED &&
	       conn->queue.first->is_answered;
}

void
cpq_trace_columns(PGconn *conn, const PGresult *res)
{
	struct line l;

	if (conn->trace.file == NULL || is_function(conn) || is_begun(conn))
		return;
	say_steps(conn, 2);
	mark_answered(conn);
	write_kept(conn, &conn->trace.notices);
	begin(conn, &l, "RowDescription\t");
	put_int16(&l, res->n_columns);
	for (int i = 0; i < res->n_columns; i++) {
		const PGresAttDesc *c = &res->columns[i];

		put_text(&l, c->name);
		put_oid(&l, c->tableid);
		put_int16(&l, c->columnid);
		put_oid(&l, c->typid);
		put_int16(&l, c->typlen);
		put_int32(&l, c->atttypmod);
		put_int16(&l, c->format);
	}
	end(conn, 'B', &l);
}

void
cpq_trace_row(PGconn *conn, const cenote_result *from, uint64_t row)
{
	uint32_t n = cenote_result_n_columns(from);
	struct line l;

	if (conn->trace.file == NULL)
		return;
	write_kept(conn, &conn->trace.notices);
	begin(conn, &l, is_function(conn) ? "FunctionCallResponse\t" : "DataRow\t");
	if (!is_function(conn))
		put_int16(&l, (int)n);
	for (uint32_t i = 0; i < n; i++) {
		size_t len = 0;
		const char *bytes = cenote_result_text(from, row, i, &len);

		put_value(&l, bytes, len);
	}
	end(conn, 'B', &l);
}

void
cpq_trace_complete(PGconn *conn, const cenote_result *from)
{
	if (conn->trace.file == NULL)
		return;
	if (conn->queue.first && conn->queue.first->kind == CPQ_EXTENDED &&
		!conn->queue.first->is_answered) {
		say_steps(conn, 2);
		say(conn, 'B', "NoData");
	}
	mark_answered(conn);
	write_kept(conn, &conn->trace.notices);
	if (is_function(conn))
		return;
	if (conn->queue.first && conn->queue.first->kind == CPQ_CLOSE)
		say(conn, 'B', "CloseComplete");
	else if (cenote_result_flags(from) & CENOTE_RESULT_FLAG_EMPTY)
		say(conn, 'B', "EmptyQueryResponse");
	else
		say_text(conn, 'B', "CommandComplete\t", cenote_result_tag(from));
}

void
cpq_trace_parsed(PGconn *conn)
{
	if (conn->trace.file == NULL)
		return;
	say(conn, 'B', "ParseComplete");
	write_kept(conn, &conn->trace.notices);
}

/* Prepared statements have parameters, portals do not. */
void
cpq_trace_description(PGconn *conn, const PGresult *res)
{
	struct line l;

	if (conn->trace.file == NULL)
		return;
	if (conn->queue.first != NULL && !conn->queue.first->is_portal) {
		begin(conn, &l, "ParameterDescription\t");
		put_int16(&l, res->n_params);
		for (int i = 0; i < res->n_params; i++)
			put_oid(&l, res->params[i]);
		end(conn, 'B', &l);
	}
	if (res->n_columns > 0)
		cpq_trace_columns(conn, res);
	else
		say(conn, 'B', "NoData");
}

void
cpq_trace_copy(PGconn *conn, const PGresult *res, int is_in)
{
	struct line l;

	if (conn->trace.file == NULL)
		return;
	if (conn->queue.first && conn->queue.first->kind == CPQ_EXTENDED &&
		!conn->queue.first->is_answered) {
		say_steps(conn, 2);
		say(conn, 'B', "NoData");
	}
	mark_answered(conn);
	write_kept(conn, &conn->trace.notices);
	begin(conn, &l, is_in ? "CopyInResponse\t" : "CopyOutResponse\t");
	put_byte(&l, (char)res->is_binary);
	put_int16(&l, res->n_columns);
	for (int i = 0; i < res->n_columns; i++)
		put_int16(&l, res->columns[i].format);
	end(conn, 'B', &l);
}

/* For data that it sends, libpq writes only the length, and that it left out the rest. For data
 * that it receives, it writes nothing. */
void
cpq_trace_copy_data(PGconn *conn, size_t n)
{
	struct line l;

	if (conn->trace.file == NULL)
		return;
	begin(conn, &l, "");
	l.len += n;
	end(conn, 'F', &l);
	if (n > 0)
		fprintf(conn->trace.file,
			"mismatched message length: consumed 4, expected %zu\n", n + 4);
}

void
cpq_trace_copy_end(PGconn *conn, char from, const char *why)
{
	if (conn->trace.file == NULL)
		return;
	if (why != NULL)
		say_text(conn, from, "CopyFail\t", why);
	else
		say(conn, from, "CopyDone");
	if (from == 'F' && conn->queue.first != NULL &&
		conn->queue.first->kind != CPQ_SIMPLE)
		say(conn, 'F', "Sync");
}

/* Append the fields in the order in which PostgreSQL sends them. `kept` is a notice that was kept:
 * its fields are in that result. */
static void
put_diag(struct line *l, const cenote_diag *diag, const PGresult *kept)
{
	for (const char *f = "SVCMDHWstcdnPpqFLR"; *f != '\0'; f++) {
		const char *text = diag != NULL ? cpq_servers_field(diag, *f)
						: cpq_result_field(kept, *f);

		if (text == NULL)
			continue;
		put_byte(l, *f);
		put_text(l, l->is_regress && strchr("FLR", *f) != NULL ? "SSSS" : text);
	}
	put_byte(l, '\0');
}

/* The length is hidden in PQTRACE_REGRESS_MODE: it includes positions in the server's source, which
 * differ between releases. */
static void
put_diag_line(PQExpBuffer out, const PGconn *conn, const char *name, const struct line *l)
{
	if (!(conn->trace.flags & TRACE_NO_TIMES))
		put_time(out);
	appendPQExpBufferStr(out, "B\t");
	if (l->is_regress)
		appendPQExpBufferStr(out, "NN");
	else
		appendPQExpBuffer(out, "%zu", l->len);
	appendPQExpBuffer(out, "\t%s\t%s\n", name, l->text.data);
}

static void
keep_diag(PGconn *conn, const char *name, const cenote_diag *diag, const PGresult *notice)
{
	PQExpBuffer kept = &conn->trace.notices;
	struct line l;

	begin(conn, &l, "");
	put_diag(&l, diag, notice);
	if (kept->maxlen == 0)
		initPQExpBuffer(kept);
	if (l.text.maxlen > 0)
		put_diag_line(kept, conn, name, &l);
	termPQExpBuffer(&l.text);
}

void
cpq_trace_error(PGconn *conn, const cenote_diag *diag)
{
	int n;

	if (conn->trace.file == NULL)
		return;
	n = steps_of(diag);
	say_steps(conn, n);
	if (conn->queue.first && conn->queue.first->kind == CPQ_EXTENDED &&
		!conn->queue.first->is_answered && n >= 3)
		say(conn, 'B', "NoData");
	mark_answered(conn);
	keep_diag(conn, "ErrorResponse", diag, NULL);
	write_kept(conn, &conn->trace.notices);
}

/* A notice comes for the request. PostgreSQL sends all earlier messages of the answer with the
 * notice, even if the program has not asked for them. */
static void
begin_answer(PGconn *conn, struct cpq_request *req)
{
	if (req->kind != CPQ_EXTENDED || req->is_asked_for || req->is_answered)
		return;
	if (req->begun != NULL) {
		cpq_trace_columns(conn, req->begun);
	} else {
		say_steps(conn, 2);
		say(conn, 'B', "NoData");
		mark_answered(conn);
	}
}

static void
trace_notice(PGconn *conn, const cenote_diag *diag, const PGresult *kept)
{
	if (conn->trace.file == NULL)
		return;
	if (conn->queue.first != NULL)
		begin_answer(conn, conn->queue.first);
	keep_diag(conn, "NoticeResponse", diag, kept);
	if (conn->queue.first == NULL || conn->queue.first->is_answered)
		write_kept(conn, &conn->trace.notices);
}

void
cpq_trace_notice(PGconn *conn, const cenote_diag *diag)
{
	trace_notice(conn, diag, NULL);
}

void
cpq_trace_kept_notice(PGconn *conn, const PGresult *notice)
{
	trace_notice(conn, NULL, notice);
}

void
cpq_trace_parameter(PGconn *conn, const char *name, const char *value)
{
	struct line l;

	if (conn->trace.file == NULL)
		return;
	begin(conn, &l, "ParameterStatus\t");
	put_text(&l, name);
	put_text(&l, value);
	keep(conn, &conn->trace.rest, &l);
	if (conn->queue.first == NULL)
		write_kept(conn, &conn->trace.rest);
}

void
cpq_trace_notification(
	PGconn *conn, uint32_t pid, const char *channel, const char *payload)
{
	struct line l;

	if (conn->trace.file == NULL)
		return;
	begin(conn, &l, "NotificationResponse\t");
	put_oid(&l, pid);
	put_text(&l, channel);
	put_text(&l, payload);
	keep(conn, &conn->trace.rest, &l);
	if (conn->queue.first == NULL)
		write_kept(conn, &conn->trace.rest);
}

void
cpq_trace_ready(PGconn *conn)
{
	struct line l;

	if (conn->trace.file == NULL || conn->session == NULL)
		return;
	write_kept(conn, &conn->trace.notices);
	write_kept(conn, &conn->trace.rest);
	/* Up to version 17, libpq does not trace the ReadyForQuery after a function call. */
	if (is_function(conn) && cpq_release() < 18)
		return;
	begin(conn, &l, "ReadyForQuery\t");
	put_byte(&l, (char)(conn->transaction == CENOTE_TX_OPEN      ? 'T'
			     : conn->transaction == CENOTE_TX_FAILED ? 'E'
								     : 'I'));
	end(conn, 'B', &l);
}

/* libpq flushes the file whenever it sends, so that another program can read the trace. */
void
cpq_trace_flush(PGconn *conn)
{
	if (conn->trace.file != NULL)
		fflush(conn->trace.file);
}

void
cpq_PQtrace(PGconn *conn, FILE *debug_port)
{
	if (conn == NULL)
		return;
	cpq_PQuntrace(conn);
	conn->trace.file = debug_port;
}

void
cpq_PQuntrace(PGconn *conn)
{
	if (conn == NULL)
		return;
	cpq_trace_flush(conn);
	conn->trace.file = NULL;
	conn->trace.flags = 0;
	if (conn->trace.notices.maxlen > 0)
		termPQExpBuffer(&conn->trace.notices);
	if (conn->trace.rest.maxlen > 0)
		termPQExpBuffer(&conn->trace.rest);
	conn->trace.notices = (PQExpBufferData){ NULL, 0, 0 };
	conn->trace.rest = (PQExpBufferData){ NULL, 0, 0 };
}

void
cpq_PQsetTraceFlags(PGconn *conn, int flags)
{
	if (conn != NULL && conn->trace.file != NULL)
		conn->trace.flags = flags;
}
