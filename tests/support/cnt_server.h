/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_SERVER_H
#define CNT_SERVER_H

#include <stdbool.h>

#include "support/cnt_process.h"

/*
 * A real database server for a test: PostgreSQL or MariaDB as installed, with its own data in a
 * temporary directory. The directory goes when the test ends, even if the test is killed. The data
 * of a new server is made once per build and then copied, so a start takes a fraction of a second.
 *
 * On every server:
 *
 *     databases "app" and "app2", which belong to the users
 *     user "app"     no password over the unix socket, CNT_SERVER_PASSWORD over TCP
 *     user "locked"  CNT_SERVER_PASSWORD everywhere (PostgreSQL: SCRAM-SHA-256)
 *     user "tls"     CNT_SERVER_PASSWORD, over TCP and with TLS only
 *     user "cert"    no password, over TCP with the client certificate only
 *     and the superuser, without password over the unix socket; cnt_server_sql() uses it
 *
 * CNT_POSTGRESQL_BIN and CNT_MARIADB_BIN in the environment name the directory of other programs.
 * CNT_MYSQL_BIN names the programs of MySQL, which then takes the place of MariaDB (tests/versions).
 * PostgreSQL refuses to run as root. If the test is root, the server runs as postgres, or as
 * nobody.
 */
enum cnt_server_kind {
	CNT_POSTGRESQL,
	CNT_MARIADB,
	CNT_MYSQL /* tests ask for CNT_MARIADB, and get this one if CNT_MYSQL_BIN is set */
};

/* Flags. */
#define CNT_SERVER_TCP 1u /* a TCP port on 127.0.0.1, with TLS for clients that want it */

#define CNT_SERVER_PASSWORD "Water-under-the-stone"
#define CNT_SERVER_PATH_MAX 96u

struct cnt_server {
	enum cnt_server_kind kind;
	unsigned flags;
	char dir[CNT_SERVER_PATH_MAX]; /* temporary; everything below is in it */
	char conf[CNT_SERVER_PATH_MAX]; /* postgresql.conf, or my.cnf */
	char log[CNT_SERVER_PATH_MAX]; /* the server's standard error */
	char run_dir[CNT_SERVER_PATH_MAX]; /* the directory of the unix socket */
	char socket[CNT_SERVER_PATH_MAX]; /* path of the unix socket */
	int port; /* of TCP; the name of PostgreSQL's unix socket also contains it */

	/* A file for `passfile=` in a server line: CNT_SERVER_PASSWORD for each user that needs it. */
	char passfile[CNT_SERVER_PATH_MAX];

	/*
	 * Only with CNT_SERVER_TCP. `certs` also holds client.crt and client.key of the user cert.
	 * A test can put wrong-name.crt or expired.crt in place of the server's certificate, with
	 * the same server.key. other-ca.crt has signed nothing.
	 */
	char certs[CNT_SERVER_PATH_MAX];
	/* The CA of the server's certificate for localhost and 127.0.0.1. */
	char ca[CNT_SERVER_PATH_MAX];

	/* For cenoted's configuration: `backend = …`, and `server = …` for the user app.
	 * server_line uses the unix socket. tls_line uses TCP and TLS, checks the server's
	 * certificate, and needs CNT_SERVER_TCP. For PostgreSQL, both lines are also a conninfo for
	 * libpq. */
	const char *backend;
	char server_line[256];
	char tls_line[512];

	pid_t pid; /* process id of the server; 0: it does not run */
	pid_t guard; /* process id of the process that cleans up if the test dies */
};

/*
 * Call this first in main(). If the server's programs are not installed, it prints that the test is
 * skipped, and ends the program. scripts/check counts this, and fails for skips that are not on the
 * reviewed list.
 */
void cnt_server_need(enum cnt_server_kind kind);
/* Whether the server's programs are installed. */
int cnt_server_is_installed(enum cnt_server_kind kind);
/* Whether CNT_MARIADB is a server of MySQL, which lacks some of MariaDB's SQL. */
bool cnt_server_is_mysql(void);
/* The SQL for CNT_MARIADB. If that is MySQL, some words are replaced, and the text is valid until the next call. */
const char *cnt_server_text(const char *sql);
/* The same for a text of one statement. If it needs two on MySQL, *ret_first is the first of them, otherwise NULL. */
const char *cnt_server_statement(const char *sql, const char **ret_first);

/*
 * Make the directory and start the server. Returns when it accepts connections: 0; or -1, after
 * printing on standard error what went wrong, with nothing left behind. Call it from the main
 * thread: the server ends with the thread that started it.
 */
int cnt_server_start(struct cnt_server *s, enum cnt_server_kind kind, unsigned flags);
/* Find a port on which nothing listens. It is below the ephemeral ports, so no client's end of a
 * connection gets it. -1: none is free. */
int cnt_server_free_port(void);
/* Make the certificates of CNT_SERVER_TCP in a new directory. */
int cnt_server_certs(const char *to);
/* The two halves of cnt_server_start(). Between them, a test can append lines to the configuration
 * file. */
int cnt_server_create(struct cnt_server *s, enum cnt_server_kind kind, unsigned flags);
int cnt_server_configure(const struct cnt_server *s, const char *lines);
int cnt_server_run(struct cnt_server *s);

/*
 * A primary and its replica. Call cnt_server_replicates() between cnt_server_create() and cnt_server_run(), then
 * cnt_server_create_replica() for the other server, and run that. With `waits`, PostgreSQL's primary waits for its replica at
 * each commit; MariaDB's never does. MariaDB's servers need CNT_SERVER_TCP, and its replica begins with cnt_server_follow().
 */
int cnt_server_replicates(const struct cnt_server *s, int waits);
int cnt_server_create_replica(struct cnt_server *s, const struct cnt_server *primary);
/* Make the server a replica of `primary`; it keeps its data, and continues from there. PostgreSQL must not run meanwhile, MariaDB
 * must. */
int cnt_server_follow(const struct cnt_server *s, const struct cnt_server *primary);

/* End the server at once, and remove its directory. */
void cnt_server_stop(struct cnt_server *s);

/* End the server in order, so that clients see a shutdown. The directory stays, for
 * cnt_server_run(). */
int cnt_server_shutdown(struct cnt_server *s);
/* Shut the server down, and run it again. The port stays the same. */
int cnt_server_restart(struct cnt_server *s);
/* Kill all processes of the server at once with SIGKILL. The directory stays, for
 * cnt_server_run(). */
void cnt_server_kill(struct cnt_server *s);
/* Send a signal to all processes of the server. After SIGSTOP, this function returns once the
 * server hangs; it hangs until SIGCONT. */
void cnt_server_signal(const struct cnt_server *s, int sig);
int cnt_server_is_alive(const struct cnt_server *s);

/* Run SQL (one or more statements) as superuser in the database app, with the server's own command
 * line client. 0; or -1, after copying its messages to standard error. */
int cnt_server_sql(const struct cnt_server *s, const char *sql);
/* The same, and return the output: values without names, a line for each row, separated by | for
 * PostgreSQL and by tabs for MariaDB. */
int cnt_server_ask(
	const struct cnt_server *s, const char *sql, char *ret_text, size_t size);

/* Install the server's plugin of this file ("auth_ed25519"). Returns whether the server has the file. MariaDB only. */
bool cnt_server_add_plugin(const struct cnt_server *s, const char *file);
/* The directory of the client library's plugins that came with the server of CNT_MARIADB_BIN; NULL: there is none. */
const char *cnt_server_client_plugins(void);

/* Write a configuration for cnt_daemon_start() to `ret`, and return it: CNT_DAEMON_GLOBAL and
 * [pool main] on this server, then `lines` for the pool ("sessions = 1..4\n"). */
char *cnt_server_config(
	const struct cnt_server *s, const char *lines, char *ret, size_t size);

void cnt_server_show_log(const struct cnt_server *s);

#endif
