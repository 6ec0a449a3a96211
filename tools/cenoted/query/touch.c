/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which tables a text reads or changes, as far as the pool's cache must know (touch.h). worker/cache.c calls it with the
 * summary of the text. It owns no state.
 *
 * Two readers judge the text. summary.c knows how the pool's server reads it, and finds the tables and the functions. Whether
 * the result may be kept, and what the text does to its session, comes from core/reach.c, which knows no server and is more
 * cautious.
 */
#include "touch.h"

#include <string.h>
#include <strings.h>

#include "core/reach.h"
#include "walk.h"

/* Add a table. False: the name may mean another one, since it has escapes, or letters whose case only the server knows. */
static bool
add_table(struct cnd_touch *t, const struct cnc_sql_token *name)
{
	size_t n;
	const char *p = cnc_sql_inside(name, &n);

	if (cnd_name_has_escapes(name) || t->n_tables == CND_TOUCH_TABLES)
		return false;
	for (size_t i = 0; i < n; i++) {
		if ((unsigned char)p[i] >= 0x80)
			return false;
	}
	t->tables[t->n_tables++] = cnd_cache_table(p, n);
	return true;
}

static bool
add_tables(struct cnd_touch *t, const struct cnd_sql_names *tables)
{
	for (uint32_t i = 0; i < tables->n; i++) {
		if (!add_table(t, &tables->list[i].name))
			return false;
	}
	return !tables->is_cut;
}

/* The servers' own tables show the session, or what the server does just now. */
static bool
is_of_server(const struct cnd_sql_name *table)
{
	static const char *const schemas[] = { "information_schema", "performance_schema",
		"sys", "mysql", "master", "msdb", "tempdb" };
	static const char *const beginnings[] = { "pg_", "sqlite_", "pragma_", "dbstat",
		"sysprocesses", "syslock", "#" };
	size_t n_schema, n_name;
	const char *schema = cnc_sql_inside(&table->schema, &n_schema);
	const char *name = cnc_sql_inside(&table->name, &n_name);

	for (size_t i = 0; i < sizeof(schemas) / sizeof(schemas[0]); i++) {
		if (n_schema == strlen(schemas[i]) &&
			strncasecmp(schema, schemas[i], n_schema) == 0)
			return true;
	}
	for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++) {
		size_t n = strlen(beginnings[i]);

		if (n_name >= n && strncasecmp(name, beginnings[i], n) == 0)
			return true;
	}
	return false;
}

static bool
has_own_table_of_server(const struct cnd_sql_names *tables)
{
	for (uint32_t i = 0; i < tables->n; i++) {
		if (is_of_server(&tables->list[i]))
			return true;
	}
	return false;
}

/* Whether all functions that the text calls by name are those of the servers. */
static bool
has_known_functions(const struct cnd_sql_names *functions)
{
	for (uint32_t i = 0; i < functions->n; i++) {
		const struct cnd_sql_name *f = &functions->list[i];

		if (f->schema.n > 0 || !cnc_sql_is_known_function(&f->name))
			return false;
	}
	return !functions->is_cut;
}

/* Whether the text has this word outside of quotes and comments. The reader knows no server, so it may see too many words. */
static bool
has_word(const char *sql, size_t len, const char *const *words)
{
	struct cnc_sql x = cnc_sql_begin(sql, len, CNC_SQL_RAW);
	struct cnc_sql_token t;

	while ((t = cnc_sql_next(&x)).kind != CNC_SQL_END) {
		if (cnc_sql_is_one_of(&t, words))
			return true;
	}
	return false;
}

/* COMMIT PREPARED and XA COMMIT end what another session has written. */
static bool
may_end_another(const char *sql, size_t len)
{
	static const char *const words[] = { "prepared", "xa", NULL };

	return has_word(sql, len, words);
}

/* Whether the text only reads or changes rows. SELECT … INTO may make a temporary table, so of the texts that write, only those
 * that begin with the word for it do. */
static bool
is_plain(const struct cnd_summary *summary, const char *sql, size_t len)
{
	static const char *const verbs[] = { "insert", "update", "delete", "replace",
		"merge", NULL };
	struct cnc_sql x = cnc_sql_begin(sql, len, CNC_SQL_ANSI);

	return summary->classes == CND_CLASS_READ ||
	       ((summary->classes & ~(uint32_t)(CND_CLASS_READ | CND_CLASS_WRITE)) == 0 &&
		       cnc_sql_take_one_of(&x, verbs));
}

/*
 * What the text does to its session. reach.c takes each comment as something unknown. A plain text that calls no unknown
 * function sets nothing in spite of its comments; but a variable of MySQL can be set in any query.
 */
static uint8_t
reach_of(const struct cnd_summary *summary, const char *sql, size_t len, bool knows_code)
{
	uint8_t reach = cnc_sql_reach(sql, len);

	return reach >= CNC_REACH_SESSION && knows_code &&
			       memchr(sql, '@', len) == NULL &&
			       is_plain(summary, sql, len)
		       ? (uint8_t)CNC_REACH_DATA
		       : reach;
}

void
cnd_touch_find(const struct cnd_summary *summary, const char *sql, size_t len,
	struct cnd_touch *ret_touch)
{
	const uint32_t opaque = CND_CLASS_DDL | CND_CLASS_CALL | CND_CLASS_OTHER;
	uint32_t classes = summary->classes;
	bool knows_code = has_known_functions(&summary->functions);
	struct cnd_touch t = { .is_write = (classes & CND_CLASS_WRITE) != 0 };
	bool knows_tables = add_tables(&t, &summary->tables);

	if (sql == NULL || summary->is_unsure) {
		*ret_touch = (struct cnd_touch){
			.is_all = true, .is_write = true, .reach = CNC_REACH_PRIVATE
		};
		return;
	}
	/* some programs send a text without a statement to ask whether the server is there */
	if (classes != 0)
		t.reach = reach_of(summary, sql, len, knows_code);
	t.is_all = (classes & opaque) != 0 || !knows_code ||
		   (t.is_write && (!knows_tables || t.n_tables == 0)) ||
		   ((classes & CND_CLASS_TRANSACTION) != 0 && may_end_another(sql, len));
	t.may_keep = classes == CND_CLASS_READ && summary->n_statements == 1 &&
		     knows_code && knows_tables && t.reach == CNC_REACH_NONE &&
		     !has_own_table_of_server(&summary->tables);
	*ret_touch = t;
}
