/* SPDX-License-Identifier: BSD-2-Clause */
#include "split.h"

#include <string.h>
#include <strings.h>

static int
is_word(const char *s, size_t len, const char *word)
{
	return strlen(word) == len && strncasecmp(s, word, len) == 0;
}

static int
is_one_of(const char *s, size_t len, const char *const *words)
{
	for (; *words; words++) {
		if (is_word(s, len, *words))
			return 1;
	}
	return 0;
}

/* Words that may stand between CREATE and the kind of object. */
static const char *const create_words[] = { "or", "replace", "temp", "temporary",
	"constraint", "alter", "definer", "aggregate", "editionable", "noneditionable",
	NULL };
static const char *const routine_words[] = { "trigger", "procedure", "function", "event",
	"package", NULL };
/* If one of these words follows END, END does not close a BEGIN. None of these words counts as an
 * opener. */
static const char *const inner_words[] = { "if", "loop", "while", "repeat", "for", NULL };

static void
begin_statement(struct split *s)
{
	s->first = SIZE_MAX;
	s->body = SPLIT_FIRST_WORD;
	s->depth = 0;
	s->parens = 0;
	s->is_after_end = 0;
	s->is_after_dot = 0;
}

void
split_init(struct split *s, uint32_t lex_flags)
{
	*s = (struct split){ 0 };
	lex_init(&s->lex, lex_flags);
	s->line = 1;
	begin_statement(s);
}

void
split_finish(struct split *s)
{
	text_finish(&s->text);
}

void
split_reset(struct split *s, unsigned long line)
{
	text_clear(&s->text);
	lex_init(&s->lex, s->lex.flags);
	s->line = line;
	s->counted = 0;
	begin_statement(s);
}

static unsigned long
count_lines(const char *s, size_t len)
{
	const char *end = s + len, *p = s;
	unsigned long n = 0;

	while (p < end && (p = memchr(p, '\n', (size_t)(end - p)))) {
		n++;
		p++;
	}
	return n;
}

/* Count the lines up to `pos` in s->line; this looks at each byte once. */
static void
count_to(struct split *s, size_t pos)
{
	s->line += count_lines(text_str(&s->text) + s->counted, pos - s->counted);
	s->counted = pos;
}

/* Remove the statements that were returned before, when it is worth moving the rest. */
static void
drop_taken(struct split *s)
{
	size_t n = s->lex.pos;

	if (s->first != SIZE_MAX || s->lex.mode || n < s->text.len / 2)
		return;
	count_to(s, n);
	text_drop(&s->text, n);
	s->lex.pos = s->lex.start = s->counted = 0;
}

void
split_add(struct split *s, const char *lines, size_t len)
{
	drop_taken(s);
	text_add(&s->text, lines, len);
}

/* Note how a word in the body of CREATE TRIGGER … changes its nesting. */
static void
note_body_word(struct split *s, const char *w, size_t len)
{
	if (s->is_after_end) {
		s->is_after_end = 0;
		if (is_one_of(w, len, inner_words)) {
			s->depth++;
			return;
		}
		if (is_word(w, len, "case"))
			return;
	}
	if (is_word(w, len, "begin") || (s->depth > 0 && is_word(w, len, "case"))) {
		s->depth++;
	} else if (is_word(w, len, "end") && s->depth > 0) {
		s->depth--;
		s->is_after_end = 1;
	}
}

static void
note_word(struct split *s, const char *w, size_t len)
{
	if (s->is_after_dot)
		return;
	switch (s->body) {
	case SPLIT_FIRST_WORD:
		s->body = is_word(w, len, "create") ? SPLIT_CREATE : SPLIT_PLAIN;
		break;
	case SPLIT_CREATE:
		if (is_one_of(w, len, routine_words))
			s->body = SPLIT_ROUTINE;
		else if (!is_one_of(w, len, create_words))
			s->body = SPLIT_PLAIN;
		break;
	case SPLIT_ROUTINE:
		note_body_word(s, w, len);
		break;
	case SPLIT_PLAIN:
		break;
	}
}

/* Note a character. 1: it ends the statement. */
static int
note_char(struct split *s, char c)
{
	if (c == '(') {
		s->parens++;
	} else if (c == ')' && s->parens > 0) {
		s->parens--;
	} else if (c == ';') {
		s->is_after_end = 0;
		return s->depth == 0;
	} else if ((c == '=' || c == '@') && s->body == SPLIT_CREATE) {
		/* DEFINER=user@host: the two names are not keywords. */
		s->is_after_dot = 1;
		return 0;
	}
	s->is_after_dot = c == '.';
	return 0;
}

static void
note_first(struct split *s)
{
	if (s->first != SIZE_MAX)
		return;
	s->first = s->lex.start;
	count_to(s, s->first);
	s->first_line = s->line;
}

static void
give(struct split *s, size_t end, struct split_statement *ret)
{
	const char *text = text_str(&s->text);

	while (end > s->first && strchr(" \t\r\n\f\v", text[end - 1]))
		end--;
	ret->sql = text + s->first;
	ret->len = end - s->first;
	ret->line = s->first_line;
	begin_statement(s);
}

int
split_next(struct split *s, struct split_statement *ret_statement)
{
	drop_taken(s);
	for (;;) {
		const char *text = text_str(&s->text);
		enum lex_kind kind = lex_next(&s->lex, text, s->text.len);
		size_t start = s->lex.start;

		if (kind == LEX_END || kind == LEX_OPEN)
			return 0;
		if (kind == LEX_BLANK)
			continue;
		if (kind == LEX_CHAR && text[start] == ';' && s->first == SIZE_MAX)
			continue;
		note_first(s);
		if (kind == LEX_CHAR && note_char(s, text[start])) {
			give(s, start, ret_statement);
			return 1;
		}
		if (kind == LEX_WORD)
			note_word(s, text + start, s->lex.pos - start);
		if (kind != LEX_CHAR)
			s->is_after_dot = 0;
	}
}

int
split_rest(struct split *s, struct split_statement *ret_statement)
{
	if (s->lex.mode && s->lex.mode != '*')
		note_first(s);
	lex_init(&s->lex, s->lex.flags);
	s->lex.pos = s->lex.start = s->text.len;
	if (s->first == SIZE_MAX)
		return 0;
	give(s, s->text.len, ret_statement);
	return 1;
}

int
split_is_pending(const struct split *s)
{
	return s->first != SIZE_MAX || s->lex.mode;
}

int
split_is_quoted(const struct split *s)
{
	return s->lex.mode != '\0';
}

char
split_prompt(const struct split *s)
{
	if (s->lex.mode)
		return s->lex.mode;
	if (s->parens > 0)
		return '(';
	return s->first != SIZE_MAX ? '-' : '=';
}
