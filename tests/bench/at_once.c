/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Thousands of clients connect at once to a pool of a few sessions, while others work there already.
 * The newcomers belong to eleven users, one of whom has four fifths of them. Each newcomer does a few
 * turns, of which the first takes 5 ms, and goes. It measures how long they wait, what the others notice, and whether the users get
 * equal shares.
 *
 *     at_once unix|tcp [-m session|transaction] [-c CLIENTS] [-s SESSIONS] [-n TURNS] [-r SECONDS]
 *
 * It fails if a client is refused or gets another error, if the others stand still, or if the busiest
 * user gets more than 1.2 of its share. Unix users other than its own need root; without root, all
 * newcomers on the unix socket are one user. bench/README.md has figures.
 */
#include "load.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* User 0 is the busiest. Of each 50 newcomers, 40 are his, and each other user has one. */
#define USERS     11u
#define FIRST_UID 61000u
/* The first transaction of a newcomer takes so long that all have come before many are served. */
#define SLOW      "select pg_sleep(0.005)"
#define QUICK     "select 1"
/* So many clients of a user are served or have a ticket when none of it waits any more: the pool has a ticket for each session. */
#define N_AHEAD   (2 * options.n_sessions / USERS + 1)
/* How much the busiest user may get of what would be an equal share. */
#define SHARE_MAX 1.2
/* How long one of the others pauses between two turns. */
#define PAUSE_NS  20000000

static struct options {
	bool by_tcp;
	bool is_session_mode;
	unsigned n_new;
	unsigned n_sessions;
	unsigned n_turns;
	double rest_s; /* before and after the crowd */
} options = { .n_new = 5000, .n_sessions = 8, .n_turns = 2, .rest_s = 5 };

static struct load_stage stage;
static char uri[CNT_PATH_MAX + 64];
static unsigned n_old; /* the clients that work already; they are the first ones */
static struct load_figures others[LOAD_PHASES];
/* Of the newcomers. */
static struct load_figures first_turns, later_turns;
static int64_t came_ns, served_ns; /* when they came, and when the last one was served */
static unsigned n_left;
/* First sessions of each user while all newcomers are there and all users have some that wait; and how many wait. */
static uint64_t n_got[USERS], n_wanted[USERS];
static atomic_bool is_all_here; /* cenoted has accepted all newcomers */
static bool is_one_done; /* no client of some user waits any more */

/* ---- what happens ---- */

static bool
is_new(const struct load *l, const struct load_client *c)
{
	return (size_t)(c - l->clients) >= n_old;
}

static void
prepare(struct load *l, struct load_client *c)
{
	if (!is_new(l, c))
		return;
	snprintf(c->sql[0], sizeof(c->sql[0]), "%s", c->n_done == 0 ? SLOW : QUICK);
	if (l->phase == LOAD_BEFORE)
		came_ns = load_now_ns();
	l->phase = LOAD_DURING;
}

/* Count at the time when a client gets its session: until it has sent its statement, the pool may have taken the session back. */
static void
attached(struct load *l, struct load_client *c)
{
	if (!is_new(l, c))
		return;
	if (is_all_here && !is_one_done)
		n_got[c->user]++;
	is_one_done |= --n_wanted[c->user] <= N_AHEAD;
}

static void
done(struct load *l, struct load_client *c, int64_t ns)
{
	if (is_new(l, c)) {
		load_add(c->n_done == 1 ? &first_turns : &later_turns, ns);
		return;
	}
	load_count(others, l, c, ns);
	if (l->phase == LOAD_AFTER &&
		load_now_ns() > served_ns + (int64_t)(options.rest_s * 1e9))
		l->is_over = true;
}

static void
ended(struct load *l, struct load_client *c)
{
	if (!is_new(l, c) || --n_left > 0)
		return;
	served_ns = load_now_ns();
	l->phase = LOAD_AFTER;
}

/* Runs beside the loop. The kernel keeps clients in the order in which they connect, until cenoted accepts them. So the answer to
 * the last one shows that all have been accepted. */
static void *
await_all(void *arg)
{
	cenote_result *res = NULL;
	cenote_conn *conn = load_handle(arg);

	while (stage.load.n_asked < stage.load.n_clients && !stage.load.is_over)
		cnt_pause_ms(1);
	if (conn != NULL && cenote_conn_set(conn, "user", "old") == CENOTE_OK &&
		cenote_set_nonblocking(conn, CENOTE_BLOCKING) == CENOTE_OK)
		is_all_here = cenote_status(conn, "pools", &res) == CENOTE_OK;
	cenote_result_destroy(res);
	cenote_conn_destroy(conn);
	return NULL;
}

/* ---- the clients ---- */

static int
name_user(struct load_client *c)
{
	char name[16];

	snprintf(name, sizeof(name), "user%u", c->user);
	if (options.by_tcp)
		snprintf(c->address, sizeof(c->address), "127.0.1.%u", 1 + c->user);
	else if (geteuid() == 0)
		c->uid = FIRST_UID + c->user;
	return cenote_conn_set(c->conn, "user", name);
}

static int
make_client(struct load_client *c, unsigned number)
{
	snprintf(c->sql[0], sizeof(c->sql[0]), "%s", QUICK);
	c->conn = load_handle(uri);
	if (c->conn == NULL)
		return -1;
	if (number < n_old) {
		c->n_turns = -1;
		c->pause_ns = PAUSE_NS;
		return cenote_conn_set(c->conn, "user", "old");
	}
	number = (number - n_old) % 50;
	c->user = number < 40 ? 0 : number - 39;
	c->n_turns = (int)options.n_turns;
	c->look_ns = load_now_ns() + (int64_t)(options.rest_s * 1e9);
	n_wanted[c->user]++;
	return name_user(c);
}

static int
make_clients(void)
{
	n_old = options.is_session_mode ? options.n_sessions / 2 : 64;
	n_left = options.n_new;
	stage.load.n_clients = n_old + options.n_new;
	stage.load.clients = calloc(stage.load.n_clients, sizeof(*stage.load.clients));
	if (stage.load.clients == NULL)
		return -1;
	for (unsigned i = 0; i < stage.load.n_clients; i++) {
		if (make_client(&stage.load.clients[i], i) < 0)
			return -1;
	}
	stage.load.attached = attached;
	stage.load.prepare = prepare;
	stage.load.done = done;
	stage.load.ended = ended;
	return 0;
}

/* ---- the pool ---- */

/* Each waiting client costs a descriptor here and one in cenoted, which wants to keep three quarters
 * of its own for other things than newcomers. */
static void
limit_clients(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_cur / 4 >= options.n_new)
		return;
	options.n_new = (unsigned)(limit.rlim_cur / 4 / 50 * 50);
	fprintf(stderr, "only %llu descriptors may be open, so %u clients come\n",
		(unsigned long long)limit.rlim_cur, options.n_new);
}

static int
start(void)
{
	char config[4096], lines[512];
	int port = cnt_server_free_port();

	limit_clients();
	if (cnt_server_start(&stage.server, CNT_POSTGRESQL, 0) < 0)
		return -1;
	snprintf(lines, sizeof(lines), "listen = 127.0.0.1:%d\nsocket_mode = 0666\n",
		port);
	setenv("CNT_DAEMON_LINES", lines, 1);
	snprintf(lines, sizeof(lines),
		"sessions = %u..%u\nmode = %s\nqueue_timeout = 60s\n"
		"auth = trust door=tcp, trust\nallow_users = *\n",
		options.n_sessions, options.n_sessions,
		options.is_session_mode ? "session" : "transaction");
	if (cnt_daemon_start(&stage.pool,
		    cnt_server_config(&stage.server, lines, config, sizeof(config))) < 0)
		return -1;
	snprintf(uri, sizeof(uri), "%s", stage.pool.uri);
	if (options.by_tcp)
		snprintf(uri, sizeof(uri), "cenote://127.0.0.1:%d/main", port);
	/* the other users connect there */
	return chmod(stage.pool.dir, 0711);
}

/* ---- the result ---- */

/* What the busiest user got, as a multiple of an equal share; 0: there is only one user. */
static double
share_of_busiest(void)
{
	uint64_t sum = 0;

	if (!options.by_tcp && geteuid() != 0)
		return 0;
	for (unsigned i = 0; i < USERS; i++)
		sum += n_got[i];
	return sum > 0 ? (double)n_got[0] * USERS / (double)sum : 0;
}

static void
print_figures(void)
{
	printf("%u clients connect at once to %u sessions (%s, mode = %s), do %u "
	       "transactions each, and go; %u others work; %llu errors\n\n",
		options.n_new, options.n_sessions, options.by_tcp ? "TCP" : "unix",
		options.is_session_mode ? "session" : "transaction", options.n_turns,
		n_old, (unsigned long long)stage.load.n_errors);
	load_print_head(stdout);
	load_print(stdout, "the newcomers' first", &first_turns);
	if (later_turns.n_turns > 0)
		load_print(stdout, "the newcomers' next", &later_turns);
	load_print(stdout, "the others', before", &others[LOAD_BEFORE]);
	load_print(stdout, "the others', during", &others[LOAD_DURING]);
	load_print(stdout, "the others', after", &others[LOAD_AFTER]);
	printf("\nAll newcomers were served in %.2f s. The busiest user got %.2f of an "
	       "equal share.\n\n",
		(double)(served_ns - came_ns) / 1e9, share_of_busiest());
}

static int
measure(void)
{
	pthread_t thread;
	int r;

	if (make_clients() < 0 || pthread_create(&thread, NULL, await_all, uri) != 0)
		return -1;
	r = load_run(&stage.load);
	stage.load.is_over = true;
	pthread_join(thread, NULL);
	if (r < 0)
		return -1;
	print_figures();
	return stage.load.n_errors == 0 && first_turns.n_turns == options.n_new &&
			       others[LOAD_DURING].n_turns > 0 &&
			       others[LOAD_AFTER].n_turns > 0 &&
			       share_of_busiest() <= SHARE_MAX
		       ? 0
		       : -1;
}

/* ---- options ---- */

static const char usage[] =
	"usage: at_once unix|tcp [-m session|transaction] [-c CLIENTS] [-s SESSIONS] "
	"[-n TURNS] [-r SECONDS]\n"
	"  -m  mode of the pool (transaction)\n"
	"  -c  how many clients come (5000)\n"
	"  -s  sessions of the pool, at least 2 (8)\n"
	"  -n  transactions of each client (2)\n"
	"  -r  how long to measure before they come, and after they have gone (5 s)\n";

static int
parse(int argc, char **argv)
{
	const char *mode = "transaction";
	const struct load_option list[] = {
		{ .letter = 'm', .word = &mode },
		{ .letter = 'c', .number = &options.n_new },
		{ .letter = 's', .number = &options.n_sessions },
		{ .letter = 'n', .number = &options.n_turns },
		{ .letter = 'r', .time = &options.rest_s },
		{ 0 },
	};

	if (argc < 2 || (strcmp(argv[1], "unix") != 0 && strcmp(argv[1], "tcp") != 0))
		return load_usage(usage);
	options.by_tcp = strcmp(argv[1], "tcp") == 0;
	if (load_parse(argc, argv, list, usage) < 0)
		return -1;
	options.is_session_mode = strcmp(mode, "session") == 0;
	return options.n_sessions > 1 && (options.is_session_mode ||
						 strcmp(mode, "transaction") == 0)
		       ? 0
		       : load_usage(usage);
}

int
main(int argc, char **argv)
{
	return parse(argc, argv) < 0 ? 2 : load_main(&stage, start, measure);
}
