/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Known properties of drivers and servers: a table with the resets, pings and refusals for each. session.c
 * looks a driver up once after the login.
 */
#include <string.h>
#include <strings.h>

#include "odbc.h"

#define STANDARD_SAVEPOINT                                                               \
	{                                                                                \
		"SAVEPOINT ", "RELEASE SAVEPOINT ", "ROLLBACK TO SAVEPOINT "             \
	}

#define UNSUPPORTED "0A000"
#define FORBIDDEN   "42501"

/* psqlodbc never returns from a COPY: it waits for the data. */
static const struct cnd_od_refusal postgresql_refusals[] = {
	{ CND_OD_LOOK_WORDS, { "COPY", "STDIN" }, UNSUPPORTED,
		"ODBC has no COPY from or to the client" },
	{ CND_OD_LOOK_WORDS, { "COPY", "STDOUT" }, UNSUPPORTED,
		"ODBC has no COPY from or to the client" },
	{ .words = { NULL } },
};

/* The driver would read any file of the pool's machine. */
static const struct cnd_od_refusal mariadb_refusals[] = {
	{ CND_OD_LOOK_ALL, { "LOAD", "LOCAL", "INFILE" }, FORBIDDEN,
		"LOAD DATA LOCAL would read a file of the pool's machine" },
	{ CND_OD_LOOK_FIRST, { "VALUES" }, UNSUPPORTED,
		"MariaDB's driver does not give the rows of VALUES: write a SELECT" },
	{ CND_OD_LOOK_WORDS, { "SET", "STATEMENT", "FOR" }, UNSUPPORTED,
		"MariaDB's driver does not give the rows of SET STATEMENT … FOR: set the "
		"variable by a statement of its own" },
	{ .words = { NULL } },
};

static const struct cnd_od_refusal sqlite_refusals[] = {
	{ CND_OD_LOOK_FIRST, { "VALUES" }, UNSUPPORTED,
		"the driver does not give the rows of VALUES: write a SELECT" },
	{ CND_OD_LOOK_WORDS, { "RETURNING" }, UNSUPPORTED,
		"the driver does not give the rows of RETURNING" },
	{ CND_OD_LOOK_ALL, { "LOAD_EXTENSION" }, FORBIDDEN,
		"load_extension() is not allowed in a pooled session" },
	{ CND_OD_LOOK_ALL, { "BLOB_IMPORT" }, FORBIDDEN,
		"the driver's blob_import() would read any file of the pool's machine" },
	{ CND_OD_LOOK_ALL, { "BLOB_EXPORT" }, FORBIDDEN,
		"the driver's blob_export() would write any file of the pool's machine" },
	{ CND_OD_LOOK_ALL, { "FTS3_TOKENIZER" }, FORBIDDEN,
		"fts3_tokenizer() is not allowed in a pooled session" },
	/* a changed schema may call these functions, though no statement names them */
	{ CND_OD_LOOK_ALL, { "WRITABLE_SCHEMA" }, FORBIDDEN,
		"this PRAGMA is not allowed in a pooled session" },
	{ CND_OD_LOOK_ALL, { "TEMP_STORE_DIRECTORY" }, FORBIDDEN,
		"this PRAGMA is not allowed in a pooled session" },
	/* other statements may follow a CREATE */
	{ CND_OD_LOOK_ALL, { "ATTACH" }, FORBIDDEN,
		"ATTACH would open any file of the pool's machine" },
	{ CND_OD_LOOK_ALL, { "VACUUM", "INTO" }, FORBIDDEN,
		"VACUUM INTO would write any file of the pool's machine" },
	{ .words = { NULL } },
};

/*
 * The first entry that matches is used, so drivers stand before servers. The last entry matches everything
 * else: standard SQL, wide functions, and a new login for each client.
 *
 * `reset` is set only if tests/fresh found nothing left in the session after that reset.
 */
static const struct cnd_od_quirks table[] = {
	{ .driver = "psqlodbca",
		.is_narrow = 1,
		.is_var_only = 1,
		.has_infinity = 1,
		.cuts_at_zero = 1,
		.refusals = postgresql_refusals,
		.release = "DISCARD ALL",
		.ping = "SELECT 1",
		.read_only = "SET TRANSACTION READ ONLY",
		.savepoint = STANDARD_SAVEPOINT,
		.tested = "psqlodbc 13.02, PostgreSQL 15" },
	{ .driver = "psqlodbc",
		.is_var_only = 1,
		.has_infinity = 1,
		.cuts_at_zero = 1,
		.refusals = postgresql_refusals,
		.release = "DISCARD ALL",
		.ping = "SELECT 1",
		.read_only = "SET TRANSACTION READ ONLY",
		.savepoint = STANDARD_SAVEPOINT,
		.tested = "psqlodbc 13.02, PostgreSQL 15" },
	{ .driver = "libmaodbc",
		.cuts_at_zero = 1,
		.lies_on_reset = 1,
		.has_narrow_output = 1,
		.out_of_step = 2014,
		.refusals = mariadb_refusals,
		.release = "DO RELEASE_ALL_LOCKS()",
		.ping = "SELECT 1",
		.read_only = "SET TRANSACTION READ ONLY",
		.savepoint = STANDARD_SAVEPOINT,
		.tested = "MariaDB Connector/ODBC 3.1, MariaDB 10.11" },
	{ .driver = "sqlite3odbc",
		.is_narrow = 1,
		.refusals = sqlite_refusals,
		.ping = "SELECT 1",
		.savepoint = { "SAVEPOINT ", "RELEASE ", "ROLLBACK TO " },
		.tested = "sqliteodbc 0.9998" },
	{ .driver = "tdsodbc",
		.ping = "SELECT 1",
		.savepoint = { "SAVE TRANSACTION ", NULL, "ROLLBACK TRANSACTION " },
		.tested = "FreeTDS 1.3.17, Babelfish 4.3" },
	{ .dbms = "Microsoft SQL Server",
		.ping = "SELECT 1",
		.savepoint = { "SAVE TRANSACTION ", NULL, "ROLLBACK TRANSACTION " } },
	{ .dbms = "MySQL",
		.out_of_step = 2014,
		.ping = "SELECT 1",
		.read_only = "SET TRANSACTION READ ONLY",
		.savepoint = STANDARD_SAVEPOINT },
	{ .dbms = "Oracle",
		.ping = "SELECT 1 FROM DUAL",
		.read_only = "SET TRANSACTION READ ONLY",
		.savepoint = { "SAVEPOINT ", NULL, "ROLLBACK TO SAVEPOINT " } },
	{ .dbms = "DB2",
		.ping = "VALUES 1",
		.savepoint = { "SAVEPOINT ", "RELEASE SAVEPOINT ",
			"ROLLBACK TO SAVEPOINT " } },
	{ .dbms = "Informix",
		.ping = "SELECT 1 FROM systables WHERE tabid = 1",
		.read_only = "SET TRANSACTION READ ONLY",
		.savepoint = STANDARD_SAVEPOINT },
	{ .dbms = "Firebird",
		.ping = "SELECT 1 FROM RDB$DATABASE",
		.savepoint = STANDARD_SAVEPOINT },
	{ .dbms = "HDB",
		.ping = "SELECT 1 FROM DUMMY",
		.read_only = "SET TRANSACTION READ ONLY",
		.savepoint = STANDARD_SAVEPOINT },
	{ .savepoint = STANDARD_SAVEPOINT },
};

/* Whether `text` contains `name`; case does not matter. */
static int
holds(const char *text, const char *name)
{
	size_t n = strlen(name);

	for (; *text; text++) {
		if (strncasecmp(text, name, n) == 0)
			return 1;
	}
	return 0;
}

static int
fits(const struct cnd_od_quirks *q, const char *driver, const char *dbms)
{
	if (q->driver)
		return holds(driver, q->driver);
	return !q->dbms || strncasecmp(dbms, q->dbms, strlen(q->dbms)) == 0;
}

const struct cnd_od_quirks *
cnd_od_quirks_find(const char *driver, const char *dbms)
{
	const struct cnd_od_quirks *q = table;

	while (!fits(q, driver, dbms))
		q++;
	return q;
}
