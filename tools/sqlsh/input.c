/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines of input become statements and commands. main.c, interactive.c and the commands \i and \e
 * call it. The state is struct input.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "interrupt.h"
#include "shell.h"

#define INPUT_DEPTH_MAX 16u

void
input_init(struct input *in, struct shell *sh)
{
	*in = (struct input){ .sh = sh };
	split_init(&in->split, sh->lex_flags);
}

void
input_finish(struct input *in)
{
	split_finish(&in->split);
}

static void
remember(struct shell *sh, const char *sql, size_t len)
{
	text_clear(&sh->last);
	text_add(&sh->last, sql, len);
}

static int
run_statement(struct input *in, const struct split_statement *st)
{
	struct shell *sh = in->sh;

	struct input *before = sh->input;
	int r;

	sh->line = st->line;
	remember(sh, st->sql, st->len);
	sh->input = in;
	in->n_data = 0;
	r = run_sql(sh, st->sql, st->len);
	sh->input = before;
	/* Count the lines of data, although they are not SQL. */
	for (; in->n_data > 0; in->n_data--) {
		in->n_lines++;
		split_add(&in->split, "\n", 1);
	}
	return r;
}

static int
read_file_line(FILE *file, struct text *ret_line)
{
	char *line = NULL;
	size_t cap = 0;
	ssize_t n = getline(&line, &cap, file);

	if (n > 0)
		text_add(ret_line, line, (size_t)n);
	free(line);
	return n > 0;
}

int
input_data_line(struct shell *sh, struct text *ret_line)
{
	struct input *in = sh->input;

	text_clear(ret_line);
	if (!in)
		return 0;
	in->n_data++;
	if (in->read_line)
		return in->read_line(in, ret_line);
	return read_file_line(in->file ? in->file : stdin, ret_line);
}

int
input_stops(struct shell *sh, int r)
{
	switch (r) {
	case RUN_OK:
		return 0;
	case RUN_QUIT:
		return 1;
	case RUN_ERROR:
		sh->status = sh->status > EXIT_SQL_ERROR ? sh->status : EXIT_SQL_ERROR;
		return sh->stops_on_error;
	case RUN_LOST:
		sh->status = EXIT_USAGE;
		return !sh->is_interactive;
	default:
		sh->status = EXIT_SQL_ERROR;
		return 1;
	}
}

/* Whether the line holds a backslash command. Inside a quote or comment it does not. */
static int
is_command(const struct split *s, const char *line, size_t len)
{
	size_t i = 0;

	while (i < len && (line[i] == ' ' || line[i] == '\t'))
		i++;
	return i < len && line[i] == '\\' && !split_is_quoted(s);
}

static int
run_command(struct input *in, const char *line, size_t len)
{
	struct input *before = in->sh->input;
	int r;

	in->sh->line = in->n_lines;
	in->sh->input = in;
	r = cmd_run(in, line, len);
	in->sh->input = before;
	/* Count the line, although it is not SQL. */
	split_add(&in->split, "\n", 1);
	return r;
}

/* Whether a token begins at `at`, outside of quotes and comments. */
static int
is_token(const struct split *s, const char *line, size_t len, size_t at)
{
	struct text whole = { 0 };
	struct lex l;
	enum lex_kind kind;

	/* begin with the open quote or comment */
	text_add(&whole, text_str(&s->text) + s->lex.start, s->text.len - s->lex.start);
	at += whole.len;
	text_add(&whole, line, len);
	lex_init(&l, s->lex.flags);
	do
		kind = lex_next(&l, text_str(&whole), whole.len);
	while (kind != LEX_END && kind != LEX_OPEN && l.start < at);
	text_finish(&whole);
	return kind == LEX_CHAR && l.start == at;
}

/* The position of \g, \gx or \G at the end of the line; `len` if there is none. */
static size_t
find_go(const struct split *s, const char *line, size_t len)
{
	size_t end = len, n;

	while (end > 0 && strchr(" \t\r\n", line[end - 1]))
		end--;
	for (n = 2; n <= 3 && n <= end; n++) {
		if (cmd_is_go(line + end - n, n) && is_token(s, line, len, end - n))
			return end - n;
	}
	return len;
}

static int
run_complete(struct input *in)
{
	struct split_statement st;
	int r = RUN_OK;

	while (split_next(&in->split, &st)) {
		int one = run_statement(in, &st);

		if (one != RUN_OK)
			r = one;
		if (input_stops(in->sh, one))
			break;
	}
	return r;
}

int
input_line(struct input *in, const char *line, size_t len)
{
	size_t go;
	int r;

	in->n_lines++;
	/* \c may have changed the backend. */
	if (!split_is_pending(&in->split))
		in->split.lex.flags = in->sh->lex_flags;
	if (is_command(&in->split, line, len))
		return run_command(in, line, len);
	go = find_go(&in->split, line, len);
	split_add(&in->split, line, go);
	r = run_complete(in);
	if (go == len || (r != RUN_OK && input_stops(in->sh, r)))
		return r;
	return run_command(in, line + go, len - go);
}

int
input_end(struct input *in)
{
	struct split_statement st;

	return split_rest(&in->split, &st) ? run_statement(in, &st) : RUN_OK;
}

int
input_run_text(struct shell *sh, const char *text)
{
	struct input in;
	int r = RUN_OK;

	input_init(&in, sh);
	while (*text && r == RUN_OK) {
		size_t n = strcspn(text, "\n");

		n += text[n] == '\n';
		r = input_line(&in, text, n);
		text += n;
		if (!input_stops(sh, r))
			r = RUN_OK;
	}
	if (r == RUN_OK)
		r = input_end(&in);
	(void)input_stops(sh, r);
	input_finish(&in);
	return r;
}

static int
read_lines(struct input *in, FILE *file)
{
	char *line = NULL;
	size_t cap = 0;
	ssize_t n;
	int r = RUN_OK;

	while (r == RUN_OK && !interrupt_is_pending() &&
		(n = getline(&line, &cap, file)) > 0) {
		r = input_line(in, line, (size_t)n);
		if (!input_stops(in->sh, r))
			r = RUN_OK;
	}
	free(line);
	if (r == RUN_OK && interrupt_is_pending())
		return RUN_INTERRUPTED;
	if (r == RUN_OK && ferror(file)) {
		shell_error(in->sh, "%s", strerror(errno));
		return RUN_ERROR;
	}
	return r;
}

int
input_run_stream(struct shell *sh, FILE *file, const char *name)
{
	const char *source = sh->source;
	unsigned long line = sh->line;
	struct input in;
	int r;

	sh->source = name;
	sh->line = 1;
	input_init(&in, sh);
	in.file = file;
	r = read_lines(&in, file);
	if (r == RUN_OK)
		r = input_end(&in);
	(void)input_stops(sh, r);
	input_finish(&in);
	sh->source = source;
	sh->line = line;
	return r;
}

int
input_run_file(struct shell *sh, const char *path)
{
	FILE *file;
	int r;

	if (strcmp(path, "-") == 0)
		return input_run_stream(sh, stdin, "stdin");
	if (sh->depth >= INPUT_DEPTH_MAX) {
		shell_error(sh, "%s: files read files %u deep", path, INPUT_DEPTH_MAX);
		return RUN_ERROR;
	}
	file = fopen(path, "re");
	if (!file) {
		shell_error(sh, "%s: %s", path, strerror(errno));
		return RUN_ERROR;
	}
	sh->depth++;
	r = input_run_stream(sh, file, path);
	sh->depth--;
	(void)fclose(file);
	return r;
}
