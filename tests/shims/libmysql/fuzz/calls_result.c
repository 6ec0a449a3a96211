/* SPDX-License-Identifier: BSD-2-Clause */
#include "driver.h"

#include <stdlib.h>
#include <string.h>

/* Queries and their results. */

#define MAX_ROWS 60

void
fz_drop_result(struct fz *z, struct fz_result *r)
{
#if !CMY_ORACLE
	if (z->is_async && r->res != NULL) {
		int wants = z->f.mysql_free_result_start(r->res);

		while (wants != 0)
			wants = z->f.mysql_free_result_cont(r->res, fz_wait(z, wants));
		r->res = NULL;
	}
#endif
	z->f.mysql_free_result(r->res);
	memset(r, 0, sizeof(*r));
}

void
fz_keep_result(struct fz *z, MYSQL_RES *res, int is_used)
{
	struct fz_conn *c = z->at;
	struct fz_result *r = &c->results[c->next_result];

	fz_say(z, " -> %s\n", res != NULL ? "a result" : "none");
	if (res == NULL)
		return;
	fz_drop_result(z, r);
	r->res = res;
	r->is_used = is_used;
	c->next_result = (c->next_result + 1) % FZ_RESULTS;
	for (unsigned i = 0; i < res->field_count; i++)
		fz_show_field(z, &z->f.mysql_fetch_fields(res)[i]);
}

/* ---- asking ---- */

/* Note the text, unless the query is refused because another query's rows are unread. */
static void
note_text(struct fz_conn *c, const char *sql)
{
	if (c->my->status != MYSQL_STATUS_READY)
		return;
	c->sql = sql;
	for (unsigned i = 0; i < FZ_STMTS; i++)
		c->stmts[i].has_old_charset |=
			strncmp(sql, "set character_set_results", 25) == 0;
}

void
fz_query(struct fz *z, const uint32_t n[4])
{
	const char *sql = fz_query_word(z, n[1]);
	int r = 0;

	note_text(z->at, sql);
	fz_say(z, " ");
	fz_say_text(z, sql);
	if (n[2] % 3)
		FZ_DO(z, z->at->my, r, mysql_query, z->at->my, sql);
	else
		FZ_DO(z, z->at->my, r, mysql_real_query, z->at->my, sql,
			(unsigned long)strlen(sql));
	z->at->has_selected = 0;
	fz_gave_answer(z, r);
}

void
fz_send_query(struct fz *z, const uint32_t n[4])
{
	const char *sql = fz_query_word(z, n[1]);
	int r = 0;

	note_text(z->at, sql);
	fz_say(z, " ");
	fz_say_text(z, sql);
	FZ_DO(z, z->at->my, r, mysql_send_query, z->at->my, sql,
		(unsigned long)strlen(sql));
	z->at->is_sent = r == 0;
	fz_gave_status(z, r);
}

void
fz_read_query_result(struct fz *z, const uint32_t n[4])
{
	my_bool r = 0;

	(void)n;
	z->at->is_sent = 0;
	FZ_DO(z, z->at->my, r, mysql_read_query_result, z->at->my);
	fz_gave_answer(z, r);
}

void
fz_store_result(struct fz *z, const uint32_t n[4])
{
	MYSQL_RES *res = NULL;

	(void)n;
	FZ_DO(z, z->at->my, res, mysql_store_result, z->at->my);
	fz_keep_result(z, res, 0);
}

void
fz_use_result(struct fz *z, const uint32_t n[4])
{
	(void)n;
	fz_keep_result(z, z->f.mysql_use_result(z->at->my), 1);
}

void
fz_next_result(struct fz *z, const uint32_t n[4])
{
	int r = 0;

	(void)n;
	FZ_DO(z, z->at->my, r, mysql_next_result, z->at->my);
	fz_gave_int(z, r);
}

/* Read all results, as most programs do. */
void
fz_drain(struct fz *z, const uint32_t n[4])
{
	int r = 0, i = 0;

	fz_say(z, "\n");
	do {
		MYSQL_RES *res = n[1] % 2 ? z->f.mysql_use_result(z->at->my)
					  : z->f.mysql_store_result(z->at->my);

		fz_say(z, "    result %s", res != NULL ? "" : "none");
		for (MYSQL_ROW row = NULL;
			res != NULL && (row = z->f.mysql_fetch_row(res)) != NULL;)
			fz_show_row(z, res, row);
		z->f.mysql_free_result(res);
		FZ_DO(z, z->at->my, r, mysql_next_result, z->at->my);
		fz_gave_int(z, r);
	} while (r == 0 && ++i < 10);
}

void
fz_list_dbs(struct fz *z, const uint32_t n[4])
{
	fz_keep_result(z, z->f.mysql_list_dbs(z->at->my, FZ_PICK(databases, n[1])), 0);
}

void
fz_list_tables(struct fz *z, const uint32_t n[4])
{
	const char *wild = n[1] % 3 ? FZ_PICK(tables, n[1] / 3) : NULL;

	fz_keep_result(z, z->f.mysql_list_tables(z->at->my, wild), 0);
}

void
fz_list_fields(struct fz *z, const uint32_t n[4])
{
	/* if no column fits, Oracle's library may report that it has no memory */
	const char *wild = n[2] % 3 == 0 ? NULL
			   : CMY_ORACLE  ? "%"
					 : FZ_PICK(tables, n[2] / 3);
	const char *table = FZ_PICK(tables, n[1]);
	MYSQL_RES *res = NULL;

	fz_say(z, " %s", table);
	z->at->has_listed = 1;
	FZ_DO(z, z->at->my, res, mysql_list_fields, z->at->my, table, wild);
	fz_keep_result(z, res, 0);
}

/* ---- reading a result ---- */

static MYSQL_ROW
fetch(struct fz *z, MYSQL_RES *res)
{
	MYSQL_ROW row = NULL;

	FZ_DO(z, res, row, mysql_fetch_row, res);
	return row;
}

void
fz_fetch_row(struct fz *z, const uint32_t n[4])
{
	MYSQL_RES *res = z->result->res;

	(void)n;
	fz_say(z, "\n");
	fz_show_row(z, res, fetch(z, res));
}

void
fz_fetch_rows(struct fz *z, const uint32_t n[4])
{
	MYSQL_RES *res = z->result->res;
	int left = n[1] % 2 ? MAX_ROWS : 3;
	MYSQL_ROW row;

	fz_say(z, "\n");
	do {
		row = fetch(z, res);
		fz_show_row(z, res, row);
	} while (row != NULL && --left > 0);
}

void
fz_data_seek(struct fz *z, const uint32_t n[4])
{
	MYSQL_RES *res = z->result->res;
	uint64_t to = n[1] % 5 ? n[1] % 6 : z->f.mysql_num_rows(res);

	fz_say(z, " %llu\n", (unsigned long long)to);
	z->f.mysql_data_seek(res, to);
}

void
fz_row_seek(struct fz *z, const uint32_t n[4])
{
	struct fz_result *r = z->result;
	MYSQL_ROW_OFFSET now = z->f.mysql_row_tell(r->res);

	fz_say(z, " %s", now != NULL ? "somewhere" : "nowhere");
	if (n[1] % 2) {
		r->offset = now;
		fz_say(z, "\n");
		return;
	}
	now = z->f.mysql_row_seek(r->res, r->offset);
	fz_say(z, " -> %s\n", now != NULL ? "somewhere" : "nowhere");
}

void
fz_fetch_field(struct fz *z, const uint32_t n[4])
{
	MYSQL_RES *res = z->result->res;
	unsigned count = z->f.mysql_num_fields(res);

	fz_say(z, " of %u\n", count);
	if (n[1] % 2 && count > 0)
		fz_show_field(z, z->f.mysql_fetch_field_direct(res, n[2] % count));
	else
		fz_show_field(z, z->f.mysql_fetch_field(res));
}

void
fz_field_seek(struct fz *z, const uint32_t n[4])
{
	MYSQL_RES *res = z->result->res;
	unsigned count = z->f.mysql_num_fields(res);

	fz_say(z, " %u ", z->f.mysql_field_tell(res));
	fz_gave_int(z, z->f.mysql_field_seek(res, n[1] % (count + 1)));
}

void
fz_look(struct fz *z, const uint32_t n[4])
{
	MYSQL_RES *res = z->result->res;

	(void)n;
	fz_say(z, " rows %llu fields %u eof %d at field %u handle %d row %d lengths %d\n",
		(unsigned long long)z->f.mysql_num_rows(res), z->f.mysql_num_fields(res),
		z->f.mysql_eof(res), z->f.mysql_field_tell(res), res->handle != NULL,
		/* after the last row the original still has this pointer */
		z->result->is_used || res->current_row != NULL,
		z->result->is_used || z->f.mysql_fetch_lengths(res) != NULL);
}

void
fz_free_result(struct fz *z, const uint32_t n[4])
{
	(void)n;
	fz_say(z, "\n");
	fz_drop_result(z, z->result);
}
