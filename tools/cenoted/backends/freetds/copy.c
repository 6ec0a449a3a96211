/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * COPY table [(columns)] FROM STDIN, which is not Transact-SQL. The rows that the client sends are
 * inserted, many with one statement, and all of them or none. ct-library's own bulk calls are not
 * used: in FreeTDS 1.3 they write values above 4 kB behind their buffer, skip a row that cannot be
 * converted, do not convert characters, and send wrong values of datetime2.
 */
#include <stdio.h>
#include <string.h>

#include "core/sql.h"
#include "tds.h"

/* The server takes 1,000 rows in one VALUES; a longer text is no faster. */
#define ROWS_MAX  500u
#define BATCH_MAX 65536u

/* PostgreSQL's SQLSTATE for a bad COPY file format. */
static const char bad_copy[] = "22P04";

struct copy {
	struct cnd_session *s;
	struct cnd_sink *sink;
	struct cnp_str table; /* the table's name, as in the statement */
	struct cnp_str names; /* the columns' names, as in the statement; empty: all */
	const struct cnp_column *columns;
	uint32_t n;
	struct cnc_buf line; /* the beginning of a line that is not complete */
	struct cnc_buf sql;
	size_t head; /* bytes of `sql` up to VALUES */
	uint64_t n_lines;
	uint32_t n_batched; /* rows in `sql` */
	uint8_t has_begun; /* no transaction was open before the copy */
	uint8_t has_ended; /* a line \. has ended the data */
	/* The sink that gets the table's columns. */
	struct cnd_sink asking;
};

/* ---- the statement ---- */

static int
is_name(const struct cnc_sql_token *t)
{
	return t->kind == CNC_SQL_WORD || t->kind == CNC_SQL_NAME;
}

/* Read names: a.b.c, or a, b, c. Returns their text, and the next token. */
static struct cnp_str
read_names(struct cnc_sql *x, char between, struct cnc_sql_token *ret_next)
{
	struct cnc_sql_token t = cnc_sql_next(x);
	struct cnp_str text = { t.p, 0 };

	while (is_name(&t)) {
		text.n = (size_t)(t.p + t.n - text.p);
		t = cnc_sql_next(x);
		if (!cnc_sql_is_char(&t, between))
			break;
		t = cnc_sql_next(x);
	}
	*ret_next = t;
	return text;
}

/* Read what follows STDIN. "with (format text)" is allowed, since it is the only format. */
static struct cnc_sql_token
pass_format(struct cnc_sql *x)
{
	struct cnc_sql_token with = cnc_sql_next(x), t[4];

	if (!cnc_sql_is(&with, "with"))
		return with;
	for (size_t i = 0; i < 4; i++)
		t[i] = cnc_sql_next(x);
	return cnc_sql_is_char(&t[0], '(') && cnc_sql_is(&t[1], "format") &&
			       cnc_sql_is(&t[2], "text") && cnc_sql_is_char(&t[3], ')')
		       ? cnc_sql_next(x)
		       : with;
}

/* Read a COPY statement. Returns 0 if the text is something else, which the server will judge. */
static int
read_statement(const char *sql, size_t len, struct cnp_str *ret_table,
	struct cnp_str *ret_names, struct cnc_sql_token *ret_end)
{
	struct cnc_sql x = cnc_sql_begin(sql, len, CNC_SQL_TDS);
	struct cnc_sql_token t = cnc_sql_next(&x);

	if (!cnc_sql_is(&t, "copy"))
		return 0;
	*ret_table = read_names(&x, '.', &t);
	*ret_names = (struct cnp_str){ NULL, 0 };
	if (cnc_sql_is_char(&t, '(')) {
		*ret_names = read_names(&x, ',', &t);
		if (!cnc_sql_is_char(&t, ')') || ret_names->n == 0)
			return 0;
		t = cnc_sql_next(&x);
	}
	if (ret_table->n == 0 || !cnc_sql_is(&t, "from"))
		return 0;
	t = cnc_sql_next(&x);
	if (!cnc_sql_is(&t, "stdin"))
		return 0;
	t = pass_format(&x);
	*ret_end = cnc_sql_is_char(&t, ';') ? cnc_sql_next(&x) : t;
	return 1;
}

int
cnd_tds_is_copy(const char *sql, size_t len)
{
	struct cnp_str table, names;
	struct cnc_sql_token end;

	return read_statement(sql, len, &table, &names, &end);
}

/* ---- the table ---- */

static struct copy *
copy_of(struct cnd_sink *asking)
{
	return (struct copy *)(void *)((char *)asking - offsetof(struct copy, asking));
}

static int
take_columns(
	struct cnd_sink *asking, const struct cnp_column *columns, uint32_t n, int known)
{
	(void)known;
	copy_of(asking)->columns = columns;
	copy_of(asking)->n = n;
	return CENOTE_OK;
}

static int
take_done(struct cnd_sink *asking, const struct cnp_done *done)
{
	(void)asking;
	(void)done;
	return CENOTE_OK;
}

static int
add_text(struct copy *c, const char *text)
{
	return cnc_buf_append(&c->sql, text, strlen(text));
}

/* Asks for the columns that a client can fill, if the statement names none. The server itself fills
 * an identity. */
#define ASK_NAMES_BEGIN                                                                  \
	"select string_agg(cast(quotename(name) as nvarchar(max)), N', ') within group " \
	"(order by column_id) from sys.columns where is_identity = 0 and is_computed = " \
	"0 and type_name(user_type_id) not in ('timestamp', 'rowversion') and "          \
	"object_id = object_id("

static int
ask_names(struct copy *c)
{
	char *names[1] = { NULL };
	int r = add_text(c, ASK_NAMES_BEGIN);

	if (r == CENOTE_OK)
		r = cnd_tds_quote(&c->sql, c->table.p, c->table.n);
	if (r == CENOTE_OK)
		r = cnc_buf_append(&c->sql, ")", 2);
	if (r == CENOTE_OK)
		r = cnd_tds_ask(c->s, (const char *)cnc_buf_head(&c->sql), names, 1);
	cnc_buf_clear(&c->sql, SIZE_MAX);
	if (r == CENOTE_OK && names[0] && strlen(names[0]) < CND_TDS_ASK_MAX - 1)
		c->names = cnp_str(names[0]);
	return r;
}

/* "select top 0 a, b from t" tells what the columns are. */
static int
ask_columns(struct copy *c)
{
	static const struct cnd_sink_ops ops = { .columns = take_columns,
		.done = take_done };
	static const struct cnd_exec plain = { .format = CENOTE_FORMAT_TEXT };
	struct cnd_tds_run q = {
		.s = c->s, .exec = &plain, .sink = &c->asking, .is_describing = 1
	};
	int r = add_text(c, "select top 0 ");

	c->asking = (struct cnd_sink){ .ops = &ops, .diag = c->sink->diag };
	if (r == CENOTE_OK)
		r = c->names.n > 0 ? cnc_buf_append(&c->sql, c->names.p, c->names.n)
				   : add_text(c, "*");
	if (r == CENOTE_OK)
		r = add_text(c, " from ");
	if (r == CENOTE_OK)
		r = cnc_buf_append(&c->sql, c->table.p, c->table.n);
	if (r == CENOTE_OK)
		r = cnd_tds_run(
			&q, (const char *)cnc_buf_head(&c->sql), cnc_buf_len(&c->sql));
	cnc_buf_clear(&c->sql, SIZE_MAX);
	return r;
}

/* Write the beginning of each batch. */
static int
make_head(struct copy *c)
{
	int r = add_text(c, "insert into ");

	if (r == CENOTE_OK)
		r = cnc_buf_append(&c->sql, c->table.p, c->table.n);
	if (r == CENOTE_OK)
		r = add_text(c, " (");
	if (r == CENOTE_OK)
		r = cnc_buf_append(&c->sql, c->names.p, c->names.n);
	if (r == CENOTE_OK)
		r = add_text(c, ") values ");
	c->head = cnc_buf_len(&c->sql);
	return r;
}

static int
look_at_table(struct copy *c)
{
	int r = c->names.n > 0 ? CENOTE_OK : ask_names(c);

	if (r == CENOTE_OK)
		r = ask_columns(c);
	if (r < 0)
		return r;
	return c->names.n > 0
		       ? make_head(c)
		       : cnd_refuse(c->s->diag, CNC_SQLSTATE(UNSUPPORTED),
				 "COPY table (columns) FROM STDIN",
				 "which columns %.*s has cannot be found out: name them",
				 (int)c->table.n, c->table.p);
}

/* ---- all or nothing ---- */

static int
begin_unit(struct copy *c)
{
	struct cnd_session *s = c->s;

	c->has_begun = s->tx == CENOTE_TX_IDLE;
	if (s->tx != CENOTE_TX_IDLE)
		return cnd_tds_do(s, "save transaction cenote_copy");
	/* with autocommit off, the first INSERT begins the transaction */
	return s->is_chained ? CENOTE_OK : cnd_tds_do(s, "begin transaction");
}

static int
end_unit(struct copy *c)
{
	return c->has_begun && !c->s->is_chained ? cnd_tds_do(c->s, "commit transaction")
						 : CENOTE_OK;
}

/* Undo the copy. The error that it failed with stays. */
static void
undo_unit(struct copy *c)
{
	struct cnd_tds_aside aside;

	cnd_tds_aside_begin(c->s, &aside, 1);
	if (cnd_tds_do(c->s, c->has_begun ? "if @@trancount > 0 rollback transaction"
					  : "if xact_state() = 1 rollback transaction "
					    "cenote_copy") < 0)
		c->s->is_lost = 1;
	cnd_tds_aside_end(c->s, &aside);
}

/* ---- rows ---- */

/* Add the lines that the error is about, as field W. */
static void
say_where(struct copy *c)
{
	struct cnc_diag *diag = c->s->diag;
	char where[80];
	struct cnc_buf b;
	unsigned long long last = c->n_lines, first = last - c->n_batched + 1;
	int n = snprintf(where, sizeof(where), "COPY, lines %llu to %llu", first, last);

	cnc_buf_init(&b, c->s->mem, BATCH_MAX);
	if (cnc_diag_put(&b, diag) == CENOTE_OK &&
		cnc_diag_put_field(&b, 'W', where, (size_t)n) == CENOTE_OK)
		(void)cnc_diag_set_fields(diag, cnc_buf_head(&b), cnc_buf_len(&b));
	cnc_buf_finish(&b);
}

static int
send_batch(struct copy *c)
{
	int r;

	if (c->n_batched == 0)
		return CENOTE_OK;
	r = cnc_buf_append(&c->sql, "", 1);
	if (r == CENOTE_OK)
		r = cnd_tds_do(c->s, (const char *)cnc_buf_head(&c->sql));
	if (r == CENOTE_ERR_SERVER && c->s->has_error)
		say_where(c);
	cnc_buf_truncate(&c->sql, c->head);
	c->n_batched = 0;
	return r;
}

static int
refuse_line(struct copy *c, const char *sqlstate, const char *why)
{
	return cnd_refuse(c->s->diag, sqlstate, NULL, "COPY, line %llu: %s",
		(unsigned long long)c->n_lines, why);
}

/* The value of a digit; 16 if the character is no digit. */
static int
digit_of(char ch)
{
	static const char digits[] = "0123456789abcdef0123456789ABCDEF";
	const char *at = ch ? strchr(digits, ch) : NULL;

	return at ? (int)((at - digits) % 16) : 16;
}

/* Read at most `max` digits of a base. Returns how many there are. */
static size_t
read_code(const char *p, const char *end, size_t max, int base, char *ret_byte)
{
	unsigned code = 0;
	size_t n = 0;

	for (; n < max && p + n < end && digit_of(p[n]) < base; n++)
		code = code * (unsigned)base + (unsigned)digit_of(p[n]);
	*ret_byte = (char)code;
	return n;
}

/* Read what follows a backslash. Returns the byte, and how many characters stood for it. */
static size_t
read_escape(const char *p, const char *end, char *ret_byte)
{
	static const char letters[] = "bfnrtv", bytes[] = "\b\f\n\r\t\v";
	const char *at = *p ? strchr(letters, *p) : NULL;
	size_t n;

	*ret_byte = *p;
	if (at) {
		*ret_byte = bytes[at - letters];
		return 1;
	}
	if (*p == 'x') {
		n = read_code(p + 1, end, 2, 16, ret_byte);
		if (n == 0)
			*ret_byte = 'x';
		return n + 1;
	}
	n = digit_of(*p) < 8 ? read_code(p, end, 3, 8, ret_byte) : 0;
	return n > 0 ? n : 1;
}

/* Unescape a value in place. Returns its length, or -1 if it ends with a backslash. */
static ptrdiff_t
unescape(char *text, size_t len)
{
	const char *p = text, *end = text + len;
	char *to = text;

	for (; p < end; to++) {
		if (*p != '\\') {
			*to = *p++;
			continue;
		}
		if (++p == end)
			return -1;
		p += read_escape(p, end, to);
	}
	return to - text;
}

/* Bytes are \x6869 or 0x6869. */
static int
add_bytes(struct copy *c, const char *text, size_t len)
{
	size_t i = 2;

	while (i < len && digit_of(text[i]) < 16)
		i++;
	if (len < 2 || (text[0] != '\\' && text[0] != '0') || text[1] != 'x' || i < len ||
		len % 2 != 0)
		return refuse_line(c, CNC_SQLSTATE(BAD_CAST),
			"bytes are hexadecimal digits behind \\x");
	return add_text(c, "0x") < 0 ? CENOTE_ERR_NOMEM
				     : cnc_buf_append(&c->sql, text + 2, len - 2);
}

/* Types that the server converts from a text only explicitly, or by rules that depend on the language. */
static const struct form {
	CS_INT datatype;
	const char *before;
	const char *after;
} forms[] = {
	{ CS_MONEY_TYPE, "cast(", " as money)" },
	{ CS_MONEY4_TYPE, "cast(", " as smallmoney)" },
	{ CS_DATETIME_TYPE, "cast(", " as datetime2)" },
	{ CS_DATETIME4_TYPE, "cast(", " as datetime2)" },
	{ CS_BIGDATETIME_TYPE, "cast(", " as datetimeoffset)" },
};

static int
add_value(struct copy *c, const struct cnp_column *column, const char *text, size_t len)
{
	static const struct form plain = { 0, "", "" };
	const struct form *form = &plain;
	int r;

	if (column->type == CENOTE_TYPE_BYTES)
		return add_bytes(c, text, len);
	if (memchr(text, 0, len))
		return refuse_line(
			c, "22021", "a text for this server cannot hold a zero byte");
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (forms[i].datatype == (CS_INT)column->native_type)
			form = &forms[i];
	}
	r = add_text(c, form->before);
	if (r == CENOTE_OK)
		r = cnd_tds_quote(&c->sql, text, len);
	return r == CENOTE_OK ? add_text(c, form->after) : r;
}

static int
add_field(struct copy *c, const struct cnp_column *column, char *text, size_t len)
{
	ptrdiff_t n;

	if (len == 2 && memcmp(text, "\\N", 2) == 0)
		return add_text(c, "null");
	n = unescape(text, len);
	return n < 0 ? refuse_line(c, bad_copy, "a backslash ends a value")
		     : add_value(c, column, text, (size_t)n);
}

static int
add_row(struct copy *c, char *text, size_t len)
{
	char *end = text + len, *tab;
	uint32_t i = 0;
	int r = add_text(c, c->n_batched == 0 ? "(" : ", (");

	for (; r == CENOTE_OK; text = tab + 1) {
		tab = memchr(text, '\t', (size_t)(end - text));
		if (i == c->n || (!tab && i + 1 < c->n))
			return refuse_line(c, bad_copy,
				i == c->n ? "there are more values than columns"
					  : "there are fewer values than columns");
		if (i > 0)
			r = add_text(c, ", ");
		if (r == CENOTE_OK)
			r = add_field(c, &c->columns[i], text,
				(size_t)((tab ? tab : end) - text));
		i++;
		if (!tab)
			break;
	}
	return r == CENOTE_OK ? add_text(c, ")") : r;
}

/* Take a line without its end. The text is changed. */
static int
take_line(struct copy *c, char *text, size_t len)
{
	int r;

	if (len > 0 && text[len - 1] == '\r')
		len--;
	c->has_ended |= len == 2 && memcmp(text, "\\.", 2) == 0;
	if (c->has_ended)
		return CENOTE_OK;
	c->n_lines++;
	r = add_row(c, text, len);
	if (r < 0)
		return r;
	c->n_batched++;
	return c->n_batched == ROWS_MAX || cnc_buf_len(&c->sql) >= BATCH_MAX
		       ? send_batch(c)
		       : CENOTE_OK;
}

/* Take a piece of the client's data: use whole lines, and keep the rest. */
static int
take_piece(struct copy *c, const char *p, size_t n)
{
	const char *end;
	int r = CENOTE_OK;

	while (r == CENOTE_OK && n > 0 && !c->has_ended) {
		end = memchr(p, '\n', n);
		r = cnc_buf_append(&c->line, p, end ? (size_t)(end - p) : n);
		if (r < 0 || !end)
			return r;
		r = take_line(c, (char *)cnc_buf_head(&c->line), cnc_buf_len(&c->line));
		cnc_buf_clear(&c->line, BATCH_MAX);
		n -= (size_t)(end + 1 - p);
		p = end + 1;
	}
	return r;
}

static int
take_all(struct copy *c)
{
	struct cnp_str data;
	int r;

	do {
		r = c->sink->ops->copy_read(c->sink, c->s->fd, &data);
		/* the server sends something only when it closes the connection */
		if (r == CENOTE_AGAIN)
			r = cnd_tds_do(c->s, "select 1");
		else if (r == CENOTE_OK)
			r = take_piece(c, data.p, data.n);
	} while (r == CENOTE_OK);
	if (r != CENOTE_DONE)
		return r;
	r = CENOTE_OK;
	if (cnc_buf_len(&c->line) > 0 && !c->has_ended)
		r = take_line(c, (char *)cnc_buf_head(&c->line), cnc_buf_len(&c->line));
	return r == CENOTE_OK ? send_batch(c) : r;
}

/* ---- the request ---- */

static int
begin_copy(struct copy *c)
{
	struct cnp_copy_in in = { .format = CENOTE_FORMAT_TEXT, .name = CNP_STR_NONE };
	char *formats = cnc_arena_alloc(&c->s->arena, c->n);

	if (!formats)
		return CENOTE_ERR_NOMEM;
	memset(formats, CENOTE_FORMAT_TEXT, c->n);
	in.formats = (struct cnp_str){ formats, c->n };
	return c->sink->ops->copy_in(c->sink, &in);
}

static int
answer(struct copy *c)
{
	char tag[40];
	struct cnp_done done = { .affected = (int64_t)c->n_lines };

	(void)snprintf(tag, sizeof(tag), "COPY %llu", (unsigned long long)c->n_lines);
	done.tag = cnp_str(tag);
	return c->sink->ops->done(c->sink, &done);
}

static int
run(struct copy *c)
{
	int r = look_at_table(c);

	if (r == CENOTE_OK)
		r = begin_unit(c);
	if (r < 0)
		return r;
	r = begin_copy(c);
	if (r == CENOTE_OK)
		r = take_all(c);
	if (r == CENOTE_OK)
		r = end_unit(c);
	/* if the client has gone, the end of its session undoes the copy */
	if (r < 0 && r != CENOTE_ERR_CONN)
		undo_unit(c);
	return r < 0 ? r : answer(c);
}

int
cnd_tds_copy(struct cnd_session *s, const char *sql, size_t len,
	const struct cnd_exec *exec, struct cnd_sink *sink)
{
	struct copy c = { .s = s, .sink = sink };
	struct cnc_sql_token end;
	int r;

	if (!read_statement(sql, len, &c.table, &c.names, &end) || s->is_sybase ||
		!sink->ops->copy_in)
		return CENOTE_ERR_UNSUPPORTED;
	if (end.kind != CNC_SQL_END)
		return cnd_refuse(s->diag, CNC_SQLSTATE(UNSUPPORTED), NULL,
			"COPY takes text alone: WITH (FORMAT text), or nothing");
	if (exec->n_params > 0)
		return cnd_refuse(s->diag, CNC_SQLSTATE(WRONG_PARAM_COUNT), NULL,
			"COPY takes no parameters, %u were given",
			(unsigned)exec->n_params);
	cnc_buf_init(&c.line, s->mem, CND_TDS_SQL_MAX);
	cnc_buf_init(&c.sql, s->mem, CND_TDS_SQL_MAX);
	r = run(&c);
	if (r == CENOTE_ERR_LIMIT)
		r = refuse_line(&c, CNC_SQLSTATE(LIMIT), "it is longer than 1 GB");
	cnc_buf_finish(&c.line);
	cnc_buf_finish(&c.sql);
	return r;
}
