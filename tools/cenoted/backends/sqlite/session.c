/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The life of a session: open the file, attach a client, reset, report the state, close the file.
 * This file owns the database handle, and the state that the client carries to another session.
 */
#include <errno.h>
#include <string.h>
#include <syslog.h>

#include "sqlite.h"

/* SQLite asks the host after this many steps of its virtual machine: about every 50
 * microseconds. */
#define PROGRESS_OPS 1000

static int64_t
client_changes(const struct cnd_session *s)
{
	int is_own = s->has_changed || sqlite3_total_changes64(s->db) != s->base_total ||
		     sqlite3_changes64(s->db) != s->base_changes;

	return is_own ? sqlite3_changes64(s->db) : s->carried.changes;
}

static int64_t
client_total(const struct cnd_session *s)
{
	uint64_t own = (uint64_t)(sqlite3_total_changes64(s->db) - s->base_total);

	/* The carried value comes from the client, so it may be any number. */
	return (int64_t)(own + (uint64_t)s->carried.total);
}

/* changes() and total_changes() return what a session of the client's own would return. SQLite's
 * counts go on from client to client. */
static void
sql_changes(sqlite3_context *ctx, int n, sqlite3_value **args)
{
	(void)n;
	(void)args;
	sqlite3_result_int64(ctx, client_changes(sqlite3_user_data(ctx)));
}

static void
sql_total_changes(sqlite3_context *ctx, int n, sqlite3_value **args)
{
	(void)n;
	(void)args;
	sqlite3_result_int64(ctx, client_total(sqlite3_user_data(ctx)));
}

static int
harden(struct cnd_session *s)
{
	static const struct {
		int verb, on;
	} switches[] = {
		{ SQLITE_DBCONFIG_DEFENSIVE, 1 },
		{ SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
		{ SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0 },
		{ SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0 },
		{ SQLITE_DBCONFIG_ENABLE_FKEY, 0 },
	};
	size_t i;
	int rc = SQLITE_OK, on;

	for (i = 0; rc == SQLITE_OK && i < sizeof(switches) / sizeof(switches[0]); i++) {
		on = switches[i].verb == SQLITE_DBCONFIG_ENABLE_FKEY ? s->opt.foreign_keys
								     : switches[i].on;
		rc = sqlite3_db_config(s->db, switches[i].verb, on, (int *)NULL);
	}
	/* The table sqlite_stmt would show the kept statements of earlier clients. */
	if (rc == SQLITE_OK)
		rc = sqlite3_create_module(s->db, "sqlite_stmt", NULL, NULL);
	return rc;
}

static int
install(struct cnd_session *s)
{
	const int flags = SQLITE_UTF8 | SQLITE_INNOCUOUS;
	int rc;

	rc = sqlite3_create_function(
		s->db, "changes", 0, flags, s, sql_changes, NULL, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_create_function(s->db, "total_changes", 0, flags, s,
			sql_total_changes, NULL, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_set_authorizer(s->db, cnd_sq_authorize, s);
	if (rc == SQLITE_OK)
		rc = sqlite3_busy_handler(s->db, cnd_sq_on_busy, s);
	if (rc == SQLITE_OK)
		sqlite3_progress_handler(s->db, PROGRESS_OPS, cnd_sq_on_progress, s);
	return rc;
}

/*
 * Only one connection at a time can change the journal mode. SQLite does not call its busy handler
 * for that, and workers that start together would fail. So this function waits itself.
 */
static int
set_journal_mode(struct cnd_session *s)
{
	int64_t until = cnd_clock_ms() + s->opt.busy_timeout_ms;
	char sql[64];
	int rc;

	sqlite3_snprintf((int)sizeof(sql), sql, "PRAGMA main.journal_mode=%s",
		s->opt.journal_mode);
	for (;;) {
		rc = cnd_sq_internal(s, sql);
		if ((rc & 0xff) != SQLITE_BUSY || cnd_clock_ms() >= until)
			return rc;
		cnd_sq_sleep(5);
	}
}

/* SQLite answers with the mode that is in force. If that is not the mode asked for, SQLite does not
 * call it an error. */
static int
check_journal_mode(struct cnd_session *s, int *ret_is_as_asked)
{
	sqlite3_stmt *st;
	const char *mode;
	int rc;

	s->is_internal++;
	rc = sqlite3_prepare_v2(s->db, "PRAGMA main.journal_mode", -1, &st, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(st);
	if (rc == SQLITE_ROW) {
		mode = (const char *)sqlite3_column_text(st, 0);
		*ret_is_as_asked = mode && strcmp(mode, s->opt.journal_mode) == 0;
		rc = SQLITE_OK;
	}
	(void)sqlite3_finalize(st);
	s->is_internal--;
	return rc;
}

/*
 * SQLite makes some things only at their first use, and shows them in lists from then on. Those
 * that the catalog uses are made here: the temporary database, and the table functions of these
 * PRAGMAs. If a client uses others, the session becomes dirty.
 */
static int
make_catalog_functions(struct cnd_session *s)
{
	int rc = cnd_sq_internal(s, "SELECT 1 FROM sqlite_temp_schema");

	if (rc == SQLITE_OK)
		rc = cnd_sq_internal(s,
			"SELECT 1 FROM pragma_database_list, pragma_table_list,"
			" pragma_table_xinfo, pragma_foreign_key_list, pragma_index_list,"
			" pragma_index_xinfo WHERE 0");
	return rc;
}

static int
configure(struct cnd_session *s)
{
	char sql[96];
	int rc = SQLITE_OK;

	if (s->opt.cache_size != 0) {
		sqlite3_snprintf((int)sizeof(sql), sql, "PRAGMA main.cache_size=%lld",
			(long long)s->opt.cache_size);
		rc = cnd_sq_internal(s, sql);
	}
	if (rc == SQLITE_OK && s->opt.synchronous) {
		sqlite3_snprintf((int)sizeof(sql), sql, "PRAGMA main.synchronous=%s",
			s->opt.synchronous);
		rc = cnd_sq_internal(s, sql);
	}
	/* Read the file, so that a damaged or foreign one is found at login, not at the first
	 * query. */
	if (rc == SQLITE_OK)
		rc = cnd_sq_internal(s, "SELECT 1 FROM main.sqlite_schema LIMIT 1");
	if (rc == SQLITE_OK)
		rc = make_catalog_functions(s);
	if (rc == SQLITE_OK)
		cnd_sq_stats_note(s);
	return rc;
}

static int
open_failed(struct cnd_session *s, int rc, struct cnc_diag *diag)
{
	const char *text = s->db ? sqlite3_errmsg(s->db) : sqlite3_errstr(rc);
	int system_error = s->db ? sqlite3_system_errno(s->db) : 0;

	if (rc == SQLITE_NOMEM)
		return CENOTE_ERR_NOMEM;
	if ((rc & 0xff) == SQLITE_CANTOPEN && system_error != 0)
		cnc_diag_set(diag, CNC_SQLSTATE(CANNOT_CONNECT), "%s: %s: %s%s",
			s->opt.path, text, strerror(system_error),
			system_error == ENOENT && s->opt.mode == CND_SQ_MODE_RW
				? " (mode=rwc would create it)"
				: "");
	else
		cnc_diag_set(
			diag, cnd_sq_sqlstate(rc, text, 0), "%s: %s", s->opt.path, text);
	diag->native = rc;
	return CENOTE_ERR_CONN;
}

/* SQLite would read a path that begins with "file:" as a URI. */
static char *
plain_path(struct cnd_session *s)
{
	return s->opt.path[0] == '/' ? sqlite3_mprintf("%s", s->opt.path)
				     : sqlite3_mprintf("./%s", s->opt.path);
}

static int
open_file(struct cnd_session *s)
{
	static const int mode_flags[] = {
		[CND_SQ_MODE_RO] = SQLITE_OPEN_READONLY,
		[CND_SQ_MODE_RW] = SQLITE_OPEN_READWRITE,
		[CND_SQ_MODE_RWC] = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
	};
	char *path = plain_path(s);
	int rc;

	if (!path)
		return SQLITE_NOMEM;
	rc = sqlite3_open_v2(path, &s->db,
		mode_flags[s->opt.mode] | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
		NULL);
	sqlite3_free(path);
	return rc;
}

/* Finalise every statement, so that closing the file cannot fail. */
static void
close_statements(struct cnd_session *s)
{
	size_t i;

	s->host->forget(s->host, s);
	cnd_sq_cache_clear(s, 0);
	for (i = 0; i < CND_SQ_FIXED_COUNT; i++) {
		(void)sqlite3_finalize(s->fixed[i]);
		s->fixed[i] = NULL;
	}
}

static void
close_file(struct cnd_session *s)
{
	close_statements(s);
	(void)sqlite3_close(s->db);
	s->db = NULL;
}

static void
forget_client(struct cnd_session *s)
{
	s->pins = 0;
	s->is_dirty = 0;
	s->is_manual = 0;
	s->is_tx_readonly = 0;
	s->is_tx_failed = 0;
	s->has_changed = 0;
	/* If the client stays (RESET), the state that it carries has changed. */
	if (s->carried.last_rowid || s->carried.changes || s->carried.total ||
		s->carried.is_manual)
		s->carry_out->is_told = 1;
	s->carried = (struct cnd_sq_carry){ 0 };
	sqlite3_set_last_insert_rowid(s->db, 0);
	s->base_total = sqlite3_total_changes64(s->db);
	s->base_changes = sqlite3_changes64(s->db);
}

/* Open the file as at login. If that fails, the session has no file, and only logout is
 * possible. */
static int
open_session(struct cnd_session *s, struct cnc_diag *diag)
{
	int rc, r, is_as_asked = 1;

	s->diag = diag;
	s->busy_timeout_ms = s->opt.busy_timeout_ms;
	rc = open_file(s);
	if (rc == SQLITE_OK)
		rc = harden(s);
	if (rc == SQLITE_OK)
		rc = install(s);
	if (rc == SQLITE_OK && s->opt.journal_mode) {
		rc = set_journal_mode(s);
		if (rc == SQLITE_OK)
			rc = check_journal_mode(s, &is_as_asked);
	}
	if (rc == SQLITE_OK)
		rc = configure(s);
	if (rc == SQLITE_OK && is_as_asked) {
		forget_client(s);
		return CENOTE_OK;
	}
	if (rc != SQLITE_OK) {
		r = open_failed(s, rc, diag);
	} else {
		cnc_diag_set(diag, CNC_SQLSTATE(CANNOT_CONNECT),
			"%s: journal_mode=%s is not possible for this file", s->opt.path,
			s->opt.journal_mode);
		r = CENOTE_ERR_CONN;
	}
	close_file(s);
	return r;
}

static int
keep_options(struct cnd_session *s, const struct cnd_sq_options *opt)
{
	s->opt = *opt;
	s->opt.path = cnc_strndup(s->mem, opt->path, strlen(opt->path));
	s->carry_out = cnc_calloc(s->mem, 1, sizeof(*s->carry_out));
	if (!s->opt.path || !s->carry_out)
		return CENOTE_ERR_NOMEM;
	s->parameters[0] = (struct cnd_option){ "encoding", "UTF-8" };
	s->parameters[1] = (struct cnd_option){ "journal_mode",
		opt->journal_mode ? opt->journal_mode : "as the file has it" };
	s->parameters[2] =
		(struct cnd_option){ "foreign_keys", opt->foreign_keys ? "on" : "off" };
	s->parameters[3] = (struct cnd_option){ "read_only",
		opt->mode == CND_SQ_MODE_RO ? "on" : "off" };
	return cnd_sq_cache_init(s);
}

int
cnd_sq_login(const struct cnd_host *host, const struct cnd_server_spec *spec,
	struct cnd_session **ret_session, struct cnc_diag *ret_diag)
{
	struct cnd_sq_options opt;
	struct cnd_session *s;
	int r;

	r = cnd_sq_options_read(spec, &opt, ret_diag);
	if (r < 0)
		return r;
	s = cnc_calloc(host->mem, 1, sizeof(*s));
	if (!s)
		return CENOTE_ERR_NOMEM;
	s->host = host;
	s->mem = host->mem;
	/* SQLite then refuses each write to this file, and to the files that ATTACH opens */
	if (spec->is_read_only)
		opt.mode = CND_SQ_MODE_RO;
	r = keep_options(s, &opt);
	if (r == CENOTE_OK)
		r = open_session(s, ret_diag);
	if (r < 0) {
		cnd_sq_logout(s);
		return r;
	}
	s->diag = NULL;
	*ret_session = s;
	return CENOTE_OK;
}

void
cnd_sq_logout(struct cnd_session *s)
{
	if (!s)
		return;
	s->diag = NULL;
	close_file(s);
	cnd_sq_cache_clear(s, 1);
	cnc_free(s->mem, s->carry_out);
	cnc_free(s->mem, (char *)s->opt.path);
	cnc_free(s->mem, s);
}

void
cnd_sq_info(const struct cnd_session *s, struct cnd_info *ret_info)
{
	*ret_info = (struct cnd_info){
		.server = s->opt.path,
		.server_version = sqlite3_libversion(),
		.database = "main",
		.parameters = s->parameters,
		.n_parameters = sizeof(s->parameters) / sizeof(s->parameters[0]),
	};
}

/* Whether the file was deleted, or replaced by another one. */
static int
has_moved(struct cnd_session *s)
{
	int moved = 0;

	return sqlite3_file_control(s->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved) ==
		       SQLITE_OK &&
	       moved;
}

static int
reopen(struct cnd_session *s, struct cnc_diag *diag)
{
	sqlite3 *old = s->db;
	uint64_t stats = s->stats;
	int r;

	close_statements(s);
	if (!sqlite3_get_autocommit(old)) {
		close_file(s);
		old = NULL;
	}
	/* Close the old connection last: closing the last connection to a file would write its WAL
	 * back. */
	r = open_session(s, diag);
	(void)sqlite3_close(old);
	/* the pool's idle sessions have the old statistics, too */
	if (r == CENOTE_OK && s->stats != stats && s->host->login_changed)
		s->host->login_changed(s->host);
	s->diag = NULL;
	return r;
}

int
cnd_sq_ping(struct cnd_session *s, struct cnc_diag *ret_diag)
{
	int rc;

	cnd_sq_enter(s, ret_diag);
	if (has_moved(s)) {
		cnc_diag_set(ret_diag, CNC_SQLSTATE(CONNECTION_LOST),
			"%s: the file was moved, deleted or replaced", s->opt.path);
		return CENOTE_ERR_CONN;
	}
	rc = cnd_sq_internal(s, "SELECT 1 FROM main.sqlite_schema LIMIT 1");
	return rc == SQLITE_OK ? CENOTE_OK : cnd_sq_fail(s, rc, 0);
}

static int
read_carry(const struct cnp_str *carry, struct cnd_sq_carry *ret_carry)
{
	const uint8_t *p = (const uint8_t *)carry->p;

	if (carry->n != CND_SQ_CARRY_LEN || p[24] > 1)
		return CENOTE_ERR_PROTOCOL;
	ret_carry->last_rowid = (int64_t)cnc_get_u64(p);
	ret_carry->changes = (int64_t)cnc_get_u64(p + 8);
	ret_carry->total = (int64_t)cnc_get_u64(p + 16);
	ret_carry->is_manual = p[24];
	return CENOTE_OK;
}

int
cnd_sq_attach(
	struct cnd_session *s, const struct cnp_str *carry, struct cnc_diag *ret_diag)
{
	int r;

	/* A new login would find the new file. */
	if (has_moved(s)) {
		r = reopen(s, ret_diag);
		if (r < 0)
			return r;
	}
	s->carry_out->is_told = 0;
	if (!carry || carry->n == 0)
		return CENOTE_OK;
	if (read_carry(carry, &s->carried) < 0) {
		cnc_diag_set(ret_diag, CNC_SQLSTATE(PROTOCOL),
			"what the client carried over is not a SQLite session's state");
		return CENOTE_ERR_SERVER;
	}
	s->is_manual = s->carried.is_manual;
	sqlite3_set_last_insert_rowid(s->db, s->carried.last_rowid);
	return CENOTE_OK;
}

int
cnd_sq_reset(struct cnd_session *s, struct cnc_diag *ret_diag)
{
	int rc = SQLITE_OK;

	cnd_sq_enter(s, ret_diag);
	s->host->forget(s->host, s);
	if (!sqlite3_get_autocommit(s->db))
		rc = cnd_sq_internal(s, "ROLLBACK");
	/* Closing the file rolls back too, whatever made the ROLLBACK fail. */
	if (s->is_dirty || rc != SQLITE_OK || !sqlite3_get_autocommit(s->db) ||
		cnd_sq_stats_changed(s))
		return reopen(s, ret_diag);
	forget_client(s);
	s->diag = NULL;
	return CENOTE_OK;
}

void
cnd_sq_state(const struct cnd_session *s, struct cnd_state *ret_state)
{
	struct cnd_sq_carry now;
	uint8_t *p;

	*ret_state = (struct cnd_state){
		.tx = CENOTE_TX_UNKNOWN, .pins = s->pins, .carry = CNP_STR_NONE
	};
	/* The file could not be opened again. Only logout() is possible. */
	if (!s->db)
		return;
	now = (struct cnd_sq_carry){ sqlite3_last_insert_rowid(s->db), client_changes(s),
		client_total(s), s->is_manual };
	if (s->is_tx_failed)
		ret_state->tx = CENOTE_TX_FAILED;
	else
		ret_state->tx = cnd_sq_in_tx(s) ? CENOTE_TX_OPEN : CENOTE_TX_IDLE;
	if (cnd_has_portals(s->host->statements))
		ret_state->pins |= CENOTE_PIN_CURSOR;
	/* If nothing is reported, the client keeps what it had. So once something was reported, it
	 * is always reported. */
	if (!s->carry_out->is_told && now.last_rowid == s->carried.last_rowid &&
		now.changes == s->carried.changes && now.total == s->carried.total &&
		now.is_manual == s->carried.is_manual)
		return;
	s->carry_out->is_told = 1;
	p = s->carry_out->bytes;
	cnc_put_u64(p, (uint64_t)now.last_rowid);
	cnc_put_u64(p + 8, (uint64_t)now.changes);
	cnc_put_u64(p + 16, (uint64_t)now.total);
	p[24] = now.is_manual;
	ret_state->carry = (struct cnp_str){ (const char *)p, CND_SQ_CARRY_LEN };
}

/* ---- read-only sessions ---- */

int
cnd_sq_read_only(struct cnd_session *s, struct cnd_sink *sink, struct cnc_diag *ret_diag)
{
	(void)sink;
	if (s->db != NULL && sqlite3_db_readonly(s->db, "main") == 1)
		return CENOTE_OK;
	cnc_diag_set(ret_diag, "25006",
		"SQLite does not confirm that the file is open for reading only "
		"(read_only = yes)");
	return CENOTE_ERR_SERVER;
}
