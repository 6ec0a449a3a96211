/* SPDX-License-Identifier: BSD-2-Clause */
#include "bind.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lex.h"

static const struct {
	const char *name;
	uint32_t type;
} types[] = {
	{ "text", CENOTE_TYPE_TEXT },
	{ "int", CENOTE_TYPE_INT64 },
	{ "double", CENOTE_TYPE_DOUBLE },
	{ "decimal", CENOTE_TYPE_DECIMAL },
	{ "bool", CENOTE_TYPE_BOOL },
	{ "bytes", CENOTE_TYPE_BYTES },
	{ "null", CENOTE_TYPE_NULL },
};

#define N_TYPES (sizeof(types) / sizeof(types[0]))

const char *
bind_type_name(uint32_t type)
{
	size_t i;

	for (i = 0; i < N_TYPES; i++) {
		if (types[i].type == type)
			return types[i].name;
	}
	return "unknown";
}

static int
find_type(const char *name, size_t len, uint32_t *ret_type)
{
	size_t i;

	for (i = 0; i < N_TYPES; i++) {
		if (strlen(types[i].name) == len &&
			strncmp(types[i].name, name, len) == 0) {
			*ret_type = types[i].type;
			return 1;
		}
	}
	return 0;
}

static void
bind_clear(struct bind *bind)
{
	free(bind->name);
	free(bind->value);
}

void
binds_finish(struct binds *b)
{
	size_t i;

	for (i = 0; i < b->n; i++)
		bind_clear(&b->items[i]);
	free(b->items);
	*b = (struct binds){ 0 };
}

static int
parse_int(const char *s, int64_t *ret_value)
{
	char *end;
	long long v;

	errno = 0;
	v = strtoll(s, &end, 10);
	if (errno != 0 || end == s || *end != '\0')
		return 0;
	*ret_value = v;
	return 1;
}

static int
parse_double(const char *s, double *ret_value)
{
	char *end;
	double v;

	v = strtod(s, &end);
	if (end == s || *end != '\0')
		return 0;
	*ret_value = v;
	return 1;
}

static int
parse_bool(const char *s, int *ret_value)
{
	static const char *const words[] = { "0", "1", "false", "true", "no", "yes",
		"off", "on", "f", "t" };
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcasecmp(s, words[i]) == 0) {
			*ret_value = (int)(i % 2);
			return 1;
		}
	}
	return 0;
}

/* Parse hexadecimal digits, with or without \x before them. 0: it is something else. */
static int
parse_bytes(const char *s, struct text *ret_bytes)
{
	if (s[0] == '\\' && s[1] == 'x')
		s += 2;
	return text_add_unhex(ret_bytes, s, strlen(s)) == 0;
}

static int
is_decimal(const char *s)
{
	size_t digits;

	s += strspn(s, "+-") == 1 ? 1 : 0;
	digits = strspn(s, "0123456789");
	s += digits;
	if (*s == '.') {
		s++;
		digits += strspn(s, "0123456789");
		s += strspn(s, "0123456789");
	}
	if (digits == 0)
		return 0;
	if (*s == 'e' || *s == 'E') {
		s++;
		s += strspn(s, "+-") == 1 ? 1 : 0;
		if (strspn(s, "0123456789") == 0)
			return 0;
		s += strspn(s, "0123456789");
	}
	return *s == '\0';
}

/* Parse the value by the bind's type. Returns NULL, or why it does not fit. */
static const char *
parse_value(struct bind *bind, const char *value)
{
	struct text bytes = { 0 };
	int truth = 0;

	switch (bind->type) {
	case CENOTE_TYPE_INT64:
		if (!parse_int(value, &bind->i))
			return "not an integer of 64 bits";
		break;
	case CENOTE_TYPE_DOUBLE:
		if (!parse_double(value, &bind->d))
			return "not a number";
		break;
	case CENOTE_TYPE_DECIMAL:
		if (!is_decimal(value))
			return "not a decimal number";
		break;
	case CENOTE_TYPE_BOOL:
		if (!parse_bool(value, &truth))
			return "not true or false";
		bind->i = truth;
		break;
	case CENOTE_TYPE_BYTES:
		if (!parse_bytes(value, &bytes))
			return "not pairs of hexadecimal digits";
		bind->value = mem_dup(text_str(&bytes), bytes.len);
		bind->len = bytes.len;
		text_finish(&bytes);
		return NULL;
	default:
		break;
	}
	bind->len = strlen(value);
	bind->value = mem_dup(value, bind->len);
	return NULL;
}

static size_t
name_length(const char *s)
{
	size_t n = 0;

	if (*s >= '0' && *s <= '9')
		return 0;
	while (s[n] && lex_is_word_char(s[n]))
		n++;
	return n;
}

/* The index of the bind with this name; b->n if there is none. */
static size_t
find_index(const struct binds *b, const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < b->n; i++) {
		if (strlen(b->items[i].name) == len &&
			memcmp(b->items[i].name, name, len) == 0)
			break;
	}
	return i;
}

/* Read the type and value ("" if there is none) after the name in NAME[:TYPE][=VALUE]. Returns NULL,
 * or the error. */
static const char *
split_spec(const char *rest, uint32_t *ret_type, const char **ret_value)
{
	uint32_t type = CENOTE_TYPE_TEXT;

	if (*rest == ':') {
		size_t n = strcspn(rest + 1, "=");

		if (!find_type(rest + 1, n, &type))
			return "the type has to be text, int, double, decimal, bool, "
			       "bytes "
			       "or null";
		rest += 1 + n;
	} else if (*rest == '\0') {
		type = CENOTE_TYPE_NULL;
	}
	if (*rest != '=' && type != CENOTE_TYPE_NULL)
		return "NAME=VALUE or NAME:TYPE=VALUE expected";
	*ret_type = type;
	*ret_value = *rest == '=' ? rest + 1 : rest;
	return NULL;
}

const char *
binds_set(struct binds *b, const char *spec)
{
	size_t name_len = name_length(spec), i;
	struct bind bind = { 0 };
	const char *wrong, *value;

	if (name_len == 0)
		return "the name has to be letters, digits and _";
	wrong = split_spec(spec + name_len, &bind.type, &value);
	if (!wrong)
		wrong = parse_value(&bind, value);
	if (wrong)
		return wrong;
	bind.name = mem_dup(spec, name_len);
	i = find_index(b, spec, name_len);
	if (i < b->n) {
		bind_clear(&b->items[i]);
	} else {
		b->items = mem_resize(b->items, b->n + 1, sizeof(b->items[0]));
		b->n++;
	}
	b->items[i] = bind;
	return NULL;
}

int
binds_unset(struct binds *b, const char *name)
{
	size_t i = find_index(b, name, strlen(name));

	if (i >= b->n)
		return 0;
	bind_clear(&b->items[i]);
	memmove(&b->items[i], &b->items[i + 1], (b->n - i - 1) * sizeof(b->items[0]));
	b->n--;
	return 1;
}

const struct bind *
binds_find(const struct binds *b, const char *name, size_t len)
{
	size_t i = find_index(b, name, len);

	return i < b->n ? &b->items[i] : NULL;
}

enum bind_style
bind_style_for(const char *backend)
{
	if (backend && strcmp(backend, "sqlite") == 0)
		return BIND_NAMED;
	if (backend && strcmp(backend, "postgresql") == 0)
		return BIND_DOLLAR;
	return BIND_QUESTION;
}

/* The number (from 1) of the parameter that already has this value; 0: none has. */
static size_t
number_of(const struct bound *bound, const struct bind *bind)
{
	size_t i;

	for (i = 0; i < bound->n; i++) {
		if (bound->values[i] == bind)
			return i + 1;
	}
	return 0;
}

static void
add_placeholder(struct bound *bound, enum bind_style style, const struct bind *bind)
{
	size_t number = style == BIND_QUESTION ? 0 : number_of(bound, bind);

	if (number == 0) {
		bound->values =
			mem_resize(bound->values, bound->n + 1, sizeof(bound->values[0]));
		bound->values[bound->n++] = bind;
		number = bound->n;
	}
	if (style == BIND_NAMED)
		text_addf(&bound->sql, ":%s", bind->name);
	else if (style == BIND_DOLLAR)
		text_addf(&bound->sql, "$%zu", number);
	else
		text_add_char(&bound->sql, '?');
}

size_t
bound_init(struct bound *bound, const struct binds *b, enum bind_style style,
	uint32_t lex_flags, const char *sql, size_t len, const char **ret_missing)
{
	struct lex lex;
	enum lex_kind kind;

	*bound = (struct bound){ 0 };
	lex_init(&lex, lex_flags);
	do {
		const char *token;
		size_t n;
		const struct bind *bind;

		kind = lex_next(&lex, sql, len);
		token = sql + lex.start;
		n = lex.pos - lex.start;
		bind = kind == LEX_PLACEHOLDER ? binds_find(b, token + 1, n - 1) : NULL;
		if (bind) {
			add_placeholder(bound, style, bind);
		} else if (kind == LEX_PLACEHOLDER && style == BIND_NAMED) {
			bound_finish(bound);
			*ret_missing = token;
			return n;
		} else if (kind != LEX_END) {
			text_add(&bound->sql, token, n);
		}
	} while (kind != LEX_END && kind != LEX_OPEN);
	return 0;
}

void
bound_finish(struct bound *bound)
{
	text_finish(&bound->sql);
	free(bound->values);
	*bound = (struct bound){ 0 };
}
