/* SPDX-License-Identifier: BSD-2-Clause */
#include <poll.h>
#include <stdio.h>

#include "session.h"

/*
 * The stream by way of libpq's calls, for connections that libpq alone can read: messages to the
 * server become calls, and their results become the messages that the server would have sent. An
 * execution with its Sync goes alone, so that it may be a COPY; all else of the extended protocol
 * goes in libpq's pipeline mode. libpq tells the state of the transaction only when nothing is
 * under way, so nothing is begun behind a Sync before that is answered.
 */

#define OPS_MAX    32u
/* As much is made at once, at least; and rows go on being made up to here. */
#define MADE_BYTES 65536u
#define MADE_MAX   (2u * (size_t)CND_PG_MSG_MAX)
/* No statement: the server says no to it, and so ends the unit of requests. */
#define REFUSED    "wire=libpq"

enum op_kind {
	OP_QUERY,
	OP_EXECUTE,
	OP_PREPARE,
	OP_DESCRIBE,
	OP_CLOSE,
	OP_SYNC
};

/* What libpq was asked to do. */
struct op {
	enum op_kind kind;
	const char *refusal; /* the error instead of the server's */
	const char *state; /* its SQLSTATE, if not 0A000 */
	uint8_t is_portal; /* described: it has no parameters */
	uint8_t wants_columns;
	uint8_t gives_ready; /* ReadyForQuery is behind it */
	uint8_t has_columns; /* they were told */
	uint8_t is_bound; /* BindComplete was told */
	uint8_t is_single; /* rows come one by one */
	uint8_t copy; /* 'G', 'H': a copy is under way */
	uint8_t is_copied; /* its data is over, and whether it failed is not known yet */
	uint8_t has_failed;
};

struct cnd_pg_libpq {
	struct op ops[OPS_MAX]; /* a ring */
	uint32_t first, n;
	struct cnc_buf todo; /* to the server */
	struct cnc_buf made; /* from the server */
	int status; /* no memory while something was made */
	uint8_t is_open; /* a unit of requests has begun that no Sync has ended */
	uint8_t skips_sync; /* libpq has sent it with the end of a copy */
	uint8_t is_broken;
};

static struct op *
op_at(struct cnd_pg_libpq *l, uint32_t i)
{
	return &l->ops[(l->first + i) % OPS_MAX];
}

static struct op *
op_push(struct cnd_pg_libpq *l, enum op_kind kind)
{
	struct op *op = op_at(l, l->n++);

	*op = (struct op){ .kind = kind };
	return op;
}

static void
op_pop(struct cnd_pg_libpq *l)
{
	l->first = (l->first + 1) % OPS_MAX;
	l->n--;
}

/* ---- making messages ---- */

static void
note(struct cnd_pg_libpq *l, int r)
{
	if (r < 0 && l->status == CENOTE_OK)
		l->status = r;
}

static void
make_plain(struct cnd_pg_libpq *l, uint8_t type)
{
	note(l, cnd_pg_add_plain(&l->made, type));
}

static int
add_string(struct cnc_buf *b, const char *text)
{
	return cnd_pg_add_text(b, text, strlen(text));
}

static void
make_fields(struct cnd_pg_libpq *l, const PGresult *res, uint8_t type,
	const struct op *refused)
{
	static const char letters[] = "SVCMDHPpqWstcdnFLR";
	size_t mark;
	int r = cnd_pg_msg_begin(&l->made, type, &mark);

	for (const char *c = letters; *c != 0 && r == CENOTE_OK; c++) {
		const char *text = PQresultErrorField(res, *c);

		if (refused != NULL && strchr("SVCM", *c) == NULL)
			continue;
		if (refused != NULL && *c == 'C')
			text = refused->state ? refused->state
					      : CNC_SQLSTATE(UNSUPPORTED);
		else if (refused != NULL && *c == 'M')
			text = refused->refusal;
		if (text == NULL)
			continue;
		r = cnd_pg_add_u8(&l->made, (uint8_t)*c);
		if (r == CENOTE_OK)
			r = add_string(&l->made, text);
	}
	if (r == CENOTE_OK)
		r = cnd_pg_add_u8(&l->made, 0);
	note(l, r < 0 ? r : cnd_pg_msg_end(&l->made, mark));
}

static int
is_fatal(const PGresult *res)
{
	const char *severity = PQresultErrorField(res, PG_DIAG_SEVERITY_NONLOCALIZED);

	return severity != NULL &&
	       (strcmp(severity, "FATAL") == 0 || strcmp(severity, "PANIC") == 0);
}

/* What the server says before it ends an idle session is a notice to libpq. */
static void
take_notice(void *user, const PGresult *res)
{
	struct cnd_pg_libpq *l = user;

	/* libpq's own, of a server that breaks the protocol */
	if (PQresultErrorField(res, PG_DIAG_SQLSTATE) == NULL)
		l->is_broken = 1;
	else
		make_fields(l, res, is_fatal(res) ? 'E' : 'N', NULL);
}

static void
make_error(struct cnd_pg_libpq *l, const struct op *op, const PGresult *res)
{
	/* libpq's own: the connection is lost, or there was no memory */
	if (PQresultErrorField(res, PG_DIAG_SQLSTATE) == NULL)
		l->is_broken = 1;
	else
		make_fields(
			l, res, 'E', op->refusal != NULL && !is_fatal(res) ? op : NULL);
}

static void
make_columns(struct cnd_pg_libpq *l, const PGresult *res)
{
	struct cnc_buf *b = &l->made;
	int n = PQnfields(res);
	size_t mark;
	int r = cnd_pg_msg_begin(b, 'T', &mark);

	if (r == CENOTE_OK)
		r = cnd_pg_add_u16(b, (uint16_t)n);
	for (int i = 0; i < n && r == CENOTE_OK; i++) {
		r = add_string(b, PQfname(res, i));
		if (r == CENOTE_OK)
			r = cnd_pg_add_u32(b, PQftable(res, i));
		if (r == CENOTE_OK)
			r = cnd_pg_add_u16(b, (uint16_t)PQftablecol(res, i));
		if (r == CENOTE_OK)
			r = cnd_pg_add_u32(b, PQftype(res, i));
		if (r == CENOTE_OK)
			r = cnd_pg_add_u16(b, (uint16_t)PQfsize(res, i));
		if (r == CENOTE_OK)
			r = cnd_pg_add_u32(b, (uint32_t)PQfmod(res, i));
		if (r == CENOTE_OK)
			r = cnd_pg_add_u16(b, (uint16_t)PQfformat(res, i));
	}
	note(l, r < 0 ? r : cnd_pg_msg_end(b, mark));
}

static void
make_row(struct cnd_pg_libpq *l, const PGresult *res, int row)
{
	int n = PQnfields(res);
	size_t size = CND_PG_HEADER + 2 + (size_t)4 * (size_t)n;
	uint8_t *p;
	int r;

	for (int i = 0; i < n; i++)
		size += (size_t)PQgetlength(res, row, i);
	r = cnc_buf_reserve(&l->made, size, &p);
	if (r < 0) {
		note(l, r);
		return;
	}
	p[0] = 'D';
	cnd_pg_put_u32(p + 1, (uint32_t)(size - 1));
	cnd_pg_put_u16(p + 5, (uint16_t)n);
	p += CND_PG_HEADER + 2;
	for (int i = 0; i < n; i++) {
		int is_null = PQgetisnull(res, row, i);
		size_t len = (size_t)PQgetlength(res, row, i);

		cnd_pg_put_u32(p, is_null ? UINT32_MAX : (uint32_t)len);
		p += 4;
		memcpy(p, PQgetvalue(res, row, i), len);
		p += len;
	}
	cnc_buf_commit(&l->made, size);
}

static void
make_params(struct cnd_pg_libpq *l, const PGresult *res)
{
	struct cnc_buf *b = &l->made;
	int n = PQnparams(res);
	size_t mark;
	int r = cnd_pg_msg_begin(b, 't', &mark);

	if (r == CENOTE_OK)
		r = cnd_pg_add_u16(b, (uint16_t)n);
	for (int i = 0; i < n && r == CENOTE_OK; i++)
		r = cnd_pg_add_u32(b, PQparamtype(res, i));
	note(l, r < 0 ? r : cnd_pg_msg_end(b, mark));
}

static void
make_copy(struct cnd_pg_libpq *l, const PGresult *res, uint8_t type)
{
	struct cnc_buf *b = &l->made;
	int n = PQnfields(res);
	size_t mark;
	int r = cnd_pg_msg_begin(b, type, &mark);

	if (r == CENOTE_OK)
		r = cnd_pg_add_u8(b, (uint8_t)PQbinaryTuples(res));
	if (r == CENOTE_OK)
		r = cnd_pg_add_u16(b, (uint16_t)n);
	for (int i = 0; i < n && r == CENOTE_OK; i++)
		r = cnd_pg_add_u16(b, (uint16_t)PQfformat(res, i));
	note(l, r < 0 ? r : cnd_pg_msg_end(b, mark));
}

static void
make_notification(struct cnd_pg_libpq *l, const PGnotify *n)
{
	struct cnc_buf *b = &l->made;
	size_t mark;
	int r = cnd_pg_msg_begin(b, 'A', &mark);

	if (r == CENOTE_OK)
		r = cnd_pg_add_u32(b, (uint32_t)n->be_pid);
	if (r == CENOTE_OK)
		r = add_string(b, n->relname);
	if (r == CENOTE_OK)
		r = add_string(b, n->extra);
	note(l, r < 0 ? r : cnd_pg_msg_end(b, mark));
}

static void
make_parameter(struct cnd_pg_libpq *l, const char *name, const char *value)
{
	struct cnc_buf *b = &l->made;
	size_t mark;
	int r = cnd_pg_msg_begin(b, 'S', &mark);

	if (r == CENOTE_OK)
		r = add_string(b, name);
	if (r == CENOTE_OK)
		r = add_string(b, value);
	note(l, r < 0 ? r : cnd_pg_msg_end(b, mark));
}

static void
make_notifications(struct cnd_session *s)
{
	PGnotify *n;

	while ((n = PQnotifies(s->conn)) != NULL) {
		make_notification(s->libpq, n);
		PQfreemem(n);
	}
}

/* libpq does not say that one has changed. */
static void
make_parameters(struct cnd_session *s)
{
	struct cnd_pg_libpq *l = s->libpq;

	for (size_t i = 0; i < s->n_parameters; i++) {
		const struct cnd_pg_parameter *p = &s->parameters[i];
		const char *value = PQparameterStatus(s->conn, p->name);

		if (value != NULL && strcmp(value, p->value) != 0)
			make_parameter(l, p->name, value);
	}
}

static void
make_ready(struct cnd_session *s)
{
	struct cnd_pg_libpq *l = s->libpq;
	size_t mark;
	uint8_t tx = 'I';
	int r;

	make_notifications(s);
	make_parameters(s);
	if (PQtransactionStatus(s->conn) == PQTRANS_INTRANS)
		tx = 'T';
	else if (PQtransactionStatus(s->conn) == PQTRANS_INERROR)
		tx = 'E';
	else if (PQtransactionStatus(s->conn) != PQTRANS_IDLE)
		l->is_broken = 1;
	if (l->is_broken)
		return;
	r = cnd_pg_msg_begin(&l->made, 'Z', &mark);
	if (r == CENOTE_OK)
		r = cnd_pg_add_u8(&l->made, tx);
	note(l, r < 0 ? r : cnd_pg_msg_end(&l->made, mark));
}

static void
make_complete(struct cnd_pg_libpq *l, PGresult *res)
{
	const char *tag = PQcmdStatus(res);

	note(l, cnd_pg_add_query(&l->made, 'C', tag, strlen(tag)));
}

/* ---- results ---- */

/* BindComplete and the columns, which come before anything else. */
static void
begin_result(struct cnd_pg_libpq *l, struct op *op, const PGresult *res, int has_columns)
{
	if (op->kind == OP_EXECUTE && !op->is_bound) {
		op->is_bound = 1;
		make_plain(l, '2');
	}
	if (op->has_columns || !op->wants_columns)
		return;
	if (has_columns)
		make_columns(l, res);
	else if (op->kind == OP_EXECUTE)
		make_plain(l, 'n');
	op->has_columns = (uint8_t)has_columns;
}

static void
take_rows(struct cnd_pg_libpq *l, struct op *op, PGresult *res)
{
	int n = PQntuples(res);

	begin_result(l, op, res, 1);
	for (int i = 0; i < n; i++)
		make_row(l, res, i);
	if (PQresultStatus(res) == PGRES_SINGLE_TUPLE)
		return;
	make_complete(l, res);
	op->has_columns = 0;
}

static void
take_done(struct cnd_pg_libpq *l, struct op *op, PGresult *res)
{
	switch (op->kind) {
	case OP_PREPARE:
		make_plain(l, '1');
		break;
	case OP_CLOSE:
		make_plain(l, '3');
		break;
	case OP_DESCRIBE:
		if (!op->is_portal)
			make_params(l, res);
		if (PQnfields(res) > 0)
			make_columns(l, res);
		else
			make_plain(l, 'n');
		break;
	default:
		begin_result(l, op, res, 0);
		make_complete(l, res);
		break;
	}
}

static void
take_copy(struct cnd_session *s, struct op *op, const PGresult *res, uint8_t type)
{
	struct cnd_pg_libpq *l = s->libpq;

	/* libpq cannot end one there */
	if (PQpipelineStatus(s->conn) != PQ_PIPELINE_OFF) {
		l->is_broken = 1;
		return;
	}
	begin_result(l, op, res, 0);
	make_copy(l, res, type);
	op->copy = type;
}

static void
take_result(struct cnd_session *s, struct op *op, PGresult *res)
{
	struct cnd_pg_libpq *l = s->libpq;

	if (op->is_copied && PQresultStatus(res) == PGRES_COMMAND_OK)
		make_plain(l, 'c');
	op->is_copied = 0;
	switch (PQresultStatus(res)) {
	case PGRES_SINGLE_TUPLE:
	case PGRES_TUPLES_OK:
		take_rows(l, op, res);
		break;
	case PGRES_COMMAND_OK:
		take_done(l, op, res);
		break;
	case PGRES_EMPTY_QUERY:
		begin_result(l, op, res, 0);
		make_plain(l, 'I');
		break;
	case PGRES_COPY_IN:
		take_copy(s, op, res, 'G');
		break;
	case PGRES_COPY_OUT:
		take_copy(s, op, res, 'H');
		break;
	case PGRES_PIPELINE_ABORTED:
		break;
	case PGRES_FATAL_ERROR:
		op->has_failed = 1;
		make_error(l, op, res);
		break;
	default:
		l->is_broken = 1;
		break;
	}
}

/* 1: something came of it; 0: nothing yet. */
static int
take_copy_data(struct cnd_session *s, struct op *op)
{
	struct cnd_pg_libpq *l = s->libpq;
	char *data;
	size_t mark;
	int n, r;

	if (op->copy == 'G')
		return 0;
	n = PQgetCopyData(s->conn, &data, 1);
	if (n == 0)
		return 0;
	if (n < 0) {
		op->copy = 0;
		op->is_copied = n == -1;
		return 1;
	}
	r = cnd_pg_msg_begin(&l->made, 'd', &mark);
	if (r == CENOTE_OK)
		r = cnc_buf_append(&l->made, data, (size_t)n);
	note(l, r < 0 ? r : cnd_pg_msg_end(&l->made, mark));
	PQfreemem(data);
	return 1;
}

static int
take_one(struct cnd_session *s)
{
	struct cnd_pg_libpq *l = s->libpq;
	struct op *op = op_at(l, 0);
	PGresult *res;

	if (op->copy != 0)
		return take_copy_data(s, op);
	if (!op->is_single && (op->kind == OP_QUERY || op->kind == OP_EXECUTE))
		op->is_single = (uint8_t)PQsetSingleRowMode(s->conn);
	if (PQisBusy(s->conn))
		return 0;
	res = PQgetResult(s->conn);
	if (res == NULL && op->kind == OP_SYNC) {
		/* the end of an error that the commit gave */
		l->is_broken |= !op->has_failed;
		op->has_failed = 0;
	} else if (res == NULL) {
		if (op->gives_ready)
			make_ready(s);
		/* nobody sent one: a result in batches has none behind its copy */
		l->skips_sync = 0;
		op_pop(l);
	} else if (PQresultStatus(res) == PGRES_PIPELINE_SYNC) {
		if (op->kind == OP_SYNC)
			make_ready(s);
		else
			l->is_broken = 1;
		op_pop(l);
	} else {
		take_result(s, op, res);
	}
	PQclear(res);
	return 1;
}

/* ---- calls ---- */

/* What a group of messages at the front of `todo` asks for: an execution is up to five. */
struct group {
	size_t size;
	struct cnd_pg_msg parse, bind;
	uint8_t has_parse, wants_columns, has_sync;
	const char *refusal;
	const char *state;
};

static int
peek(const struct cnd_pg_libpq *l, size_t at, struct cnd_pg_msg *m)
{
	size_t unused;

	if (at >= cnc_buf_len(&l->todo))
		return 0;
	return cnd_pg_msg_next(
		cnc_buf_head(&l->todo) + at, cnc_buf_len(&l->todo) - at, m, &unused);
}

static int
call(struct cnd_session *s, int is_done)
{
	struct cnd_pg_libpq *l = s->libpq;

	if (!is_done)
		l->is_broken = 1;
	return is_done;
}

/* 1: libpq is ready for a call of that kind. */
static int
set_mode(struct cnd_session *s, int is_pipeline)
{
	struct cnd_pg_libpq *l = s->libpq;
	int is_now = PQpipelineStatus(s->conn) != PQ_PIPELINE_OFF;

	if (l->n > 0) {
		const struct op *last = op_at(l, l->n - 1);

		if (!is_pipeline || !is_now || last->kind == OP_SYNC ||
			l->n + 2 > OPS_MAX)
			return 0;
	}
	if (is_now == is_pipeline)
		return 1;
	return call(s,
		is_pipeline ? PQenterPipelineMode(s->conn) : PQexitPipelineMode(s->conn));
}

static int
begin_sync(struct cnd_session *s)
{
	struct cnd_pg_libpq *l = s->libpq;

	if (!call(s, PQpipelineSync(s->conn)))
		return 0;
	(void)op_push(l, OP_SYNC);
	l->is_open = 0;
	return 1;
}

static int
begin_refused(struct cnd_session *s, const char *why, int gives_ready)
{
	struct op *op;

	if (!call(s, PQsendPrepare(s->conn, "", REFUSED, 0, NULL)))
		return 0;
	op = op_push(s->libpq, OP_PREPARE);
	op->refusal = why;
	op->gives_ready = (uint8_t)gives_ready;
	return 1;
}

/* A Query behind a unit of requests ends that as a Sync does. */
static int
begin_query(struct cnd_session *s, const struct cnd_pg_msg *m)
{
	struct cnd_pg_libpq *l = s->libpq;
	const char *sql = (const char *)m->body;
	struct op *op;

	if (!set_mode(s, l->is_open))
		return 0;
	if (!call(s, l->is_open ? PQsendQueryParams(
					  s->conn, sql, 0, NULL, NULL, NULL, NULL, 0)
				: PQsendQuery(s->conn, sql)))
		return 0;
	op = op_push(l, l->is_open ? OP_EXECUTE : OP_QUERY);
	op->wants_columns = 1;
	if (l->is_open)
		return begin_sync(s);
	op->gives_ready = 1;
	return 1;
}

/* The values of a Bind, as libpq wants them. */
struct values {
	const char **values;
	int *lengths, *formats;
	Oid *types;
	char *texts; /* copies, each with a zero byte behind */
	int n, n_types;
	int result_format;
	const char *name;
	const char *sql;
};

static void
values_finish(struct cnd_session *s, struct values *v)
{
	cnc_free(s->mem, v->values);
	cnc_free(s->mem, v->lengths);
	cnc_free(s->mem, v->formats);
	cnc_free(s->mem, v->types);
	cnc_free(s->mem, v->texts);
}

static int
values_alloc(struct cnd_session *s, struct values *v, size_t n, size_t bytes)
{
	v->values = cnc_calloc(s->mem, n + 1, sizeof(*v->values));
	v->lengths = cnc_calloc(s->mem, n + 1, sizeof(*v->lengths));
	v->formats = cnc_calloc(s->mem, n + 1, sizeof(*v->formats));
	v->types = cnc_calloc(s->mem, n + 1, sizeof(*v->types));
	v->texts = cnc_calloc(s->mem, bytes + n + 1, 1);
	return v->values && v->lengths && v->formats && v->types && v->texts
		       ? CENOTE_OK
		       : CENOTE_ERR_NOMEM;
}

static const char *
read_value(struct cnd_pg_reader *r, struct values *v, int i, char **at)
{
	uint32_t len = cnd_pg_read_u32(r);

	if (len == UINT32_MAX || r->bad || len > (size_t)(r->end - r->p))
		return NULL;
	memcpy(*at, r->p, len);
	v->values[i] = *at;
	v->lengths[i] = (int)len;
	r->p += len;
	*at += len + 1;
	return v->formats[i] == 0 && memchr(v->values[i], 0, len) != NULL
		       ? "SQL, names and messages cannot hold a zero byte in PostgreSQL"
		       : NULL;
}

static void
read_result_formats(struct cnd_pg_reader *r, struct values *v, const char **ret_refusal)
{
	uint32_t n = cnd_pg_read_u16(r);

	for (uint32_t i = 0; i < n; i++) {
		int format = cnd_pg_read_u16(r);

		if (i > 0 && format != v->result_format)
			*ret_refusal = "columns of different formats cannot be had with "
				       "wire=libpq: ask for one format";
		v->result_format = format;
	}
}

/* Our own message: its form is known. CENOTE_ERR_NOMEM. */
static int
values_read(struct cnd_session *s, struct group *g, struct values *v)
{
	struct cnd_pg_reader r;
	const char *why;
	size_t unused;
	char *at;
	int n;

	cnd_pg_reader_init(&r, &g->bind);
	if (*cnd_pg_read_text(&r, &unused) != 0)
		g->refusal = "results in batches within a pipeline cannot be had with "
			     "wire=libpq";
	v->name = cnd_pg_read_text(&r, &unused);
	n = cnd_pg_read_u16(&r);
	if (values_alloc(s, v, (size_t)n, g->bind.len) < 0)
		return CENOTE_ERR_NOMEM;
	for (int i = 0; i < n; i++)
		v->formats[i] = cnd_pg_read_u16(&r);
	v->n = cnd_pg_read_u16(&r);
	at = v->texts;
	for (int i = 0; i < v->n && i < n; i++) {
		why = read_value(&r, v, i, &at);
		if (why != NULL) {
			g->refusal = why;
			g->state = "22021";
		}
	}
	read_result_formats(&r, v, &g->refusal);
	if (!g->has_parse)
		return CENOTE_OK;
	cnd_pg_reader_init(&r, &g->parse);
	(void)cnd_pg_read_text(&r, &unused);
	v->sql = cnd_pg_read_text(&r, &unused);
	v->n_types = cnd_pg_read_u16(&r);
	for (int i = 0; i < v->n_types && i < n; i++)
		v->types[i] = cnd_pg_read_u32(&r);
	return CENOTE_OK;
}

/* Parse and Bind (or Bind alone), Describe, Execute, Close, Sync: as many as are there. */
static void
read_group(const struct cnd_pg_libpq *l, struct group *g)
{
	struct cnd_pg_msg m = { 0 };
	int size = peek(l, 0, &m);

	*g = (struct group){ .size = (size_t)size };
	if (m.type == 'P') {
		g->has_parse = 1;
		g->parse = m;
		size = peek(l, g->size, &m);
		g->size += (size_t)size;
	}
	g->bind = m;
	while ((size = peek(l, g->size, &m)) > 0) {
		if (m.type == 'D')
			g->wants_columns = 1;
		else if (m.type == 'S')
			g->has_sync = 1;
		else if (m.type != 'E' && m.type != 'C')
			break;
		g->size += (size_t)size;
		if (g->has_sync)
			break;
	}
}

static int
is_copy(const char *sql)
{
	static const char word[] = "copy";
	size_t i = 0;

	while (*sql == ' ' || *sql == '\n' || *sql == '\t' || *sql == '\r')
		sql++;
	while (word[i] != 0 && (sql[i] | 0x20) == word[i])
		i++;
	return word[i] == 0;
}

static int
send_group(struct cnd_session *s, const struct group *g, const struct values *v)
{
	if (g->has_parse)
		return PQsendQueryParams(s->conn, v->sql, v->n, v->types, v->values,
			v->lengths, v->formats, v->result_format);
	return PQsendQueryPrepared(s->conn, v->name, v->n, v->values, v->lengths,
		v->formats, v->result_format);
}

static int
begin_execute(struct cnd_session *s, size_t *ret_size)
{
	struct cnd_pg_libpq *l = s->libpq;
	struct values v = { 0 };
	struct group g;
	struct op *op;
	int is_alone, is_begun = 0;

	read_group(l, &g);
	is_alone = g.has_sync && !l->is_open && l->n == 0;
	if (!set_mode(s, !is_alone))
		return 0;
	*ret_size = g.size - (g.has_sync && !is_alone ? CND_PG_HEADER : 0);
	if (values_read(s, &g, &v) < 0) {
		note(l, CENOTE_ERR_NOMEM);
	} else if (g.refusal == NULL && !is_alone && v.sql != NULL && is_copy(v.sql)) {
		g.refusal = "COPY within a pipeline cannot be had with wire=libpq: let "
			    "it stand alone";
	}
	l->is_open = (uint8_t)!is_alone;
	if (l->status < 0) {
		l->is_broken = 1;
	} else if (g.refusal != NULL) {
		is_begun = begin_refused(s, g.refusal, is_alone);
		if (is_begun)
			op_at(l, l->n - 1)->state = g.state;
	} else if (call(s, send_group(s, &g, &v))) {
		op = op_push(l, OP_EXECUTE);
		op->wants_columns = g.wants_columns;
		op->gives_ready = (uint8_t)is_alone;
		is_begun = 1;
	}
	values_finish(s, &v);
	return is_begun;
}

static int
begin_prepare(struct cnd_session *s, const struct cnd_pg_msg *m)
{
	struct cnd_pg_libpq *l = s->libpq;
	struct cnd_pg_reader r;
	const char *name, *sql;
	size_t unused;
	Oid *types;
	int n, is_sent;

	if (!set_mode(s, 1))
		return 0;
	cnd_pg_reader_init(&r, m);
	name = cnd_pg_read_text(&r, &unused);
	sql = cnd_pg_read_text(&r, &unused);
	n = cnd_pg_read_u16(&r);
	types = cnc_calloc(s->mem, (size_t)n + 1, sizeof(*types));
	if (types == NULL) {
		note(l, CENOTE_ERR_NOMEM);
		return call(s, 0);
	}
	for (int i = 0; i < n; i++)
		types[i] = cnd_pg_read_u32(&r);
	is_sent = call(s, PQsendPrepare(s->conn, name, sql, n, types));
	cnc_free(s->mem, types);
	if (is_sent)
		(void)op_push(l, OP_PREPARE);
	l->is_open = 1;
	return is_sent;
}

static int
begin_describe(struct cnd_session *s, const struct cnd_pg_msg *m)
{
	const char *name = (const char *)m->body + 1;
	int is_portal = m->body[0] == 'P';

	if (!set_mode(s, 1) ||
		!call(s, is_portal ? PQsendDescribePortal(s->conn, name)
				   : PQsendDescribePrepared(s->conn, name)))
		return 0;
	op_push(s->libpq, OP_DESCRIBE)->is_portal = (uint8_t)is_portal;
	s->libpq->is_open = 1;
	return 1;
}

/* libpq has no Close before version 17; SQL has. */
static int
send_close(struct cnd_session *s, uint8_t kind, const char *name)
{
	char *quoted, *sql;
	size_t len;
	int r;

	/* what has no name is replaced by nothing */
	if (*name == 0)
		return PQsendPrepare(s->conn, "", "", 0, NULL);
	quoted = PQescapeIdentifier(s->conn, name, strlen(name));
	if (quoted == NULL)
		return 0;
	len = strlen(quoted) + sizeof("DEALLOCATE ");
	sql = cnc_calloc(s->mem, len, 1);
	if (sql == NULL) {
		PQfreemem(quoted);
		return 0;
	}
	(void)snprintf(sql, len, "%s %s", kind == 'P' ? "CLOSE" : "DEALLOCATE", quoted);
	r = PQsendQueryParams(s->conn, sql, 0, NULL, NULL, NULL, NULL, 0);
	PQfreemem(quoted);
	cnc_free(s->mem, sql);
	return r;
}

static int
begin_close(struct cnd_session *s, const struct cnd_pg_msg *m)
{
	if (!set_mode(s, 1) ||
		!call(s, send_close(s, m->body[0], (const char *)m->body + 1)))
		return 0;
	(void)op_push(s->libpq, OP_CLOSE);
	s->libpq->is_open = 1;
	return 1;
}

static int
begin_end(struct cnd_session *s, uint8_t type)
{
	struct cnd_pg_libpq *l = s->libpq;

	if (l->skips_sync) {
		l->skips_sync = 0;
		return 1;
	}
	if (!set_mode(s, 1))
		return 0;
	return type == 'S' ? begin_sync(s) : call(s, PQsendFlushRequest(s->conn));
}

/* Without a copy that would take them the server passes over them, too. */
static int
put_copy(struct cnd_session *s, const struct cnd_pg_msg *m)
{
	struct cnd_pg_libpq *l = s->libpq;
	struct op *op = l->n > 0 ? op_at(l, 0) : NULL;

	if (op == NULL || op->copy != 'G')
		return 1;
	if (m->type == 'd')
		return call(s,
			PQputCopyData(s->conn, (const char *)m->body, (int)m->len) == 1);
	op->copy = 0;
	l->skips_sync = op->kind == OP_EXECUTE;
	return call(s, PQputCopyEnd(s->conn,
			       m->type == 'f' ? (const char *)m->body : NULL) == 1);
}

static int
begin_function(struct cnd_session *s)
{
	return set_mode(s, 0) && begin_refused(s,
					 "a function cannot be called by its number with "
					 "wire=libpq: call it in SQL",
					 1);
}

/* The next message, if it can be carried out now: 1. */
static int
begin_next(struct cnd_session *s)
{
	struct cnd_pg_libpq *l = s->libpq;
	struct cnd_pg_msg m, next;
	size_t size;
	int r = peek(l, 0, &m);

	if (r <= 0 || l->is_broken)
		return 0;
	size = (size_t)r;
	switch (m.type) {
	case 'Q':
		r = begin_query(s, &m);
		break;
	case 'P':
		r = peek(l, size, &next) > 0 && next.type == 'B' ? begin_execute(s, &size)
								 : begin_prepare(s, &m);
		break;
	case 'B':
		r = begin_execute(s, &size);
		break;
	case 'D':
		r = begin_describe(s, &m);
		break;
	case 'C':
		r = begin_close(s, &m);
		break;
	case 'S':
	case 'H':
		r = begin_end(s, m.type);
		break;
	case 'F':
		r = begin_function(s);
		break;
	case 'E':
		/* of a portal that was refused */
		r = 1;
		break;
	default:
		r = put_copy(s, &m);
		break;
	}
	if (r)
		cnc_buf_consume(&l->todo, size);
	return r;
}

/* ---- the transport ---- */

static void
work(struct cnd_session *s)
{
	struct cnd_pg_libpq *l = s->libpq;

	do {
		while (l->n > 0 && !l->is_broken && cnc_buf_len(&l->made) < MADE_BYTES &&
			take_one(s))
			continue;
	} while (cnc_buf_len(&l->made) < MADE_BYTES && begin_next(s));
	if (l->n == 0)
		make_notifications(s);
}

static int
lost(struct cnd_session *s)
{
	struct cnd_pg_libpq *l = s->libpq;

	if (l->status < 0)
		return cnd_pg_lost(s, CNC_SQLSTATE(NO_MEMORY),
			"no memory for what %s sent", s->server);
	if (PQstatus(s->conn) == CONNECTION_BAD)
		return cnd_pg_lost(s, CNC_SQLSTATE(CONNECTION_LOST),
			"the connection to %s was lost: %s", s->server,
			PQerrorMessage(s->conn));
	return cnd_pg_broken(s, PQerrorMessage(s->conn));
}

int
cnd_pg_libpq_receive(struct cnd_session *s, struct cnc_buf **ret_made, short *ret_events)
{
	struct cnd_pg_libpq *l = s->libpq;
	int is_open = 1;
	int left;

	*ret_made = &l->made;
	work(s);
	if (cnc_buf_len(&l->made) == 0 && !l->is_broken) {
		is_open = PQconsumeInput(s->conn);
		work(s);
		if (l->n == 0 && cnc_buf_len(&l->made) == 0)
			make_parameters(s);
	}
	if (l->status < 0)
		return lost(s);
	if (cnc_buf_len(&l->made) > 0)
		return 1;
	if (l->is_broken || !is_open || PQstatus(s->conn) == CONNECTION_BAD)
		return lost(s);
	left = PQflush(s->conn);
	*ret_events = left > 0 ? POLLIN | POLLOUT : POLLIN;
	return 0;
}

int
cnd_pg_libpq_send(struct cnd_session *s)
{
	struct cnd_pg_libpq *l = s->libpq;
	int r = cnc_buf_append(&l->todo, cnc_buf_head(&s->out), cnc_buf_len(&s->out));

	cnc_buf_consume(&s->out, cnc_buf_len(&s->out));
	if (r < 0) {
		note(l, r);
		return lost(s);
	}
	while (begin_next(s))
		continue;
	if (l->status < 0)
		return lost(s);
	/* that it cannot be sent is told when its answer is read */
	while (PQflush(s->conn) > 0) {
		r = cnd_pg_wait(s, POLLIN | POLLOUT);
		if (r < 0)
			return r;
		if (!PQconsumeInput(s->conn))
			break;
	}
	return CENOTE_OK;
}

int
cnd_pg_libpq_init(struct cnd_session *s)
{
	struct cnd_pg_libpq *l = cnc_calloc(s->mem, 1, sizeof(*l));

	if (l == NULL || PQsetnonblocking(s->conn, 1) != 0) {
		cnc_free(s->mem, l);
		return CENOTE_ERR_NOMEM;
	}
	cnc_buf_init(&l->todo, s->mem, MADE_MAX);
	cnc_buf_init(&l->made, s->mem, MADE_MAX);
	s->libpq = l;
	(void)PQsetNoticeReceiver(s->conn, take_notice, l);
	return CENOTE_OK;
}

void
cnd_pg_libpq_finish(struct cnd_session *s)
{
	if (s->libpq == NULL)
		return;
	cnc_buf_finish(&s->libpq->todo);
	cnc_buf_finish(&s->libpq->made);
	cnc_free(s->mem, s->libpq);
	s->libpq = NULL;
}
