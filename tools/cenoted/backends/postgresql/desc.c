/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The columns of a result, from a RowDescription: types, formats, and how each value is written. run.c and stmt.c
 * call it. It owns struct cnd_pg_desc.
 */
#include "session.h"

void
cnd_pg_desc_finish(struct cnd_session *s, struct cnd_pg_desc *d)
{
	cnc_free(s->mem, d->columns);
	cnc_free(s->mem, d->puts);
	cnc_free(s->mem, d->wire);
	cnc_free(s->mem, d->body);
	*d = (struct cnd_pg_desc){ 0 };
}

static int
reserve(struct cnd_session *s, struct cnd_pg_desc *d, uint32_t n, size_t body)
{
	if (n > d->cap) {
		struct cnp_column *columns = cnc_calloc(s->mem, n, sizeof(*columns));
		cnd_pg_put **puts = cnc_calloc(s->mem, n, sizeof(*puts));
		uint16_t *wire = cnc_calloc(s->mem, n, sizeof(*wire));

		if (columns == NULL || puts == NULL || wire == NULL) {
			cnc_free(s->mem, columns);
			cnc_free(s->mem, puts);
			cnc_free(s->mem, wire);
			return CENOTE_ERR_NOMEM;
		}
		cnc_free(s->mem, d->columns);
		cnc_free(s->mem, d->puts);
		cnc_free(s->mem, d->wire);
		d->columns = columns;
		d->puts = puts;
		d->wire = wire;
		d->cap = n;
	}
	if (body > d->body_cap) {
		uint8_t *grown = cnc_realloc(s->mem, d->body, body);

		if (grown == NULL)
			return CENOTE_ERR_NOMEM;
		d->body = grown;
		d->body_cap = body;
	}
	return CENOTE_OK;
}

static void
fill(struct cnp_column *c, const struct cnd_pg_field *f)
{
	*c = (struct cnp_column)CNP_COLUMN_INIT;
	c->name = (struct cnp_str){ f->name, f->name_len };
	c->native_type = f->type;
	c->modifier = f->modifier;
	c->length = f->length > 0 ? f->length : -1;
	c->table_id = f->table;
	c->attnum = f->attnum;
	cnd_pg_type_fill(c);
}

int
cnd_pg_desc_read(struct cnd_session *s, struct cnd_pg_desc *d, const struct cnd_pg_msg *m)
{
	struct cnd_pg_msg kept = *m;
	struct cnd_pg_reader r;
	struct cnd_pg_field f;
	uint32_t n;
	int status;

	cnd_pg_reader_init(&r, m);
	n = cnd_pg_read_count(&r);
	d->n = 0;
	/* each column takes 19 bytes at least */
	if (r.bad || n > m->len / 19)
		return CENOTE_ERR_PROTOCOL;
	status = reserve(s, d, n, m->len);
	if (status < 0)
		return status;
	memcpy(d->body, m->body, m->len);
	d->body_len = m->len;
	kept.body = d->body;
	cnd_pg_reader_init(&r, &kept);
	(void)cnd_pg_read_count(&r);
	for (uint32_t i = 0; i < n; i++) {
		cnd_pg_read_field(&r, &f);
		fill(&d->columns[i], &f);
		d->wire[i] = f.format;
	}
	if (cnd_pg_reader_end(&r) < 0)
		return CENOTE_ERR_PROTOCOL;
	d->n = n;
	return CENOTE_OK;
}

static uint8_t
wanted_format(uint8_t format, struct cnp_str formats, uint32_t i)
{
	return formats.n > i ? (uint8_t)formats.p[i] : format;
}

int
cnd_pg_desc_form(struct cnd_session *s, struct cnd_pg_desc *d, uint8_t format,
	struct cnp_str formats)
{
	(void)s;
	d->is_plain = 1;
	for (uint32_t i = 0; i < d->n; i++) {
		uint8_t wanted = wanted_format(format, formats, i);
		struct cnp_column *c = &d->columns[i];

		d->puts[i] = NULL;
		if (wanted == CENOTE_FORMAT_CANONICAL)
			d->puts[i] = cnd_pg_put_of(c->native_type, d->wire[i]);
		else
			wanted = d->wire[i] == CND_PG_BINARY ? CENOTE_FORMAT_BINARY
							     : CENOTE_FORMAT_TEXT;
		c->format = wanted;
		if (d->puts[i] != NULL)
			d->is_plain = 0;
	}
	return CENOTE_OK;
}

int
cnd_pg_desc_copy(
	struct cnd_session *s, struct cnd_pg_desc *to, const struct cnd_pg_desc *from)
{
	struct cnd_pg_msg m = { 'T', from->body, from->body_len };
	int r;

	if (from->n == 0) {
		to->n = 0;
		return CENOTE_OK;
	}
	r = cnd_pg_desc_read(s, to, &m);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < to->n; i++) {
		to->wire[i] = from->wire[i];
		to->puts[i] = from->puts[i];
		to->columns[i].format = from->columns[i].format;
	}
	to->is_plain = from->is_plain;
	return CENOTE_OK;
}
