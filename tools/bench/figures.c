/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The figures of a report, and writing them as JSON and CSV. report.c fills them. It owns no state.
 */
#include "figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct text_field {
	const char *name;
	size_t offset, size;
};

struct number_field {
	const char *name;
	size_t offset;
};

#define TEXT_FIELD(name, size) { #name, offsetof(struct cnb_figure, name), size },
#define NUMBER_FIELD(name)     { #name, offsetof(struct cnb_figure, name) },
static const struct text_field texts[] = { CNB_FIGURE_TEXTS(TEXT_FIELD) };
static const struct number_field numbers[] = { CNB_FIGURE_NUMBERS(NUMBER_FIELD) };

#define N_TEXTS   (sizeof(texts) / sizeof(texts[0]))
#define N_NUMBERS (sizeof(numbers) / sizeof(numbers[0]))

static double *
slot_of(struct cnb_figure *figure, size_t i)
{
	return (double *)(void *)((char *)figure + numbers[i].offset);
}

static double
number_at(const struct cnb_figure *figure, size_t i)
{
	double v;

	memcpy(&v, (const char *)figure + numbers[i].offset, sizeof(v));
	return v;
}

void
cnb_figure_init(struct cnb_figure *ret_figure)
{
	size_t i;

	memset(ret_figure, 0, sizeof(*ret_figure));
	for (i = 0; i < N_NUMBERS; i++)
		*slot_of(ret_figure, i) = NAN;
}

double *
cnb_figure_number(struct cnb_figure *figure, const char *name)
{
	size_t i;

	for (i = 0; i < N_NUMBERS; i++) {
		if (strcmp(numbers[i].name, name) == 0)
			return slot_of(figure, i);
	}
	return NULL;
}

double
cnb_figure_value(const struct cnb_figure *figure, const char *name)
{
	size_t i;

	for (i = 0; i < N_NUMBERS; i++) {
		if (strcmp(numbers[i].name, name) == 0)
			return number_at(figure, i);
	}
	return NAN;
}

char *
cnb_figure_text(struct cnb_figure *figure, const char *name, size_t *ret_size)
{
	size_t i;

	for (i = 0; i < N_TEXTS; i++) {
		if (strcmp(texts[i].name, name) != 0)
			continue;
		*ret_size = texts[i].size;
		return (char *)figure + texts[i].offset;
	}
	return NULL;
}

int
cnb_figures_add(struct cnb_figures *figures, const struct cnb_figure *figure)
{
	struct cnb_figure *grown;

	/* Grow at each power of two. */
	if ((figures->n & (figures->n - 1)) == 0) {
		grown = realloc(figures->list,
			(figures->n == 0 ? 1 : 2 * figures->n) * sizeof(*grown));
		if (grown == NULL)
			return -1;
		figures->list = grown;
	}
	figures->list[figures->n++] = *figure;
	return 0;
}

void
cnb_figures_finish(struct cnb_figures *figures)
{
	free(figures->list);
	*figures = (struct cnb_figures){ NULL, 0 };
}

/* --------------------------------------------------------------------- JSON ----- */

void
cnb_json_put_text(const char *text, FILE *f)
{
	putc('"', f);
	for (; *text != '\0'; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			fprintf(f, "\\%c", c);
		else if (c < 0x20)
			fprintf(f, "\\u%04x", c);
		else
			putc(c, f);
	}
	putc('"', f);
}

static void
put_number(double v, FILE *f)
{
	if (isfinite(v))
		fprintf(f, "%.7g", v);
	else
		fputs("null", f);
}

static void
put_figure(const struct cnb_figure *figure, FILE *f)
{
	size_t i;

	for (i = 0; i < N_TEXTS; i++) {
		fprintf(f, "%s\"%s\": ", i > 0 ? ", " : "    {", texts[i].name);
		cnb_json_put_text((const char *)figure + texts[i].offset, f);
	}
	for (i = 0; i < N_NUMBERS; i++) {
		fprintf(f, ", \"%s\": ", numbers[i].name);
		put_number(number_at(figure, i), f);
	}
	putc('}', f);
}

void
cnb_report_put_json(const struct cnb_report *report, FILE *f)
{
	size_t i;

	fputs("{\n", f);
#define PUT_TEXT(name, size)                                                             \
	fputs("  \"" #name "\": ", f);                                                   \
	cnb_json_put_text(report->name, f);                                              \
	fputs(",\n", f);
#define PUT_NUMBER(name)                                                                 \
	fputs("  \"" #name "\": ", f);                                                   \
	put_number(report->name, f);                                                     \
	fputs(",\n", f);
	CNB_REPORT_TEXTS(PUT_TEXT)
	CNB_REPORT_NUMBERS(PUT_NUMBER)
	fputs("  \"figures\": [\n", f);
	for (i = 0; i < report->figures.n; i++) {
		put_figure(&report->figures.list[i], f);
		fputs(i + 1 < report->figures.n ? ",\n" : "\n", f);
	}
	fputs("  ]\n}\n", f);
}

/* ---------------------------------------------------------------------- CSV ----- */

static void
put_quoted(const char *text, FILE *f)
{
	if (strpbrk(text, ",\"\n\r") == NULL) {
		fputs(text, f);
		return;
	}
	putc('"', f);
	for (; *text != '\0'; text++) {
		if (*text == '"')
			putc('"', f);
		putc(*text, f);
	}
	putc('"', f);
}

static void
put_line(const struct cnb_figure *figure, FILE *f)
{
	size_t i;

	for (i = 0; i < N_TEXTS; i++) {
		if (i > 0)
			putc(',', f);
		put_quoted((const char *)figure + texts[i].offset, f);
	}
	for (i = 0; i < N_NUMBERS; i++) {
		putc(',', f);
		if (isfinite(number_at(figure, i)))
			fprintf(f, "%.7g", number_at(figure, i));
	}
	putc('\n', f);
}

void
cnb_report_put_csv(const struct cnb_report *report, FILE *f)
{
	size_t i;

	for (i = 0; i < N_TEXTS; i++)
		fprintf(f, "%s%s", i > 0 ? "," : "", texts[i].name);
	for (i = 0; i < N_NUMBERS; i++)
		fprintf(f, ",%s", numbers[i].name);
	putc('\n', f);
	for (i = 0; i < report->figures.n; i++)
		put_line(&report->figures.list[i], f);
}
