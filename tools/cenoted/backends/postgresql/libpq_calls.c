/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>

#include "libpq.h"

/* Messages to the server become calls of libpq. */

/* No statement: the server says no to it, and so ends the unit of requests. */
#define REFUSED "wire=libpq"

static struct op *
op_push(struct cnd_pg_libpq *l, enum op_kind kind)
{
	struct op *op = cnd_pg_op_at(l, l->n++);

	*op = (struct op){ .kind = kind };
	return op;
}

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
		const struct op *last = cnd_pg_op_at(l, l->n - 1);

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
		cnd_pg_libpq_note(l, CENOTE_ERR_NOMEM);
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
			cnd_pg_op_at(l, l->n - 1)->state = g.state;
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
		cnd_pg_libpq_note(l, CENOTE_ERR_NOMEM);
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
	struct op *op = l->n > 0 ? cnd_pg_op_at(l, 0) : NULL;

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

int
cnd_pg_libpq_call(struct cnd_session *s)
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
