/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Columns, and their types in words. The exporter, the importer and the readers call it. This file keeps no state.
 */
#include "columns.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const type_names[] = {
	[CENOTE_TYPE_NULL] = "text",
	[CENOTE_TYPE_BOOL] = "bool",
	[CENOTE_TYPE_INT64] = "int64",
	[CENOTE_TYPE_UINT64] = "uint64",
	[CENOTE_TYPE_DOUBLE] = "double",
	[CENOTE_TYPE_DECIMAL] = "decimal",
	[CENOTE_TYPE_TEXT] = "text",
	[CENOTE_TYPE_BYTES] = "bytes",
	[CENOTE_TYPE_DATE] = "date",
	[CENOTE_TYPE_TIME] = "time",
	[CENOTE_TYPE_TIMESTAMP] = "timestamp",
	[CENOTE_TYPE_INTERVAL] = "interval",
	[CENOTE_TYPE_UUID] = "uuid",
	[CENOTE_TYPE_JSON] = "json",
	[CENOTE_TYPE_OTHER] = "other",
};

#define N_TYPES    (sizeof(type_names) / sizeof(type_names[0]))
#define LENGTH_MAX 1000000000

void
columns_finish(struct columns *c)
{
	size_t i;

	for (i = 0; i < c->n; i++)
		free(c->list[i].name);
	free(c->list);
	*c = (struct columns){ 0 };
}

struct column *
columns_add(struct columns *c, const char *name, size_t len)
{
	c->list = mem_resize(c->list, c->n + 1, sizeof(c->list[0]));
	c->list[c->n] = (struct column){
		.name = mem_dup(name, len),
		.type = CENOTE_TYPE_TEXT,
	};
	return &c->list[c->n++];
}

int
columns_add_names(struct columns *c, const char *names)
{
	while (*names) {
		size_t len = strcspn(names, ",");

		if (len == 0)
			return -1;
		(void)columns_add(c, names, len);
		names += len + (names[len] == ',');
	}
	return 0;
}

struct column *
columns_find(const struct columns *c, const char *name)
{
	size_t i;

	for (i = 0; i < c->n; i++) {
		if (strcmp(c->list[i].name, name) == 0)
			return &c->list[i];
	}
	for (i = 0; i < c->n; i++) {
		if (strcasecmp(c->list[i].name, name) == 0)
			return &c->list[i];
	}
	return NULL;
}

/* The length of a text or bytes. For a text, the MySQL backend gives the most bytes in utf8mb4: four for each character. */
static int64_t
length_of(const cenote_column *column, uint32_t type, const char *backend)
{
	int64_t length = cenote_column_int(column, CENOTE_COLUMN_LENGTH);

	if (type == CENOTE_TYPE_TEXT && strcmp(backend, "mysql") == 0)
		length /= 4;
	/* Types without a limit, such as longtext, have a greater length. */
	return length > 0 && length <= 8000 ? length : 0;
}

static bool
has_zone(const char *type_name)
{
	return strcasestr(type_name, "tz") || strcasestr(type_name, "with time zone") ||
	       strcasestr(type_name, "offset");
}

static void
set_type(struct column *c, const cenote_column *column, const char *backend)
{
	int64_t type = cenote_column_int(column, CENOTE_COLUMN_TYPE), precision;

	c->type = type > 0 && (size_t)type < N_TYPES ? (uint32_t)type : CENOTE_TYPE_TEXT;
	if (c->type == CENOTE_TYPE_DECIMAL) {
		precision = cenote_column_int(column, CENOTE_COLUMN_PRECISION);
		c->length = precision > 0 ? precision : 0;
		c->scale = cenote_column_int(column, CENOTE_COLUMN_SCALE);
		if (c->scale < 0)
			c->scale = 0;
	} else if (c->type == CENOTE_TYPE_TEXT || c->type == CENOTE_TYPE_BYTES) {
		c->length = length_of(column, c->type, backend);
	} else if (c->type == CENOTE_TYPE_TIME || c->type == CENOTE_TYPE_TIMESTAMP) {
		c->has_zone =
			has_zone(cenote_column_text(column, CENOTE_COLUMN_TYPE_NAME));
	}
}

void
columns_of_result(struct columns *c, const cenote_result *res, const char *backend)
{
	uint32_t n = cenote_result_n_columns(res), i;

	for (i = 0; i < n; i++) {
		const cenote_column *column = cenote_result_column(res, i);
		const char *name = cenote_column_text(column, CENOTE_COLUMN_NAME);

		set_type(columns_add(c, name, strlen(name)), column, backend);
	}
}

void
columns_add_type(struct text *t, const struct column *column)
{
	text_add_str(
		t, type_names[column->type < N_TYPES ? column->type : CENOTE_TYPE_OTHER]);
	if (column->has_zone)
		text_add_str(t, "tz");
	if (column->length > 0 && column->type == CENOTE_TYPE_DECIMAL)
		text_addf(t, "(%lld,%lld)", (long long)column->length,
			(long long)column->scale);
	else if (column->length > 0)
		text_addf(t, "(%lld)", (long long)column->length);
	if (column->key > 0)
		text_addf(t, " key%u", column->key);
}

/* Read a number that ends before one of the characters `ends`. Returns the rest; NULL: there is no such number. */
static const char *
parse_number(const char *s, const char *ends, int64_t *ret)
{
	int64_t n = 0;

	if (*s < '0' || *s > '9')
		return NULL;
	for (; *s >= '0' && *s <= '9'; s++) {
		n = n * 10 + (*s - '0');
		if (n > LENGTH_MAX)
			return NULL;
	}
	if (!*s || !strchr(ends, *s))
		return NULL;
	*ret = n;
	return s;
}

/* Read "(length)" or "(precision,scale)", or nothing. Returns the rest; NULL: this is not valid. */
static const char *
parse_size(struct column *c, const char *s)
{
	if (*s != '(')
		return s;
	s = parse_number(s + 1, c->type == CENOTE_TYPE_DECIMAL ? ",)" : ")", &c->length);
	if (s && *s == ',')
		s = parse_number(s + 1, ")", &c->scale);
	return s ? s + 1 : NULL;
}

/* Read the name of a type. Returns the rest; NULL: there is no such type. */
static const char *
parse_name(struct column *c, const char *s)
{
	size_t len = strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789"), i;

	c->has_zone = len > 2 && strncmp(s + len - 2, "tz", 2) == 0;
	if (c->has_zone)
		len -= 2;
	for (i = 1; i < N_TYPES; i++) {
		if (strlen(type_names[i]) == len && strncmp(type_names[i], s, len) == 0) {
			c->type = (uint32_t)i;
			return s + len + (c->has_zone ? 2 : 0);
		}
	}
	return NULL;
}

/* Read the place in the key. Returns the rest; NULL: this is not valid. */
static const char *
parse_key(struct column *c, const char *s)
{
	c->key = 0;
	for (; *s >= '0' && *s <= '9' && c->key <= CSV_FIELDS_MAX; s++)
		c->key = c->key * 10 + (unsigned)(*s - '0');
	return c->key > 0 && c->key <= CSV_FIELDS_MAX ? s : NULL;
}

int
columns_parse_type(struct column *column, const char *words, size_t len)
{
	char *copy = mem_dup(words, len);
	struct column parsed = *column;
	const char *s = strlen(copy) == len ? parse_name(&parsed, copy) : NULL;

	if (s)
		s = parse_size(&parsed, s);
	if (s && strncmp(s, " key", 4) == 0)
		s = parse_key(&parsed, s + 4);
	if (s && *s != '\0')
		s = NULL;
	free(copy);
	if (!s)
		return -1;
	*column = parsed;
	return 0;
}

int
columns_add_typed(struct columns *c, const struct cell *cell)
{
	const char *colon = cell->text ? memrchr(cell->text, ':', cell->len) : NULL;
	size_t len = colon ? (size_t)(colon - cell->text) : 0;

	if (!colon)
		return -1;
	return columns_parse_type(
		columns_add(c, cell->text, len), colon + 1, cell->len - len - 1);
}
