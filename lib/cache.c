/* SPDX-License-Identifier: BSD-2-Clause */
#include "cache.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/reach.h"
#include "result_file.h"

/*
 * The cache of results in files. query.c and stmt_send.c ask it before they queue a request; event.c gives it the answers that
 * come; pipeline.c tells it of each request. It owns conn->cache and each request's `keep`.
 *
 * A file answers only if the server would certainly have given the same result at some time within cache_ttl:
 *
 * - The statement is one query that only calls functions which are known to do nothing else (core/reach.h).
 * - No transaction is open, no request is outstanding, and the session holds nothing (pins).
 * - The file's key is the whole question: pool, user, database, options, text and parameters. It also has the history of the
 *   session: all statements that may have changed a setting, with their parameters, in order. So two connections
 *   share files only if they have made the same settings in the same way.
 * - The file is younger than the last statement of this connection that may have written.
 *
 * The directory must belong to the user, and nobody else may write to it: whoever writes there decides what programs read.
 */

/* A longer result is not kept. */
#define KEEP_MAX     ((size_t)8 << 20)
/* Two sums of 16 digits, ".res" and a zero byte. */
#define NAME_MAX_LEN 40u

struct cn_keep {
	struct cnc_buf b;
	uint64_t sent_us; /* when the request was sent */
	uint8_t is_begun; /* the columns came */
	uint8_t is_complete; /* the only result has ended */
	char name[NAME_MAX_LEN];
};

static int
is_on(const cenote_conn *conn)
{
	return *cn_options_get(&conn->options, CN_OPTION_CACHE) != '\0';
}

uint8_t
cn_cache_reach(const cenote_conn *conn, const char *sql, size_t len)
{
	return is_on(conn) ? cnc_sql_reach(sql, len) : (uint8_t)CNC_REACH_NONE;
}

uint8_t
cn_cache_stmt_reach(cenote_stmt *stmt)
{
	if (!is_on(stmt->conn))
		return CNC_REACH_NONE;
	if (!stmt->has_reach) {
		stmt->reach = cnc_sql_reach(stmt->sql, stmt->len);
		stmt->has_reach = 1;
	}
	return stmt->reach;
}

/* ---- what the session has seen ---- */

void
cn_cache_session_begins(cenote_conn *conn, int is_known)
{
	cnc_buf_clear(&conn->cache.history, 0);
	conn->cache.is_in_doubt = 0;
	conn->cache.is_opaque = 0;
	conn->cache.is_dirty = 0;
	conn->cache.is_off = !is_known;
}

/* While a setting is in doubt, nobody knows whether the statement is prepared before it or after it. */
void
cn_cache_prepared(cenote_stmt *stmt)
{
	const struct cn_cache *cache = &stmt->conn->cache;

	stmt->history_len = cache->is_in_doubt ? SIZE_MAX : cnc_buf_len(&cache->history);
}

void
cn_cache_position_given(cenote_conn *conn)
{
	conn->cache.wrote_us = cn_wall_us();
}

static void
add_history(cenote_conn *conn, const void *bytes, size_t len)
{
	if (cnc_buf_str(&conn->cache.history, bytes, len) < 0)
		conn->cache.is_off = 1;
}

static void
add_history_str(cenote_conn *conn, const struct cnp_str *s)
{
	add_history(conn, s->p, s->n);
}

/* Add what the request does: its code, and those values that matter. For requests without a case, the code is enough. */
static void
add_history_request(cenote_conn *conn, const struct cn_send *send)
{
	const struct cnp_msg *m = send->msg;

	add_history(conn, &m->code, 1);
	switch (m->code) {
	case CNP_MSG_QUERY:
		add_history_str(conn, &m->as.query.sql);
		add_history_str(conn, &m->as.query.params);
		break;
	case CNP_MSG_EXECUTE:
		add_history(conn, send->stmt->sql, send->stmt->len);
		add_history(conn, send->stmt->types, send->stmt->types_len);
		add_history_str(conn, &m->as.execute.name);
		add_history_str(conn, &m->as.execute.params);
		break;
	case CNP_MSG_SET_OPTION:
		add_history_str(conn, &m->as.set_option.name);
		add_history_str(conn, &m->as.set_option.value);
		break;
	case CNP_MSG_CHANGE_USER:
		add_history_str(conn, &m->as.change_user.user);
		add_history_str(conn, &m->as.change_user.database);
		break;
	case CNP_MSG_SELECT_DATABASE:
		add_history_str(conn, &m->as.select_database.database);
		break;
	case CNP_MSG_AUTOCOMMIT:
		add_history(conn, &m->as.autocommit.on, 1);
		break;
	default:
		break;
	}
}

static uint8_t
reach_of(const struct cn_send *send)
{
	switch (send->msg->code) {
	case CNP_MSG_QUERY:
		return send->reach;
	case CNP_MSG_EXECUTE:
		/* Nobody knows what was sent in pieces, or what another program has prepared. */
		if (send->reach >= CNC_REACH_SETTING && send->stmt->has_long_data)
			return CNC_REACH_PRIVATE;
		return send->stmt->is_foreign ? CNC_REACH_SESSION : send->reach;
	case CNP_MSG_SET_OPTION:
		/* Another connection has written what comes before the position. */
		if (strcmp(send->msg->as.set_option.name.p, CNP_POSITION) == 0)
			return CNC_REACH_DATA;
		return CNC_REACH_SETTING;
	case CNP_MSG_CHANGE_USER:
	case CNP_MSG_SELECT_DATABASE:
	case CNP_MSG_AUTOCOMMIT:
		return CNC_REACH_SETTING;
	case CNP_MSG_FUNCTION:
		return CNC_REACH_PRIVATE;
	case CNP_MSG_BEGIN:
	case CNP_MSG_COMMIT:
	case CNP_MSG_ROLLBACK:
	case CNP_MSG_SAVEPOINT:
	case CNP_MSG_RESET:
		return CNC_REACH_READ;
	default:
		return CNC_REACH_NONE;
	}
}

/*
 * After a statement that may change a setting, every request goes into the history until the transaction ends: the end decides
 * whether the setting lasts. After a statement whose effect is unknown, every write goes into the history, too. That
 * statement may have made a temporary table, and the write fills it.
 */
void
cn_cache_note(cenote_conn *conn, const struct cn_send *send)
{
	struct cn_request *req = cn_request_at(&conn->pipeline, conn->pipeline.n - 1);

	req->reach = CNC_REACH_NONE;
	if (!is_on(conn))
		return;
	req->reach = reach_of(send);
	if (req->reach >= CNC_REACH_SETTING)
		conn->cache.is_in_doubt = 1;
	if (req->reach >= CNC_REACH_SESSION)
		conn->cache.is_opaque = 1;
	if (req->reach == CNC_REACH_PRIVATE)
		conn->cache.is_off = 1;
	if (conn->cache.is_in_doubt ||
		(conn->cache.is_opaque && req->reach >= CNC_REACH_DATA))
		add_history_request(conn, send);
}

/* Other connections see a write when its transaction ends. Any request may end it, so each request up to its end counts. */
static void
note_write(cenote_conn *conn, const struct cn_request *req)
{
	if (req->reach >= CNC_REACH_DATA && req->reach != CNC_REACH_SETTING)
		conn->cache.is_dirty = 1;
	if (conn->cache.is_dirty)
		conn->cache.wrote_us = cn_wall_us();
}

void
cn_cache_failed(cenote_conn *conn, struct cn_request *req)
{
	cn_keep_drop(req);
	note_write(conn, req);
	if (conn->cache.is_in_doubt)
		add_history(conn, "failed", 6);
}

/* ---- the directory ---- */

/* Note why the cache is not used, for cenote_info(). Returns -1. */
static int
not_used(cenote_conn *conn, const char *why)
{
	conn->cache.state = why;
	return -1;
}

/* Open the directory and check it. Returns its descriptor, or -1. */
static int
open_directory(cenote_conn *conn)
{
	int fd = open(cn_options_get(&conn->options, CN_OPTION_CACHE),
		O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	const char *why = NULL;
	struct stat st;

	if (fd < 0)
		return not_used(conn, errno == ENOENT ? "the directory does not exist"
						      : "the directory cannot be opened");
	if (fstat(fd, &st) < 0 || st.st_uid != geteuid())
		why = "the directory belongs to another user";
	else if ((st.st_mode & (S_IWGRP | S_IWOTH)) != 0)
		why = "others may write to the directory";
	if (!why)
		return fd;
	(void)close(fd);
	return not_used(conn, why);
}

/* ---- the key ---- */

static int
put_text(struct cnc_buf *b, const char *text)
{
	return cnc_buf_str(b, text, strlen(text));
}

/* Which pool, and as whom. A rule of the pool may give each application another answer. */
static int
put_target(struct cnc_buf *b, const cenote_conn *conn)
{
	static const int options[] = { CN_OPTION_POOL, CN_OPTION_HOST, CN_OPTION_PORT,
		CN_OPTION_RUN_DIR, CN_OPTION_USER, CN_OPTION_DATABASE, CN_OPTION_CERT,
		CN_OPTION_APPLICATION_NAME };
	const struct cnp_attached *facts = &conn->info.facts;
	int r = CENOTE_OK;

	for (size_t i = 0; r == CENOTE_OK && i < sizeof(options) / sizeof(*options); i++)
		r = put_text(b, cn_options_get(&conn->options, options[i]));
	if (r == CENOTE_OK)
		r = put_text(b, facts->backend.p);
	if (r == CENOTE_OK)
		r = put_text(b, facts->database.p);
	return r == CENOTE_OK ? put_text(b, facts->user.p) : r;
}

/* What the program has set. A position in the server's log is no setting. */
static int
put_settings(struct cnc_buf *b, const cenote_conn *conn)
{
	const struct cn_pairs *pairs = &conn->reattach.options;
	const struct cnc_buf *history = &conn->cache.history;
	int r = cnc_buf_str(b, cnc_buf_head(history), cnc_buf_len(history));

	for (uint32_t i = 0; r == CENOTE_OK && i < pairs->n; i++) {
		if (strcmp(pairs->list[i].name, CNP_POSITION) == 0)
			continue;
		r = put_text(b, pairs->list[i].name);
		if (r == CENOTE_OK)
			r = put_text(b, pairs->list[i].value);
	}
	return r;
}

static int
put_str(struct cnc_buf *b, const struct cnp_str *s)
{
	return cnc_buf_str(b, s->p, s->n);
}

/* The text comes first, so that cenote-cache can show it. */
static int
put_key(struct cnc_buf *b, const cenote_conn *conn, const struct cn_question *q)
{
	const struct cnp_msg *m = q->msg;
	int is_query = m->code == CNP_MSG_QUERY;
	const struct cnp_str *params =
		is_query ? &m->as.query.params : &m->as.execute.params;
	int r = is_query ? put_str(b, &m->as.query.sql)
			 : cnc_buf_str(b, q->stmt->sql, q->stmt->len);

	if (r == CENOTE_OK)
		r = cnc_buf_u8(b, m->code);
	/* For a request without a list of parameters, PostgreSQL uses its simple protocol, and may answer differently. */
	if (r == CENOTE_OK)
		r = cnc_buf_u8(b, params->n > 0);
	if (r == CENOTE_OK)
		r = put_str(b, params);
	if (r == CENOTE_OK && !is_query)
		r = cnc_buf_str(b, q->stmt->types, q->stmt->types_len);
	if (r == CENOTE_OK)
		r = cnc_buf_u8(b, (uint8_t)q->options->format);
	if (r == CENOTE_OK)
		r = cnc_buf_str(b, q->options->formats, q->options->n_formats);
	if (r == CENOTE_OK)
		r = put_target(b, conn);
	return r == CENOTE_OK ? put_settings(b, conn) : r;
}

static void
make_name(const struct cnc_buf *key, char name[NAME_MAX_LEN])
{
	(void)snprintf(name, NAME_MAX_LEN, "%016" PRIx64 "%016" PRIx64 ".res",
		cnc_saved_sum(cnc_buf_head(key), cnc_buf_len(key), 1),
		cnc_saved_sum(cnc_buf_head(key), cnc_buf_len(key), 2));
}

/* ---- asking ---- */

/*
 * Does the session hold something that is not in the history? The pin of functions is ignored: until the pool has asked its
 * server about the functions, every statement sets it. The pin of settings is expected if the history has settings.
 * But after a statement whose effect is unknown, it may stand for others.
 */
static int
holds_something(const cenote_conn *conn)
{
	uint32_t known = CENOTE_PIN_FUNCTION;

	if (cnc_buf_len(&conn->cache.history) > 0 && !conn->cache.is_opaque)
		known |= CENOTE_PIN_SETTINGS;
	return (conn->pins & ~known) != 0;
}

/* A server may read the literals of a statement by the settings of the time at which it was prepared. So a setting must not have
 * come after that. A statement of another epoch is prepared again before its execution. */
static int
is_suitable_stmt(const cenote_stmt *stmt)
{
	const cenote_conn *conn = stmt->conn;

	if (stmt->name || stmt->has_long_data)
		return 0;
	return stmt->epoch != conn->reattach.epoch ||
	       stmt->history_len == cnc_buf_len(&conn->cache.history);
}

static int
is_suitable(cenote_conn *conn, const struct cn_question *q)
{
	if (!is_on(conn) || q->reach != CNC_REACH_NONE || conn->cache.is_off ||
		conn->cache.is_in_doubt || !conn->info.has_facts)
		return 0;
	/* A passive program polls the descriptor. It would wait there for an answer that comes from a file. */
	if (conn->nonblocking == CENOTE_PASSIVE)
		return 0;
	if (conn->tx != CENOTE_TX_IDLE || holds_something(conn) ||
		conn->reattach.is_autocommit_off ||
		conn->pipeline.n != conn->pipeline.n_finished ||
		conn->pipeline.needs_sync)
		return 0;
	return q->options->max_rows == 0 && (!q->stmt || is_suitable_stmt(q->stmt));
}

static int
is_same_key(const struct cnc_saved *saved, const struct cnc_buf *key)
{
	return saved->key_len == cnc_buf_len(key) &&
	       memcmp(saved->key, cnc_buf_head(key), saved->key_len) == 0;
}

/* May the file answer now? */
static int
is_valid(cenote_conn *conn, const struct cnc_saved *saved, const struct cnc_buf *key)
{
	uint64_t now = cn_wall_us();

	/* The clock was set back: from now on, its new time counts. */
	if (conn->cache.wrote_us > now)
		conn->cache.wrote_us = now;
	return is_same_key(saved, key) && saved->written_us > conn->cache.wrote_us &&
	       cnc_saved_is_fresh(saved, now, conn->options.number[CN_OPTION_CACHE_TTL]);
}

void
cn_cache_make_stream(cenote_result *res)
{
	res->at = 1;
	res->stream = CN_STREAM_DONE;
}

static cenote_result *
read_result(cenote_conn *conn, const struct cnc_buf *key, struct cnc_block *block)
{
	struct cnc_saved saved;
	cenote_result *res;

	if (cnc_saved_read(block->data, block->len, &saved) < 0 ||
		!is_valid(conn, &saved, key) ||
		cn_result_decode(&conn->mem, block, &saved, &res) < 0)
		return NULL;
	return res;
}

/* The result in the file. NULL: there is no file, or it must not be used. */
static cenote_result *
look_up(cenote_conn *conn, int dir, const char *name, const struct cnc_buf *key)
{
	struct cnc_block *block;
	cenote_result *res;

	if (cn_result_file_read(&conn->mem, dir, name, 1, &block) != CENOTE_OK)
		return NULL;
	res = read_result(conn, key, block);
	cnc_block_unref(block);
	return res;
}

/* Prepare to copy the server's answer. NULL: there is no memory, and the result is not kept. */
static struct cn_keep *
create_keep(cenote_conn *conn, const char *name, const struct cnc_buf *key)
{
	struct cn_keep *keep = cnc_calloc(&conn->mem, 1, sizeof(*keep));

	if (!keep)
		return NULL;
	cnc_buf_init(&keep->b, &conn->mem, KEEP_MAX);
	memcpy(keep->name, name, sizeof(keep->name));
	keep->sent_us = cn_wall_us();
	if (cnc_saved_begin(&keep->b, cnc_buf_head(key), cnc_buf_len(key)) < 0) {
		cn_keep_free(keep);
		return NULL;
	}
	return keep;
}

static cenote_result *
ask_directory(cenote_conn *conn, int dir, const struct cn_question *q,
	const struct cnc_buf *key, struct cn_keep **ret_keep)
{
	char name[NAME_MAX_LEN];
	cenote_result *res;

	make_name(key, name);
	res = look_up(conn, dir, name, key);
	if (!res)
		*ret_keep = create_keep(conn, name, key);
	else if (q->options->stream)
		cn_cache_make_stream(res);
	return res;
}

cenote_result *
cn_cache_ask(
	cenote_conn *conn, const struct cn_question *question, struct cn_keep **ret_keep)
{
	cenote_result *res = NULL;
	struct cnc_buf key;
	int dir;

	*ret_keep = NULL;
	if (!is_suitable(conn, question))
		return NULL;
	dir = open_directory(conn);
	if (dir < 0)
		return NULL;
	conn->cache.state = "used";
	cnc_buf_init(&key, &conn->mem, KEEP_MAX);
	if (put_key(&key, conn, question) == CENOTE_OK)
		res = ask_directory(conn, dir, question, &key, ret_keep);
	cnc_buf_finish(&key);
	(void)close(dir);
	return res;
}

/* ---- keeping an answer ---- */

void
cn_keep_free(struct cn_keep *keep)
{
	const struct cenote_allocator *mem;

	if (!keep)
		return;
	mem = keep->b.mem;
	cnc_buf_finish(&keep->b);
	cnc_free(mem, keep);
}

void
cn_keep_drop(struct cn_request *req)
{
	cn_keep_free(req->keep);
	req->keep = NULL;
}

void
cn_keep_begin(struct cn_request *req, const struct cn_columns *columns)
{
	if (!req->keep)
		return;
	/* A second result begins. */
	if (req->keep->is_begun || cn_result_put_columns(&req->keep->b, columns) < 0) {
		cn_keep_drop(req);
		return;
	}
	req->keep->is_begun = 1;
}

void
cn_keep_rows(struct cn_request *req, const uint8_t *batch, size_t len)
{
	if (req->keep && cn_result_put_batch(&req->keep->b, batch, len) < 0)
		cn_keep_drop(req);
}

/* Is it a complete result with rows, without warnings and flags? Only such a result is kept. */
static int
is_whole(const cenote_result *res)
{
	return res->kind == CENOTE_RESULT_ROWS && !res->has_more && res->flags == 0 &&
	       res->warnings == 0 &&
	       (res->stream == CN_STREAM_NO || res->stream == CN_STREAM_DONE);
}

void
cn_keep_end(struct cn_request *req, const cenote_result *res)
{
	struct cn_keep *keep = req->keep;

	if (!keep)
		return;
	if (!keep->is_begun || keep->is_complete || !is_whole(res) ||
		cn_result_put_end(&keep->b, res) < 0) {
		cn_keep_drop(req);
		return;
	}
	keep->is_complete = 1;
}

static void
write_keep(cenote_conn *conn, struct cn_keep *keep)
{
	int dir = open_directory(conn);

	if (dir < 0)
		return;
	cnc_saved_end(&keep->b, keep->sent_us, conn->options.number[CN_OPTION_CACHE_TTL]);
	if (cn_result_file_write(
		    dir, keep->name, cnc_buf_head(&keep->b), cnc_buf_len(&keep->b)) < 0)
		conn->cache.state = "a file cannot be written";
	(void)close(dir);
}

void
cn_cache_finished(cenote_conn *conn, struct cn_request *req)
{
	struct cn_keep *keep = req->keep;

	note_write(conn, req);
	/* The transaction of the last request that may have changed a setting has ended. In a pipeline, it ends at the
	 * synchronisation point. */
	if (conn->tx == CENOTE_TX_IDLE && !conn->pipeline.needs_sync &&
		conn->pipeline.n == conn->pipeline.n_finished)
		conn->cache.is_in_doubt = conn->cache.is_dirty = 0;
	if (keep && keep->is_complete && conn->tx == CENOTE_TX_IDLE &&
		!holds_something(conn) && conn->pid == cn_pid(conn))
		write_keep(conn, keep);
	cn_keep_drop(req);
}
