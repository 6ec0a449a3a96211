/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * \copy: imports a file into a table and exports a table or query. The state of an import is struct
 * import.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd.h"
#include "copy.h"
#include "interrupt.h"
#include "progress.h"

/*
 * An import executes a prepared INSERT for each record, in a pipeline. Records form chunks of
 * COPY_CHUNK with a synchronisation point after each. While the results of a chunk arrive, the next
 * chunk is sent. All happens in one transaction, or within a savepoint of the open transaction.
 */

#define COPY_CHUNK     256u
#define COPY_SAVEPOINT "sqlsh_copy"

struct import {
	struct shell *sh;
	const struct copy *copy;
	const char *name; /* the file's name, for messages */
	struct csv_reader reader;
	cenote_stmt *stmt;
	cenote_params *params;
	size_t n_columns;
	/* line in the file of each sent record, by number */
	unsigned long lines[2 * COPY_CHUNK];
	uint64_t n_sent, n_done; /* counts of records */
	uint64_t n_syncs_sent, n_syncs_done;
	int r; /* RUN_OK unless something failed */
	int is_nested; /* a transaction was open before */
	struct progress progress;
};

/* Report an error at a line of the file. Only the first one counts. */
static void
fail_at(struct import *im, unsigned long line, const char *message)
{
	if (im->r != RUN_OK)
		return;
	im->r = RUN_ERROR;
	progress_end(&im->progress);
	(void)fflush(im->sh->out);
	(void)fprintf(stderr, "sqlsh: %s:%lu: %s\n", im->name, line, message);
}

static void
fail_with(struct import *im, unsigned long line, const cenote_diag *diag)
{
	struct text t = { 0 };

	text_addf(&t, "ERROR %s: %s", cenote_diag_sqlstate(diag),
		cenote_diag_message(diag));
	fail_at(im, line, text_str(&t));
	text_finish(&t);
}

/* Report a failed call of libcenote that does not concern a record. */
static void
fail_call(struct import *im, int status)
{
	int r;

	progress_end(&im->progress);
	r = session_failed(im->sh, status, NULL, 0);
	/* A lost connection counts, even if a record failed before. */
	if (im->r == RUN_OK || r == RUN_LOST)
		im->r = r;
}

/* Wait after CENOTE_AGAIN. 1: repeat the call. 0: the call has ended, with its result in `status`. */
static int
goes_on(struct import *im, int *status)
{
	if (*status != CENOTE_AGAIN)
		return 0;
	if (session_wait(im->sh) == RUN_OK)
		return 1;
	*status = CENOTE_ERR_CONN;
	return 0;
}

static void
take_result(struct import *im, const cenote_result *res)
{
	switch (cenote_result_kind(res)) {
	case CENOTE_RESULT_SYNC:
		im->n_syncs_done++;
		break;
	case CENOTE_RESULT_ERROR:
		fail_with(im, im->lines[im->n_done % (2 * (uint64_t)COPY_CHUNK)],
			cenote_result_diag(res));
		im->n_done++;
		break;
	default:
		im->n_done++;
	}
}

/* Take results until this many synchronisation points have arrived. */
static void
drain(struct import *im, uint64_t n_syncs)
{
	int n_idle = 0;

	while (im->r != RUN_LOST && im->n_syncs_done < n_syncs && n_idle < 2) {
		cenote_result *res;
		int r = session_get_result(im->sh, &res);

		if (r < 0) {
			fail_call(im, r);
		} else if (r == CENOTE_DONE) {
			/* One request is done. Two in a row mean that nothing is left. */
			n_idle++;
		} else {
			n_idle = 0;
			take_result(im, res);
			cenote_result_destroy(res);
		}
	}
}

static void
send_sync(struct import *im)
{
	int r;

	do
		r = cenote_send_sync(im->sh->conn);
	while (goes_on(im, &r));
	if (r < 0)
		fail_call(im, r);
	else
		im->n_syncs_sent++;
}

static void
send_record(struct import *im)
{
	size_t i;
	int r = CENOTE_OK;

	cenote_params_clear(im->params);
	for (i = 0; i < im->n_columns && r >= 0; i++) {
		const struct cell *f = &im->reader.fields.list[i];

		if (f->text)
			r = cenote_params_add_text(im->params, f->text, f->len);
		else
			r = cenote_params_add_null(im->params);
	}
	if (r < 0) {
		fail_at(im, im->reader.line, cenote_status_name(r));
		return;
	}
	do
		r = cenote_send_execute(im->stmt, im->params, NULL);
	while (goes_on(im, &r));
	if (r < 0) {
		fail_call(im, r);
		return;
	}
	im->lines[im->n_sent++ % (2 * (uint64_t)COPY_CHUNK)] = im->reader.line;
	if (im->n_sent % COPY_CHUNK == 0) {
		send_sync(im);
		drain(im, im->n_syncs_sent - 1);
	}
}

static void
check_record(struct import *im)
{
	struct text t = { 0 };

	if (im->reader.fields.n == im->n_columns)
		return;
	text_addf(&t, "%zu field%s, where %zu are expected", im->reader.fields.n,
		im->reader.fields.n == 1 ? "" : "s", im->n_columns);
	fail_at(im, im->reader.line, text_str(&t));
	text_finish(&t);
}

/* Send all records. If `more` is 1, the first one was read already. */
static void
send_records(struct import *im, int more)
{
	while (more > 0 && im->r == RUN_OK) {
		check_record(im);
		if (im->r == RUN_OK)
			send_record(im);
		progress_update(
			&im->progress, im->n_sent, im->reader.n_bytes, run_now_ms());
		if (im->r == RUN_OK && interrupt_is_pending())
			fail_at(im, im->reader.line, "interrupted");
		if (im->r == RUN_OK)
			more = csv_read(&im->reader);
	}
	if (more < 0)
		fail_at(im, im->reader.line, im->reader.error);
}

static void
prepare(struct import *im, const struct text *sql)
{
	int r;

	if (cenote_stmt_create(im->sh->conn, text_str(sql), sql->len, &im->stmt) < 0 ||
		cenote_params_create(NULL, &im->params) < 0) {
		shell_error(im->sh, "out of memory");
		im->r = RUN_ERROR;
		return;
	}
	session_begin_request(im->sh);
	do
		r = cenote_stmt_prepare(im->stmt);
	while (goes_on(im, &r));
	if (r < 0)
		im->r = session_failed(im->sh, r, text_str(sql), sql->len);
}

enum savepoint_verb {
	SAVEPOINT_SET,
	SAVEPOINT_RELEASE,
	SAVEPOINT_ROLLBACK
};

static int
do_savepoint(struct import *im, enum savepoint_verb verb)
{
	cenote_conn *conn = im->sh->conn;
	int r;

	do {
		if (verb == SAVEPOINT_SET)
			r = cenote_savepoint(conn, COPY_SAVEPOINT);
		else if (verb == SAVEPOINT_RELEASE)
			r = cenote_release(conn, COPY_SAVEPOINT);
		else
			r = cenote_rollback_to(conn, COPY_SAVEPOINT);
	} while (goes_on(im, &r));
	return r < 0 ? session_failed(im->sh, r, NULL, 0) : RUN_OK;
}

static void
begin_transaction(struct import *im)
{
	im->is_nested = cenote_tx_state(im->sh->conn) != CENOTE_TX_IDLE;
	im->r = im->is_nested ? do_savepoint(im, SAVEPOINT_SET)
			      : session_do(im->sh, SESSION_BEGIN);
}

/* Commit all records, or none. */
static void
end_transaction(struct import *im)
{
	int r = RUN_OK;

	if (im->r == RUN_LOST)
		return;
	if (im->is_nested) {
		if (im->r != RUN_OK)
			r = do_savepoint(im, SAVEPOINT_ROLLBACK);
		if (r == RUN_OK)
			r = do_savepoint(im, SAVEPOINT_RELEASE);
	} else {
		r = session_do(
			im->sh, im->r == RUN_OK ? SESSION_COMMIT : SESSION_ROLLBACK);
	}
	if (r != RUN_OK)
		im->r = r;
}

static void
pump(struct import *im)
{
	int r = cenote_pipeline_begin(im->sh->conn);

	if (r < 0) {
		fail_call(im, r);
		return;
	}
	send_records(im, 1);
	if (im->r != RUN_LOST)
		send_sync(im);
	drain(im, im->n_syncs_sent);
	if (im->r != RUN_LOST && cenote_pipeline_end(im->sh->conn) < 0)
		im->r = RUN_LOST;
}

/* Read the names of the columns if the file begins with them, and then the first record. */
static int
read_first(struct import *im, struct text *ret_sql)
{
	int has_numbers = im->sh->style == BIND_DOLLAR;
	/* Use the quotes that mean a name in every mode of the server. In MySQL, "..." is
	 * a text. */
	char quote = im->sh->lex_flags & CNC_SQL_BACKSLASH ? '`' : '"';
	int more = csv_read(&im->reader);

	if (more > 0 && im->copy->has_header) {
		im->n_columns = im->reader.fields.n;
		copy_insert(im->copy, im->reader.fields.list, im->n_columns, quote,
			has_numbers, ret_sql);
		more = csv_read(&im->reader);
	} else if (more > 0) {
		im->n_columns = im->reader.fields.n;
		copy_insert(im->copy, NULL, im->n_columns, quote, has_numbers, ret_sql);
	}
	if (more < 0)
		fail_at(im, im->reader.line, im->reader.error);
	return more;
}

static void
import_all(struct import *im)
{
	struct text sql = { 0 };

	if (read_first(im, &sql) > 0) {
		prepare(im, &sql);
		if (im->r == RUN_OK)
			begin_transaction(im);
		if (im->r == RUN_OK) {
			pump(im);
			progress_end(&im->progress);
			end_transaction(im);
		}
		cenote_stmt_destroy(im->stmt);
		cenote_params_destroy(im->params);
	}
	text_finish(&sql);
}

static uint64_t
size_of(FILE *file)
{
	struct stat st;

	if (fstat(fileno(file), &st) < 0 || !S_ISREG(st.st_mode) || st.st_size < 0)
		return 0;
	return (uint64_t)st.st_size;
}

static int
copy_in(struct shell *sh, const struct copy *copy)
{
	struct import im = { .sh = sh, .copy = copy, .name = "stdin", .r = RUN_OK };
	FILE *file = stdin;

	if (copy->file.len > 0) {
		im.name = text_str(&copy->file);
		file = fopen(im.name, "re");
	}
	if (!file) {
		shell_error(sh, "%s: %s", im.name, strerror(errno));
		return RUN_ERROR;
	}
	im.r = session_ensure(sh);
	csv_reader_init(&im.reader, file, copy->kind);
	progress_begin(&im.progress, !sh->is_quiet, size_of(file), run_now_ms());
	if (im.r == RUN_OK)
		import_all(&im);
	csv_reader_finish(&im.reader);
	if (file == stdin)
		clearerr(stdin);
	else
		(void)fclose(file);
	if (im.r == RUN_OK && sh->format->is_for_people)
		shell_say(sh, "COPY %llu", (unsigned long long)im.n_done);
	return im.r != RUN_LOST && sh->n_cancels > 0 ? RUN_INTERRUPTED : im.r;
}

/* Export: show the results of a query in another format and in another place. */
static int
copy_query(struct shell *sh, const struct copy *copy, FILE *file)
{
	const struct shell before = *sh;
	struct progress progress;
	struct text sql = { 0 };
	int r;

	if (copy->is_query)
		text_add_str(&sql, text_str(&copy->table));
	else
		text_addf(&sql, "select %s from %s",
			copy->columns.len > 0 ? text_str(&copy->columns) : "*",
			text_str(&copy->table));
	progress_begin(&progress, !sh->is_quiet && copy->file.len > 0, 0, run_now_ms());
	sh->progress = &progress;
	sh->n_shown = 0;
	sh->format = copy->kind == CSV_TAB ? &output_tsv : &output_csv;
	sh->settings.has_header = copy->has_header;
	sh->settings.pager = NULL;
	sh->out = file;
	sh->out_name = copy->file.data;
	r = run_sql(sh, text_str(&sql), sql.len);
	progress_end(&progress);
	sh->progress = NULL;
	sh->format = before.format;
	sh->settings = before.settings;
	sh->out = before.out;
	sh->out_name = before.out_name;
	text_finish(&sql);
	return r;
}

static int
copy_out(struct shell *sh, const struct copy *copy)
{
	const char *name = copy->file.len > 0 ? text_str(&copy->file) : "stdout";
	FILE *file = copy->file.len > 0 ? fopen(name, "we") : stdout;
	int r;

	if (!file) {
		shell_error(sh, "%s: %s", name, strerror(errno));
		return RUN_ERROR;
	}
	(void)fflush(sh->out);
	r = copy_query(sh, copy, file);
	if (file != stdout && fclose(file) != 0 && r == RUN_OK) {
		shell_error(sh, "%s: %s", name, strerror(errno));
		r = RUN_ERROR;
	}
	if (r == RUN_OK && file != stdout && sh->format->is_for_people)
		shell_say(sh, "COPY %llu", (unsigned long long)sh->n_shown);
	return r;
}

/* Use the server's COPY, from a file or to one. */
static int
copy_by_server(struct shell *sh, const struct copy *copy)
{
	FILE *file = NULL, *out = sh->out;
	struct text sql = { 0 };
	int r;

	if (copy->file.len > 0) {
		file = fopen(text_str(&copy->file), copy->is_import ? "re" : "we");
		if (!file) {
			shell_error(sh, "%s: %s", text_str(&copy->file), strerror(errno));
			return RUN_ERROR;
		}
	}
	copy_statement(copy, &sql);
	if (copy->is_import) {
		sh->copy_file = file;
	} else {
		(void)fflush(sh->out);
		sh->out = file ? file : stdout;
	}
	r = run_sql(sh, text_str(&sql), sql.len);
	sh->copy_file = NULL;
	sh->out = out;
	text_finish(&sql);
	if (file && fclose(file) != 0 && r == RUN_OK) {
		shell_error(sh, "%s: %s", text_str(&copy->file), strerror(errno));
		r = RUN_ERROR;
	}
	if (r == RUN_OK && file && !copy->is_import && sh->format->is_for_people)
		shell_say(sh, "COPY %llu", (unsigned long long)sh->n_shown);
	return r;
}

/* Whether the backend has COPY. Makes the session if needed. */
static int
has_server_copy(struct shell *sh)
{
	const char *features =
		session_ensure(sh) == RUN_OK ? cenote_info(sh->conn, "features") : NULL;

	while (features && *features) {
		size_t n = strcspn(features, ",");

		if (n == 4 && strncmp(features, "copy", 4) == 0)
			return 1;
		features += n + (features[n] == ',');
	}
	return 0;
}

static int
run_copy(struct cmd *cmd)
{
	struct copy copy;
	const char *wrong = copy_parse(&copy, cmd->sh->lex_flags, cmd->args.rest);
	int r;

	if (wrong)
		r = cmd_usage(cmd, wrong);
	else if (copy.options.len > 0 && has_server_copy(cmd->sh))
		r = copy_by_server(cmd->sh, &copy);
	else if (copy.options.len > 0)
		r = cmd_usage(cmd,
			"this server has no COPY; leave out what begins with \"with\", "
			"and say csv or tsv");
	else
		r = copy.is_import ? copy_in(cmd->sh, &copy) : copy_out(cmd->sh, &copy);
	copy_finish(&copy);
	return r;
}

const struct command cmd_copy_table[] = {
	{ "copy", "TABLE[(COLUMNS)] from FILE ...", "rows out of a file; see to",
		run_copy },
	{ "copy", "TABLE|(QUERY) to FILE [csv|tsv] [header]",
		"rows into a file, or stdout (from: stdin)", run_copy },
	{ 0 },
};
