/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the rows of INSERT statements. records.c calls it. The state is struct sql_reader.
 */
#include "sql_reader.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* How the comment with the types begins, after its two dashes. */
#define TYPES_COMMENT " cenote: "

void
sql_reader_init(struct sql_reader *r, FILE *file, bool has_backslash)
{
	*r = (struct sql_reader){ .file = file, .has_backslash = has_backslash };
	r->next_line = 1;
}

void
sql_reader_finish(struct sql_reader *r)
{
	size_t i;

	for (i = 0; i < r->n_names; i++)
		text_finish(&r->names[i]);
	free(r->names);
	text_finish(&r->types);
	fields_finish(&r->fields);
	*r = (struct sql_reader){ 0 };
}

static int
fail(struct sql_reader *r, const char *error)
{
	r->error = ferror(r->file) ? "cannot be read on" : error;
	return -1;
}

/* ---- characters ---- */

static int
take(struct sql_reader *r)
{
	int c = getc_unlocked(r->file);

	if (c == EOF)
		return EOF;
	r->n_bytes++;
	if (c == '\n')
		r->next_line++;
	return c;
}

static int
peek(struct sql_reader *r)
{
	int c = getc_unlocked(r->file);

	if (c != EOF)
		(void)ungetc(c, r->file);
	return c;
}

static bool
is_blank(int c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool
is_word(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '+' || c == '-';
}

/* Skip a comment, which ends with the line. Keep the types if the first line has them. */
static int
skip_comment(struct sql_reader *r)
{
	bool is_first = r->next_line == 1;
	struct text line = { 0 };
	int c;

	r->line = r->next_line;
	if (take(r) != '-' || take(r) != '-')
		return fail(r, "INSERT expected");
	while ((c = take(r)) != EOF && c != '\n') {
		if (line.len < CSV_RECORD_MAX && is_first)
			text_add_char(&line, (char)c);
	}
	if (strncmp(text_str(&line), TYPES_COMMENT, strlen(TYPES_COMMENT)) == 0)
		text_add_str(&r->types, text_str(&line) + strlen(TYPES_COMMENT));
	text_finish(&line);
	return 0;
}

static void
skip_blanks(struct sql_reader *r)
{
	while (is_blank(peek(r)))
		(void)take(r);
}

static int
expect(struct sql_reader *r, char c, const char *error)
{
	skip_blanks(r);
	return take(r) == c ? 0 : fail(r, error);
}

static int
expect_word(struct sql_reader *r, const char *word)
{
	skip_blanks(r);
	for (; *word; word++) {
		int c = take(r);

		if (c == EOF || strncasecmp(word, (char[]){ (char)c, '\0' }, 1) != 0)
			return fail(r, "INSERT INTO table (columns) VALUES expected");
	}
	return 0;
}

/* ---- values ---- */

static int
add_byte(struct sql_reader *r, int c)
{
	if (r->fields.data.len >= CSV_RECORD_MAX)
		return fail(r, "the row is too long");
	text_add_char(&r->fields.data, (char)c);
	return 0;
}

/* The character that MySQL means by a backslash and this one. */
static int
unescape(int c)
{
	static const char letters[] = "ntrb0Z", special[] = "\n\t\r\b\0\x1a";
	const char *p = c > 0 && c < 128 ? strchr(letters, c) : NULL;

	return p ? special[p - letters] : c;
}

/* Take a text, after its opening quote. */
static int
take_text(struct sql_reader *r)
{
	for (;;) {
		int c = take(r);

		if (c == '\'') {
			if (peek(r) != '\'')
				return 0;
			(void)take(r);
		} else if (c == '\\' && r->has_backslash) {
			c = take(r);
			if (c != EOF)
				c = unescape(c);
		}
		if (c == EOF)
			return fail(r, "a quote is not closed");
		if (add_byte(r, c) < 0)
			return -1;
	}
}

static bool
is_number(const char *word)
{
	size_t n = strspn(word, "0123456789+-.eE");

	return word[n] == '\0' && strcspn(word, "0123456789") < n;
}

static bool
is_hex(const char *word)
{
	return strncasecmp(word, "0x", 2) == 0 &&
	       word[2 + strspn(word + 2, "0123456789abcdefABCDEF")] == '\0';
}

/* Replace the word that begins at this place of the data. */
static void
replace_word(struct sql_reader *r, size_t begin, const char *with)
{
	r->fields.data.len = begin;
	text_add_str(&r->fields.data, with);
}

/* Take a value that begins with a word: a number, NULL, TRUE, FALSE, 0x..., x'...', N'...'. */
static int
take_bare(struct sql_reader *r, bool *ret_is_null)
{
	size_t begin = r->fields.data.len;
	const char *word;
	bool has_quote;

	while (is_word(peek(r))) {
		if (add_byte(r, take(r)) < 0)
			return -1;
	}
	word = text_str(&r->fields.data) + begin;
	has_quote = peek(r) == '\'';
	if (has_quote && (strcasecmp(word, "x") == 0 || strcasecmp(word, "n") == 0)) {
		replace_word(r, begin, strcasecmp(word, "x") == 0 ? "\\x" : "");
		(void)take(r);
		return take_text(r);
	}
	if (strcasecmp(word, "null") == 0)
		*ret_is_null = true;
	else if (strcasecmp(word, "true") == 0)
		replace_word(r, begin, "1");
	else if (strcasecmp(word, "false") == 0)
		replace_word(r, begin, "0");
	else if (is_hex(word))
		memcpy(r->fields.data.data + begin, "\\x", 2);
	else if (!is_number(word))
		return fail(
			r, "a number, a text in quotes, NULL, TRUE or FALSE expected");
	return 0;
}

static int
take_value(struct sql_reader *r)
{
	bool is_null = false;
	int result;

	if (fields_begin(&r->fields) < 0)
		return fail(r, "too many values");
	skip_blanks(r);
	if (peek(r) == '\'') {
		(void)take(r);
		result = take_text(r);
	} else {
		result = take_bare(r, &is_null);
	}
	fields_end(&r->fields, is_null);
	return result;
}

/* ---- statements ---- */

/* Take a name without quotes, or in the quotes of any server. */
static int
take_name(struct sql_reader *r, struct text *ret_name)
{
	int open, close, c;

	skip_blanks(r);
	open = peek(r);
	close = open == '[' ? ']' : open;
	if (open != '"' && open != '`' && open != '[') {
		while (is_word(peek(r)) && ret_name->len < CSV_RECORD_MAX)
			text_add_char(ret_name, (char)take(r));
		return ret_name->len > 0 ? 0 : fail(r, "a name expected");
	}
	(void)take(r);
	for (;;) {
		c = take(r);
		if (c == close && peek(r) != close)
			return 0;
		if (c == close)
			(void)take(r);
		if (c == EOF || ret_name->len >= CSV_RECORD_MAX)
			return fail(r, "a name is not closed");
		text_add_char(ret_name, (char)c);
	}
}

/* Skip the name of the table, perhaps with its schema. The importer knows its table, so the name does not matter. */
static int
skip_table(struct sql_reader *r)
{
	struct text name = { 0 };
	int result = take_name(r, &name);

	while (result == 0 && peek(r) == '.') {
		(void)take(r);
		result = take_name(r, &name);
	}
	text_finish(&name);
	return result;
}

/* Keep the names of the columns, or compare them with those of the first statement. */
static int
take_column(struct sql_reader *r, size_t i, bool is_first)
{
	struct text name = { 0 };
	int result = take_name(r, &name);

	if (result == 0 && is_first) {
		r->names = mem_resize(r->names, i + 1, sizeof(r->names[0]));
		r->names[i] = name;
		r->n_names = i + 1;
		return 0;
	}
	if (result == 0 &&
		(i >= r->n_names || strcmp(text_str(&name), text_str(&r->names[i])) != 0))
		result = fail(r, "other columns than in the first statement");
	text_finish(&name);
	return result;
}

static int
take_columns(struct sql_reader *r)
{
	bool is_first = r->n_names == 0;
	size_t i = 0;
	int c;

	if (expect(r, '(', "the names of the columns expected after the table") < 0)
		return -1;
	do {
		if (i >= CSV_FIELDS_MAX)
			return fail(r, "too many columns");
		if (take_column(r, i++, is_first) < 0)
			return -1;
		skip_blanks(r);
		c = take(r);
	} while (c == ',');
	if (c != ')' || i != r->n_names)
		return fail(r, "other columns than in the first statement");
	return 0;
}

/* Skip blanks and comments before a statement. Returns 1 if a statement begins, 0 at the end of the file, -1 after an error. */
static int
find_statement(struct sql_reader *r)
{
	int c;

	for (;;) {
		skip_blanks(r);
		c = peek(r);
		if (c == EOF)
			return ferror(r->file) ? fail(r, "") : 0;
		if (c != '-')
			return 1;
		if (skip_comment(r) < 0)
			return -1;
	}
}

/* Take a statement up to its VALUES. Returns 1, 0 at the end of the file, -1 after an error. */
static int
begin_statement(struct sql_reader *r)
{
	int found = find_statement(r);

	if (found <= 0)
		return found;
	r->line = r->next_line;
	if (expect_word(r, "insert") < 0 || expect_word(r, "into") < 0 ||
		skip_table(r) < 0 || take_columns(r) < 0 || expect_word(r, "values") < 0)
		return -1;
	return 1;
}

/* Take what follows a row: a comma, or a semicolon, which usually ends the line too. */
static int
end_row(struct sql_reader *r)
{
	int c;

	skip_blanks(r);
	c = take(r);
	r->is_in_statement = c == ',';
	if (c != ',' && c != ';')
		return fail(r, "a comma or semicolon expected after a row");
	if (c == ';' && peek(r) == '\r')
		(void)take(r);
	r->is_complete = c == ';' && peek(r) == '\n';
	if (r->is_complete)
		(void)take(r);
	return 0;
}

static int
take_row(struct sql_reader *r)
{
	int c;

	if (expect(r, '(', "a row in parentheses expected") < 0)
		return -1;
	do {
		if (take_value(r) < 0)
			return -1;
		skip_blanks(r);
		c = take(r);
	} while (c == ',');
	return c == ')' ? end_row(r)
			: fail(r, "a comma or parenthesis expected after a value");
}

int
sql_read(struct sql_reader *r)
{
	int more = 1;

	r->is_complete = false;
	r->line = r->next_line;
	fields_clear(&r->fields);
	if (!r->is_in_statement)
		more = begin_statement(r);
	if (more <= 0)
		return more;
	skip_blanks(r);
	r->line = r->next_line;
	if (take_row(r) < 0)
		return -1;
	fields_point(&r->fields);
	return 1;
}
