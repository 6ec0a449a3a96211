/* SPDX-License-Identifier: BSD-2-Clause */
#include "driver.h"

#include <stdlib.h>
#include <string.h>

/* Results: read, make, change and print them, and the events in their lives. */

static PGresult *
result_at(const struct fz *z, uint32_t number)
{
	return z->results[number % FZ_RESULTS];
}

/* Print a result again. Neither time nor the end of its connection changes it. */
void
fz_look(struct fz *z, const uint32_t n[4])
{
	fz_say(z, " %u\n", n[1] % FZ_RESULTS);
	fz_show_result(z, result_at(z, n[1]));
}

void
fz_out_of_range(struct fz *z, const uint32_t n[4])
{
	static const int numbers[] = { -1, 0, 1, 2, 5, 1000000, -2147483647 };
	const PGresult *res = result_at(z, n[1]);
	int row = numbers[n[2] % 7];
	int column = numbers[n[3] % 7];

	fz_say(z, " row %d column %d", row, column);
	fz_say(z, " value ");
	fz_say_text(z, z->pq.f.PQgetvalue(res, row, column));
	fz_say(z, " length %d null %d", z->pq.f.PQgetlength(res, row, column),
		z->pq.f.PQgetisnull(res, row, column));
	fz_say(z, " name ");
	fz_say_text(z, z->pq.f.PQfname(res, column));
	fz_say(z, " %d %d %d %d", z->pq.f.PQftablecol(res, column),
		z->pq.f.PQfformat(res, column), z->pq.f.PQfsize(res, column),
		z->pq.f.PQfmod(res, column));
	fz_say(z, " %u ", z->pq.f.PQparamtype(res, column));
	fz_say_oid(z, z->pq.f.PQftable(res, column));
	fz_say(z, " ");
	fz_say_oid(z, z->pq.f.PQftype(res, column));
	fz_say(z, " %s\n",
		z->pq.f.PQresStatus((ExecStatusType)(column < 100 ? column : 100)));
}

void
fz_field_number(struct fz *z, const uint32_t n[4])
{
	static const char *const names[] = { "id", "ID", "\"ID\"", "NAME", "\"Name\"",
		"B c", "\"B c\"", "", "a", "?column?", "\"a\"\"b\"", "\"id", "nowhere" };
	const char *name = names[n[2] % 13];
	const PGresult *res = result_at(z, n[1]);

	/* libpq compares column names, and the columns of a COPY have none */
	if (z->pq.f.PQnfields(res) > 0 && z->pq.f.PQfname(res, 0) == NULL) {
		fz_say(z, " of a copy\n");
		return;
	}
	fz_say(z, " %s", name);
	fz_gave_int(z, z->pq.f.PQfnumber(res, name));
}

void
fz_verbose_message(struct fz *z, const uint32_t n[4])
{
	char *text = z->pq.f.PQresultVerboseErrorMessage(result_at(z, n[1]),
		(PGVerbosity)(n[2] % 4), (PGContextVisibility)(n[3] % 3));

	fz_say(z, " %u %u", n[2] % 4, n[3] % 3);
	fz_gave_text(z, text);
	z->pq.f.PQfreemem(text);
}

/* ---- making results ---- */

void
fz_make_result(struct fz *z, const uint32_t n[4])
{
	static const ExecStatusType statuses[] = { PGRES_EMPTY_QUERY, PGRES_COMMAND_OK,
		PGRES_TUPLES_OK, PGRES_COPY_OUT, PGRES_BAD_RESPONSE, PGRES_NONFATAL_ERROR,
		PGRES_FATAL_ERROR, PGRES_SINGLE_TUPLE, PGRES_PIPELINE_SYNC };

	fz_say(z, "\n");
	fz_keep_result(z, z->pq.f.PQmakeEmptyPGresult(
				  n[2] % 3 ? z->at->conn : NULL, statuses[n[1] % 9]));
}

void
fz_copy_result(struct fz *z, const uint32_t n[4])
{
	static const int flags[] = { 0, PG_COPYRES_ATTRS, PG_COPYRES_TUPLES,
		PG_COPYRES_EVENTS, PG_COPYRES_NOTICEHOOKS,
		PG_COPYRES_ATTRS | PG_COPYRES_TUPLES | PG_COPYRES_EVENTS |
			PG_COPYRES_NOTICEHOOKS };

	fz_say(z, " %u flags %d\n", n[1] % FZ_RESULTS, flags[n[2] % 6]);
	fz_keep_result(z, z->pq.f.PQcopyResult(result_at(z, n[1]), flags[n[2] % 6]));
}

void
fz_set_attributes(struct fz *z, const uint32_t n[4])
{
	PGresAttDesc columns[] = { { (char *)"one", 1, 2, 0, 23, 4, -1 },
		{ (char *)"Two three", 0, 0, (int)(n[3] % 2), 25, -1, 7 },
		{ (char *)"", 0, 0, 0, 17, -1, -1 } };
	PGresult *res = result_at(z, n[1]);

	/* libpq gives such rows uninitialised values */
	if (z->pq.f.PQntuples(res) > 0 && z->pq.f.PQnfields(res) == 0) {
		fz_say(z, " of rows without columns\n");
		return;
	}
	fz_gave_int(z, z->pq.f.PQsetResultAttrs(res, (int)(n[2] % 5) - 1, columns));
	fz_show_result(z, res);
}

void
fz_set_value(struct fz *z, const uint32_t n[4])
{
	static const int numbers[] = { 0, 1, 2, 0, 1, -1, 9 };
	PGresult *res = result_at(z, n[1]);
	const char *value = n[3] % 7 ? FZ_PICK(texts, n[3]) : NULL;
	int len = value != NULL ? (int)strlen(value) : -1;
	int row = numbers[n[2] % 7];
	int r;

	if (n[3] % 5 == 0)
		row = z->pq.f.PQntuples(res);
	r = z->pq.f.PQsetvalue(
		res, row, numbers[n[2] / 7 % 7], (char *)(uintptr_t)value, len);
	fz_gave_int(z, r);
	fz_show_result(z, res);
}

void
fz_result_alloc(struct fz *z, const uint32_t n[4])
{
	static const size_t sizes[] = { 0, 1, 100, 5000 };
	PGresult *res = result_at(z, n[1]);
	size_t size = sizes[n[2] % 4];
	void *room = z->pq.f.PQresultAlloc(res, size);

	if (room != NULL && size > 0)
		memset(room, 'x', size);
	fz_say(z, " %zu room %d memory %d\n", size, room != NULL,
		z->pq.f.PQresultMemorySize(res) > 0);
}

void
fz_clear(struct fz *z, const uint32_t n[4])
{
	unsigned i = n[1] % FZ_RESULTS;

	fz_say(z, " %u\n", i);
	z->pq.f.PQclear(z->results[i]);
	z->results[i] = NULL;
}

/* ---- printing ---- */

static FILE *
paper(char **ret_text, size_t *ret_size)
{
	FILE *to = open_memstream(ret_text, ret_size);

	if (to == NULL)
		abort();
	return to;
}

static void
show_paper(struct fz *z, FILE *to, char **text)
{
	fclose(to);
	fz_gave_text(z, *text);
	free(*text);
}

static int
is_printable(const struct fz *z, const PGresult *res)
{
	return res != NULL && z->pq.f.PQresultStatus(res) == PGRES_TUPLES_OK;
}

void
fz_print(struct fz *z, const uint32_t n[4])
{
	static char *names[] = { (char *)"first", (char *)"second", NULL };
	PQprintOpt options = { .header = (pqbool)(n[2] & 1),
		.align = (pqbool)(n[2] >> 1 & 1),
		.standard = (pqbool)(n[2] >> 2 & 1),
		.html3 = (pqbool)(n[2] >> 3 & 1),
		.expanded = (pqbool)(n[2] >> 4 & 1),
		.fieldSep = (char *)(n[3] % 3 ? "|" : ", "),
		.tableOpt = (char *)(n[3] % 2 ? "border" : NULL),
		.caption = (char *)(n[3] % 5 ? NULL : "Caption"),
		.fieldName = n[3] % 4 ? NULL : names };
	const PGresult *res = result_at(z, n[1]);
	char *text = NULL;
	size_t size;
	FILE *to;

	if (!is_printable(z, res)) {
		fz_say(z, " nothing\n");
		return;
	}
	to = paper(&text, &size);
	z->pq.f.PQprint(to, res, &options);
	show_paper(z, to, &text);
}

void
fz_display(struct fz *z, const uint32_t n[4])
{
	const PGresult *res = result_at(z, n[1]);
	char *text = NULL;
	size_t size;
	FILE *to;

	if (!is_printable(z, res)) {
		fz_say(z, " nothing\n");
		return;
	}
	to = paper(&text, &size);
	if (n[2] % 2)
		z->pq.f.PQdisplayTuples(res, to, (int)(n[3] & 1), n[3] & 2 ? "|" : NULL,
			(int)(n[3] >> 2 & 1), (int)(n[3] >> 3 & 1));
	else
		z->pq.f.PQprintTuples(res, to, (int)(n[3] & 1), (int)(n[3] >> 1 & 1),
			(int)(n[3] >> 2 & 15));
	show_paper(z, to, &text);
}

/* ---- events ---- */

struct note {
	struct fz *z;
	const char *name;
	int refuses; /* whether it fails this kind of event */
};

static int
note_event(PGEventId id, void *info, void *pass_through)
{
	struct note *note = pass_through;
	const PGEventResultCreate *create = info;

	fz_say(note->z, "\n    event %d for %s", id, note->name);
	if (id == PGEVT_RESULTCREATE)
		fz_say(note->z, " conn %d", create->conn != NULL);
	return note->refuses != (int)id;
}

static int
first_event(PGEventId id, void *info, void *pass_through)
{
	return note_event(id, info, pass_through);
}

static int
second_event(PGEventId id, void *info, void *pass_through)
{
	return note_event(id, info, pass_through);
}

void
fz_register_event(struct fz *z, const uint32_t n[4])
{
	static struct note notes[] = { { NULL, "first", -1 }, { NULL, "second", -1 },
		{ NULL, "refuses results", PGEVT_RESULTCREATE },
		{ NULL, "refuses copies", PGEVT_RESULTCOPY },
		{ NULL, "refuses", PGEVT_REGISTER } };
	struct note *note = &notes[n[1] % 5];
	const char *name = n[2] % 20 ? note->name : "";

	note->z = z;
	fz_say(z, " %s", note->name);
	fz_gave_int(z, z->pq.f.PQregisterEventProc(z->at->conn,
			       n[1] % 2 ? first_event : second_event, name, note));
}

void
fz_instance_data(struct fz *z, const uint32_t n[4])
{
	PGEventProc proc = n[1] % 2 ? first_event : second_event;
	PGresult *res = result_at(z, n[2]);

	if (n[3] % 2)
		fz_say(z, " set %d %d", z->pq.f.PQsetInstanceData(z->at->conn, proc, z),
			z->pq.f.PQresultSetInstanceData(res, proc, z));
	fz_say(z, " got %d %d\n", z->pq.f.PQinstanceData(z->at->conn, proc) == z,
		z->pq.f.PQresultInstanceData(res, proc) == z);
}

void
fz_fire_events(struct fz *z, const uint32_t n[4])
{
	fz_gave_int(z, z->pq.f.PQfireResultCreateEvents(
			       n[2] % 2 ? z->at->conn : NULL, result_at(z, n[1])));
}
