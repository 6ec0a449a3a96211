/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * While SQLite compiles a statement, it asks about each thing that the statement would do. It asks
 * again when it must compile the statement again. The answers keep a client inside its database.
 * This file also notes what it sees, so that a reset knows whether the session may differ from a
 * new one.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "sqlite.h"

#define DIRTY    CND_SQ_NOTE_DIRTY
#define TEMP     (CENOTE_PIN_TEMP | DIRTY)
#define SETTINGS (CENOTE_PIN_SETTINGS | DIRTY)
#define ATTACHED (CENOTE_PIN_ATTACHED | DIRTY)

static int
deny(struct cnd_session *s, const char *why, const char *hint)
{
	s->denied = why;
	s->denied_hint = hint;
	return SQLITE_DENY;
}

enum pragma_class {
	PRAGMA_READS, /* changes nothing; an argument is a name or a limit */
	PRAGMA_PINS, /* reads a value that has a meaning only in this session */
	PRAGMA_FILE, /* an argument changes the database, not the session */
	PRAGMA_SETS, /* an argument changes the session */
	PRAGMA_BUSY, /* like PRAGMA_SETS, but the backend keeps the value */
	PRAGMA_LOCKING, /* only the argument "normal" is allowed */
	PRAGMA_OPTIMIZE, /* like PRAGMA_FILE, but may tell what earlier clients have asked for */
	PRAGMA_ADMIN, /* an argument is refused */
	PRAGMA_NEVER /* always refused */
};

/* Sorted by name. */
static const struct pragma {
	const char *name;
	enum pragma_class class;
} pragmas[] = {
	{ "activate_extensions", PRAGMA_NEVER },
	{ "application_id", PRAGMA_FILE },
	{ "busy_timeout", PRAGMA_BUSY },
	{ "collation_list", PRAGMA_READS },
	{ "compile_options", PRAGMA_READS },
	{ "data_store_directory", PRAGMA_NEVER },
	{ "data_version", PRAGMA_PINS },
	{ "database_list", PRAGMA_READS },
	{ "default_cache_size", PRAGMA_ADMIN },
	{ "foreign_key_check", PRAGMA_READS },
	{ "foreign_key_list", PRAGMA_READS },
	{ "freelist_count", PRAGMA_READS },
	{ "function_list", PRAGMA_READS },
	{ "hard_heap_limit", PRAGMA_ADMIN },
	{ "hexkey", PRAGMA_NEVER },
	{ "hexrekey", PRAGMA_NEVER },
	{ "incremental_vacuum", PRAGMA_FILE },
	{ "index_info", PRAGMA_READS },
	{ "index_list", PRAGMA_READS },
	{ "index_xinfo", PRAGMA_READS },
	{ "integrity_check", PRAGMA_READS },
	{ "key", PRAGMA_NEVER },
	{ "lock_proxy_file", PRAGMA_NEVER },
	{ "locking_mode", PRAGMA_LOCKING },
	{ "module_list", PRAGMA_READS },
	{ "optimize", PRAGMA_OPTIMIZE },
	{ "page_count", PRAGMA_READS },
	{ "pragma_list", PRAGMA_READS },
	{ "quick_check", PRAGMA_READS },
	{ "rekey", PRAGMA_NEVER },
	{ "schema_version", PRAGMA_ADMIN },
	{ "soft_heap_limit", PRAGMA_ADMIN },
	{ "stats", PRAGMA_READS },
	{ "table_info", PRAGMA_READS },
	{ "table_list", PRAGMA_READS },
	{ "table_xinfo", PRAGMA_READS },
	{ "temp_store_directory", PRAGMA_NEVER },
	{ "textkey", PRAGMA_NEVER },
	{ "textrekey", PRAGMA_NEVER },
	{ "trusted_schema", PRAGMA_ADMIN },
	{ "user_version", PRAGMA_FILE },
	{ "wal_checkpoint", PRAGMA_FILE },
	{ "writable_schema", PRAGMA_ADMIN },
};

static int
compare_pragma(const void *key, const void *item)
{
	return strcasecmp(key, ((const struct pragma *)item)->name);
}

static enum pragma_class
pragma_class(const char *name)
{
	const struct pragma *p = bsearch(name, pragmas,
		sizeof(pragmas) / sizeof(pragmas[0]), sizeof(pragmas[0]), compare_pragma);

	/* Unknown ones count as settings, since SQLite's other settings are not in the table. */
	return p ? p->class : PRAGMA_SETS;
}

/* As SQLite reads it: a negative value means no waiting, and a value that is too large means the
 * maximum. */
static int64_t
busy_argument(const char *text)
{
	long v = strtol(text, NULL, 10);

	if (v < 0)
		return 0;
	return v > INT32_MAX ? INT32_MAX : v;
}

/* PRAGMA optimize analyses the tables that the session has planned queries for, whichever client
 * asked. With this bit, or with EXPLAIN, it names them. */
static int
names_tables(const struct cnd_session *s, const char *argument)
{
	static const char explain[] = "EXPLAIN";

	return (argument && strtol(argument, NULL, 0) & 1) ||
	       (s->compiling &&
		       strncasecmp(s->compiling, explain, sizeof(explain) - 1) == 0);
}

static int
on_pragma(struct cnd_session *s, const char *name, const char *argument)
{
	static const char refused[] = "this PRAGMA is not allowed in a pooled session";
	static const char ask_admin[] =
		"It would reach beyond the session. Ask whoever runs the pool.";
	enum pragma_class class = pragma_class(name);

	s->noted |= CND_SQ_NOTE_ONCE;
	if (class == PRAGMA_NEVER || (class == PRAGMA_ADMIN && argument))
		return deny(s, refused, ask_admin);
	if (class == PRAGMA_LOCKING && argument && strcasecmp(argument, "normal") != 0)
		return deny(s, refused,
			"An exclusive lock would shut all other sessions out.");
	if (class == PRAGMA_OPTIMIZE && names_tables(s, argument))
		return deny(s, refused,
			"It would name tables that other clients have asked for. PRAGMA "
			"optimize alone is allowed.");
	if (class == PRAGMA_OPTIMIZE)
		s->noted |= DIRTY;
	if (class == PRAGMA_PINS)
		s->noted |= CENOTE_PIN_SETTINGS;
	if (class == PRAGMA_BUSY) {
		s->busy_read = 1;
		if (argument)
			s->busy_asked = busy_argument(argument);
	}
	if (argument && (class == PRAGMA_SETS || class == PRAGMA_BUSY))
		s->noted |= SETTINGS;
	return SQLITE_OK;
}

static int
on_attach(struct cnd_session *s, const char *file)
{
	/* VACUUM attaches a nameless temporary file; VACUUM INTO attaches the file it makes. */
	if (s->is_vacuum && file && *file == 0)
		return SQLITE_OK;
	if (!s->opt.attach)
		return deny(s,
			s->is_vacuum ? "VACUUM INTO is not allowed in this pool"
				     : "ATTACH is not allowed in this pool",
			"attach=yes on the pool's server line allows it.");
	if (!s->is_vacuum)
		s->noted |= ATTACHED;
	return SQLITE_OK;
}

static int
on_detach(struct cnd_session *s)
{
	if (!s->is_vacuum)
		s->noted |= DIRTY;
	return SQLITE_OK;
}

static int
on_function(struct cnd_session *s, const char *name)
{
	/* fts3_tokenizer() takes and returns raw pointers. Bound values get through even when it is
	 * switched off. */
	if (name && strcasecmp(name, "fts3_tokenizer") == 0)
		return deny(
			s, "fts3_tokenizer() is not allowed in a pooled session", NULL);
	if (name && strcasecmp(name, "load_extension") == 0)
		return deny(
			s, "load_extension() is not allowed in a pooled session", NULL);
	return SQLITE_OK;
}

/* The first use of a PRAGMA's table function adds it to PRAGMA module_list. */
static int
on_read(struct cnd_session *s, const char *table)
{
	if (table && strncasecmp(table, "pragma_", 7) == 0)
		s->noted |= DIRTY;
	return SQLITE_OK;
}

static int
writes(int action)
{
	return action != SQLITE_READ && action != SQLITE_SELECT &&
	       action != SQLITE_FUNCTION && action != SQLITE_PRAGMA &&
	       action != SQLITE_RECURSIVE;
}

int
cnd_sq_authorize(void *user, int action, const char *a, const char *b, const char *schema,
	const char *trigger)
{
	struct cnd_session *s = user;

	(void)trigger;
	if (s->is_internal)
		return SQLITE_OK;
	if (schema && writes(action) && strcasecmp(schema, "temp") == 0)
		s->noted |= TEMP;
	switch (action) {
	case SQLITE_READ:
		return on_read(s, a);
	case SQLITE_ANALYZE:
		/* its results stay in use, even if they are rolled back */
		s->noted |= DIRTY;
		return SQLITE_OK;
	case SQLITE_PRAGMA:
		return on_pragma(s, a, b);
	case SQLITE_ATTACH:
		return on_attach(s, a);
	case SQLITE_DETACH:
		return on_detach(s);
	case SQLITE_FUNCTION:
		return on_function(s, b);
	default:
		return SQLITE_OK;
	}
}
