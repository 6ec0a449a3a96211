/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes down the results of a request, and compares them with what the case expects.
 */
#include "seen.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const type_names[] = { "null", "bool", "int64", "uint64", "double",
	"decimal", "text", "bytes", "date", "time", "timestamp", "interval", "uuid",
	"json", "other" };

static const char *
type_name(int64_t type)
{
	if (type < 0 || type >= (int64_t)(sizeof(type_names) / sizeof(type_names[0])))
		return "?";
	return type_names[type];
}

static void *
must(void *p)
{
	if (!p)
		abort();
	return p;
}

struct cnt_seen *
cnt_seen_add(struct cnt_seen_list *list)
{
	struct cnt_seen *seen;

	list->items = must(realloc(list->items, (list->n + 1) * sizeof(*list->items)));
	seen = &list->items[list->n++];
	memset(seen, 0, sizeof(*seen));
	seen->affected = -1;
	return seen;
}

void
cnt_seen_columns(struct cnt_seen *seen, const cenote_result *res)
{
	uint32_t i;

	seen->n_columns = cenote_result_n_columns(res);
	if (seen->n_columns == 0)
		return;
	seen->columns = must(calloc(seen->n_columns, sizeof(*seen->columns)));
	for (i = 0; i < seen->n_columns; i++) {
		const cenote_column *column = cenote_result_column(res, i);

		seen->columns[i].name =
			must(strdup(cenote_column_text(column, CENOTE_COLUMN_NAME)));
		seen->columns[i].type = must(
			strdup(type_name(cenote_column_int(column, CENOTE_COLUMN_TYPE))));
	}
}

static void
copy_value(struct cnt_bytes *to, const cenote_result *res, uint64_t row, uint32_t col)
{
	size_t len = 0;
	const char *text = cenote_result_text(res, row, col, &len);

	/* Both ways of asking for NULL must agree, and each value ends with a zero byte. */
	if ((text == NULL) != cenote_result_is_null(res, row, col) ||
		(text && text[len] != '\0'))
		abort();
	if (!text)
		return;
	to->bytes = must(malloc(len + 1));
	memcpy(to->bytes, text, len + 1);
	to->len = len;
}

void
cnt_seen_rows(struct cnt_seen *seen, const cenote_result *res)
{
	uint64_t n = cenote_result_n_rows(res), row;
	uint32_t n_columns = cenote_result_n_columns(res), col;

	if (n == 0)
		return;
	seen->rows = must(realloc(seen->rows, (seen->n_rows + n) * sizeof(*seen->rows)));
	for (row = 0; row < n; row++) {
		struct cnt_row *r = &seen->rows[seen->n_rows++];

		r->n_values = n_columns;
		r->values = must(calloc(n_columns, sizeof(*r->values)));
		for (col = 0; col < n_columns; col++)
			copy_value(&r->values[col], res, row, col);
	}
}

void
cnt_seen_copied(struct cnt_seen *seen, const char *data, size_t len)
{
	struct cnt_bytes *to = &seen->copy_out;

	to->bytes = must(realloc(to->bytes, to->len + len + 1));
	memcpy(to->bytes + to->len, data, len);
	to->len += len;
	to->bytes[to->len] = '\0';
}

void
cnt_seen_params(struct cnt_seen *seen, const cenote_result *res)
{
	size_t used = 0;
	uint32_t i;

	for (i = 0; i < cenote_result_n_params(res) && used < sizeof(seen->params); i++)
		used += (size_t)snprintf(seen->params + used, sizeof(seen->params) - used,
			"%s%s", i > 0 ? " " : "",
			type_name(cenote_result_param_type(res, i)));
}

void
cnt_seen_totals(struct cnt_seen *seen, const cenote_result *res)
{
	snprintf(seen->tag, sizeof(seen->tag), "%s", cenote_result_tag(res));
	seen->affected = cenote_result_affected_rows(res);
	seen->insert_id = cenote_result_last_insert_id(res);
	seen->flags = cenote_result_flags(res);
}

void
cnt_seen_error(struct cnt_seen *seen, int status, const cenote_diag *diag)
{
	const char *position = cenote_diag_field(diag, 'P');

	seen->is_error = 1;
	seen->status = status;
	seen->native = cenote_diag_native(diag);
	snprintf(
		seen->sqlstate, sizeof(seen->sqlstate), "%s", cenote_diag_sqlstate(diag));
	snprintf(seen->message, sizeof(seen->message), "%s", cenote_diag_message(diag));
	snprintf(seen->position, sizeof(seen->position), "%s", position ? position : "");
}

void
cnt_seen_finish(struct cnt_seen_list *list)
{
	size_t i, k, col;

	for (i = 0; i < list->n; i++) {
		struct cnt_seen *seen = &list->items[i];

		for (k = 0; k < seen->n_columns; k++) {
			free(seen->columns[k].name);
			free(seen->columns[k].type);
		}
		for (k = 0; k < seen->n_rows; k++) {
			for (col = 0; col < seen->rows[k].n_values; col++)
				free(seen->rows[k].values[col].bytes);
			free(seen->rows[k].values);
		}
		free(seen->columns);
		free(seen->rows);
		free(seen->copy_out.bytes);
	}
	free(list->items);
	memset(list, 0, sizeof(*list));
}

__attribute__((format(printf, 2, 3))) static int
differ(char why[CNT_WHY_MAX], const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(why, CNT_WHY_MAX, format, ap);
	va_end(ap);
	return -1;
}

static int
compare_number(const char *what, int64_t seen, int64_t expected, char *why)
{
	if (expected == CNT_UNSET || seen == expected)
		return 0;
	return differ(why, "%s is %lld, expected %lld", what, (long long)seen,
		(long long)expected);
}

static int
compare_columns(const struct cnt_seen *seen, const struct cnt_expect *e, char *why)
{
	int64_t count = e->column_count;
	size_t i;

	if (count == CNT_UNSET && e->n_columns > 0)
		count = (int64_t)e->n_columns;
	if (compare_number("number of columns", (int64_t)seen->n_columns, count, why) < 0)
		return -1;
	for (i = 0; i < e->n_columns; i++) {
		if (strcmp(seen->columns[i].name, e->columns[i].name) != 0)
			return differ(why, "column %zu is named \"%.60s\"", i,
				seen->columns[i].name);
		if (e->columns[i].type[0] &&
			strcmp(seen->columns[i].type, e->columns[i].type) != 0)
			return differ(why, "column %s is of type %s, expected %s",
				e->columns[i].name, seen->columns[i].type,
				e->columns[i].type);
	}
	return 0;
}

static int
compare_value(const struct cnt_bytes *seen, const struct cnt_bytes *e, size_t row,
	size_t col, char *why)
{
	if (!seen->bytes && !e->bytes)
		return 0;
	if (seen->bytes && e->bytes && seen->len == e->len &&
		memcmp(seen->bytes, e->bytes, e->len) == 0)
		return 0;
	return differ(why,
		"row %zu column %zu is %.60s (%zu bytes), expected %.60s (%zu bytes)",
		row, col, seen->bytes ? seen->bytes : "NULL", seen->len,
		e->bytes ? e->bytes : "NULL", e->len);
}

static int
compare_rows(const struct cnt_seen *seen, const struct cnt_expect *e, char *why)
{
	int64_t count = e->row_count != CNT_UNSET ? e->row_count : (int64_t)e->n_rows;
	size_t i, k;

	if (compare_number("number of rows", (int64_t)seen->n_rows, count, why) < 0)
		return -1;
	/* A row count for one backend may be smaller than the number of general rows. */
	for (i = 0; i < e->n_rows && (int64_t)i < count; i++) {
		if (seen->rows[i].n_values != e->rows[i].n_values)
			return differ(why, "row %zu has %zu values, expected %zu", i,
				seen->rows[i].n_values, e->rows[i].n_values);
		for (k = 0; k < e->rows[i].n_values; k++) {
			if (compare_value(&seen->rows[i].values[k], &e->rows[i].values[k],
				    i, k, why) < 0)
				return -1;
		}
	}
	return 0;
}

static int
compare_error(const struct cnt_seen *seen, const struct cnt_expect *e, int is_streamed,
	char *why)
{
	if (!seen->is_error)
		return differ(why, "succeeded, expected error %s", e->sqlstate);
	if (strncmp(seen->sqlstate, e->sqlstate, strlen(e->sqlstate)) != 0)
		return differ(why, "SQLSTATE %s (%.200s), expected %s", seen->sqlstate,
			seen->message, e->sqlstate);
	if (e->message && !strstr(seen->message, e->message))
		return differ(why, "message is: %.200s", seen->message);
	if (e->position && strcmp(seen->position, e->position) != 0)
		return differ(
			why, "position is %s, expected %s", seen->position, e->position);
	if (compare_number("native code", seen->native, e->native, why) < 0)
		return -1;
	if (!is_streamed)
		return 0;
	return compare_number("number of rows before the error", (int64_t)seen->n_rows,
		e->rows_before_error, why);
}

static int
compare_one(const struct cnt_seen *seen, const struct cnt_expect *e, int is_streamed,
	char *why)
{
	if (e->sqlstate)
		return compare_error(seen, e, is_streamed, why);
	if (seen->is_error)
		return differ(why, "failed with %s (%s): %.200s", seen->sqlstate,
			cenote_status_name(seen->status), seen->message);
	if (compare_columns(seen, e, why) < 0 || compare_rows(seen, e, why) < 0 ||
		compare_number("affected rows", seen->affected, e->affected, why) < 0 ||
		compare_number("last insert id", (int64_t)seen->insert_id, e->insert_id,
			why) < 0)
		return -1;
	if (e->has_output != ((seen->flags & CENOTE_RESULT_FLAG_OUTPUT) != 0))
		return differ(
			why, "these are%s output values", e->has_output ? " not" : "");
	if (e->params && strcmp(seen->params, e->params) != 0)
		return differ(why, "the parameters are \"%s\"", seen->params);
	if ((e->copy_out.bytes || seen->copy_out.bytes) &&
		compare_value(&seen->copy_out, &e->copy_out, 0, 0, why) < 0)
		return -1;
	if (e->tag && strcmp(seen->tag, e->tag) != 0)
		return differ(why, "tag is \"%s\", expected \"%s\"", seen->tag, e->tag);
	return 0;
}

/* Each line of `expected` must be part of the notices. */
static int
compare_notices(const char *seen, const char *expected, char *why)
{
	while (*expected) {
		size_t len = strcspn(expected, "\n");

		if (!memmem(seen, strlen(seen), expected, len))
			return differ(why, "no notice \"%.*s\", but: %.200s", (int)len,
				expected, seen);
		expected += len + 1;
	}
	return 0;
}

int
cnt_seen_compare(const struct cnt_seen_list *list, const struct cnt_step *step,
	int is_streamed, char ret_why[CNT_WHY_MAX])
{
	const struct cnt_expect *last = &step->expects[step->n_expects - 1];
	size_t i;

	for (i = 0; i < list->n && i < step->n_expects; i++) {
		if (compare_one(
			    &list->items[i], &step->expects[i], is_streamed, ret_why) < 0)
			return -1;
	}
	if (list->n != step->n_expects)
		return differ(
			ret_why, "%zu results, expected %zu", list->n, step->n_expects);
	if (list->tx == CNT_TX_UNSEEN)
		return 0;
	if (last->notices && compare_notices(list->notices, last->notices, ret_why) < 0)
		return -1;
	if (compare_number("transaction state", list->tx, last->tx, ret_why) < 0)
		return -1;
	/* Accept more pins: a backend cannot always tell what a statement leaves in the session. */
	if (last->pins > 0 && (list->pins & last->pins) == (uint64_t)last->pins)
		return 0;
	return compare_number("pins", list->pins, last->pins, ret_why);
}
