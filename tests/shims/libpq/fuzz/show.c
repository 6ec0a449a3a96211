/* SPDX-License-Identifier: BSD-2-Clause */
#include "driver.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Printing of results and connections. Two drivers print equal things as equal texts. */

#define MAX_ROWS  12
#define MAX_BYTES 400u

void
fz_say(struct fz *z, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(z->out, format, args);
	va_end(args);
}

static void
put_bytes(FILE *to, const char *bytes, size_t len)
{
	if (bytes == NULL) {
		fputs("null", to);
		return;
	}
	fputc('"', to);
	for (size_t i = 0; i < len && i < MAX_BYTES; i++) {
		unsigned char c = (unsigned char)bytes[i];

		if (c == '\n')
			fputs("\\n", to);
		else if (c < 32 || c == 127 || c == '"' || c == '\\')
			fprintf(to, "\\x%02x", c);
		else
			fputc(c, to);
	}
	fputc('"', to);
	if (len > MAX_BYTES)
		fprintf(to, "(%zu bytes)", len);
}

void
fz_say_bytes(struct fz *z, const char *bytes, size_t len)
{
	put_bytes(z->out, bytes, len);
}

void
fz_say_text(struct fz *z, const char *text)
{
	fz_say_bytes(z, text, text != NULL ? strlen(text) : 0);
}

void
fz_gave_text(struct fz *z, const char *text)
{
	fz_say(z, " -> ");
	fz_say_text(z, text);
	fz_say(z, "\n");
}

void
fz_gave_int(struct fz *z, long long value)
{
	fz_say(z, " -> %lld\n", value);
}

void
fz_say_oid(struct fz *z, Oid oid)
{
	unsigned i;

	if (oid <= z->last_oid) {
		fz_say(z, "%u", oid);
		return;
	}
	for (i = 0; i < z->n_oids && z->oids[i] != oid; i++)
		;
	if (i == z->n_oids && i < FZ_MAX_OIDS)
		z->oids[z->n_oids++] = oid;
	fz_say(z, "new#%u", i);
}

/* ---- results ---- */

static void
show_columns(struct fz *z, const PGresult *res)
{
	int n = z->pq.f.PQnfields(res);

	for (int i = 0; i < n; i++) {
		fz_say(z, "    column ");
		fz_say_text(z, z->pq.f.PQfname(res, i));
		fz_say(z, " table ");
		fz_say_oid(z, z->pq.f.PQftable(res, i));
		fz_say(z, " %d format %d type ", z->pq.f.PQftablecol(res, i),
			z->pq.f.PQfformat(res, i));
		fz_say_oid(z, z->pq.f.PQftype(res, i));
		fz_say(z, " size %d mod %d\n", z->pq.f.PQfsize(res, i),
			z->pq.f.PQfmod(res, i));
	}
}

static void
show_rows(struct fz *z, const PGresult *res)
{
	int n = z->pq.f.PQntuples(res);

	for (int row = 0; row < n && row < MAX_ROWS; row++) {
		fz_say(z, "    row");
		for (int i = 0; i < z->pq.f.PQnfields(res); i++) {
			int len = z->pq.f.PQgetlength(res, row, i);

			fz_say(z, " %s", z->pq.f.PQgetisnull(res, row, i) ? "null:" : "");
			fz_say_bytes(z, z->pq.f.PQgetvalue(res, row, i), (size_t)len);
		}
		fz_say(z, "\n");
	}
}

/* A statement that is prepared again finds the failed transaction at another line of the server's source. */
static int
is_hidden(struct fz *z, const PGresult *res, int code)
{
	const char *state = z->pq.f.PQresultErrorField(res, PG_DIAG_SQLSTATE);

	return strchr("FLR", code) != NULL && state != NULL &&
	       strcmp(state, "25P02") == 0;
}

static void
show_error(struct fz *z, const PGresult *res)
{
	fz_say(z, "    message ");
	fz_say_text(z, z->pq.f.PQresultErrorMessage(res));
	fz_say(z, "\n   ");
	for (int code = 'A'; code <= 'z'; code++) {
		const char *text = z->pq.f.PQresultErrorField(res, code);

		if (text == NULL || is_hidden(z, res, code))
			continue;
		fz_say(z, " %c=", code);
		fz_say_text(z, text);
	}
	fz_say(z, "\n");
}

void
fz_show_result(struct fz *z, const PGresult *res)
{
	PGresult *writable = (PGresult *)(uintptr_t)res;
	int n = z->pq.f.PQnparams(res);

	if (res == NULL) {
		fz_say(z, "    no result\n");
		return;
	}
	fz_say(z, "    %s", z->pq.f.PQresStatus(z->pq.f.PQresultStatus(res)));
	fz_say(z, " rows %d columns %d binary %d", z->pq.f.PQntuples(res),
		z->pq.f.PQnfields(res), z->pq.f.PQbinaryTuples(res));
	fz_say(z, " tag ");
	fz_say_text(z, z->pq.f.PQcmdStatus(writable));
	fz_say(z, " ");
	fz_say_text(z, z->pq.f.PQcmdTuples(writable));
	fz_say(z, " ");
	fz_say_text(z, z->pq.f.PQoidStatus(res));
	fz_say(z, " %u\n", z->pq.f.PQoidValue(res));
	if (*z->pq.f.PQresultErrorMessage(res) != '\0')
		show_error(z, res);
	if (n > 0)
		fz_say(z, "    parameters");
	for (int i = 0; i < n; i++)
		fz_say(z, " %u", z->pq.f.PQparamtype(res, i));
	if (n > 0)
		fz_say(z, "\n");
	show_columns(z, res);
	show_rows(z, res);
}

void
fz_keep_result(struct fz *z, PGresult *res)
{
	fz_show_result(z, res);
	if (res == NULL)
		return;
	z->pq.f.PQclear(z->results[z->next_result]);
	z->results[z->next_result] = res;
	z->next_result = (z->next_result + 1) % FZ_RESULTS;
}

/* ---- connections ---- */

static const char *const parameters[] = { "server_version", "server_encoding",
	"client_encoding", "application_name", "is_superuser", "session_authorization",
	"DateStyle", "IntervalStyle", "TimeZone", "integer_datetimes",
	"standard_conforming_strings", "default_transaction_read_only", "in_hot_standby",
	"backend_pid", "nonsense" };

static void
put_parameters(struct fz *z, FILE *to, const PGconn *conn)
{
	for (size_t i = 0; i < sizeof(parameters) / sizeof(parameters[0]); i++) {
		const char *value = z->pq.f.PQparameterStatus(conn, parameters[i]);

		if (value == NULL)
			continue;
		fprintf(to, " %s=", parameters[i]);
		put_bytes(to, value, strlen(value));
	}
}

/* The steps of connecting may differ between libraries. */
int
fz_is_connecting(struct fz *z, const PGconn *conn)
{
	return z->pq.f.PQstatus(conn) != CONNECTION_OK &&
	       z->pq.f.PQstatus(conn) != CONNECTION_BAD;
}

static void
put_state(struct fz *z, FILE *to, PGconn *conn)
{
	const char *error = z->pq.f.PQerrorMessage(conn);

	if (fz_is_connecting(z, conn)) {
		fprintf(to, "    connecting\n");
		return;
	}
	fprintf(to,
		"    status %d transaction %d pipeline %d nonblocking %d encoding %d "
		"protocol %d server %d socket %d pid %d\n    error ",
		z->pq.f.PQstatus(conn), z->pq.f.PQtransactionStatus(conn),
		z->pq.f.PQpipelineStatus(conn), z->pq.f.PQisnonblocking(conn),
		z->pq.f.PQclientEncoding(conn), z->pq.f.PQprotocolVersion(conn),
		z->pq.f.PQserverVersion(conn), z->pq.f.PQsocket(conn) >= 0,
		z->pq.f.PQbackendPID(conn) > 0);
	put_bytes(to, error, strlen(error));
	fputs("\n    parameters", to);
	put_parameters(z, to, conn);
	fputc('\n', to);
}

/* Print the lines of a state that have changed. */
static void
say_other_lines(struct fz *z, const char *now, const char *before)
{
	while (*now != '\0') {
		size_t len = strcspn(now, "\n") + 1;

		if (strncmp(now, before, len) != 0)
			fz_say(z, "%.*s", (int)len, now);
		now += len;
		before += strcspn(before, "\n");
		before += *before == '\n';
	}
}

void
fz_show_conn(struct fz *z, struct fz_conn *c)
{
	char now[FZ_STATE] = "";
	FILE *to;

	if (c->conn == NULL)
		return;
	to = fmemopen(now, sizeof(now) - 1, "w");
	if (to == NULL)
		abort();
	put_state(z, to, c->conn);
	fclose(to);
	say_other_lines(z, now, c->state);
	memcpy(c->state, now, sizeof(now));
}

void
fz_show_trace(struct fz *z, struct fz_conn *c)
{
	if (c->trace == NULL)
		return;
	fflush(c->trace);
	fz_say(z, "    trace: %.*s\n", (int)c->trace_size, c->trace_text);
}
