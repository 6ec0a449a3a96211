/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table cenote_import, which says how far an import has come. import.c calls it. The state is struct position.
 */
#include "position.h"

#include <stdlib.h>
#include <string.h>

/* These types exist in every server. */
#define CREATE_SQL                                                                       \
	"CREATE TABLE cenote_import (name varchar(190) NOT NULL PRIMARY KEY, "           \
	"n_records decimal(18,0) NOT NULL, done smallint NOT NULL)"

/* Replace each "?" of a statement by a placeholder of the server. */
static void
make_sql(const struct position *p, const char *pattern, struct text *ret_sql)
{
	size_t n = 0;

	for (; *pattern; pattern++) {
		if (*pattern == '?')
			dialect_add_placeholder(p->link->dialect, ret_sql, ++n);
		else
			text_add_char(ret_sql, *pattern);
	}
}

/* In place of a number: the name of the import. */
#define BIND_NAME (-1)

/* Add a parameter: a number, or the name of the import for BIND_NAME. */
static int
bind(struct position *p, int64_t value)
{
	int r = value == BIND_NAME
			? cenote_params_add_text(p->params, p->name, strlen(p->name))
			: cenote_params_add_int64(p->params, value);

	if (r < 0)
		port_say("out of memory");
	return r < 0 ? PORT_USAGE : PORT_OK;
}

/* Run a statement with these parameters; bind() says what they mean. */
static int
run(struct position *p, const char *pattern, const int64_t *values, size_t n,
	cenote_result **ret_res)
{
	struct text sql = { 0 };
	size_t i;
	int r = PORT_OK;

	cenote_params_clear(p->params);
	make_sql(p, pattern, &sql);
	for (i = 0; i < n && r == PORT_OK; i++)
		r = bind(p, values[i]);
	if (r == PORT_OK)
		r = link_query(p->link, text_str(&sql), p->params, ret_res);
	text_finish(&sql);
	return r;
}

static int
make_table(struct position *p)
{
	cenote_catalog_filter filter = CENOTE_CATALOG_FILTER_INIT;
	cenote_result *res;
	uint64_t n;
	int r;

	filter.object = "cenote\\_import";
	if (strcmp(p->link->backend, "mysql") == 0)
		filter.catalog = cenote_info(p->link->conn, "database");
	r = cenote_catalog(p->link->conn, CENOTE_CATALOG_TABLES, &filter, &res);
	if (r < 0)
		return link_failed(p->link, r);
	n = cenote_result_n_rows(res);
	cenote_result_destroy(res);
	r = link_finish(p->link);
	if (r != PORT_OK || n > 0)
		return r;
	r = link_run(p->link, CREATE_SQL);
	if (r == PORT_FAILED)
		port_say("the position is kept in a table cenote_import; "
			 "--single-transaction needs none");
	return r;
}

/* Read the row of this import. */
static int
read_row(struct position *p)
{
	cenote_result *res;
	int r = run(p, "SELECT n_records, done FROM cenote_import WHERE name = ?",
		(int64_t[]){ BIND_NAME }, 1, &res);

	if (r != PORT_OK)
		return r;
	p->exists = cenote_result_n_rows(res) > 0;
	if (p->exists) {
		const char *n = cenote_result_text(res, 0, 0, NULL);
		const char *done = cenote_result_text(res, 0, 1, NULL);

		p->n_records = n ? strtoull(n, NULL, 10) : 0;
		p->is_done = done && *done == '1';
	}
	cenote_result_destroy(res);
	return PORT_OK;
}

int
position_open(struct position *p, struct link *l, const char *name)
{
	int r;

	*p = (struct position){ .link = l, .name = name };
	r = link_params_create(&p->params);
	if (r == PORT_OK)
		r = make_table(p);
	return r == PORT_OK ? read_row(p) : r;
}

/*
 * Report that another process has moved the position since it was read. It may still run. Or it was killed, and the server
 * carried out its last request only now. The batch of this run is not committed, so it is safe to read the position again.
 */
static int
report_move(const struct position *p)
{
	port_say("another process has worked on the import \"%s\"", p->name);
	return PORT_STOPPED;
}

int
position_reset(struct position *p)
{
	bool existed = p->exists;
	cenote_result *res;
	int r = run(p,
		existed ? "UPDATE cenote_import SET n_records = 0, done = 0 WHERE name = "
			  "?"
			: "INSERT INTO cenote_import (name, n_records, done) VALUES (?, "
			  "0, 0)",
		(int64_t[]){ BIND_NAME }, 1, &res);

	if (r == PORT_FAILED && !existed && read_row(p) == PORT_OK && p->exists)
		return report_move(p);
	if (r != PORT_OK)
		return r;
	cenote_result_destroy(res);
	p->exists = true;
	p->n_records = 0;
	p->is_done = false;
	return PORT_OK;
}

int
position_move(struct position *p, uint64_t n_records, bool is_done)
{
	const int64_t values[] = { (int64_t)n_records, is_done, BIND_NAME,
		(int64_t)p->n_records };
	cenote_result *res;
	int64_t n;
	int r = run(p,
		"UPDATE cenote_import SET n_records = ?, done = ? WHERE name = ?"
		" AND n_records = ? AND done = 0",
		values, 4, &res);

	if (r != PORT_OK)
		return r;
	n = cenote_result_affected_rows(res);
	cenote_result_destroy(res);
	if (n != 1)
		return report_move(p);
	p->n_records = n_records;
	p->is_done = is_done;
	return PORT_OK;
}

bool
position_has_moved(struct position *p)
{
	uint64_t n_records = p->n_records;

	if (read_row(p) != PORT_OK || p->n_records == n_records)
		return false;
	(void)report_move(p);
	return true;
}

void
position_close(struct position *p)
{
	cenote_params_destroy(p->params);
	*p = (struct position){ 0 };
}
