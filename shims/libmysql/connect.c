/* SPDX-License-Identifier: BSD-2-Clause */
#include "login.h"

#include "../common/fact.h"
#include "../common/process.h"
#include "../common/route.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Connecting a handle: to a pool, or to the original library on the same memory. It also connects
 * again after a loss, and frees the session. cenote_connect() attaches to a session of the pool;
 * statements follow only if the session differs from what the program asked for. face.c, enter.c
 * and the async files call this file.
 */

/* The capabilities that a server of this kind reports. CLIENT_SSL is missing: it is set
 * if the way to cenoted uses TLS. */
#define MARIADB_OFFERS      0x81fff7feUL
#define MYSQL_OFFERS        0xdffff7ffUL
/* MariaDB's own capabilities, if the pool does not say what its server has: progress reports, arrays
 * of parameters, more about columns, and columns that are sent once. */
#define MARIADB_OFFERS_MORE 0x1dUL
/* The flags that Connector/C accepts from a program. */
#define ALLOWED_FLAGS       0xe4ffffffUL

/* ---- facts of the session ---- */

/* The MySQL server's number for the session. For other servers, the pool's number. */
static unsigned long
session_number(const struct cmy_session *s)
{
	const char *value = cenote_parameter(s->conn, "connection_id");

	if (!value)
		value = cenote_info(s->conn, "session");
	return value ? strtoul(value, NULL, 10) : 0;
}

static int
backend_of(const struct cmy_session *s)
{
	static const char *const names[] = { [CMY_BACKEND_MYSQL] = "mysql",
		[CMY_BACKEND_POSTGRESQL] = "postgresql",
		[CMY_BACKEND_SQLITE] = "sqlite" };
	const char *backend = cenote_info(s->conn, "backend");

	for (int i = 0; backend && i < CMY_BACKEND_OTHER; i++) {
		if (strcmp(backend, names[i]) == 0)
			return i;
	}
	return CMY_BACKEND_OTHER;
}

/* Fill in the server's capabilities, from its version and from the way to cenoted. */
static void
note_capabilities(struct cmy_session *s)
{
	int is_mariadb = strstr(s->my->server_version, "MariaDB") != NULL;
#if !CMY_ORACLE
	const char *more = cenote_parameter(s->conn, "mariadb_capabilities");

	s->mariadb_server_capabilities = is_mariadb ? MARIADB_OFFERS_MORE : 0;
	if (more != NULL)
		s->mariadb_server_capabilities = strtoul(more, NULL, 10);
#endif

	s->my->server_capabilities = is_mariadb ? MARIADB_OFFERS : MYSQL_OFFERS;
	if (cmy_tls_fact(s->my, "version"))
		s->my->server_capabilities |= CLIENT_SSL;
}

static int
keep_session(struct cmy_session *s)
{
	MYSQL *my = s->my;
	const char *version = cenote_info(s->conn, "server_version");
	const char *collation;

	s->backend = backend_of(s);
	s->maps_dates = cmy_maps_dates();
	if (cmy_keep_text(&my->server_version, version ? version : "") < 0)
		return -1;
	collation = cenote_parameter(s->conn, "collation");
	my->server_language = collation ? cmy_collation_nr(collation) : 0;
	note_capabilities(s);
	my->server_status = cmy_first_status(s);
	cmy_escape_remember(s);
	my->protocol_version = 10;
	my->thread_id = session_number(s);
	my->net.CMY_VIO = s;
	/* the program may poll this descriptor at any time, so it must keep its number */
	(void)cenote_set_nonblocking(s->conn, CENOTE_PASSIVE);
	cmy_choose_wait(s);
	my->net.fd = cenote_fd(s->conn);
	my->net.max_packet_size = my->options.max_allowed_packet
					  ? my->options.max_allowed_packet
					  : cmy_max_allowed_packet;
	my->status = MYSQL_STATUS_READY;
	cmy_track_status(s);
	return 0;
}

/* ---- errors ---- */

/* Was cenoted not reached? A pool that is busy or has lost its server counts as reached. */
static int
is_unreachable(const struct cmy_session *s, int status)
{
	if (status == CENOTE_ERR_TIMEOUT)
		return 1;
	return status == CENOTE_ERR_CONN &&
	       strncmp(cenote_diag_sqlstate(cenote_conn_diag(s->conn)), "08", 2) == 0;
}

static void
say_cannot_attach(struct cmy_session *s, const struct cmy_login *l, int status)
{
	const cenote_diag *diag = s->conn ? cenote_conn_diag(s->conn) : NULL;

	if (status == CENOTE_ERR_NOMEM || !diag)
		cmy_error(s->my, CR_OUT_OF_MEMORY, NULL);
	else if (is_unreachable(s, status))
		cmy_say_unreachable(s, l,
			status == CENOTE_ERR_TIMEOUT ? ETIMEDOUT : ECONNREFUSED,
			cenote_diag_message(diag));
	else
		cmy_error_diag(s->my, diag);
}

/* ---- attaching ---- */

static int
set_timeout(cenote_conn *conn, unsigned seconds)
{
	const unsigned longest = INT32_MAX / 1000; /* some programs set -1 */
	char text[16];

	if (seconds == 0)
		return CENOTE_OK;
	snprintf(text, sizeof(text), "%us", seconds < longest ? seconds : longest);
	return cenote_conn_set(conn, "connect_timeout", text);
}

/* The pool would accept several statements in a text, but in MySQL's API the program has to ask for
 * that. The pool gives a session whose login had these options. */
static int
set_session_options(struct cmy_session *s, const char *db)
{
	static const char *const logins[2][2] = {
		{ "found_rows=off database=none", "found_rows=off" },
		{ "found_rows=on database=none", "found_rows=on" },
	};
	unsigned long flags = s->my->client_flag;
	int r = cenote_set_session_option(s->conn, "mysql_login",
		logins[(flags & CLIENT_FOUND_ROWS) != 0][db && *db != '\0']);

	if (r != CENOTE_OK)
		return r;
	r = cenote_set_session_option(s->conn, "multi_statements",
		flags & CLIENT_MULTI_STATEMENTS ? "on" : "off");
#if !CMY_ORACLE
	s->asked_progress = 0;
	if (r == CENOTE_OK)
		r = cmy_more_ask(s);
	if (r == CENOTE_OK)
		r = cmy_progress_ask(s);
#endif
	return r;
}

static int
make_conn(struct cmy_session *s, const char *db)
{
	int r;

	cenote_conn_destroy(s->conn);
	s->conn = NULL;
	r = cenote_conn_create(NULL, &s->conn);
	if (r != CENOTE_OK)
		return r;
	cenote_conn_set_getpid(s->conn, csh_getpid);
	r = cenote_conn_set(s->conn, "pool", s->pool);
	/* after KILL the program must see the loss, so do not attach to another session then */
	if (r == CENOTE_OK)
		r = cenote_conn_set(s->conn, "reattach", "planned");
	/* infile.c decides about each file when the server asks for it */
	if (r == CENOTE_OK)
		r = cenote_conn_set(s->conn, "allow_files", "yes");
	if (r == CENOTE_OK)
		r = set_timeout(s->conn, s->my->options.connect_timeout);
	if (r == CENOTE_OK)
		r = cmy_login_give(s);
	if (r == CENOTE_OK)
		r = set_session_options(s, db);
	return r;
}

/* Attach once. CENOTE_AGAIN: waiting failed, and the error is set already. */
static int
attach_once(struct cmy_session *s, const char *db)
{
	int r = make_conn(s, db);

	if (r != CENOTE_OK)
		return r;
	s->my->net.read_timeout = 0;
	s->my->net.write_timeout = 0;
	cmy_choose_wait(s);
	do {
		r = cenote_connect(s->conn);
	} while (r == CENOTE_AGAIN && cmy_wait(s) == 0);
	return r;
}

/* Attach, and return as attach_once(). If the pool asks for a login, try a second time with the
 * program's user and password. */
static int
attach(struct cmy_session *s, const char *db)
{
	int r;

	s->gives_login = 0;
	r = attach_once(s, db);
	return cmy_login_again(s, r) ? attach_once(s, db) : r;
}

/* ---- the session as the program wants it ---- */

static int
has_charset(const struct cmy_session *s, const MARIADB_CHARSET_INFO *cs)
{
	const char *now = cenote_parameter(s->conn, "character_set");
	const MARIADB_CHARSET_INFO *known = now ? cmy_charset_by_name(now) : NULL;

	return known && strcmp(known->csname, cs->csname) == 0;
}

static int
is_utf8(const MARIADB_CHARSET_INFO *cs)
{
	return strncmp(cs->csname, "utf8", 4) == 0 || strcmp(cs->csname, "ascii") == 0 ||
	       strcmp(cs->csname, "binary") == 0;
}

int
cmy_use_charset(struct cmy_session *s)
{
	const MARIADB_CHARSET_INFO *cs = s->my->charset;
	char sql[64];

	if (s->backend != CMY_BACKEND_MYSQL) {
		if (is_utf8(cs))
			return 0;
		cmy_error_text(s->my, CR_CANT_READ_CHARSET, NULL,
			"Can't initialize character set %s; cenote: pool \"%s\" is no "
			"MySQL server's, and its texts are UTF-8",
			cs->csname, s->pool);
		return -1;
	}
	if (has_charset(s, cs))
		return 0;
	snprintf(sql, sizeof(sql), "SET NAMES %s", cs->csname);
	return cmy_run(s, sql, NULL);
}

/* A pool of another server has one database. The program's name for it has chosen the pool, and
 * MYSQL.db keeps this name. */
static int
choose_db(struct cmy_session *s, const char *db)
{
	const char *own = cenote_info(s->conn, "database");

	if (own && *own == '\0')
		own = NULL;
	if (db && *db != '\0' && (!own || strcmp(db, own) != 0)) {
		if (s->backend == CMY_BACKEND_MYSQL && cmy_select(s, db) < 0)
			return -1;
		own = db;
	}
	cmy_track_login(s);
	cmy_track_database(s, own);
	if (cmy_keep_text(&s->my->db, own) == 0)
		return 0;
	cmy_error(s->my, CR_OUT_OF_MEMORY, NULL);
	return -1;
}

/* Run one init command and drop its results. MariaDB's library ignores a failure after
 * the first of several statements. */
static int
run_and_forget(MYSQL *my, const char *sql)
{
	int r;

	if (cmy_mysql_real_query(my, sql, strlen(sql)) != 0)
		return -1;
	do {
		MYSQL_RES *res = cmy_mysql_use_result(my);

		if (res)
			cmy_mysql_free_result(res);
		r = cmy_mysql_next_result(my);
	} while (r == 0);
	return CMY_ORACLE && r > 0 ? -1 : 0;
}

/* Run the init commands. If the session is lost during them, connecting fails: do not start again. */
static int
run_init_commands(struct cmy_session *s)
{
	my_bool reconnects = CMY_RECONNECT(s->my);
	unsigned n;
	int r = 0;

	if (!cmy_option(s->options, MYSQL_INIT_COMMAND))
		return 0;
	if (cmy_init_commands(s->options, &n) < 0) {
		cmy_error(s->my, CR_OUT_OF_MEMORY, NULL);
		return -1;
	}
	CMY_RECONNECT(s->my) = 0;
	for (unsigned i = 0; i < n && r == 0; i++)
		r = run_and_forget(s->my, cmy_init_command_list(s->options)[i]);
	/* sic: after a failed command both originals leave auto-reconnect off */
	if (r == 0)
		CMY_RECONNECT(s->my) = reconnects;
	return r;
}

/* Bring the session into the state that the original's login packet would give it. */
static int
log_in(struct cmy_session *s, const char *db)
{
	int r;

	s->is_untracked = 1;
	r = cmy_track_start(s) == 0 && cmy_use_charset(s) == 0 && choose_db(s, db) == 0;
	s->is_untracked = 0;
	return r ? 0 : -1;
}

/* Log in, but after a failure restore the counts: the originals then change only the error. */
static int
log_in_quietly(struct cmy_session *s, const char *db)
{
	MYSQL *my = s->my;
	uint64_t affected = my->affected_rows, id = my->insert_id;
	unsigned warnings = my->warning_count;
	int r = log_in(s, db);

	if (r < 0) {
		my->affected_rows = affected;
		my->insert_id = id;
		my->warning_count = warnings;
	}
	return r;
}

/* Finish connecting. During this, each wait may take connect_timeout. */
static int
prepare_session(struct cmy_session *s, const char *db)
{
	s->my->net.read_timeout = s->my->options.connect_timeout;
	s->my->net.write_timeout = s->my->options.connect_timeout;
	cmy_choose_wait(s);
	cmy_clear(s->my);
	if (keep_session(s) < 0) {
		cmy_error(s->my, CR_OUT_OF_MEMORY, NULL);
		return -1;
	}
	if (log_in_quietly(s, db) < 0)
		return -1;
	s->my->affected_rows = 0;
	if (run_init_commands(s) < 0)
		return -1;
	s->my->net.read_timeout = s->my->options.read_timeout;
	s->my->net.write_timeout = s->my->options.write_timeout;
	cmy_choose_wait(s);
	memcpy(s->my->net.sqlstate, "00000", sizeof(s->my->net.sqlstate));
	return 0;
}

/* ---- the original ---- */

/* Give the handle's memory to the original library. cmy_hand_over() passes on the options later. */
static MYSQL *
become_original(struct cmy_session *s)
{
	const struct cmy_original *original = cmy_original(NULL);
	MYSQL *my = s->my;
	my_bool is_allocated = my->free_me;

	cmy_forget_login(my);
	cmy_escape_remember(NULL);
	if (CMY_ORACLE && is_allocated && cmy_adopt(my) < 0)
		return NULL;
	if (!original->mysql_init(my))
		return NULL;
	if (!CMY_ORACLE)
		my->free_me = is_allocated;
	return my;
}

int
cmy_hand_over(struct cmy_session *s)
{
	MYSQL *my = s->my;
	const char *why;
	int r;

	if (!cmy_original(&why)) {
		cmy_error_text(my, CR_CONNECTION_ERROR, NULL, "cenote: %s", why);
		return -1;
	}
	if (!become_original(s)) {
		my->extension = s;
		cmy_error(my, CR_OUT_OF_MEMORY, NULL);
		return -1;
	}
	r = cmy_options_replay(s->options, my);
	cmy_session_free(s);
	return r == 0 ? 0 : -1;
}

static MYSQL *
connect_original(struct cmy_session *s, const struct cmy_login *given)
{
	MYSQL *my = s->my;

	/* the hand-over frees the session and this fibre, so it must not happen on the
	 * fibre */
	s->is_originals = cmy_is_in_fibre(s);
	if (s->is_originals || cmy_hand_over(s) < 0)
		return NULL;
#if CMY_ORACLE
	if (given->is_srv)
		return cmy_original(NULL)->mysql_real_connect_dns_srv(my, given->host,
			given->user, given->passwd, given->db, given->flags);
#endif
	return cmy_original(NULL)->mysql_real_connect(my, given->host, given->user,
		given->passwd, given->db, given->port, given->unix_socket, given->flags);
}

/* ---- connecting ---- */

static enum cmy_way
connect_pool(struct cmy_session *s, struct cmy_login *l)
{
	int r;

	if (cmy_find_charset(s->my) < 0)
		return CMY_NOWHERE;
	if (cmy_keep_login(s->my, l) < 0) {
		cmy_error(s->my, CR_OUT_OF_MEMORY, NULL);
		return CMY_NOWHERE;
	}
	r = attach(s, l->db);
	if (r == CENOTE_OK)
		return prepare_session(s, l->db) == 0 ? CMY_TO_POOL : CMY_NOWHERE;
	if (r == CENOTE_AGAIN)
		return CMY_NOWHERE;
	say_cannot_attach(s, l, r);
	return is_unreachable(s, r) && csh_may_fall_back() ? CMY_TO_ORIGINAL
							   : CMY_NOWHERE;
}

static MYSQL *
failed(struct cmy_session *s, unsigned long flags)
{
	MYSQL *my = s->my;

	cmy_drop(s);
	cmy_track_forget(s);
	cenote_conn_destroy(s->conn);
	s->conn = NULL;
	cmy_forget_login(my);
	if (!(flags & CLIENT_REMEMBER_OPTIONS) && !s->fibre)
		cmy_options_forget(s->options);
	return NULL;
}

/* The checks that precede the choice between pool and original. */
static int
may_connect(MYSQL *my, const struct cmy_session *s, unsigned long flags)
{
	if (!CMY_ORACLE && flags & ~ALLOWED_FLAGS) {
		cmy_error_text(my, CR_INVALID_CLIENT_FLAG, NULL,
			"Invalid client flags (%lu) specified. Supported flags: %lu",
			flags, ALLOWED_FLAGS);
		return 0;
	}
	if (my->net.CMY_VIO) {
		cmy_error(my, CR_ALREADY_CONNECTED, NULL);
		return 0;
	}
	return cmy_is_owner(s);
}

static MYSQL *
connect_as(MYSQL *my, const struct cmy_login *given)
{
	struct cmy_session *s = cmy_session(my);
	struct cmy_login login = *given;
	enum cmy_way way = CMY_NOWHERE;

	if (!s || !may_connect(my, s, given->flags))
		return NULL;
	cmy_clear(my);
#if CMY_ORACLE
	/* sic: flags of a failed attempt also count in the next one, as long as the options are kept */
	login.flags = my->options.client_flag |= login.flags;
#endif
	if (cmy_complete_login(s, &login) == 0)
		way = cmy_choose_way(s, &login);
	if (way == CMY_TO_POOL)
		way = connect_pool(s, &login);
	if (way == CMY_TO_POOL)
		return my;
	if (way == CMY_TO_ORIGINAL)
		return connect_original(s, given);
	return failed(s, login.flags);
}

MYSQL *
cmy_mysql_real_connect(MYSQL *my, const char *host, const char *user, const char *passwd,
	const char *db, unsigned int port, const char *unix_socket,
	unsigned long client_flag)
{
	const struct cmy_login given = { .host = host,
		.user = user,
		.passwd = passwd,
		.db = db,
		.port = port,
		.unix_socket = unix_socket,
		.flags = client_flag };

	return connect_as(my, &given);
}

#if CMY_ORACLE

/* The DNS name replaces the host. If the original makes the connection, it looks the name up. */
MYSQL *
cmy_mysql_real_connect_dns_srv(MYSQL *my, const char *dns_srv_name, const char *user,
	const char *passwd, const char *db, unsigned long client_flag)
{
	const struct cmy_login given = { .host = dns_srv_name,
		.user = user,
		.passwd = passwd,
		.db = db,
		.flags = client_flag,
		.is_srv = 1 };

	return connect_as(my, &given);
}

#endif

/* ---- losing, and connecting again ---- */

static int
may_reconnect(MYSQL *my)
{
	int is_open = (my->server_status & SERVER_STATUS_IN_TRANS) != 0;

	my->server_status &= ~SERVER_STATUS_IN_TRANS;
	return CMY_RECONNECT(my) && !is_open && my->host_info;
}

int
cmy_reconnect(struct cmy_session *s)
{
	MYSQL *my = s->my;
	char *db = my->db;
	int r;

	if (!may_reconnect(my)) {
		cmy_error(my, CR_SERVER_GONE_ERROR, NULL);
		return -1;
	}
	cmy_drop(s);
	r = attach(s, db);
	if (r == CENOTE_AGAIN)
		return -1;
	if (r != CENOTE_OK) {
		struct cmy_login l = { .host = my->host,
			.unix_socket = my->unix_socket,
			.port = my->port,
			.is_local = my->unix_socket != NULL };

		say_cannot_attach(s, &l, r);
		return -1;
	}
	cmy_stmts_lose(s);
	my->db = NULL;
	r = prepare_session(s, db);
	free(db);
	if (r < 0)
		cmy_lose(s);
	return r;
}

/* ---- the end ---- */

void
cmy_session_free(struct cmy_session *s)
{
	cenote_conn_destroy(s->conn);
	cmy_ahead_drop(s);
	cmy_track_free(s->track);
	cmy_fibre_free(s->fibre);
	cmy_options_free(s->options);
	free(s->pool);
	free(s);
}
