/* SPDX-License-Identifier: BSD-2-Clause */
#include "pq.h"

#include <stdlib.h>
#include <string.h>

/*
 * The text of an error or a notice, from its fields, as libpq writes it: verbosity,
 * context, and the line of the query with a caret. result.c and result_read.c call this file.
 */

/* The width of the part of a line that is shown, and how much of the line is shown at least after
 * the error position. */
#define SHOWN_WIDTH 60u
#define SHOWN_RIGHT 10u

/* A statement as characters: where each character begins, and in which column it is shown. */
struct layout {
	const char *text;
	size_t *at; /* offset of each character, and of the end */
	size_t *column;
	size_t n;
};

/* The part of a line that is shown: characters [begin, end). */
struct cut {
	size_t begin, end;
	unsigned line; /* from 1 */
	int is_cut_left, is_cut_right;
};

static int
layout_init(struct layout *l, const char *text, int encoding)
{
	size_t len = strlen(text);
	size_t at = 0;
	size_t column = 0;

	l->text = text;
	l->n = 0;
	l->at = calloc(len + 1, 2 * sizeof(*l->at));
	if (l->at == NULL)
		return -1;
	l->column = l->at + len + 1;
	while (at < len) {
		int width = PQdsplen(text + at, encoding);
		int bytes = PQmblenBounded(text + at, encoding);

		l->at[l->n] = at;
		l->column[l->n++] = column;
		column += width > 0 ? (size_t)width : 1;
		at += bytes > 0 ? (size_t)bytes : 1;
	}
	l->at[l->n] = len;
	l->column[l->n] = column;
	return 0;
}

/* Find the line with that character; "\r\n" is one line end. */
static struct cut
find_line(const struct layout *l, size_t place)
{
	struct cut c = { .end = l->n, .line = 1 };

	for (size_t i = 0; i < l->n; i++) {
		char ch = l->text[l->at[i]];

		if (ch != '\n' && ch != '\r')
			continue;
		if (i >= place) {
			c.end = i;
			break;
		}
		if (ch == '\r' || i == 0 || l->text[l->at[i - 1]] != '\r')
			c.line++;
		c.begin = i + 1;
	}
	return c;
}

static size_t
width_of(const struct layout *l, const struct cut *c)
{
	return l->column[c->end] - l->column[c->begin];
}

static void
cut_to_width(const struct layout *l, struct cut *c, size_t place)
{
	if (width_of(l, c) <= SHOWN_WIDTH)
		return;
	if (l->column[c->begin] + SHOWN_WIDTH >= l->column[place] + SHOWN_RIGHT) {
		while (width_of(l, c) > SHOWN_WIDTH)
			c->end--;
		c->is_cut_right = 1;
		return;
	}
	while (l->column[place] + SHOWN_RIGHT < l->column[c->end]) {
		c->end--;
		c->is_cut_right = 1;
	}
	while (width_of(l, c) > SHOWN_WIDTH) {
		c->begin++;
		c->is_cut_left = 1;
	}
}

/* Append "LINE 1: select * from nowhere", and a line with a caret under the error position. */
static void
show_place(PQExpBuffer out, const char *query, size_t place, int encoding)
{
	struct layout l;
	struct cut c;
	size_t indent;

	if (layout_init(&l, query, encoding) < 0)
		return;
	c = find_line(&l, place);
	if (place <= l.n) {
		cut_to_width(&l, &c, place);
		indent = out->len;
		appendPQExpBuffer(out, "LINE %u: %s", c.line, c.is_cut_left ? "..." : "");
		indent = out->len - indent + l.column[place] - l.column[c.begin];
		for (size_t i = l.at[c.begin]; i < l.at[c.end]; i++)
			appendPQExpBufferChar(
				out, (char)(query[i] == '\t' ? ' ' : query[i]));
		appendPQExpBufferStr(out, c.is_cut_right ? "...\n" : "\n");
		appendPQExpBuffer(out, "%*s^\n", (int)indent, "");
	}
	free(l.at);
}

static void
put_field(PQExpBuffer out, const PGresult *res, int code, const char *title)
{
	if (cpq_result_field(res, code) != NULL)
		appendPQExpBuffer(out, "%s:  %s\n", title, cpq_result_field(res, code));
}

/* Append the error position: as a query line with a caret, or as words at the end of the message.
 * *ret_place is the position, from 1. */
static const char *
put_position(PQExpBuffer out, const PGresult *res, PGVerbosity verbosity, int *ret_place)
{
	const char *query = res->query;
	const char *position = cpq_result_field(res, PG_DIAG_STATEMENT_POSITION);

	if (position == NULL) {
		position = cpq_result_field(res, PG_DIAG_INTERNAL_POSITION);
		query = cpq_result_field(res, PG_DIAG_INTERNAL_QUERY);
	}
	*ret_place = 0;
	if (position == NULL)
		return NULL;
	if (verbosity == PQERRORS_TERSE || query == NULL) {
		appendPQExpBuffer(out, " at character %s", position);
		return NULL;
	}
	*ret_place = (int)strtol(position, NULL, 10);
	return query;
}

static void
put_details(PQExpBuffer out, const PGresult *res, PGContextVisibility show_context)
{
	put_field(out, res, PG_DIAG_MESSAGE_DETAIL, "DETAIL");
	put_field(out, res, PG_DIAG_MESSAGE_HINT, "HINT");
	put_field(out, res, PG_DIAG_INTERNAL_QUERY, "QUERY");
	if (show_context == PQSHOW_CONTEXT_ALWAYS ||
		(show_context == PQSHOW_CONTEXT_ERRORS &&
			res->status == PGRES_FATAL_ERROR))
		put_field(out, res, PG_DIAG_CONTEXT, "CONTEXT");
}

static void
put_location(PQExpBuffer out, const PGresult *res)
{
	const char *function = cpq_result_field(res, PG_DIAG_SOURCE_FUNCTION);
	const char *file = cpq_result_field(res, PG_DIAG_SOURCE_FILE);
	const char *line = cpq_result_field(res, PG_DIAG_SOURCE_LINE);

	put_field(out, res, PG_DIAG_SCHEMA_NAME, "SCHEMA NAME");
	put_field(out, res, PG_DIAG_TABLE_NAME, "TABLE NAME");
	put_field(out, res, PG_DIAG_COLUMN_NAME, "COLUMN NAME");
	put_field(out, res, PG_DIAG_DATATYPE_NAME, "DATATYPE NAME");
	put_field(out, res, PG_DIAG_CONSTRAINT_NAME, "CONSTRAINT NAME");
	if (function == NULL && file == NULL && line == NULL)
		return;
	appendPQExpBufferStr(out, "LOCATION:  ");
	if (function != NULL)
		appendPQExpBuffer(out, "%s, ", function);
	if (file != NULL && line != NULL)
		appendPQExpBuffer(out, "%s:%s", file, line);
	appendPQExpBufferChar(out, '\n');
}

void
cpq_message_build(PQExpBuffer out, const PGresult *res, PGVerbosity verbosity,
	PGContextVisibility show_context)
{
	const char *query;
	int place;

	if (cpq_result_field(res, PG_DIAG_SEVERITY) != NULL)
		appendPQExpBuffer(out, "%s:  ", cpq_result_field(res, PG_DIAG_SEVERITY));
	if (verbosity == PQERRORS_SQLSTATE &&
		cpq_result_field(res, PG_DIAG_SQLSTATE) != NULL) {
		appendPQExpBuffer(out, "%s\n", cpq_result_field(res, PG_DIAG_SQLSTATE));
		return;
	}
	if (verbosity == PQERRORS_SQLSTATE)
		verbosity = PQERRORS_TERSE;
	if (verbosity == PQERRORS_VERBOSE &&
		cpq_result_field(res, PG_DIAG_SQLSTATE) != NULL)
		appendPQExpBuffer(out, "%s: ", cpq_result_field(res, PG_DIAG_SQLSTATE));
	if (cpq_result_field(res, PG_DIAG_MESSAGE_PRIMARY) != NULL)
		appendPQExpBufferStr(out, cpq_result_field(res, PG_DIAG_MESSAGE_PRIMARY));
	query = put_position(out, res, verbosity, &place);
	appendPQExpBufferChar(out, '\n');
	if (verbosity != PQERRORS_TERSE) {
		if (query != NULL && place > 0)
			show_place(
				out, query, (size_t)place - 1, res->inherited.encoding);
		put_details(out, res, show_context);
	}
	if (verbosity == PQERRORS_VERBOSE)
		put_location(out, res);
}
