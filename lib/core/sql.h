/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNC_SQL_H
#define CNC_SQL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * How SQL text is divided into tokens, for every server. This is the only place that knows
 * comments, quotes, escapes and placeholders. Each caller has its own tables of verbs, pins and
 * answers.
 *
 * The reader allocates nothing, keeps no state of its own, and accepts any bytes. A token is a part of the
 * caller's text. To look ahead, copy the struct:
 *
 *	struct cnc_sql x = cnc_sql_begin(sql, len, CNC_SQL_POSTGRESQL), ahead;
 *	struct cnc_sql_token t;
 *
 *	while ((t = cnc_sql_next(&x)).kind != CNC_SQL_END) {
 *		ahead = x;
 *		if (cnc_sql_is(&t, "create") && cnc_sql_take(&ahead, "table"))
 *			…
 *	}
 *
 * To copy a text and change some of its tokens, copy the bytes between the tokens from the text:
 * from the end of the last token, which is x.p, to t.p.
 *
 * The shims and sqlsh include this header of lib/core alone; in Meson they link cnc_sql_dep.
 */

/* The differences between servers. A set of these bits selects how a text is read. */
enum cnc_sql_rule {
	/* Without CNC_SQL_QUOTES, quotes are ordinary characters. */
	CNC_SQL_QUOTES = 1 << 0, /* 'text' and "name"; a doubled quote is part of both */
	CNC_SQL_BACKSLASH = 1 << 1, /* in a text, a backslash escapes the next byte */
	CNC_SQL_DOUBLE_QUOTED_TEXT = 1 << 2, /* "…" is a text, not a name */
	CNC_SQL_BACKQUOTES = 1 << 3, /* `name` */
	CNC_SQL_BRACKETS = 1 << 4, /* [name] */
	CNC_SQL_DOLLAR_QUOTES = 1 << 5, /* $tag$text$tag$ */
	CNC_SQL_PREFIXES =
		1 << 6, /* E'…', in which a backslash escapes; B'' X'' N'' U&'' U&"" */
	CNC_SQL_CONTINUED = 1 << 7, /* 'one' newline 'text' */

	/* Without CNC_SQL_COMMENTS, the marks of comments are ordinary characters. */
	CNC_SQL_COMMENTS = 1 << 8, /* -- to the end of the line, and C's */
	CNC_SQL_NESTED = 1 << 9, /* a comment may hold comments */
	CNC_SQL_HASH = 1 << 10, /* # also begins a comment */
	CNC_SQL_DASH_BLANK =
		1 << 11, /* -- begins a comment only before a blank or control byte */
	CNC_SQL_CR = 1 << 12, /* a carriage return ends a line comment */
	/* The server executes a comment that begins with ! or M!: its marks are tokens. Without this bit, the
	 * comment is skipped and noted in `seen`. */
	CNC_SQL_EXECUTED = 1 << 13,

	CNC_SQL_ZERO_BLANK = 1 << 14, /* a zero byte is a blank */
	CNC_SQL_NO_VT = 1 << 15, /* a vertical tab is not a blank */

	CNC_SQL_WIDE_WORDS =
		1
		<< 16, /* words may hold bytes above ASCII, and $ except as first byte */
	CNC_SQL_WORD_DOLLAR = 1 << 17, /* $ may begin a word */
	CNC_SQL_WORD_SIGNS =
		1
		<< 18, /* @ and # may begin a word and be part of it; @word is a VARIABLE */
	CNC_SQL_VARIABLES = 1 << 19, /* @a, @@a.b, @'a', @`a` */

	CNC_SQL_DOLLAR = 1 << 20, /* $1 is a placeholder */
	CNC_SQL_QUESTION = 1 << 21, /* ? is a placeholder */
	CNC_SQL_QUESTION_NUMBER = 1 << 22, /* ?7 is a placeholder */
	CNC_SQL_COLON = 1 << 23, /* :name is a placeholder */

	/* For PostgreSQL's rules. Text that servers read differently, depending on their version or character
	 * set, is CNC_SQL_BAD: a number with a letter after it, a backslash after a byte above ASCII, a byte
	 * that begins no token. */
	CNC_SQL_STRICT = 1 << 24,

	CNC_SQL_NUMBERS = 1 << 25, /* 1.5 and 1e-5 are one token each */
	CNC_SQL_DIGIT_NAMES = 1 << 26 /* in a.1e5b, 1e5b is a name */
};

/*
 * The rules of each server. To find placeholders that the server does not have, add their bits (the
 * libpq shim looks for $1 in MySQL's SQL: CNC_SQL_MYSQL | CNC_SQL_DOLLAR). Remove bits according to
 * the session's settings.
 */
enum cnc_sql_dialect {
	/* Reads only ASCII words and single bytes, so that words inside texts and comments are found too. */
	CNC_SQL_RAW = 0,
	/* The rules that all servers share. */
	CNC_SQL_ANSI =
		CNC_SQL_QUOTES | CNC_SQL_COMMENTS | CNC_SQL_WIDE_WORDS | CNC_SQL_NUMBERS,
	CNC_SQL_POSTGRESQL = CNC_SQL_ANSI | CNC_SQL_DOLLAR_QUOTES | CNC_SQL_PREFIXES |
			     CNC_SQL_CONTINUED | CNC_SQL_NESTED | CNC_SQL_CR |
			     CNC_SQL_DOLLAR,
	/* with standard_conforming_strings off */
	CNC_SQL_POSTGRESQL_BACKSLASH = CNC_SQL_POSTGRESQL | CNC_SQL_BACKSLASH,
	/* With sql_mode=ANSI_QUOTES, remove CNC_SQL_DOUBLE_QUOTED_TEXT. With NO_BACKSLASH_ESCAPES, remove
	 * CNC_SQL_BACKSLASH. */
	CNC_SQL_MYSQL = CNC_SQL_ANSI | CNC_SQL_BACKSLASH | CNC_SQL_DOUBLE_QUOTED_TEXT |
			CNC_SQL_BACKQUOTES | CNC_SQL_HASH | CNC_SQL_DASH_BLANK |
			CNC_SQL_EXECUTED | CNC_SQL_WORD_DOLLAR | CNC_SQL_VARIABLES |
			CNC_SQL_QUESTION | CNC_SQL_DIGIT_NAMES,
	CNC_SQL_SQLITE = CNC_SQL_ANSI | CNC_SQL_BACKQUOTES | CNC_SQL_BRACKETS |
			 CNC_SQL_NO_VT | CNC_SQL_WORD_DOLLAR | CNC_SQL_VARIABLES |
			 CNC_SQL_QUESTION | CNC_SQL_QUESTION_NUMBER | CNC_SQL_COLON,
	CNC_SQL_TDS = CNC_SQL_ANSI | CNC_SQL_BRACKETS | CNC_SQL_NESTED | CNC_SQL_CR |
		      CNC_SQL_ZERO_BLANK | CNC_SQL_WORD_DOLLAR | CNC_SQL_WORD_SIGNS |
		      CNC_SQL_QUESTION,
	/* An unknown server, reached over ODBC: the quotes of all servers. */
	CNC_SQL_UNKNOWN = CNC_SQL_ANSI | CNC_SQL_BACKQUOTES | CNC_SQL_BRACKETS |
			  CNC_SQL_EXECUTED | CNC_SQL_WORD_DOLLAR | CNC_SQL_WORD_SIGNS |
			  CNC_SQL_QUESTION
};

enum cnc_sql_kind {
	CNC_SQL_END,
	CNC_SQL_WORD, /* a key word, a name without quotes; also 1a and 0x1f */
	CNC_SQL_NUMBER, /* 1, 1.5, .5, 1e-5. A word may follow at once: MySQL and T-SQL read `1.5into` as two */
	CNC_SQL_TEXT, /* with its prefix and quotes */
	CNC_SQL_NAME, /* a name with its quotes */
	CNC_SQL_PLACEHOLDER,
	CNC_SQL_VARIABLE, /* @a; also @@a: see its second byte */
	/* the beginning of an executed comment, with its version; or the end of such a comment */
	CNC_SQL_MARK,
	CNC_SQL_CHAR, /* one byte, or :: or := */
	CNC_SQL_BAD /* the rest of the SQL, from a text, name or comment that does not end; see also CNC_SQL_STRICT */
};

struct cnc_sql_token {
	enum cnc_sql_kind kind;
	bool has_space; /* a blank or comment precedes the token */
	const char *p;
	size_t n;
};

/* What the reader has found up to now. */
enum cnc_sql_seen {
	CNC_SQL_SEEN_COMMENT = 1, /* a comment was skipped */
	/* a comment that MySQL and MariaDB may execute, skipped or not */
	CNC_SQL_SEEN_EXECUTED = 2,
	/* a comment that contains an opener: servers disagree on its end */
	CNC_SQL_SEEN_NESTED = 4,
	/* a line comment that contains a carriage return: servers disagree on its end */
	CNC_SQL_SEEN_RETURN = 8,
	CNC_SQL_SEEN_OPEN_LINE =
		16 /* the SQL ends in a line comment: put a newline before anything that is appended */
};

/* The length of the character at `start` if it has several bytes and is complete, else 0. */
typedef unsigned cnc_sql_character(const char *start, const char *end);

struct cnc_sql {
	const char *p; /* the end of the last token */
	const char *end;
	uint32_t rules; /* enum cnc_sql_rule; may change between tokens */
	uint32_t seen; /* enum cnc_sql_seen */
	/* Set for a character set in which a quote or backslash can be the last byte of a character; else
	 * NULL. */
	cnc_sql_character *character;
	/* The last token: 1 for a name, 2 for the point after a name, else 0. */
	uint8_t part;
	/* The text, name or comment that is open at the end of the SQL. */
	struct cnc_sql_open {
		char what; /* 0: nothing; else ' " ` [ $ or * (a comment) */
		bool has_backslash;
		bool is_bits; /* B'…' or X'…': PostgreSQL allows no doubled quotes in it */
		uint32_t depth; /* nesting depth of comments */
		size_t n_tag; /* length of a dollar quote's tag */
		const char *begin;
	} open;
};

static inline struct cnc_sql
cnc_sql_begin(const char *sql, size_t len, uint32_t rules)
{
	return (struct cnc_sql){ .p = sql, .end = sql + len, .rules = rules };
}

/* Read the next token after blanks and comments. At the end, every call returns END. */
struct cnc_sql_token cnc_sql_next(struct cnc_sql *x);

/* Can a comment begin at p, by the rules of any server? */
static inline bool
cnc_sql_opens_comment(const char *p, const char *end)
{
	return end - p >= 2 &&
	       ((p[0] == '-' && p[1] == '-') || (p[0] == '/' && p[1] == '*'));
}

/* Skip blanks and comments. False if a comment does not end; then x->p is the end. */
bool cnc_sql_skip_blanks(struct cnc_sql *x);

/* What stands between tokens. */
enum cnc_sql_gap_kind {
	CNC_SQL_GAP_NONE, /* a token or the text's end is next, and n is 0; or a comment does not end, and n is not 0 */
	CNC_SQL_GAP_BLANK, /* one blank */
	CNC_SQL_GAP_DASHES, /* a comment from -- to the end of the line, without the newline */
	CNC_SQL_GAP_HASH, /* a comment from # to the end of the line, without the newline */
	CNC_SQL_GAP_BLOCK, /* a comment of C's form */
	CNC_SQL_GAP_HINT, /* such a comment that begins with +: servers read it */
	CNC_SQL_GAP_EXECUTED /* such a comment that MySQL or MariaDB may execute, read without CNC_SQL_EXECUTED */
};

struct cnc_sql_gap {
	enum cnc_sql_gap_kind kind;
	const char *p;
	size_t n;
};

/* Skip one blank or comment, if one is next. */
struct cnc_sql_gap cnc_sql_next_gap(struct cnc_sql *x);

/*
 * Continue after a BAD token, when whole lines were appended to the SQL. The SQL may have moved:
 * `begin` is the new place of x->open.begin. The next token is the whole text, name or comment that
 * was open. Do not use this with CNC_SQL_CONTINUED.
 */
void cnc_sql_resume(struct cnc_sql *x, const char *begin, const char *end);

/* ---- tokens ---- */

/* Compare with an ASCII word as strcmp() does, but ignore case. Letters sort as upper case. */
int cnc_sql_compare(const char *p, size_t n, const char *word);

/* Is the token this WORD, ignoring case? Give `word` in lower case. */
static inline bool
cnc_sql_is(const struct cnc_sql_token *t, const char *word)
{
	/* nearly all tokens have another first letter, so compare that first */
	return t->kind == CNC_SQL_WORD && (*t->p == *word || (*t->p | 0x20) == *word) &&
	       cnc_sql_compare(t->p, t->n, word) == 0;
}

/* Is the token one of these words? The list ends with NULL. */
bool cnc_sql_is_one_of(const struct cnc_sql_token *t, const char *const *words);

static inline bool
cnc_sql_is_char(const struct cnc_sql_token *t, char c)
{
	return t->kind == CNC_SQL_CHAR && t->n == 1 && *t->p == c;
}

/* The part of a TEXT or NAME between its quotes, as written: doubled quotes and escapes stay. For other
 * tokens, the whole token. */
const char *cnc_sql_inside(const struct cnc_sql_token *t, size_t *ret_n);

/* ---- statements ---- */

/* Skip the next token if it is this word (given in lower case); if it is not, do not move. */
bool cnc_sql_take(struct cnc_sql *x, const char *word);
bool cnc_sql_take_one_of(struct cnc_sql *x, const char *const *words);
bool cnc_sql_take_char(struct cnc_sql *x, char c);
/* If the next token is (, skip to the matching ). */
void cnc_sql_skip_parens(struct cnc_sql *x);

enum cnc_sql_through {
	CNC_SQL_THROUGH_PARENS = 1, /* skip ( */
	/* Skip WITH and its tables, to SELECT, INSERT, UPDATE, DELETE, MERGE, REPLACE, VALUES or TABLE. */
	CNC_SQL_THROUGH_WITH = 2,
	CNC_SQL_THROUGH_EXPLAIN = 4 /* skip PostgreSQL's EXPLAIN (…) ANALYZE VERBOSE */
};

/*
 * Find the word that tells what a statement does. `t` is the statement's first token, which was
 * just read. If there is no such word, returns the token in its place, such as a semicolon or END.
 */
struct cnc_sql_token cnc_sql_verb(
	struct cnc_sql *x, struct cnc_sql_token t, unsigned through);

#endif
