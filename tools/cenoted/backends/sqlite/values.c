/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bind parameters, and write rows in the format that the client wants. exec.c and catalog.c call it. It has no
 * state.
 */
#include <math.h>
#include <string.h>
#include <strings.h>

#include "core/dt.h"

#include "sqlite.h"

/* One parameter to bind. The functions return CENOTE_OK or CENOTE_ERR_SERVER, and leave SQLite's
 * code in `rc`. */
struct binding {
	struct cnd_session *s;
	sqlite3_stmt *handle;
	int i; /* the parameter's number, from 1 */
	sqlite3_destructor_type lifetime; /* of borrowed text */
	int rc;
};

static int
bind_null(struct binding *b, const struct cnc_value *v)
{
	(void)v;
	b->rc = sqlite3_bind_null(b->handle, b->i);
	return CENOTE_OK;
}

static int
bind_int64(struct binding *b, const struct cnc_value *v)
{
	b->rc = sqlite3_bind_int64(b->handle, b->i, v->as.i64);
	return CENOTE_OK;
}

static int
bind_uint64(struct binding *b, const struct cnc_value *v)
{
	if (v->as.u64 > INT64_MAX)
		return cnd_sq_refuse(b->s, CNC_SQLSTATE(OUT_OF_RANGE),
			"Bind it as decimal or text.",
			"parameter %d: %llu does not fit in SQLite's signed 64-bit "
			"integer",
			b->i, (unsigned long long)v->as.u64);
	b->rc = sqlite3_bind_int64(b->handle, b->i, (int64_t)v->as.u64);
	return CENOTE_OK;
}

static int
bind_double(struct binding *b, const struct cnc_value *v)
{
	/* SQLite would store NULL without an error. */
	if (isnan(v->as.f64))
		return cnd_sq_refuse(b->s, CNC_SQLSTATE(OUT_OF_RANGE), NULL,
			"parameter %d: SQLite has no NaN", b->i);
	b->rc = sqlite3_bind_double(b->handle, b->i, v->as.f64);
	return CENOTE_OK;
}

static int
bind_text(struct binding *b, const struct cnc_value *v)
{
	b->rc = sqlite3_bind_text64(b->handle, b->i, v->bytes ? v->bytes : "", v->len,
		b->lifetime, SQLITE_UTF8);
	return CENOTE_OK;
}

static int
bind_bytes(struct binding *b, const struct cnc_value *v)
{
	b->rc = sqlite3_bind_blob64(
		b->handle, b->i, v->bytes ? v->bytes : "", v->len, b->lifetime);
	return CENOTE_OK;
}

static int
bind_datetime(struct binding *b, const struct cnc_value *v)
{
	char buf[CNC_VALUE_TEXT_MAX];
	size_t n = cnc_value_text(v, buf);

	b->rc = sqlite3_bind_text64(
		b->handle, b->i, buf, n, SQLITE_TRANSIENT, SQLITE_UTF8);
	return CENOTE_OK;
}

static int (*const binders[])(struct binding *b, const struct cnc_value *v) = {
	[CENOTE_TYPE_NULL] = bind_null,
	[CENOTE_TYPE_BOOL] = bind_int64,
	[CENOTE_TYPE_INT64] = bind_int64,
	[CENOTE_TYPE_UINT64] = bind_uint64,
	[CENOTE_TYPE_DOUBLE] = bind_double,
	[CENOTE_TYPE_DECIMAL] = bind_text,
	[CENOTE_TYPE_TEXT] = bind_text,
	[CENOTE_TYPE_BYTES] = bind_bytes,
	[CENOTE_TYPE_DATE] = bind_datetime,
	[CENOTE_TYPE_TIME] = bind_datetime,
	[CENOTE_TYPE_TIMESTAMP] = bind_datetime,
	[CENOTE_TYPE_INTERVAL] = bind_text,
	[CENOTE_TYPE_UUID] = bind_text,
	[CENOTE_TYPE_JSON] = bind_text,
	[CENOTE_TYPE_OTHER] = bind_text,
};

static int
bind_one(struct binding *b, const struct cnc_value *v)
{
	if (v->is_null)
		return bind_null(b, v);
	if (v->is_native)
		return v->format == CENOTE_FORMAT_BINARY ? bind_bytes(b, v)
							 : bind_text(b, v);
	if (v->type >= sizeof(binders) / sizeof(binders[0]))
		return cnd_sq_refuse(b->s, CNC_SQLSTATE(BAD_PARAMETER), NULL,
			"parameter %d: unknown type %u", b->i, (unsigned)v->type);
	return binders[v->type](b, v);
}

int
cnd_sq_bind(struct cnd_session *s, struct cnd_sq_stmt *st, const struct cnd_exec *exec)
{
	struct binding b = { .s = s, .handle = st->handle };
	uint32_t i;
	int r;

	if (exec->n_params != st->n_params)
		return cnd_sq_refuse(s, CNC_SQLSTATE(WRONG_PARAM_COUNT), NULL,
			"the statement has %u parameters, but %u values were given",
			(unsigned)st->n_params, (unsigned)exec->n_params);
	/* A portal outlives the request that holds the values. */
	b.lifetime = exec->batch_rows > 0 ? SQLITE_TRANSIENT : SQLITE_STATIC;
	for (i = 0; i < exec->n_params; i++) {
		b.i = (int)i + 1;
		b.rc = SQLITE_OK;
		r = bind_one(&b, &exec->params[i]);
		if (r < 0)
			return r;
		if (b.rc != SQLITE_OK)
			return cnd_sq_fail(s, b.rc, 0);
	}
	return CENOTE_OK;
}

static int
put_int64(struct cnc_batch *w, int64_t v)
{
	char *room;
	int r = cnc_batch_room(w, CNC_VALUE_TEXT_MAX, &room);

	if (r == CENOTE_OK)
		cnc_batch_room_done(w, cnc_int64_text(v, room));
	return r;
}

static int
put_double(struct cnc_batch *w, double v, uint8_t format)
{
	char *room;
	int r = cnc_batch_room(w, CNC_VALUE_TEXT_MAX, &room);

	if (r < 0)
		return r;
	if (format == CENOTE_FORMAT_CANONICAL) {
		cnc_batch_room_done(w, cnc_double_text(v, room));
		return CENOTE_OK;
	}
	/* Like sqlite3_column_text(): 15 digits. */
	sqlite3_snprintf((int)CNC_VALUE_TEXT_MAX, room, "%!.15g", v);
	cnc_batch_room_done(w, strlen(room));
	return CENOTE_OK;
}

/* Canonical forms of text. Each function writes the value. It returns CENOTE_OK, a failure, or
 * CENOTE_DONE if the text is not of its type: then the text is sent as it is stored. */
static int
put_bool_text(struct cnc_batch *w, const char *p, size_t n)
{
	static const struct {
		const char *word;
		const char *canonical;
	} words[] = {
		{ "true", "1" },
		{ "t", "1" },
		{ "yes", "1" },
		{ "on", "1" },
		{ "false", "0" },
		{ "f", "0" },
		{ "no", "0" },
		{ "off", "0" },
	};
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strlen(words[i].word) == n && strncasecmp(p, words[i].word, n) == 0)
			return cnc_batch_put(w, words[i].canonical, 1);
	}
	return CENOTE_DONE;
}

static int
put_text_canonical(struct cnc_batch *w, uint8_t type, const char *p, size_t n)
{
	int r = CENOTE_DONE;

	if (type == CENOTE_TYPE_BOOL)
		r = put_bool_text(w, p, n);
	else if (type == CENOTE_TYPE_DATE || type == CENOTE_TYPE_TIME ||
		 type == CENOTE_TYPE_TIMESTAMP)
		r = cnd_put_canonical(w, type, p, n);
	return r == CENOTE_DONE ? cnc_batch_put(w, p, n) : r;
}

static int
put_uuid_blob(struct cnc_batch *w, const unsigned char *p)
{
	static const char digits[] = "0123456789abcdef";
	char out[36];
	size_t i, n = 0;

	for (i = 0; i < 16; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			out[n++] = '-';
		out[n++] = digits[p[i] >> 4];
		out[n++] = digits[p[i] & 15];
	}
	return cnc_batch_put(w, out, n);
}

static int
put_text(struct cnc_batch *w, sqlite3_value *value, uint8_t canonical_type)
{
	const char *p = (const char *)sqlite3_value_text(value);
	size_t n = (size_t)sqlite3_value_bytes(value);

	if (!p)
		return CENOTE_ERR_NOMEM;
	if (canonical_type != CENOTE_TYPE_NULL)
		return put_text_canonical(w, canonical_type, p, n);
	return cnc_batch_put(w, p, n);
}

static int
put_blob(struct cnc_batch *w, sqlite3_value *value, uint8_t canonical_type)
{
	const void *p = sqlite3_value_blob(value);
	size_t n = (size_t)sqlite3_value_bytes(value);

	/* SQLite allocates a zeroblob() only now. */
	if (!p && n > 0)
		return CENOTE_ERR_NOMEM;
	if (canonical_type == CENOTE_TYPE_UUID && n == 16)
		return put_uuid_blob(w, p);
	return cnc_batch_put(w, n > 0 ? p : "", n);
}

/*
 * `canonical_type`: CENOTE_TYPE_NULL for the server's own text. The column is looked up once, not
 * once each for its type, its text and its length. SQLite calls this value unprotected. That makes
 * no difference where no mutex guards the connection, and ours is opened without one
 * (SQLITE_OPEN_NOMUTEX).
 */
static int
put_value(struct cnc_batch *w, sqlite3_stmt *handle, int i, uint8_t canonical_type,
	uint8_t format)
{
	sqlite3_value *value = sqlite3_column_value(handle, i);
	int64_t v;

	switch (sqlite3_value_type(value)) {
	case SQLITE_NULL:
		return cnc_batch_null(w);
	case SQLITE_INTEGER:
		v = sqlite3_value_int64(value);
		return put_int64(w, canonical_type == CENOTE_TYPE_BOOL ? v != 0 : v);
	case SQLITE_FLOAT:
		return put_double(w, sqlite3_value_double(value), format);
	case SQLITE_TEXT:
		return put_text(w, value, canonical_type);
	default:
		return put_blob(w, value, canonical_type);
	}
}

int
cnd_sq_put_plain(struct cnc_batch *w, sqlite3_stmt *handle, int i)
{
	return put_value(w, handle, i, CENOTE_TYPE_NULL, CENOTE_FORMAT_TEXT);
}

int
cnd_sq_put_row(const struct cnd_sq_stmt *st, uint8_t format, struct cnc_batch *batch)
{
	int r = cnc_batch_row(batch), is_canonical = format == CENOTE_FORMAT_CANONICAL;
	uint32_t i;

	for (i = 0; r == CENOTE_OK && i < st->n_columns; i++)
		r = put_value(batch, st->handle, (int)i,
			is_canonical ? st->columns[i].type : CENOTE_TYPE_NULL, format);
	return cnd_row_end(batch, r);
}
