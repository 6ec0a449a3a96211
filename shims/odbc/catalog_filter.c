/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The arguments of a catalog function: which are required, which are names and which are patterns,
 * and how the server folds names. catalog.c calls it before and while it reads rows. It has no state.
 */
#include <stdlib.h>
#include <string.h>

#include "catalog_internal.h"
#include "types.h"

/* ---- checking arguments ---- */

static const char *
check_statistics(const struct cod_catalog_args *a)
{
	if (a->is_unique != SQL_INDEX_UNIQUE && a->is_unique != SQL_INDEX_ALL)
		return "HY100";
	return a->accuracy == SQL_QUICK || a->accuracy == SQL_ENSURE ? NULL : "HY101";
}

static const char *
check_special(const struct cod_catalog_args *a)
{
	if (a->special != SQL_BEST_ROWID && a->special != SQL_ROWVER)
		return "HY097";
	if (a->scope > SQL_SCOPE_SESSION)
		return "HY098";
	return a->nullable == SQL_NO_NULLS || a->nullable == SQL_NULLABLE ? NULL
									  : "HY099";
}

static const char *
check_type(const struct cod_catalog_args *a)
{
	return a->sql_type == SQL_ALL_TYPES || cod_sql_type(a->sql_type) ? NULL : "HY004";
}

/* The names that a function requires. With SQL_ATTR_METADATA_ID it requires all names. */
enum needs {
	NEEDS_OBJECT = 1,
	HAS_NAMES = 2, /* schema and object */
	HAS_COLUMN = 4,
};

static const struct {
	unsigned needs;
	const char *(*check)(const struct cod_catalog_args *);
} rules[COD_N_CATALOG_KINDS] = {
	[COD_CATALOG_TABLES] = { HAS_NAMES, NULL },
	[COD_CATALOG_COLUMNS] = { HAS_NAMES | HAS_COLUMN, NULL },
	[COD_CATALOG_PRIMARY_KEYS] = { NEEDS_OBJECT | HAS_NAMES, NULL },
	[COD_CATALOG_FOREIGN_KEYS] = { 0, NULL },
	[COD_CATALOG_STATISTICS] = { NEEDS_OBJECT | HAS_NAMES, check_statistics },
	[COD_CATALOG_SPECIAL_COLUMNS] = { NEEDS_OBJECT | HAS_NAMES, check_special },
	[COD_CATALOG_PROCEDURES] = { HAS_NAMES, NULL },
	[COD_CATALOG_PROCEDURE_COLUMNS] = { HAS_NAMES | HAS_COLUMN, NULL },
	[COD_CATALOG_TABLE_PRIVILEGES] = { HAS_NAMES, NULL },
	[COD_CATALOG_COLUMN_PRIVILEGES] = { NEEDS_OBJECT | HAS_NAMES | HAS_COLUMN, NULL },
	[COD_CATALOG_TYPE_INFO] = { 0, check_type },
};

/* Whether a name is missing. With SQL_ATTR_METADATA_ID a null pointer is an error, except for a
 * schema if the server has none. */
static int
lacks_name(const struct cod_catalog_args *a, unsigned needs)
{
	if (!a->is_identifier || !(needs & HAS_NAMES))
		return 0;
	if (!a->schema && a->dialect != COD_DIALECT_MYSQL)
		return 1;
	return !a->object || (needs & HAS_COLUMN && !a->column);
}

const char *
cod_catalog_check(const struct cod_catalog_args *args)
{
	unsigned needs = rules[args->kind].needs;

	if (needs & NEEDS_OBJECT && !args->object)
		return "HY009";
	if (args->kind == COD_CATALOG_FOREIGN_KEYS && !args->object && !args->fk_object)
		return "HY009";
	if (lacks_name(args, needs))
		return "HY009";
	return rules[args->kind].check ? rules[args->kind].check(args) : NULL;
}

/* ---- reading arguments ---- */

static int
is_quote(char c)
{
	return c == '"' || c == '`';
}

static char
small(char c)
{
	if (c >= 'A' && c <= 'Z')
		return (char)(c - 'A' + 'a');
	return c;
}

static int
is_capitals(const char *name)
{
	int has_capital = 0;

	for (; name && *name; name++) {
		if (*name >= 'a' && *name <= 'z')
			return 0;
		has_capital |= small(*name) != *name;
	}
	return has_capital;
}

int
cod_catalog_has_capitals(const struct cod_catalog_args *a)
{
	return is_capitals(a->schema) || is_capitals(a->object) ||
	       is_capitals(a->column) || is_capitals(a->fk_schema) ||
	       is_capitals(a->fk_object);
}

/* Copy an identifier: without its quotes, or, if it has none, folded as the server does and without
 * blanks at the end. */
static size_t
take_identifier(enum cod_dialect dialect, const char *text, char *to)
{
	size_t n = strlen(text);

	while (n > 0 && text[n - 1] == ' ')
		n--;
	if (n > 1 && is_quote(*text) && text[n - 1] == *text) {
		memcpy(to, text + 1, n - 2);
		return n - 2;
	}
	for (size_t i = 0; i < n; i++) {
		to[i] = text[i];
		if (dialect == COD_DIALECT_POSTGRESQL)
			to[i] = small(to[i]);
	}
	return n;
}

/* Make a pattern that matches this name only. */
static char *
escape_pattern(const char *name, size_t n)
{
	char *pattern = malloc(2 * n + 1), *to = pattern;

	if (!pattern)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		if (name[i] == '%' || name[i] == '_' || name[i] == '\\')
			*to++ = '\\';
		*to++ = name[i];
	}
	*to = 0;
	return pattern;
}

/* 0 or an error. *ret_pattern stays NULL if everything matches. */
static int
take_as_written(const struct cod_catalog_args *a, const char *name, int is_pattern,
	char **ret_pattern)
{
	char *identifier;
	size_t n;

	if (a->is_identifier)
		is_pattern = 0;
	if (!name || !*name || (is_pattern && strcmp(name, "%") == 0))
		return 0;
	if (is_pattern) {
		*ret_pattern = malloc(strlen(name) + 1);
		if (*ret_pattern)
			memcpy(*ret_pattern, name, strlen(name) + 1);
		return *ret_pattern ? 0 : -1;
	}
	identifier = malloc(strlen(name) + 1);
	if (!identifier)
		return -1;
	n = strlen(name);
	if (a->is_identifier)
		n = take_identifier(a->dialect, name, identifier);
	else
		memcpy(identifier, name, n);
	*ret_pattern = escape_pattern(identifier, n);
	free(identifier);
	return *ret_pattern ? 0 : -1;
}

static int
take_name(const struct cod_catalog_args *a, const char *name, int is_pattern,
	char **ret_pattern)
{
	char *p;

	if (take_as_written(a, name, is_pattern, ret_pattern) < 0)
		return -1;
	p = *ret_pattern;
	if (!p || !a->folds_capitals || !is_capitals(name))
		return 0;
	for (; *p; p++)
		*p = small(*p);
	return 0;
}

int
cod_catalog_filter(const struct cod_catalog_args *args, const char *catalog,
	const char *schema, const char *object, int has_patterns,
	struct cod_catalog_filter_texts *ret_texts)
{
	struct cod_catalog_filter_texts t = { .schema = NULL };

	if (catalog && *catalog && strcmp(catalog, "%") != 0) {
		if (has_patterns && !args->is_identifier && strpbrk(catalog, "%_\\"))
			t.catalog_pattern = catalog;
		else
			t.catalog = catalog;
	}
	if (args->types && *args->types && strcmp(args->types, "%") != 0)
		t.types = args->types;
	if (take_name(args, schema, has_patterns, &t.schema) < 0 ||
		take_name(args, object, has_patterns, &t.object) < 0 ||
		take_name(args, args->column, 1, &t.column) < 0) {
		cod_catalog_filter_finish(&t);
		return -1;
	}
	*ret_texts = t;
	return 0;
}

void
cod_catalog_filter_finish(struct cod_catalog_filter_texts *texts)
{
	free(texts->schema);
	free(texts->object);
	free(texts->column);
}

void
cod_catalog_filter_set(
	const struct cod_catalog_filter_texts *texts, cenote_catalog_filter *filter)
{
	filter->catalog = texts->catalog;
	filter->schema = texts->schema;
	filter->object = texts->object;
	filter->column = texts->column;
	filter->types = texts->types;
}

/* Going back to the last % only bounds the time by the product of both lengths. */
int
cod_catalog_is_like(const char *text, const char *pattern)
{
	const char *any = NULL, *from = NULL;

	while (*text) {
		int is_escaped = *pattern == '\\' && pattern[1];

		if (*pattern == '%') {
			any = ++pattern;
			from = text;
		} else if (is_escaped ? pattern[1] == *text
				      : *pattern == '_' || *pattern == *text) {
			pattern += is_escaped ? 2 : 1;
			text++;
		} else if (any) {
			pattern = any;
			text = ++from;
		} else {
			return 0;
		}
	}
	while (*pattern == '%')
		pattern++;
	return !*pattern;
}
