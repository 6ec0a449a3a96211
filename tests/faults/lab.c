/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One lab: its server, its cenoted, its clients, and what is checked after the fault. lab_run() is called in a process that
 * has nothing else to do. So a lab may change its limits and namespaces, and ends whatever happens.
 */
#include "lab.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/cnt_client.h"

/* How long a lab may need to start, with all others, and to end. */
#define START_MS 60000
/* How long the lab goes on before the fault and after the recovery. */
#define CALM_MS  500
/* So many labs run at once: their clients must not use all of the machine. */
#define THINK_MS 30
/* A client connects anew after so many transactions. */
#define STAY     10

int
lab_complain(const struct lab *l, const char *what)
{
	fprintf(stderr, "# %s: %s\n", l->fault->what, what);
	return -1;
}

int
lab_fail(const struct lab *l, const char *call)
{
	fprintf(stderr, "# %s: %s: %s\n", l->fault->what, call, strerror(errno));
	return -1;
}

pid_t
lab_child(const struct lab *l, const char *name)
{
	return cnt_child_named(l->daemon.pid, name);
}

/* ---- a client ---- */

static void
note_failure(struct lab_client *c, const char *sqlstate)
{
	struct lab_state *s = c->states;

	while (s->n > 0 && strcmp(s->sqlstate, sqlstate) != 0)
		s++;
	if (s == c->states + LAB_STATES - 1)
		return;
	snprintf(s->sqlstate, sizeof(s->sqlstate), "%s", sqlstate);
	s->n++;
}

/* A call that began at `since` has ended. Returns its status. */
static int
note_call(struct lab_client *c, cenote_conn *conn, int64_t since, int status)
{
	int64_t us = cnt_now_us() - since;

	if (us > c->longest_us)
		c->longest_us = us;
	if (status != CENOTE_OK)
		note_failure(c, cnt_client_state(conn));
	return status;
}

static int
run(struct lab_client *c, cenote_conn *conn, const char *sql)
{
	int64_t since = cnt_now_us();

	return note_call(c, conn, since, cnt_client_try(conn, sql));
}

/* What a failed commit says about the row. A call that took too long says nothing. */
static enum lab_row
row_of_failure(cenote_conn *conn, int status)
{
	bool is_unknown = status == CENOTE_ERR_TIMEOUT ||
			  strcmp(cnt_client_state(conn), "08007") == 0;

	return is_unknown ? LAB_ROW_UNKNOWN : LAB_ROW_LOST;
}

static enum lab_row
write_alone(struct lab_client *c, cenote_conn *conn, const char *insert)
{
	int r = run(c, conn, insert);

	return r == CENOTE_OK ? LAB_ROW_DONE : row_of_failure(conn, r);
}

static enum lab_row
write_in_transaction(struct lab_client *c, cenote_conn *conn, const char *insert)
{
	int r = run(c, conn, "begin");

	if (r == CENOTE_OK)
		r = run(c, conn, insert);
	if (r != CENOTE_OK)
		return LAB_ROW_LOST;
	r = run(c, conn, "commit");
	return r == CENOTE_OK ? LAB_ROW_DONE : row_of_failure(conn, r);
}

/* Connect anew, and try until that works or the lab is over. */
static bool
connect_again(struct lab_client *c, cenote_conn *conn, const atomic_int *is_over)
{
	int64_t since;

	for (;;) {
		cenote_close(conn);
		since = cnt_now_us();
		if (note_call(c, conn, since, cenote_connect(conn)) == CENOTE_OK)
			return true;
		if (*is_over)
			return false;
		cnt_pause_ms(THINK_MS);
	}
}

static cenote_conn *
make_conn(const char *uri)
{
	cenote_conn *conn;

	if (cenote_conn_create(NULL, &conn) != CENOTE_OK)
		return NULL;
	if (cenote_conn_set_uri(conn, uri) == CENOTE_OK &&
		cenote_conn_set(conn, "connect_timeout", LAB_LIMIT) == CENOTE_OK &&
		cenote_conn_set(conn, "query_timeout", LAB_LIMIT) == CENOTE_OK &&
		cenote_conn_set(conn, "reattach_timeout", LAB_LIMIT) == CENOTE_OK)
		return conn;
	cenote_conn_destroy(conn);
	return NULL;
}

struct client_args {
	struct lab_client *client;
	const atomic_int *is_over;
};

static int
be_client(void *arg)
{
	const struct client_args *a = arg;
	struct lab_client *c = a->client;
	cenote_conn *conn = make_conn(c->uri);
	enum lab_row row = LAB_ROW_NONE;
	char insert[96];

	if (conn == NULL)
		return 1;
	for (int n = 0; !*a->is_over && n < LAB_NUMBERS; n++) {
		bool is_fresh = row != LAB_ROW_DONE || n % STAY == 0;

		if (is_fresh && !connect_again(c, conn, a->is_over))
			break;
		snprintf(insert, sizeof(insert), "insert into ledger values (%d, %d)",
			c->number, n);
		row = n % 4 == 3 ? write_alone(c, conn, insert)
				 : write_in_transaction(c, conn, insert);
		c->rows[n] = (unsigned char)row;
		if (row == LAB_ROW_DONE)
			c->committed_us = cnt_now_us();
		cnt_pause_ms(THINK_MS);
	}
	cenote_conn_destroy(conn);
	return 0;
}

static int
start_clients(struct lab *l)
{
	for (int i = 0; i < LAB_CLIENTS; i++) {
		struct lab_client *c = &l->ledger->clients[i];
		struct client_args a = { c, &l->ledger->is_over };

		c->number = i;
		c->uri = i < LAB_TCP_CLIENTS ? l->tcp_uri : l->daemon.uri;
		l->clients[i] = cnt_fork(be_client, &a);
		if (l->clients[i] < 0)
			return lab_fail(l, "fork");
	}
	return 0;
}

/* Wait until each client has committed after `since`. Returns how long that took; -1: it did not happen in time. */
static int64_t
await_commits(const struct lab *l, int64_t since, int64_t limit_ms)
{
	int64_t last = since;

	for (int i = 0; i < LAB_CLIENTS; i++) {
		const struct lab_client *c = &l->ledger->clients[i];

		while (c->committed_us <= since) {
			if (cnt_now_us() - since > limit_ms * 1000 ||
				!cnt_is_running(l->clients[i]))
				return -1;
			cnt_pause_ms(2);
		}
		if (c->committed_us > last)
			last = c->committed_us;
	}
	return (last - since) / 1000;
}

/* ---- server and daemon ---- */

static int
create_own_server(struct lab *l)
{
	if (cnt_server_create(&l->server, CNT_POSTGRESQL, 0) < 0)
		return -1;
	/* an acknowledged commit has to outlive the server's processes */
	return cnt_server_configure(&l->server, "synchronous_commit = on\n");
}

/* The user and the ledger of the lab. The ledger has no unique index, so that a row can be there twice and the test sees it. */
static int
create_ledger(const struct lab *l)
{
	char sql[256];

	snprintf(sql, sizeof(sql),
		"create role %s login; create schema authorization %s;"
		"create table %s.ledger (client int, n int);"
		"alter table %s.ledger owner to %s",
		l->user, l->user, l->user, l->user, l->user);
	return cnt_server_sql(&l->server, sql);
}

/* 1: the fault cannot be made here. */
static int
start_server(struct lab *l)
{
	const struct lab_fault *f = l->fault;
	int r = 0;

	if (f->has_server)
		r = create_own_server(l);
	else
		l->server = *l->place->server;
	snprintf(l->server_line, sizeof(l->server_line),
		"host=%s port=%d dbname=app user=%s", l->server.run_dir, l->server.port,
		l->user);
	if (r == 0 && f->prepare != NULL)
		r = f->prepare(l);
	if (r == 0 && f->has_server)
		r = cnt_server_run(&l->server);
	return r == 0 ? create_ledger(l) : r;
}

static int
start_daemon(struct lab *l)
{
	const struct lab_fault *f = l->fault;
	char config[2048];

	snprintf(l->tcp_uri, sizeof(l->tcp_uri),
		"cenote://app@127.0.0.1:%d/main?tls=disable", l->place->port);
	snprintf(config, sizeof(config),
		"[cenoted]\nuser = @USER@\nrun_dir = @DIR@/run\nbackend_dir = "
		"@BACKENDS@\n"
		"log = %s\nlisten = 127.0.0.1:%d\nstats_listen = "
		"127.0.0.1:%d\n" CNT_DAEMON_SANDBOX "@LINES@"
		"\n[pool main]\nbackend = postgresql\nserver = %s\nsessions = %d\n"
		"%sauth = trust, trust door=tcp\n"
		"auth_timeout = 5s\nlogin_timeout = 5s\n",
		f->log != NULL ? f->log : "stderr", l->place->port, l->place->stats_port,
		l->server_line, LAB_SESSIONS,
		f->mode != NULL ? f->mode : "mode = transaction\nworkers = 2\n");
	if (cnt_daemon_create(&l->daemon, config) < 0)
		return -1;
	if (f->before_daemon != NULL && f->before_daemon(l) < 0)
		return -1;
	return cnt_daemon_run(&l->daemon);
}

int
lab_sessions(const struct lab *l)
{
	char sql[96], text[64];

	snprintf(sql, sizeof(sql),
		"select count(*) from pg_stat_activity where usename = '%s'", l->user);
	if (cnt_server_ask(&l->server, sql, text, sizeof(text)) < 0)
		return -1;
	return (int)strtol(text, NULL, 10);
}

/* ---- what came out ---- */

/* How often each row is there. */
static int
read_rows(const struct lab *l, unsigned char (*ret_n)[LAB_NUMBERS])
{
	static char text[1024 * 1024];
	char sql[64], *end;

	snprintf(sql, sizeof(sql), "select client, n from %s.ledger", l->user);
	if (cnt_server_ask(&l->server, sql, text, sizeof(text)) < 0)
		return -1;
	for (char *line = text; *line != '\0'; line = end + strspn(end, "\r\n")) {
		long client = strtol(line, &end, 10);
		long n = *end == '|' ? strtol(end + 1, &end, 10) : -1;

		if (client < 0 || client >= LAB_CLIENTS || n < 0 || n >= LAB_NUMBERS)
			return lab_complain(l, "the ledger has a row that nobody wrote");
		ret_n[client][n]++;
	}
	return 0;
}

/* Compare the server's table with what the clients were told. */
static int
compare(const struct lab *l)
{
	static unsigned char there[LAB_CLIENTS][LAB_NUMBERS];
	int n_wrong = 0;

	if (read_rows(l, there) < 0)
		return -1;
	for (int i = 0; i < LAB_CLIENTS; i++) {
		for (int n = 0; n < LAB_NUMBERS; n++) {
			int told = l->ledger->clients[i].rows[n], is = there[i][n];

			l->report->n_rows[told]++;
			if (is <= (told >= LAB_ROW_UNKNOWN) &&
				is >= (told == LAB_ROW_DONE))
				continue;
			if (n_wrong++ < 5)
				fprintf(stderr,
					"# %s: row %d/%d: told %d, there %d times\n",
					l->fault->what, i, n, told, is);
		}
	}
	return n_wrong == 0 ? 0 : -1;
}

/* Add up what the clients saw. */
static void
merge_states(const struct lab *l, struct lab_client *ret_all)
{
	memset(ret_all->states, 0, sizeof(ret_all->states));
	for (int i = 0; i < LAB_CLIENTS; i++) {
		const struct lab_state *s = l->ledger->clients[i].states;

		for (; s->n > 0; s++) {
			for (unsigned k = 0; k < s->n; k++)
				note_failure(ret_all, s->sqlstate);
		}
	}
}

/* Write the SQLSTATEs to the report. Only those of the fault may be among them. */
static int
judge_states(const struct lab *l)
{
	static struct lab_client all;
	char *to = l->report->saw;
	int n_wrong = 0;

	merge_states(l, &all);
	for (const struct lab_state *s = all.states; s->n > 0; s++) {
		size_t room = sizeof(l->report->saw) - (size_t)(to - l->report->saw);

		to += snprintf(to, room, "%s%s (%u)", s == all.states ? "" : ", ",
			s->sqlstate, s->n);
		if (s->sqlstate[0] == '\0' ||
			strstr(l->fault->states, s->sqlstate) == NULL)
			n_wrong++;
		if (to >= l->report->saw + sizeof(l->report->saw) - 16)
			break;
	}
	return n_wrong == 0 ? 0 : lab_complain(l, l->report->saw);
}

static int
judge_waits(const struct lab *l)
{
	int64_t longest = 0;

	for (int i = 0; i < LAB_CLIENTS; i++) {
		if (l->ledger->clients[i].longest_us > longest)
			longest = l->ledger->clients[i].longest_us;
	}
	l->report->longest_ms = longest / 1000;
	return longest / 1000 <= LAB_LIMIT_MS + LAB_SLACK_MS
		       ? 0
		       : lab_complain(l, "a client waited longer than its limit");
}

/* All clients have gone. The server must have the pool's sessions, and no others. */
static int
judge_sessions(const struct lab *l)
{
	int64_t until = cnt_now_ms() + LAB_RECOVERY_MS;

	while ((l->report->n_sessions = lab_sessions(l)) != LAB_SESSIONS) {
		if (cnt_now_ms() > until)
			return lab_complain(l,
				"the server does not have exactly the pool's sessions");
		cnt_pause_ms(50);
	}
	return 0;
}

static int
end_clients(const struct lab *l)
{
	int n_failed = 0;

	l->ledger->is_over = 1;
	for (int i = 0; i < LAB_CLIENTS; i++)
		n_failed += l->clients[i] > 0 && cnt_wait(l->clients[i]) != 0;
	return n_failed == 0 ? 0 : lab_complain(l, "a client failed");
}

/* ---- the course of a lab ---- */

static int
begin(struct lab *l)
{
	if (start_daemon(l) < 0 || start_clients(l) < 0)
		return -1;
	if (await_commits(l, cnt_now_us(), START_MS) < 0)
		return lab_complain(l, "clients do not begin to work");
	cnt_pause_ms(CALM_MS);
	for (int i = 0; i < LAB_CLIENTS; i++)
		l->ledger->clients[i].longest_us = 0;
	return 0;
}

static int
make_fault(struct lab *l)
{
	const struct lab_fault *f = l->fault;

	if (f->begin(l) < 0)
		return -1;
	cnt_pause_ms(f->hold_ms);
	if (f->end != NULL && f->end(l) < 0)
		return -1;
	l->report->recovery_ms = await_commits(l, cnt_now_us(), LAB_RECOVERY_MS);
	cnt_pause_ms(CALM_MS);
	return l->report->recovery_ms >= 0
		       ? 0
		       : lab_complain(l, "a client does not work again");
}

static int
judge(const struct lab *l)
{
	int r = judge_states(l);

	if (judge_waits(l) < 0)
		r = -1;
	if (judge_sessions(l) < 0)
		r = -1;
	if (compare(l) < 0)
		r = -1;
	return r;
}

static int
run_all(struct lab *l)
{
	int r = begin(l);

	if (r == 0)
		r = make_fault(l);
	if (end_clients(l) < 0)
		r = -1;
	if (r == 0)
		r = judge(l);
	return r;
}

static void
finish(struct lab *l, int r)
{
	if (l->victim > 0)
		kill(l->victim, SIGCONT);
	if (r < 0 && l->daemon.dir[0] != '\0')
		cnt_daemon_show_log(&l->daemon);
	if (l->daemon.dir[0] != '\0')
		cnt_daemon_stop(&l->daemon);
	if (l->fault->has_server)
		cnt_server_stop(&l->server);
}

int
lab_run(const struct lab_fault *fault, const struct lab_place *place,
	struct lab_report *report)
{
	struct lab l = { .fault = fault, .place = place, .report = report };
	int r;

	l.ledger = mmap(NULL, sizeof(*l.ledger), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (l.ledger == MAP_FAILED)
		return 1;
	snprintf(l.user, sizeof(l.user), "lab%d", (int)(fault - lab_faults));
	r = start_server(&l);
	if (r == 0)
		r = run_all(&l);
	finish(&l, r);
	/* 1: the fault cannot be made here */
	return r < 0;
}
