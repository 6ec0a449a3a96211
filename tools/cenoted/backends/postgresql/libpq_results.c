/* SPDX-License-Identifier: BSD-2-Clause */
#include "libpq.h"

/* What libpq has of a call becomes the messages that the server would have sent. */

/* ---- making messages ---- */

static void
make_plain(struct cnd_pg_libpq *l, uint8_t type)
{
	cnd_pg_libpq_note(l, cnd_pg_add_plain(&l->made, type));
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
	cnd_pg_libpq_note(l, r < 0 ? r : cnd_pg_msg_end(&l->made, mark));
}

static int
is_fatal(const PGresult *res)
{
	const char *severity = PQresultErrorField(res, PG_DIAG_SEVERITY_NONLOCALIZED);

	return severity != NULL &&
	       (strcmp(severity, "FATAL") == 0 || strcmp(severity, "PANIC") == 0);
}

/* What the server says before it ends an idle session is a notice to libpq. */
void
cnd_pg_libpq_take_notice(void *user, const PGresult *res)
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
	cnd_pg_libpq_note(l, r < 0 ? r : cnd_pg_msg_end(b, mark));
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
		cnd_pg_libpq_note(l, r);
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
	cnd_pg_libpq_note(l, r < 0 ? r : cnd_pg_msg_end(b, mark));
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
	cnd_pg_libpq_note(l, r < 0 ? r : cnd_pg_msg_end(b, mark));
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
	cnd_pg_libpq_note(l, r < 0 ? r : cnd_pg_msg_end(b, mark));
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
	cnd_pg_libpq_note(l, r < 0 ? r : cnd_pg_msg_end(b, mark));
}

void
cnd_pg_libpq_take_notifications(struct cnd_session *s)
{
	PGnotify *n;

	while ((n = PQnotifies(s->conn)) != NULL) {
		make_notification(s->libpq, n);
		PQfreemem(n);
	}
}

/* libpq does not say that one has changed. */
void
cnd_pg_libpq_take_parameters(struct cnd_session *s)
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

	cnd_pg_libpq_take_notifications(s);
	cnd_pg_libpq_take_parameters(s);
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
	cnd_pg_libpq_note(l, r < 0 ? r : cnd_pg_msg_end(&l->made, mark));
}

static void
make_complete(struct cnd_pg_libpq *l, PGresult *res)
{
	const char *tag = PQcmdStatus(res);

	cnd_pg_libpq_note(l, cnd_pg_add_query(&l->made, 'C', tag, strlen(tag)));
}

/* ---- results ---- */

static void
op_pop(struct cnd_pg_libpq *l)
{
	l->first = (l->first + 1) % OPS_MAX;
	l->n--;
}

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

/* As cnd_pg_libpq_take(). */
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
	cnd_pg_libpq_note(l, r < 0 ? r : cnd_pg_msg_end(&l->made, mark));
	PQfreemem(data);
	return 1;
}

int
cnd_pg_libpq_take(struct cnd_session *s)
{
	struct cnd_pg_libpq *l = s->libpq;
	struct op *op = cnd_pg_op_at(l, 0);
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
