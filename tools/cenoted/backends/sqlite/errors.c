/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SQLite's result codes become SQLSTATEs. An error also gets the position in the text, and the
 * names in a constraint's message. All files that call SQLite call this one.
 */
#include <stdarg.h>
#include <string.h>

#include "../common/error.h"
#include "sqlite.h"

/* Extended codes first, then the primary ones that they end in. */
static const struct {
	int code;
	const char *state;
} by_code[] = {
	{ SQLITE_CONSTRAINT_NOTNULL, "23502" },
	{ SQLITE_CONSTRAINT_FOREIGNKEY, "23503" },
	{ SQLITE_CONSTRAINT_UNIQUE, "23505" },
	{ SQLITE_CONSTRAINT_PRIMARYKEY, "23505" },
	{ SQLITE_CONSTRAINT_ROWID, "23505" },
	{ SQLITE_CONSTRAINT_CHECK, "23514" },
	{ SQLITE_CONSTRAINT_TRIGGER, "45000" }, /* RAISE(): the user's own error */
	{ SQLITE_CONSTRAINT_DATATYPE, "22018" },
	{ SQLITE_BUSY_SNAPSHOT, "40001" }, /* only a new transaction can help */
	{ SQLITE_ABORT_ROLLBACK, "40000" },
	{ SQLITE_IOERR_NOMEM, "53200" },
	{ SQLITE_CANTOPEN, "08001" },
	{ SQLITE_CONSTRAINT, "23000" },
	{ SQLITE_BUSY, "55P03" },
	{ SQLITE_LOCKED, "55P03" },
	{ SQLITE_PROTOCOL, "55P03" },
	{ SQLITE_READONLY, "25006" },
	{ SQLITE_FULL, "53100" },
	{ SQLITE_INTERRUPT, "57014" },
	{ SQLITE_CORRUPT, "XX001" },
	{ SQLITE_NOTADB, "XX001" },
	{ SQLITE_AUTH, "42501" },
	{ SQLITE_PERM, "42501" },
	{ SQLITE_TOOBIG, "54000" },
	{ SQLITE_NOMEM, "53200" },
	{ SQLITE_SCHEMA, "55000" },
	{ SQLITE_MISMATCH, "22018" },
	{ SQLITE_RANGE, "22023" },
	{ SQLITE_IOERR, "58030" },
	{ SQLITE_NOLFS, "58030" },
	{ SQLITE_ABORT, "57014" },
	{ SQLITE_MISUSE, "XX000" },
	{ SQLITE_INTERNAL, "XX000" },
};

/* SQLITE_ERROR says no more, so the message decides: by its beginning, or (with '*') by a part of
 * it. */
static const struct {
	const char *text;
	const char *state;
} by_message[] = {
	{ "near \"", "42601" },
	{ "incomplete input", "42601" },
	{ "unrecognized token", "42601" },
	{ "no such table:", "42P01" },
	{ "no such view:", "42P01" },
	{ "no such column:", "42703" },
	{ "no such function:", "42883" },
	{ "wrong number of arguments to function", "42883" },
	{ "no such index:", "42704" },
	{ "no such trigger:", "42704" },
	{ "no such module:", "42704" },
	{ "no such collation sequence:", "42704" },
	{ "no such savepoint:", "3B001" },
	{ "no such database:", "3F000" },
	{ "unknown database", "3F000" },
	{ "duplicate column name:", "42701" },
	{ "ambiguous column name:", "42702" },
	{ "cannot start a transaction within a transaction", "25001" },
	{ "cannot commit - no transaction is active", "25P01" },
	{ "cannot rollback - no transaction is active", "25P01" },
	{ "cannot VACUUM from within a transaction", "25001" },
	{ "cannot ATTACH database within transaction", "25001" },
	{ "cannot DETACH database within transaction", "25001" },
	{ "cannot VACUUM - SQL statements in progress", "55000" },
	{ "too many attached databases", "54000" },
	{ "too many ", "54000" },
	{ "Expression tree is too large", "54001" },
	{ "parser stack overflow", "54001" },
	{ "integer overflow", "22003" },
	{ "malformed JSON", "22032" },
	{ "cannot modify ", "42809" },
	{ "foreign key mismatch", "42830" },
	{ "misuse of aggregate", "42803" },
	{ "misuse of window function", "42P20" },
	{ "unsafe use of", "42501" },
	{ "SELECTs to the left and right of", "42601" },
	{ "sub-select returns", "42601" },
	{ "*already another table or index with this name", "42P07" },
	{ "*already a table named", "42P07" },
	{ "*already an index named", "42P07" },
	{ "* already exists", "42P07" },
	{ "* values were supplied", "42601" },
	{ "* has no column named ", "42703" },
	{ "* is locked", "55P03" },
	{ "* is already in use", "42P06" },
	{ "* prohibited", "42501" },
	{ "* may not be modified", "42809" },
};

static const char *
state_of_message(const char *message)
{
	size_t i;

	for (i = 0; i < sizeof(by_message) / sizeof(by_message[0]); i++) {
		const char *text = by_message[i].text;

		if (*text == '*' ? strstr(message, text + 1) != NULL
				 : strncmp(message, text, strlen(text)) == 0)
			return by_message[i].state;
	}
	return NULL;
}

const char *
cnd_sq_sqlstate(int extended, const char *message, int is_compiling)
{
	const char *state;
	size_t i;

	if ((extended & 0xff) == SQLITE_ERROR) {
		state = state_of_message(message);
		if (state)
			return state;
		return is_compiling ? CNC_SQLSTATE(SYNTAX_OR_ACCESS)
				    : CNC_SQLSTATE(GENERAL);
	}
	for (i = 0; i < sizeof(by_code) / sizeof(by_code[0]); i++) {
		if (by_code[i].code == extended)
			return by_code[i].state;
	}
	for (i = 0; i < sizeof(by_code) / sizeof(by_code[0]); i++) {
		if (by_code[i].code == (extended & 0xff))
			return by_code[i].state;
	}
	return CNC_SQLSTATE(GENERAL);
}

/* From "UNIQUE constraint failed: t.a, t.b" take the table and the first column; from "CHECK
 * constraint failed: x", the constraint. */
static void
name_constraint(struct cnd_error *e)
{
	static const char marker[] = " constraint failed: ";
	const char *p = strstr(e->message, marker), *dot;

	if (!p)
		return;
	if (strcmp(e->state, CNC_SQLSTATE(CHECK)) == 0) {
		e->constraint = cnp_str(p + sizeof(marker) - 1);
		return;
	}
	p += sizeof(marker) - 1;
	dot = strchr(p, '.');
	if (!dot || strncmp(p, "index ", 6) == 0)
		return;
	e->table = (struct cnp_str){ p, (size_t)(dot - p) };
	e->column = (struct cnp_str){ dot + 1, strcspn(dot + 1, ",") };
}

static size_t
error_position(const struct cnd_session *s)
{
	int offset = sqlite3_error_offset(s->db);
	const char *sql = s->compiling;

	if (offset < 0 || !sql)
		return 0;
	return s->chars_before + cnd_sq_chars(sql, (size_t)offset) + 1;
}

int
cnd_sq_fail(struct cnd_session *s, int rc, int is_compiling)
{
	struct cnd_error e = { .native = sqlite3_extended_errcode(s->db) };

	if (s->stop < 0)
		return s->stop;
	if ((rc & 0xff) == SQLITE_NOMEM)
		return CENOTE_ERR_NOMEM;
	/* The file or its disk may be damaged: open the file again for the next client. */
	if ((rc & 0xff) == SQLITE_IOERR || (rc & 0xff) == SQLITE_CORRUPT)
		s->is_dirty = 1;
	if ((e.native & 0xff) != (rc & 0xff))
		e.native = rc;
	e.message = sqlite3_errmsg(s->db);
	e.state = cnd_sq_sqlstate((int)e.native, e.message, is_compiling);
	/* SQLite itself says only "not authorized". */
	if (s->denied) {
		e.state = CNC_SQLSTATE(PRIVILEGE);
		e.message = s->denied;
		e.hint = s->denied_hint;
	}
	e.position = is_compiling ? (int64_t)error_position(s) : 0;
	name_constraint(&e);
	cnd_error_set(s->diag, &e);
	return CENOTE_ERR_SERVER;
}

int
cnd_sq_refuse(struct cnd_session *s, const char *sqlstate, const char *hint,
	const char *format, ...)
{
	struct cnd_error e = { .state = sqlstate, .hint = hint };
	va_list args;
	char *message;

	va_start(args, format);
	message = sqlite3_vmprintf(format, args);
	va_end(args);
	if (!message)
		return CENOTE_ERR_NOMEM;
	e.message = message;
	cnd_error_set(s->diag, &e);
	sqlite3_free(message);
	return CENOTE_ERR_SERVER;
}
