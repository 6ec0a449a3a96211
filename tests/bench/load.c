/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Many clients of a pool in one thread; load.h says what they do. All calls of libcenote are
 * non-blocking, and the loop waits for all clients in epoll.
 */
#include "load.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* How often to look for clients whose pause is over. */
#define SWEEP_NS   1000000
/* How many clients begin a turn before those that wait are served again. */
#define BEGINNERS  32
#define N_EVENTS   256
/* How many errors are shown. */
#define ERRORS_MAX 10

int64_t
load_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* ---- who connects ---- */

/* The client whose calls the loop makes now. */
static _Thread_local const struct load_client *current;

static void
bind_to(int fd, const char *address)
{
	struct sockaddr_in from = { .sin_family = AF_INET };
	int on = 1;

	(void)setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on));
	if (inet_pton(AF_INET, address, &from.sin_addr) != 1 ||
		bind(fd, (const struct sockaddr *)&from, sizeof(from)) < 0)
		perror(address);
}

/* libcenote connects by this function instead of libc's. So each client can come from an address and
 * a user of its own, although all are in one process. */
int
connect(int fd, const struct sockaddr *addr, socklen_t len)
{
	bool is_other =
		current != NULL && addr->sa_family == AF_UNIX && current->uid != 0;
	int r, saved;

	if (current != NULL && addr->sa_family == AF_INET && current->address[0] != '\0')
		bind_to(fd, current->address);
	if (is_other && seteuid(current->uid) < 0)
		return -1;
	r = (int)syscall(SYS_connect, fd, addr, len);
	saved = errno;
	if (is_other && seteuid(0) < 0)
		abort();
	errno = saved;
	return r;
}

cenote_conn *
load_handle(const char *uri)
{
	cenote_conn *conn = NULL;

	if (cenote_conn_create(NULL, &conn) == CENOTE_OK &&
		cenote_conn_set_uri(conn, uri) == CENOTE_OK &&
		cenote_set_nonblocking(conn, CENOTE_NONBLOCKING) == CENOTE_OK)
		return conn;
	fprintf(stderr, "%s: %s\n", uri,
		conn != NULL ? cenote_diag_message(cenote_conn_diag(conn))
			     : "out of memory");
	cenote_conn_destroy(conn);
	return NULL;
}

/* ---- a client ---- */

static void
end_client(struct load *l, struct load_client *c)
{
	cenote_conn_destroy(c->conn);
	c->conn = NULL;
	l->n_running--;
	if (l->ended != NULL)
		l->ended(l, c);
}

static void
report(struct load *l, const struct load_client *c, int status, const cenote_diag *diag)
{
	if (l->n_errors++ < ERRORS_MAX)
		fprintf(stderr, "client %zu, after %.3f s, %s: %s: %s\n",
			(size_t)(c - l->clients),
			(double)(load_now_ns() - c->begun_ns) / 1e9,
			c->at < 0 ? "connecting" : c->sql[c->at],
			cenote_status_name(status), cenote_diag_message(diag));
}

/* Run the statement that is next. 1: it waits; 0; -1: it failed, and the client has ended. */
static int
advance(struct load *l, struct load_client *c)
{
	cenote_result *res = NULL;
	int r;

	current = c;
	if (c->at < 0)
		r = cenote_connect(c->conn);
	else
		r = cenote_query(c->conn, c->sql[c->at], CENOTE_NTS, NULL, NULL, &res);
	current = NULL;
	if (r == CENOTE_AGAIN)
		return 1;
	if (r == CENOTE_OK && c->at >= 0 &&
		cenote_result_kind(res) == CENOTE_RESULT_ERROR)
		r = CENOTE_ERR_SERVER;
	if (r < 0)
		report(l, c, r,
			res != NULL ? cenote_result_diag(res)
				    : cenote_conn_diag(c->conn));
	cenote_result_destroy(res);
	if (r < 0)
		end_client(l, c);
	return r < 0 ? -1 : 0;
}

static void
begin_turn(struct load *l, struct load_client *c)
{
	if (l->prepare != NULL)
		l->prepare(l, c);
	c->phase = (enum load_phase)l->phase;
	c->begun_ns = load_now_ns();
}

/* 0: the client goes on at once. 1: it pauses or has ended. */
static int
end_turn(struct load *l, struct load_client *c)
{
	int64_t now_ns = load_now_ns();

	c->n_done++;
	l->done(l, c, now_ns - c->begun_ns);
	if (c->n_turns > 0)
		c->n_turns--;
	if (c->n_turns == 0) {
		end_client(l, c);
		return 1;
	}
	c->at = 0;
	if (c->comes_and_goes) {
		cenote_close(c->conn);
		c->at = -1;
	}
	c->begun_ns = 0;
	c->look_ns = now_ns + c->pause_ns;
	return c->pause_ns > 0;
}

/* The descriptor may be another one after each call, and one that was closed and opened again has
 * the same number. So each wait registers it anew, for one event. */
static void
watch(struct load *l, struct load_client *c)
{
	int wants = cenote_wants(c->conn);
	int fd = cenote_fd(c->conn);
	int wait_ms = cenote_wait_ms(c->conn);
	struct epoll_event event = {
		.events = EPOLLONESHOT | (wants & CENOTE_WANTS_READ ? EPOLLIN : 0) |
			  (wants & CENOTE_WANTS_WRITE ? EPOLLOUT : 0),
		.data.u32 = (uint32_t)(c - l->clients),
	};

	c->look_ns =
		wait_ms >= 0 ? load_now_ns() + wait_ms * INT64_C(1000000) : INT64_MAX;
	if (!c->has_asked && fd >= 0 && wants == CENOTE_WANTS_READ) {
		c->has_asked = true;
		l->n_asked++;
	}
	if (fd < 0)
		return;
	if (epoll_ctl(l->epoll_fd, EPOLL_CTL_MOD, fd, &event) < 0 &&
		epoll_ctl(l->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0)
		perror("epoll_ctl");
}

/* Let the client work until it waits, pauses or has ended. */
static void
go_on(struct load *l, struct load_client *c)
{
	for (;;) {
		int r;

		if (c->begun_ns == 0)
			begin_turn(l, c);
		r = advance(l, c);
		if (r > 0)
			watch(l, c);
		if (r != 0)
			return;
		if (c->at < 0 && c->n_done == 0 && l->attached != NULL)
			l->attached(l, c);
		c->at++;
		if (c->at > 0 && (c->at == LOAD_STATEMENTS || c->sql[c->at][0] == '\0') &&
			end_turn(l, c) != 0)
			return;
	}
}

/* ---- the loop ---- */

/* Go on with the clients whose pause is over. */
static void
sweep(struct load *l)
{
	int64_t now_ns = load_now_ns();
	int n = 0;

	if (now_ns < l->next_sweep_ns)
		return;
	for (; l->swept < l->n_clients && n < BEGINNERS; l->swept++) {
		struct load_client *c = &l->clients[l->swept];

		if (c->conn == NULL || c->look_ns > now_ns)
			continue;
		go_on(l, c);
		n++;
	}
	if (l->swept < l->n_clients)
		return;
	l->swept = 0;
	l->next_sweep_ns = now_ns + SWEEP_NS;
}

int
load_run(struct load *l)
{
	struct epoll_event events[N_EVENTS];

	l->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (l->epoll_fd < 0) {
		perror("epoll_create1");
		return -1;
	}
	l->n_running = l->n_clients;
	for (size_t i = 0; i < l->n_clients; i++)
		l->clients[i].at = -1;
	while (!l->is_over && l->n_running > 0) {
		int n = epoll_wait(l->epoll_fd, events, N_EVENTS, l->swept > 0 ? 0 : 1);

		for (int i = 0; i < n; i++) {
			struct load_client *c = &l->clients[events[i].data.u32];

			/* a yield may arrive while the client pauses */
			if (c->conn != NULL && c->begun_ns != 0)
				go_on(l, c);
		}
		sweep(l);
	}
	for (size_t i = 0; i < l->n_clients; i++) {
		if (l->clients[i].conn != NULL)
			end_client(l, &l->clients[i]);
	}
	close(l->epoll_fd);
	return 0;
}

/* ---- figures ---- */

void
load_add(struct load_figures *f, int64_t ns)
{
	f->n_turns++;
	if (ns > f->longest_ns)
		f->longest_ns = ns;
	cnb_latency_add(&f->latency, ns);
}

void
load_count(struct load_figures *figures, const struct load *l,
	const struct load_client *c, int64_t ns)
{
	load_add(&figures[c->phase == LOAD_DURING ? LOAD_DURING : l->phase], ns);
}

void
load_print_head(FILE *out)
{
	fputs("| | transactions | p50, ms | p99 | p99.9 | longest |\n"
	      "|---|--:|--:|--:|--:|--:|\n",
		out);
}

void
load_print(FILE *out, const char *what, const struct load_figures *f)
{
	fprintf(out, "| %s | %llu | %.1f | %.1f | %.1f | %.1f |\n", what,
		(unsigned long long)f->n_turns,
		cnb_latency_quantile(&f->latency, 0.5) / 1e6,
		cnb_latency_quantile(&f->latency, 0.99) / 1e6,
		cnb_latency_quantile(&f->latency, 0.999) / 1e6,
		(double)f->longest_ns / 1e6);
}

/* ---- the program ---- */

int
load_usage(const char *usage)
{
	fputs(usage, stderr);
	return -1;
}

/* Set the option's value. 0; -1: the text is wrong. */
static int
set_option(const struct load_option *option, const char *text)
{
	unsigned long n;
	double v;
	char *end;

	if (option->word != NULL) {
		*option->word = text;
		return 0;
	}
	if (text[0] < '0' || text[0] > '9')
		return -1;
	if (option->time != NULL) {
		v = strtod(text, &end);
		if (*end != '\0' || !isfinite(v))
			return -1;
		*option->time = v;
		return 0;
	}
	n = strtoul(text, &end, 10);
	if (*end != '\0' || n == 0 || n > INT_MAX)
		return -1;
	*option->number = (unsigned)n;
	return 0;
}

int
load_parse(int argc, char **argv, const struct load_option *options, const char *usage)
{
	char letters[32] = "";
	size_t n = 0;
	int letter;

	for (size_t i = 0; options[i].letter != 0 && n + 2 < sizeof(letters); i++) {
		letters[n++] = options[i].letter;
		letters[n++] = ':';
	}
	optind = 2;
	while ((letter = getopt(argc, argv, letters)) != -1) {
		const struct load_option *option = options;

		while (option->letter != 0 && option->letter != letter)
			option++;
		if (option->letter == 0 || set_option(option, optarg) < 0)
			return load_usage(usage);
	}
	return optind == argc ? 0 : load_usage(usage);
}

int
load_main(struct load_stage *stage, int (*start)(void), int (*measure)(void))
{
	int r;

	if (!cnt_server_is_installed(CNT_POSTGRESQL))
		return 77;
	r = start();
	if (r == 0)
		r = measure();
	if (stage->pool.pid != 0 && cnt_daemon_stop(&stage->pool) < 0)
		r = -1;
	cnt_server_stop(&stage->server);
	free(stage->load.clients);
	return r < 0 ? 1 : 0;
}
