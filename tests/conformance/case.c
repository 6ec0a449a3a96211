/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads conformance cases from a file. README.md describes the form.
 */
#include "case.h"

#include <cenote/types.h>

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct word;

struct parser {
	struct cnt_cases *list;
	const struct cnt_backend_names *names;
	struct cnt_case *test;
	struct cnt_step *step;
	struct cnt_expect *expect;
	const char *path;
	int line;
	int is_variant; /* the line is only for the backends that it names */
	const struct word *last; /* the word of the last line that was for our backend */
	int replaces; /* if the next line is a variant with the same word, it replaces the last line */
	int is_left_out; /* the case is not for our backend */
};

/* Make room for one more zeroed element at the end of an array. A test program may abort when
 * memory runs out. */
static void *
grow(void *array, size_t *n, size_t size)
{
	char *p = realloc(array, (*n + 1) * size);

	if (!p)
		abort();
	memset(p + *n * size, 0, size);
	(*n)++;
	return p;
}

static char *
copy_text(const char *text, size_t len)
{
	char *p = malloc(len + 1);

	if (!p)
		abort();
	memcpy(p, text, len);
	p[len] = '\0';
	return p;
}

/* Write "\R{COUNT|TEXT}" at `line` as COUNT copies of TEXT. Returns the length of the escape, or 0
 * if there is no escape. */
static size_t
expand_copies(FILE *f, const char *line)
{
	char *text;
	const char *end;
	unsigned long count;

	if (strncmp(line, "\\R{", 3) != 0 || !(end = strchr(line, '}')) ||
		(count = strtoul(line + 3, &text, 10)) == 0 || *text != '|')
		return 0;
	while (count-- > 0)
		fwrite(text + 1, 1, (size_t)(end - text - 1), f);
	return (size_t)(end - line) + 1;
}

/* Write the Nth placeholder: `form` with N in place of '#'. If `form` is NULL, use the backend's
 * own form. */
static void
write_placeholder(FILE *f, unsigned long n, const char *form, const char *backend)
{
	if (!form && strcmp(backend, "postgresql") == 0)
		form = "$#";
	else if (!form && strcmp(backend, "sqlite") == 0)
		form = "?#";
	else if (!form)
		form = "?";
	for (; *form; form++) {
		if (*form == '#')
			fprintf(f, "%lu", n);
		else
			fputc(*form, f);
	}
}

/* Write the placeholder for "{N}" or "{N:TYPE}" at `line`. Returns the length of that text, or 0 if
 * there is no such text. */
static size_t
expand_placeholder(FILE *f, const char *line, const struct cnt_backend_names *names)
{
	const char *backend = names->backend;
	char *rest;
	const char *end = strchr(line, '}');
	unsigned long n;

	if (line[0] != '{' || !isdigit((unsigned char)line[1]) || !end)
		return 0;
	n = strtoul(line + 1, &rest, 10);
	if (rest != end && *rest != ':')
		return 0;
	write_placeholder(f, n, names->placeholder, backend);
	if (strcmp(backend, "postgresql") == 0 && *rest == ':')
		fprintf(f, "::%.*s", (int)(end - rest - 1), rest + 1);
	return (size_t)(end - line) + 1;
}

/* Replace copies and placeholders, before the line is parsed. */
static char *
expand(const char *line, const struct cnt_backend_names *names)
{
	char *out = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&out, &len);

	if (!f)
		abort();
	while (*line) {
		size_t n = expand_copies(f, line);

		if (n == 0)
			n = expand_placeholder(f, line, names);
		if (n == 0)
			fputc(*line++, f);
		line += n;
	}
	fclose(f);
	return out;
}

/* One character or escape at *p: \\ \| \n \t \r \s (blank) \xHH. */
static char
unescape(const char **p)
{
	static const char from[] = "ntrs", to[] = "\n\t\r ";
	const char *s = *p, *at;
	char hex[3] = "";

	if (s[0] != '\\' || s[1] == '\0') {
		*p = s + 1;
		return s[0];
	}
	*p = s + 2;
	if (s[1] == 'x' && isxdigit((unsigned char)s[2]) &&
		isxdigit((unsigned char)s[3])) {
		memcpy(hex, s + 2, 2);
		*p = s + 4;
		return (char)strtol(hex, NULL, 16);
	}
	at = strchr(from, s[1]);
	return at ? to[at - from] : s[1];
}

/* Parse the value between text and end, without the blanks around it. */
static struct cnt_bytes
parse_value(const char *text, const char *end)
{
	struct cnt_bytes v = { NULL, 0 };

	while (text < end && *text == ' ')
		text++;
	while (end > text && end[-1] == ' ')
		end--;
	if (end - text == 2 && memcmp(text, "\\N", 2) == 0)
		return v;
	v.bytes = malloc((size_t)(end - text) + 1);
	if (!v.bytes)
		abort();
	while (text < end)
		v.bytes[v.len++] = unescape(&text);
	v.bytes[v.len] = '\0';
	return v;
}

static void
free_rows(struct cnt_expect *e)
{
	size_t i, k;

	for (i = 0; i < e->n_rows; i++) {
		for (k = 0; k < e->rows[i].n_values; k++)
			free(e->rows[i].values[k].bytes);
		free(e->rows[i].values);
	}
	free(e->rows);
	e->rows = NULL;
	e->n_rows = 0;
}

static void
free_columns(struct cnt_expect *e)
{
	size_t i;

	for (i = 0; i < e->n_columns; i++) {
		free(e->columns[i].name);
		free(e->columns[i].type);
	}
	free(e->columns);
	e->columns = NULL;
	e->n_columns = 0;
}

static int
add_row(struct parser *p, const char *text)
{
	struct cnt_row *row;

	if (p->is_variant && !p->expect->has_variant_rows) {
		free_rows(p->expect);
		p->expect->has_variant_rows = 1;
	} else if (!p->is_variant && p->expect->has_variant_rows) {
		return -1;
	}
	p->expect->rows =
		grow(p->expect->rows, &p->expect->n_rows, sizeof(*p->expect->rows));
	row = &p->expect->rows[p->expect->n_rows - 1];
	for (;;) {
		const char *end = text;

		while (*end && *end != '|')
			end += *end == '\\' && end[1] ? 2 : 1;
		row->values = grow(row->values, &row->n_values, sizeof(*row->values));
		row->values[row->n_values - 1] = parse_value(text, end);
		if (*end == '\0')
			return 0;
		text = end + 1;
	}
}

static int
add_columns(struct parser *p, const char *text)
{
	struct cnt_expect *e = p->expect;

	free_columns(e);
	while (*text) {
		size_t len = strcspn(text, " ");
		const char *colon = memrchr(text, ':', len);
		struct cnt_bytes name = parse_value(text, colon ? colon : text + len);

		e->columns = grow(e->columns, &e->n_columns, sizeof(*e->columns));
		e->columns[e->n_columns - 1].name = name.bytes;
		e->columns[e->n_columns - 1].type =
			colon ? copy_text(colon + 1, (size_t)(text + len - colon) - 1)
			      : copy_text("", 0);
		text += len + strspn(text + len, " ");
	}
	return 0;
}

static struct cnt_expect *
add_expect(struct parser *p)
{
	struct cnt_step *s = p->step;

	s->expects = grow(s->expects, &s->n_expects, sizeof(*s->expects));
	p->expect = &s->expects[s->n_expects - 1];
	p->expect->column_count = p->expect->row_count = CNT_UNSET;
	p->expect->rows_before_error = p->expect->affected = CNT_UNSET;
	p->expect->insert_id = p->expect->native = CNT_UNSET;
	p->expect->tx = p->expect->pins = CNT_UNSET;
	return p->expect;
}

static struct cnt_step *
add_step(struct parser *p)
{
	struct cnt_case *t = p->test;

	t->steps = grow(t->steps, &t->n_steps, sizeof(*t->steps));
	p->step = &t->steps[t->n_steps - 1];
	p->step->line = p->line;
	add_expect(p);
	return p->step;
}

static int
on_case(struct parser *p, const char *text)
{
	p->list->cases = grow(p->list->cases, &p->list->n_cases, sizeof(*p->test));
	p->test = &p->list->cases[p->list->n_cases - 1];
	p->test->file = p->path;
	p->test->line = p->line;
	p->test->name = copy_text(text, strlen(text));
	p->test->not_ways = copy_text("", 0);
	p->step = NULL;
	p->expect = NULL;
	p->is_left_out = 0;
	return 0;
}

#define N_BACKENDS 5u

/* 1 if "BACKEND[,BACKEND…]" names ours, 0 if not; -1 if one of the names is unknown. */
static int
names_backend(const struct parser *p, const char *text, size_t len)
{
	static const char *const all[N_BACKENDS] = { "sqlite", "postgresql", "mysql",
		"freetds", "odbc" };
	const char *end = text + len;
	int is_ours = 0;
	size_t i, n;

	while (text < end) {
		n = strcspn(text, ", :.");
		n = n > (size_t)(end - text) ? (size_t)(end - text) : n;
		for (i = 0; i < N_BACKENDS; i++) {
			if (strlen(all[i]) == n && memcmp(all[i], text, n) == 0)
				break;
		}
		if (i == N_BACKENDS)
			return -1;
		is_ours |= strcmp(all[i], p->names->backend) == 0;
		is_ours |= p->names->way && strcmp(all[i], p->names->way) == 0;
		text += n + (text + n < end);
	}
	return is_ours;
}

static int
on_only(struct parser *p, const char *text)
{
	int r = names_backend(p, text, strcspn(text, ":"));

	p->is_left_out |= r == 0;
	return r < 0 ? -1 : 0;
}

static int
on_except(struct parser *p, const char *text)
{
	int r = names_backend(p, text, strcspn(text, ":"));

	p->is_left_out |= r == 1;
	return r < 0 ? -1 : 0;
}

static int
on_not(struct parser *p, const char *text)
{
	free(p->test->not_ways);
	p->test->not_ways = copy_text(text, strcspn(text, ":"));
	return 0;
}

static int
on_setup(struct parser *p, const char *text)
{
	if (p->replaces && p->is_variant)
		free(p->test->setup[--p->test->n_setup]);
	p->test->setup = grow(p->test->setup, &p->test->n_setup, sizeof(*p->test->setup));
	p->test->setup[p->test->n_setup - 1] = copy_text(text, strlen(text));
	return 0;
}

static int
on_sql(struct parser *p, const char *text)
{
	struct cnt_bytes sql = parse_value(text, text + strlen(text));

	if (!(p->replaces && p->is_variant))
		add_step(p);
	free(p->step->sql);
	p->step->sql = sql.bytes;
	p->step->sql_len = sql.len;
	return sql.bytes ? 0 : -1;
}

static int
on_op(struct parser *p, const char *text)
{
	size_t len = strcspn(text, " ");

	if (!(p->replaces && p->is_variant))
		add_step(p);
	free(p->step->op);
	free(p->step->args);
	p->step->op = copy_text(text, len);
	text += len + strspn(text + len, " ");
	p->step->args = copy_text(text, strlen(text));
	return 0;
}

static int
on_bind(struct parser *p, const char *text)
{
	size_t len = strcspn(text, " ");
	struct cnt_step *s = p->step;

	if (p->replaces && p->is_variant) {
		free(s->binds[--s->n_binds].type);
		free(s->binds[s->n_binds].value.bytes);
	}
	s->binds = grow(s->binds, &s->n_binds, sizeof(*s->binds));
	s->binds[s->n_binds - 1].type = copy_text(text, len);
	s->binds[s->n_binds - 1].value = parse_value(text + len, text + strlen(text));
	return 0;
}

static int
format_named(const char *name, size_t len)
{
	static const char *const names[] = { "text", "canonical", "binary" };
	int i;

	for (i = 0; i < 3; i++) {
		if (strlen(names[i]) == len && memcmp(names[i], name, len) == 0)
			return i;
	}
	return -1;
}

static int
on_format(struct parser *p, const char *text)
{
	int format = format_named(text, strlen(text));

	p->step->format = (uint32_t)format;
	return format < 0 ? -1 : 0;
}

static int
on_formats(struct parser *p, const char *text)
{
	struct cnt_step *s = p->step;

	s->n_formats = 0;
	while (*text) {
		size_t len = strcspn(text, " ");
		int format = format_named(text, len);

		if (format < 0 || s->n_formats == CNT_FORMATS_MAX)
			return -1;
		s->formats[s->n_formats++] = (uint8_t)format;
		text += len + strspn(text + len, " ");
	}
	return 0;
}

static int
on_extended(struct parser *p, const char *text)
{
	p->step->is_extended = 1;
	return *text ? -1 : 0;
}

/* Append the value of a line: several lines follow each other. */
static int
add_bytes(struct cnt_bytes *to, const char *text)
{
	struct cnt_bytes v = parse_value(text, text + strlen(text));

	if (!v.bytes)
		return -1;
	to->bytes = realloc(to->bytes, to->len + v.len + 1);
	if (!to->bytes)
		abort();
	memcpy(to->bytes + to->len, v.bytes, v.len + 1);
	to->len += v.len;
	free(v.bytes);
	return 0;
}

static int
on_copy_in(struct parser *p, const char *text)
{
	return add_bytes(&p->step->copy_in, text);
}

static int
on_copy_out(struct parser *p, const char *text)
{
	return add_bytes(&p->expect->copy_out, text);
}

static int
on_output(struct parser *p, const char *text)
{
	p->expect->has_output = 1;
	return *text ? -1 : 0;
}

static int
add_text_line(char **to, const char *text)
{
	size_t old = *to ? strlen(*to) : 0, len = strlen(text);

	*to = realloc(*to, old + len + 2);
	if (!*to)
		abort();
	memcpy(*to + old, text, len);
	memcpy(*to + old + len, "\n", 2);
	return *text ? 0 : -1;
}

static int
on_notice(struct parser *p, const char *text)
{
	return add_text_line(&p->expect->notices, text);
}

static int
on_notification(struct parser *p, const char *text)
{
	return add_text_line(&p->expect->notifications, text);
}

static int
on_parameter(struct parser *p, const char *text)
{
	return add_text_line(&p->expect->parameters, text);
}

static int
on_max_rows(struct parser *p, const char *text)
{
	p->step->max_rows = strtoull(text, NULL, 10);
	return p->step->max_rows > 0 ? 0 : -1;
}

static int
on_next(struct parser *p, const char *text)
{
	add_expect(p);
	return *text ? -1 : 0;
}

static int
on_number(int64_t *ret_value, const char *text)
{
	char *end;

	*ret_value = strtoll(text, &end, 10);
	return *text && !*end ? 0 : -1;
}

static int
on_text(char **ret_text, const char *text)
{
	free(*ret_text);
	*ret_text = copy_text(text, strlen(text));
	return 0;
}

static int
on_tx(struct parser *p, const char *text)
{
	static const char *const names[] = { "idle", "open", "failed" };
	int i;

	for (i = 0; i < 3; i++) {
		if (strcmp(text, names[i]) != 0)
			continue;
		p->expect->tx = i;
		return 0;
	}
	return -1;
}

static int
on_column_count(struct parser *p, const char *text)
{
	return on_number(&p->expect->column_count, text);
}

static int
on_row_count(struct parser *p, const char *text)
{
	return on_number(&p->expect->row_count, text);
}

static int
on_rows_before_error(struct parser *p, const char *text)
{
	return on_number(&p->expect->rows_before_error, text);
}

static int
on_affected(struct parser *p, const char *text)
{
	return on_number(&p->expect->affected, text);
}

static int
on_insert_id(struct parser *p, const char *text)
{
	return on_number(&p->expect->insert_id, text);
}

static int
on_native(struct parser *p, const char *text)
{
	return on_number(&p->expect->native, text);
}

static int
on_pins(struct parser *p, const char *text)
{
	return on_number(&p->expect->pins, text);
}

static int
on_tag(struct parser *p, const char *text)
{
	return on_text(&p->expect->tag, text);
}

static int
on_error(struct parser *p, const char *text)
{
	free(p->expect->sqlstate);
	/* A variant without a value expects no error. */
	p->expect->sqlstate = *text ? copy_text(text, strlen(text)) : NULL;
	return *text || p->is_variant ? 0 : -1;
}

static int
on_message(struct parser *p, const char *text)
{
	return on_text(&p->expect->message, text);
}

static int
on_position(struct parser *p, const char *text)
{
	return on_text(&p->expect->position, text);
}

static int
on_params(struct parser *p, const char *text)
{
	return on_text(&p->expect->params, text);
}

static int
on_copy_fail(struct parser *p, const char *text)
{
	return on_text(&p->step->copy_fail, text);
}

/* What must be open for a word to make sense. */
enum need {
	NEED_NOTHING,
	NEED_CASE,
	NEED_STEP
};

static const struct word {
	const char *name;
	enum need need;
	int (*parse)(struct parser *p, const char *text);
} words[] = {
	{ "case", NEED_NOTHING, on_case },
	{ "not", NEED_CASE, on_not },
	{ "only", NEED_CASE, on_only },
	{ "except", NEED_CASE, on_except },
	{ "setup", NEED_CASE, on_setup },
	{ "sql", NEED_CASE, on_sql },
	{ "op", NEED_CASE, on_op },
	{ "bind", NEED_STEP, on_bind },
	{ "copy_fail", NEED_STEP, on_copy_fail },
	{ "copy_in", NEED_STEP, on_copy_in },
	{ "copy_out", NEED_STEP, on_copy_out },
	{ "extended", NEED_STEP, on_extended },
	{ "format", NEED_STEP, on_format },
	{ "formats", NEED_STEP, on_formats },
	{ "max_rows", NEED_STEP, on_max_rows },
	{ "columns", NEED_STEP, add_columns },
	{ "column_count", NEED_STEP, on_column_count },
	{ "row", NEED_STEP, add_row },
	{ "row_count", NEED_STEP, on_row_count },
	{ "tag", NEED_STEP, on_tag },
	{ "affected", NEED_STEP, on_affected },
	{ "insert_id", NEED_STEP, on_insert_id },
	{ "tx", NEED_STEP, on_tx },
	{ "pins", NEED_STEP, on_pins },
	{ "error", NEED_STEP, on_error },
	{ "message", NEED_STEP, on_message },
	{ "native", NEED_STEP, on_native },
	{ "notice", NEED_STEP, on_notice },
	{ "notification", NEED_STEP, on_notification },
	{ "output", NEED_STEP, on_output },
	{ "parameter", NEED_STEP, on_parameter },
	{ "params", NEED_STEP, on_params },
	{ "position", NEED_STEP, on_position },
	{ "rows_before_error", NEED_STEP, on_rows_before_error },
	{ "next", NEED_STEP, on_next },
};

static const struct word *
find_word(const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strlen(words[i].name) == len && memcmp(words[i].name, name, len) == 0)
			return &words[i];
	}
	return NULL;
}

/* Skip a variant for another backend. If no general line came before it, a variant for our backend
 * has to follow. The words after it then do not belong to the step before. */
static void
pass_over(struct parser *p, const struct word *w)
{
	if ((w->parse == on_sql || w->parse == on_op) && p->last != w)
		p->step = NULL;
}

static int
parse_line(struct parser *p, char *text)
{
	size_t len = strcspn(text, " "), name_len = strcspn(text, ". ");
	const struct word *w = find_word(text, name_len);
	int is_ours = 1, r;

	if (!w)
		return -1;
	p->is_variant = name_len < len;
	if (p->is_variant)
		is_ours = names_backend(p, text + name_len + 1, len - name_len - 1);
	if (is_ours < 0)
		return -1;
	if (p->is_left_out && w->parse != on_case)
		return 0;
	if (!is_ours) {
		pass_over(p, w);
		return 0;
	}
	if ((w->need >= NEED_CASE && !p->test) || (w->need == NEED_STEP && !p->step))
		return -1;
	p->replaces = p->replaces && p->last == w;
	r = w->parse(p, text + len + strspn(text + len, " "));
	p->last = w;
	p->replaces = !p->is_variant;
	return r;
}

int
cnt_cases_read(
	struct cnt_cases *list, const char *path, const struct cnt_backend_names *names)
{
	struct parser p = { .list = list, .names = names, .path = path };
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t cap = 0;
	ssize_t len;
	int r = 0;

	if (!f) {
		perror(path);
		return -1;
	}
	while (r == 0 && (len = getline(&line, &cap, f)) >= 0) {
		char *text;

		p.line++;
		while (len > 0 && isspace((unsigned char)line[len - 1]))
			line[--len] = '\0';
		if (len == 0 || line[0] == '#')
			continue;
		text = expand(line, names);
		r = parse_line(&p, text);
		free(text);
	}
	if (r < 0)
		fprintf(stderr, "%s:%d: not understood: %.80s\n", path, p.line, line);
	free(line);
	fclose(f);
	return r;
}

static void
free_expect(struct cnt_expect *e)
{
	free_columns(e);
	free_rows(e);
	free(e->tag);
	free(e->sqlstate);
	free(e->message);
	free(e->position);
	free(e->params);
	free(e->copy_out.bytes);
	free(e->notices);
	free(e->notifications);
	free(e->parameters);
}

static void
free_step(struct cnt_step *s)
{
	size_t i;

	for (i = 0; i < s->n_binds; i++) {
		free(s->binds[i].type);
		free(s->binds[i].value.bytes);
	}
	for (i = 0; i < s->n_expects; i++)
		free_expect(&s->expects[i]);
	free(s->binds);
	free(s->expects);
	free(s->sql);
	free(s->op);
	free(s->args);
	free(s->copy_in.bytes);
	free(s->copy_fail);
}

void
cnt_cases_finish(struct cnt_cases *list)
{
	size_t i, k;

	for (i = 0; i < list->n_cases; i++) {
		struct cnt_case *t = &list->cases[i];

		for (k = 0; k < t->n_steps; k++)
			free_step(&t->steps[k]);
		for (k = 0; k < t->n_setup; k++)
			free(t->setup[k]);
		free(t->steps);
		free(t->setup);
		free(t->name);
		free(t->not_ways);
	}
	free(list->cases);
	list->cases = NULL;
	list->n_cases = 0;
}
