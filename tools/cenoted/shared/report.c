/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes the answers to cenotectl. It has no state of its own. The master calls it. */
#include "report.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/value.h"

#define REPORT_MAX ((size_t)8 * 1024 * 1024)
#define LINE_BYTES 1024

void
cnd_report_init(struct cnd_report *r)
{
	cnc_buf_init(&r->bytes, &cnc_mem_default, REPORT_MAX);
	r->is_cut = false;
}

void
cnd_report_finish(struct cnd_report *r)
{
	cnc_buf_finish(&r->bytes);
}

static void
add(struct cnd_report *r, const char *bytes, size_t n)
{
	r->is_cut = r->is_cut || cnc_buf_append(&r->bytes, bytes, n) < 0;
}

void
cnd_report_begin(struct cnd_report *r, const char *kind)
{
	add(r, kind, strlen(kind));
}

void
cnd_report_word(struct cnd_report *r, const char *text, size_t len)
{
	static const char specials[] = "\t\n\r\\", letters[] = "tnr\\";

	add(r, "\t", 1);
	for (size_t i = 0; i < len; i++) {
		const char *special = memchr(specials, text[i], sizeof(specials) - 1);

		if (special != NULL) {
			add(r, "\\", 1);
			add(r, &letters[special - specials], 1);
		} else {
			add(r, &text[i], 1);
		}
	}
}

void
cnd_report_end(struct cnd_report *r)
{
	add(r, "\n", 1);
}

void
cnd_report_line(struct cnd_report *r, const char *kind, const char *format, ...)
{
	char text[LINE_BYTES];
	va_list args;

	va_start(args, format);
	/* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is initialized */
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	cnd_report_begin(r, kind);
	cnd_report_word(r, text, strlen(text));
	cnd_report_end(r);
}

/* ---- tables ---- */

static const struct cnd_status_kind *
find_kind(const char *what)
{
	const struct cnd_status_kind *k = cnd_status_kinds;

	if (strcmp(what, cnd_status_clients.what) == 0)
		return &cnd_status_clients;
	while (strcmp(k->what, what) != 0)
		k++;
	return k;
}

static void
add_columns(struct cnd_report *r, const struct cnd_status_kind *k)
{
	char name[64];

	cnd_report_begin(r, "columns");
	for (uint32_t i = 0; i < k->n_fields; i++) {
		snprintf(name, sizeof(name), "%s%s",
			k->fields[i].number != NULL ? "#" : "", k->fields[i].name);
		cnd_report_word(r, name, strlen(name));
	}
	cnd_report_end(r);
}

static void
add_row(struct cnd_report *r, const struct cnd_status_kind *k,
	const struct cnd_status_row *row)
{
	cnd_report_begin(r, "row");
	for (uint32_t i = 0; i < k->n_fields; i++) {
		const struct cnd_status_field *f = &k->fields[i];
		char number[CNC_VALUE_TEXT_MAX];
		const char *text;

		if (f->number != NULL) {
			cnd_report_word(
				r, number, cnc_int64_text(f->number(row), number));
		} else {
			text = f->text(row);
			cnd_report_word(r, text, strlen(text));
		}
	}
	cnd_report_end(r);
}

void
cnd_report_status(struct cnd_report *r, struct cnd_scoreboard *b, const char *what,
	const struct cnd_asker *asker)
{
	const struct cnd_status_kind *k = find_kind(what);
	struct cnd_status_row row;

	add_columns(r, k);
	for (uint32_t i = 0; i < cnd_status_most(k, b); i++) {
		if (k->read(b, i, asker, &row))
			add_row(r, k, &row);
	}
}
