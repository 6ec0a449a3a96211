/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The `on_error` lines of a pool: parse and print them, and change the errors of the server. The configuration owns the
 * lines; worker/query.c calls cnd_error_maps_apply(). Errors of class 08 are left alone: libcenote learns from them that the
 * session was lost.
 */
#include "error_map.h"

#include <stdlib.h>
#include <string.h>

#include "core/sqlstate.h"
#include "rule_parser.h"
#include "shared/units.h"

/* Most bytes of an error's fields. */
#define FIELDS_MAX 65536u

/* ---- reading ---- */

static bool
is_sqlstate(const char *text)
{
	static const char *const others[] = { "00", "01", "02", "08" };

	if (!cnc_sqlstate_is_valid(text))
		return false;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (strncmp(text, others[i], 2) == 0)
			return false;
	}
	return true;
}

static int
take_sqlstate(struct cnd_rule_parser *p, const char *text, char sqlstate[6])
{
	if (!is_sqlstate(text))
		return cnd_rule_bad(p,
			"on_error: \"%.64s\" is not an SQLSTATE of an error, such as "
			"23505; class 08 cannot be changed",
			text);
	memcpy(sqlstate, text, 6);
	return 0;
}

/* 1: the word is native=N, and *ret_native is N. 0: it is another word. -1: N is not a number, and the error is set. */
static int
take_native(struct cnd_rule_parser *p, const char *word, int32_t *ret_native)
{
	bool is_negative;
	uint64_t value;

	if (strncmp(word, "native=", 7) != 0)
		return 0;
	is_negative = word[7] == '-';
	if (cnd_number_parse(word + 7 + is_negative, INT32_MAX, &value) < 0)
		return cnd_rule_bad(
			p, "on_error: \"%.64s\" is not the number of an error", word + 7);
	*ret_native = is_negative ? -(int32_t)value : (int32_t)value;
	return 1;
}

static int
take_from(struct cnd_rule_parser *p, struct cnd_error_map *map, char *word)
{
	for (char *one; (one = strsep(&word, ",")) != NULL;) {
		struct cnd_error_name *name = &map->from[map->n_from];
		int r;

		if (map->n_from == CND_ERROR_FROM_MAX)
			return cnd_rule_bad(p, "on_error: more than %u errors before ->",
				CND_ERROR_FROM_MAX);
		r = take_native(p, one, &name->native);
		if (r < 0 || (r == 0 && take_sqlstate(p, one, name->sqlstate) < 0))
			return -1;
		map->n_from++;
	}
	return 0;
}

static int
take_to(struct cnd_rule_parser *p, struct cnd_error_map *map, const char *word)
{
	int r = take_native(p, word, &map->native);

	if (r != 0) {
		map->has_native = true;
		return r < 0 ? -1 : 0;
	}
	if (map->message != NULL)
		return cnd_rule_bad(
			p, "on_error: an error has one text; put it in double quotes");
	map->message = strdup(word);
	return map->message != NULL ? 0 : cnd_rule_bad(p, "out of memory");
}

static int
take_line(struct cnd_rule_parser *p, struct cnd_error_map *map)
{
	char *word = cnd_rule_word(p);

	if (word == NULL || take_from(p, map, word) < 0)
		return *p->error != '\0'
			       ? -1
			       : cnd_rule_bad(p, "on_error: write ERRORS -> SQLSTATE");
	word = cnd_rule_word(p);
	if (word == NULL || strcmp(word, "->") != 0 || (word = cnd_rule_word(p)) == NULL)
		return cnd_rule_bad(
			p, "on_error: write ERRORS -> SQLSTATE [native=N] [\"TEXT\"]");
	if (take_sqlstate(p, word, map->sqlstate) < 0)
		return -1;
	while ((word = cnd_rule_word(p)) != NULL) {
		if (take_to(p, map, word) < 0)
			return -1;
	}
	return *p->error != '\0' ? -1 : 0;
}

int
cnd_error_maps_parse(
	struct cnd_error_maps *maps, const char *text, char error[CND_ERROR_ERROR_MAX])
{
	struct cnd_rule_parser p = { .error = error };
	struct cnd_error_map *more;
	char *copy;
	int r;

	_Static_assert(CND_ERROR_ERROR_MAX == CND_QUERY_ERROR_MAX,
		"the parser of rules writes the error");
	*error = '\0';
	if (maps->n == CND_ERROR_MAPS_MAX)
		return cnd_rule_bad(
			&p, "on_error: more than %u lines", CND_ERROR_MAPS_MAX);
	more = realloc(maps->list, (maps->n + 1) * sizeof(*more));
	if (more == NULL)
		return cnd_rule_bad(&p, "out of memory");
	maps->list = more;
	more[maps->n++] = (struct cnd_error_map){ .text = strdup(text) };
	copy = p.rest = strdup(text);
	r = copy != NULL && more[maps->n - 1].text != NULL
		    ? take_line(&p, &more[maps->n - 1])
		    : cnd_rule_bad(&p, "out of memory");
	free(copy);
	return r;
}

void
cnd_error_maps_destroy(struct cnd_error_maps *maps)
{
	for (size_t i = 0; i < maps->n; i++) {
		free(maps->list[i].text);
		free(maps->list[i].message);
	}
	free(maps->list);
	*maps = (struct cnd_error_maps){ .n = 0 };
}

void
cnd_error_maps_print(const struct cnd_error_maps *maps, FILE *out)
{
	for (size_t i = 0; i < maps->n; i++)
		fprintf(out, "%-19s = %s\n", "on_error", maps->list[i].text);
}

/* ---- changing errors ---- */

static bool
has_error(const struct cnd_error_map *map, const struct cnc_diag *d)
{
	for (size_t i = 0; i < map->n_from; i++) {
		const struct cnd_error_name *name = &map->from[i];

		if (*name->sqlstate != '\0' ? strcmp(name->sqlstate, d->sqlstate) == 0
					    : name->native == d->native)
			return true;
	}
	return false;
}

/* Write the fields of `to`, and then those of `from` that `to` does not have. */
static int
put_fields(struct cnc_buf *b, const struct cnc_diag *to, const struct cnc_diag *from)
{
	int r = cnc_diag_put(b, to);

	for (char letter = 'A'; letter <= 'z' && r == CENOTE_OK; letter++) {
		const char *text = cnc_diag_field(from, letter);

		if (text != NULL && letter != 'C' && letter != 'M' && letter != 'N')
			r = cnc_diag_put_field(b, letter, text, strlen(text));
	}
	return r;
}

static void
apply(const struct cnd_error_map *map, struct cnc_diag *d)
{
	const struct cenote_allocator *mem = d->mem;
	struct cnc_diag to;
	struct cnc_buf fields;

	cnc_diag_init(&to, mem);
	cnc_diag_set(&to, map->sqlstate, "%s",
		map->message != NULL ? map->message : cnc_diag_field(d, 'M'));
	to.native = map->has_native ? map->native : d->native;
	cnc_buf_init(&fields, mem, FIELDS_MAX);
	if (put_fields(&fields, &to, d) == CENOTE_OK)
		(void)cnc_diag_set_fields(d, cnc_buf_head(&fields), cnc_buf_len(&fields));
	else
		cnc_diag_copy(d, &to);
	cnc_buf_finish(&fields);
	cnc_diag_finish(&to);
}

void
cnd_error_maps_apply(const struct cnd_error_maps *maps, struct cnc_diag *d)
{
	if (strncmp(d->sqlstate, "08", 2) == 0)
		return;
	for (size_t i = 0; i < maps->n; i++) {
		if (has_error(&maps->list[i], d)) {
			apply(&maps->list[i], d);
			return;
		}
	}
}
