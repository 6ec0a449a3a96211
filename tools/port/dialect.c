/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kinds of servers: a table of their differences, and the SQL that depends on them. docs/types.md says which type of
 * each server stands for a logical type. This file keeps no state.
 */
#include "dialect.h"

#include <string.h>
#include <strings.h>

#include "output.h"

static const char *const postgresql_types[] = {
	[CENOTE_TYPE_BOOL] = "boolean",
	[CENOTE_TYPE_INT64] = "bigint",
	[CENOTE_TYPE_UINT64] = "numeric(20,0)",
	[CENOTE_TYPE_DOUBLE] = "double precision",
	[CENOTE_TYPE_DECIMAL] = "numeric%P",
	[CENOTE_TYPE_TEXT] = "text",
	[CENOTE_TYPE_BYTES] = "bytea",
	[CENOTE_TYPE_DATE] = "date",
	[CENOTE_TYPE_TIME] = "time%Z",
	[CENOTE_TYPE_TIMESTAMP] = "timestamp%Z",
	[CENOTE_TYPE_INTERVAL] = "interval",
	[CENOTE_TYPE_UUID] = "uuid",
	[CENOTE_TYPE_JSON] = "json",
	[CENOTE_TYPE_OTHER] = "text",
};

static const char *const mysql_types[] = {
	[CENOTE_TYPE_BOOL] = "boolean",
	[CENOTE_TYPE_INT64] = "bigint",
	[CENOTE_TYPE_UINT64] = "bigint unsigned",
	[CENOTE_TYPE_DOUBLE] = "double",
	[CENOTE_TYPE_DECIMAL] = "decimal%P",
	[CENOTE_TYPE_TEXT] = "longtext",
	[CENOTE_TYPE_BYTES] = "longblob",
	[CENOTE_TYPE_DATE] = "date",
	[CENOTE_TYPE_TIME] = "time(6)",
	[CENOTE_TYPE_TIMESTAMP] = "datetime(6)",
	[CENOTE_TYPE_INTERVAL] = "varchar(255)",
	[CENOTE_TYPE_UUID] = "char(36)",
	[CENOTE_TYPE_JSON] = "longtext",
	[CENOTE_TYPE_OTHER] = "longtext",
};

/* A column that is declared JSON has numeric affinity: SQLite would store a double in place of some texts. */
static const char *const sqlite_types[] = {
	[CENOTE_TYPE_BOOL] = "BOOLEAN",
	[CENOTE_TYPE_INT64] = "INTEGER",
	[CENOTE_TYPE_UINT64] = "TEXT",
	[CENOTE_TYPE_DOUBLE] = "DOUBLE",
	[CENOTE_TYPE_DECIMAL] = "DECIMAL%P",
	[CENOTE_TYPE_TEXT] = "TEXT",
	[CENOTE_TYPE_BYTES] = "BLOB",
	[CENOTE_TYPE_DATE] = "DATE",
	[CENOTE_TYPE_TIME] = "TIME",
	[CENOTE_TYPE_TIMESTAMP] = "TIMESTAMP",
	[CENOTE_TYPE_INTERVAL] = "TEXT",
	[CENOTE_TYPE_UUID] = "UUID",
	[CENOTE_TYPE_JSON] = "TEXT",
	[CENOTE_TYPE_OTHER] = "TEXT",
};

static const char *const sqlserver_types[] = {
	[CENOTE_TYPE_BOOL] = "bit",
	[CENOTE_TYPE_INT64] = "bigint",
	[CENOTE_TYPE_UINT64] = "decimal(20,0)",
	[CENOTE_TYPE_DOUBLE] = "float",
	[CENOTE_TYPE_DECIMAL] = "decimal%P",
	[CENOTE_TYPE_TEXT] = "nvarchar(max)",
	[CENOTE_TYPE_BYTES] = "varbinary(max)",
	[CENOTE_TYPE_DATE] = "date",
	[CENOTE_TYPE_TIME] = "time(7)",
	[CENOTE_TYPE_TIMESTAMP] = "datetime2(7)",
	[CENOTE_TYPE_INTERVAL] = "nvarchar(255)",
	[CENOTE_TYPE_UUID] = "uniqueidentifier",
	[CENOTE_TYPE_JSON] = "nvarchar(max)",
	[CENOTE_TYPE_OTHER] = "nvarchar(max)",
};

/* In a key, texts that differ in another server must also differ in MySQL. */
#define MYSQL_EXACT " CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"

static const struct dialect dialects[] = {
	{ .backend = "postgresql",
		.open = '"',
		.close = '"',
		.has_numbers = true,
		.has_copy = true,
		.has_bool = true,
		.has_zones = true,
		.max_params = 65535,
		.max_rows = 500,
		.bytes_open = "'\\x",
		.bytes_close = "'",
		.text_open = "'",
		.types = postgresql_types },
	{ .backend = "mysql",
		.open = '`',
		.close = '`',
		.has_backslash = true,
		.max_params = 20000,
		.max_rows = 500,
		.bytes_open = "x'",
		.bytes_close = "'",
		.text_open = "'",
		.types = mysql_types },
	{ .backend = "sqlite",
		.open = '"',
		.close = '"',
		.has_zones = true,
		.max_params = 999,
		.max_rows = 100,
		.bytes_open = "x'",
		.bytes_close = "'",
		.text_open = "'",
		.types = sqlite_types },
	{ .backend = "freetds",
		.open = '[',
		.close = ']',
		.has_zones = true,
		.max_params = 2000,
		.max_rows = 100,
		.bytes_open = "0x",
		.bytes_close = "",
		.text_open = "N'",
		.types = sqlserver_types },
	/* Any other server: only what the SQL standard has. */
	{ .backend = "odbc",
		.open = '"',
		.close = '"',
		.has_zones = true,
		.max_params = 65535,
		.max_rows = 1,
		.bytes_open = "x'",
		.bytes_close = "'",
		.text_open = "'" },
};

static const struct {
	const char *name, *backend;
} other_names[] = {
	{ "mariadb", "mysql" },
	{ "sqlserver", "freetds" },
	{ "standard", "odbc" },
};

const struct dialect *
dialect_find(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(other_names) / sizeof(other_names[0]); i++) {
		if (strcmp(name, other_names[i].name) == 0)
			name = other_names[i].backend;
	}
	for (i = 0; i < sizeof(dialects) / sizeof(dialects[0]); i++) {
		if (strcmp(name, dialects[i].backend) == 0)
			return &dialects[i];
	}
	return NULL;
}

void
dialect_add_name(const struct dialect *d, struct text *t, const char *name)
{
	text_add_char(t, d->open);
	for (; *name; name++) {
		if (*name == d->close)
			text_add_char(t, d->close);
		text_add_char(t, *name);
	}
	text_add_char(t, d->close);
}

void
dialect_add_names(const struct dialect *d, struct text *t, const struct columns *c)
{
	size_t i;

	for (i = 0; i < c->n; i++) {
		text_add_str(t, i > 0 ? ", " : "");
		dialect_add_name(d, t, c->list[i].name);
	}
}

void
dialect_add_placeholder(const struct dialect *d, struct text *t, size_t i)
{
	if (d->has_numbers)
		text_addf(t, "$%zu", i);
	else
		text_add_char(t, '?');
}

static void
add_text(const struct dialect *d, struct text *t, const struct cell *cell)
{
	size_t i;

	text_add_str(t, d->text_open);
	for (i = 0; i < cell->len; i++) {
		char c = cell->text[i];

		if (c == '\'' || (c == '\\' && d->has_backslash))
			text_add_char(t, c);
		text_add_char(t, c);
	}
	text_add_char(t, '\'');
}

static bool
is_number(const struct cell *cell)
{
	size_t i;

	/* Servers read infinity and NaN as texts only. */
	for (i = 0; i < cell->len; i++) {
		if (!cell->text[i] || !strchr("0123456789+-.eE", cell->text[i]))
			return false;
	}
	return cell->len > 0 && strchr("0123456789-", cell->text[0]);
}

void
dialect_add_literal(
	const struct dialect *d, struct text *t, uint32_t type, const struct cell *cell)
{
	struct text hex = { 0 };

	if (!cell->text) {
		text_add_str(t, "NULL");
	} else if (type == CENOTE_TYPE_BYTES) {
		output_add_hex(&hex, cell);
		text_add_str(t, d->bytes_open);
		text_add_str(t, text_str(&hex) + strlen("\\x"));
		text_add_str(t, d->bytes_close);
	} else if (type == CENOTE_TYPE_BOOL && cell->len == 1 &&
		   (*cell->text == '0' || *cell->text == '1')) {
		text_add_str(t, !d->has_bool         ? cell->text
				: *cell->text == '1' ? "TRUE"
						     : "FALSE");
	} else if (output_is_number(type) && is_number(cell)) {
		text_add(t, cell->text, cell->len);
	} else {
		add_text(d, t, cell);
	}
	text_finish(&hex);
}

/* ---- tables ---- */

/* The type for a text or bytes of a known length. NULL: the type without a length is right. */
static const char *
sized_type(const struct dialect *d, const struct column *c)
{
	bool is_text = c->type == CENOTE_TYPE_TEXT;

	if (c->length <= 0 || (!is_text && c->type != CENOTE_TYPE_BYTES))
		return NULL;
	if (strcmp(d->backend, "postgresql") == 0)
		return is_text ? "varchar(%L)" : NULL;
	/* The columns of a MySQL row have at most 65,535 bytes together, without longtext and longblob. */
	if (strcmp(d->backend, "mysql") == 0 && c->length <= 1000)
		return is_text && c->key > 0 ? "varchar(%L)" MYSQL_EXACT
		       : is_text             ? "varchar(%L)"
					     : "varbinary(%L)";
	if (strcmp(d->backend, "sqlite") == 0)
		return is_text ? "VARCHAR(%L)" : NULL;
	if (strcmp(d->backend, "freetds") == 0 && c->length <= 4000)
		return is_text ? "nvarchar(%L)" : "varbinary(%L)";
	return NULL;
}

/* The type for a text or bytes without a length in a key: some servers need a length there. NULL: the type without one is right. */
static const char *
key_type(const struct dialect *d, const struct column *c)
{
	bool is_text = c->type == CENOTE_TYPE_TEXT || c->type == CENOTE_TYPE_OTHER;

	if (c->key == 0 || c->length > 0 || (!is_text && c->type != CENOTE_TYPE_BYTES))
		return NULL;
	if (strcmp(d->backend, "mysql") == 0)
		return is_text ? "varchar(255)" MYSQL_EXACT : "varbinary(255)";
	if (strcmp(d->backend, "freetds") == 0)
		return is_text ? "nvarchar(255)" : "varbinary(255)";
	return NULL;
}

/* The type for a decimal with more digits than the server's decimals have. NULL: they have enough digits. */
static const char *
decimal_type(const struct dialect *d, const struct column *c)
{
	if (c->type != CENOTE_TYPE_DECIMAL)
		return NULL;
	/* SQLite stores a decimal as a double, which has 15 digits. */
	if (strcmp(d->backend, "sqlite") == 0 && (c->length == 0 || c->length > 15))
		return "TEXT";
	if (strcmp(d->backend, "mysql") == 0 &&
		(c->length == 0 || c->length > 65 || c->scale > 30))
		return "decimal(65,30)";
	if (strcmp(d->backend, "freetds") == 0 && (c->length == 0 || c->length > 38))
		return "decimal(38,15)";
	return NULL;
}

static const char *
type_pattern(const struct dialect *d, const struct column *c)
{
	const char *found = decimal_type(d, c);

	if (!found)
		found = sized_type(d, c);
	if (!found)
		found = key_type(d, c);
	if (!found && c->has_zone && strcmp(d->backend, "freetds") == 0 &&
		c->type == CENOTE_TYPE_TIMESTAMP)
		found = "datetimeoffset(7)";
	return found ? found : d->types[c->type];
}

/* Add a type. %L stands for its length, %P for precision and scale, %Z for the time zone. */
static void
add_type(const struct dialect *d, struct text *t, const struct column *c)
{
	const char *s = type_pattern(d, c);

	for (; *s; s++) {
		if (*s != '%') {
			text_add_char(t, *s);
			continue;
		}
		s++;
		if (*s == 'Z')
			text_add_str(t, c->has_zone ? " with time zone" : "");
		else if (c->length > 0 && *s == 'P')
			text_addf(t, "(%lld,%lld)", (long long)c->length,
				(long long)c->scale);
		else if (c->length > 0)
			text_addf(t, "%lld", (long long)c->length);
	}
}

/* Add PRIMARY KEY. Its columns have the order of column.key, not that of the table. */
static void
add_key(const struct dialect *d, struct text *t, const struct columns *c)
{
	unsigned key = 0;
	size_t i = 0;

	while (i < c->n) {
		for (i = 0; i < c->n && c->list[i].key != key + 1; i++)
			continue;
		if (i == c->n)
			break;
		text_add_str(t, key++ > 0 ? ", " : ", PRIMARY KEY (");
		dialect_add_name(d, t, c->list[i].name);
	}
	text_add_str(t, key > 0 ? ")" : "");
}

int
dialect_create(const struct dialect *d, const char *table, const struct columns *c,
	struct text *ret_sql)
{
	size_t i;

	if (!d->types)
		return -1;
	text_addf(ret_sql, "CREATE TABLE %s (", table);
	for (i = 0; i < c->n; i++) {
		text_add_str(ret_sql, i > 0 ? ", " : "");
		dialect_add_name(d, ret_sql, c->list[i].name);
		text_add_char(ret_sql, ' ');
		add_type(d, ret_sql, &c->list[i]);
		text_add_str(ret_sql, c->list[i].key > 0 ? " NOT NULL" : "");
	}
	add_key(d, ret_sql, c);
	text_add_char(ret_sql, ')');
	return 0;
}

void
dialect_insert(const struct dialect *d, const char *table, const struct columns *c,
	size_t n_rows, struct text *ret_sql)
{
	size_t row, i, n = 0;

	text_addf(ret_sql, "INSERT INTO %s (", table);
	dialect_add_names(d, ret_sql, c);
	text_add_str(ret_sql, ") VALUES ");
	for (row = 0; row < n_rows; row++) {
		text_add_str(ret_sql, row > 0 ? ", (" : "(");
		for (i = 0; i < c->n; i++) {
			text_add_str(ret_sql, i > 0 ? ", " : "");
			dialect_add_placeholder(d, ret_sql, ++n);
		}
		text_add_char(ret_sql, ')');
	}
}
