/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The master's life: it opens the sockets, forks the door and the workers, waits for signals and
 * for messages of its children, reloads, drains and ends. main() calls cnd_master_run().
 */
#include "master_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "activation.h"
#include "upgrade.h"
#include "shared/ipc.h"
#include "shared/log.h"
#include "notify.h"
#include "shared/place.h"
#include "shared/priv.h"
#include "shared/units.h"

/* How long after the order to end now the master kills the processes that are left. */
#define KILL_MS  2000
/* In an upgrade: how long clients that are already with the door may take to get a session here. */
#define LEAVE_MS 500
/* The pause between two looks at an address that is in use. */
#define AWAIT_MS 50
/* How often the master notes that it works, while somebody can ask. */
#define BEAT_MS  1000

static volatile sig_atomic_t n_terms;
static volatile sig_atomic_t n_hups;

static void
on_signal(int number)
{
	if (number == SIGTERM || number == SIGINT)
		n_terms++;
	if (number == SIGHUP)
		n_hups++;
}

static void
set_signals(void)
{
	static const int numbers[] = { SIGTERM, SIGINT, SIGHUP, SIGCHLD };
	struct sigaction act = { .sa_handler = on_signal };
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	sigset_t mask;

	sigemptyset(&mask);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		sigaddset(&mask, numbers[i]);
		sigaction(numbers[i], &act, NULL);
	}
	sigaction(SIGPIPE, &ignore, NULL);
	/* the children inherit this: a log that has reached the limit of its size only loses lines */
	sigaction(SIGXFSZ, &ignore, NULL);
	sigaction(SIGUSR1, &ignore, NULL);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	sigemptyset(&cnd_the_master.waiting_mask);
}

/* ---- ending ---- */

static void
close_listeners(void)
{
	const struct cnd_listens nowhere = { .n = 0 };
	struct cnd_listeners none;

	cnd_listeners_init(&none);
	cnd_children_end_services();
	cnd_listeners_adopt(&cnd_the_master.stats_listeners, &nowhere, &none, -1);
	cnd_listeners_adopt(
		&cnd_the_master.listeners, &nowhere, &none, cnd_the_master.control[0]);
}

static void
begin_draining(void)
{
	cnd_log(LOG_NOTICE, "draining");
	/* Remove the names first, so that clients whose sessions end here find the next cenoted. The next
	 * cenoted needs the addresses. */
	if (cnd_the_master.phase == CND_PHASE_SERVING) {
		cnd_notify("STOPPING=1\nSTATUS=draining");
		cnd_pools_unlink();
		close_listeners();
	}
	cnd_the_master.phase = CND_PHASE_DRAINING;
	cnd_the_master.phase_until_ms =
		cnd_now_ms() + cnd_the_master.config->drain_timeout_ms;
	cnd_pools_resume_all();
	cnd_children_order_all(CND_ORDER_DRAIN);
}

/* The process `successor` has all sockets now. Take no more clients, and drain. */
static void
leave(pid_t successor)
{
	char state[32];

	cnd_log(LOG_NOTICE, "process %d serves now", (int)successor);
	snprintf(state, sizeof(state), "MAINPID=%d", (int)successor);
	cnd_notify(state);
	cnd_pools_leave();
	close_listeners();
	if (cnd_the_master.pid_file >= 0)
		close(cnd_the_master.pid_file);
	cnd_the_master.pid_file = -1;
	/* the clients that are already with the door still get a session */
	cnd_the_master.phase = CND_PHASE_LEAVING;
	cnd_the_master.phase_until_ms = cnd_now_ms() + LEAVE_MS;
}

static void
begin_ending(void)
{
	cnd_log(LOG_NOTICE, "ending now");
	cnd_the_master.phase = CND_PHASE_ENDING;
	cnd_the_master.phase_until_ms = cnd_now_ms() + KILL_MS;
	cnd_children_order_all(CND_ORDER_NOW);
}

/* While draining or ending, act on time and signals. */
static void
go_on_ending(int64_t now)
{
	if (cnd_the_master.phase == CND_PHASE_LEAVING &&
		(n_terms > 0 || now >= cnd_the_master.phase_until_ms))
		begin_draining();
	else if (cnd_the_master.phase == CND_PHASE_DRAINING &&
		 (n_terms > 1 || now >= cnd_the_master.phase_until_ms))
		begin_ending();
	else if (cnd_the_master.phase == CND_PHASE_ENDING &&
		 now >= cnd_the_master.phase_until_ms)
		cnd_children_kill();
}

void
cnd_master_drain(bool is_now)
{
	if (is_now || n_terms == 0)
		n_terms += is_now ? 2 : 1;
}

/* ---- life ---- */

/* Whether the door's message has the right number of descriptors and a valid index. */
static int
is_sense(const struct cnd_ipc *m)
{
	switch (m->kind) {
	case CND_IPC_HELP:
		return m->n_fds == 1 && m->index < CND_POOL_RECORD &&
		       m->serial < CND_HELPERS_MAX;
	case CND_IPC_WAITING:
		return m->n_fds == 0 && m->index < CND_POOL_RECORD;
	case CND_IPC_NUDGE:
	case CND_IPC_BAD:
		return m->n_fds == 0 && m->n_bytes % sizeof(uint16_t) == 0;
	default:
		return 0;
	}
}

/* Call `f` for each slot in the message. 0: a slot in it does not exist. */
static int
for_each_slot(const struct cnd_ipc *m, void (*f)(uint32_t slot))
{
	for (uint32_t i = 0; i < m->n_bytes / sizeof(uint16_t); i++) {
		uint16_t slot;

		memcpy(&slot, m->bytes + i * sizeof(slot), sizeof(slot));
		if (slot >= cnd_the_master.child.board->n_slots)
			return 0;
		f(slot);
	}
	return 1;
}

/* 0: the message is nonsense. */
static int
obey_door(const struct cnd_ipc *m)
{
	if (m->kind == CND_IPC_NUDGE)
		return for_each_slot(m, cnd_children_nudge);
	if (m->kind == CND_IPC_BAD)
		return for_each_slot(m, cnd_children_end_bad);
	if (m->kind == CND_IPC_HELP)
		cnd_children_fork_helper(m);
	else if (cnd_the_master.phase <= CND_PHASE_LEAVING)
		cnd_children_grow(&cnd_the_master.pools[m->index]);
	return 1;
}

static void
hear_door(void)
{
	static struct cnd_ipc m;
	int r;

	while ((r = cnd_ipc_receive(cnd_the_master.control[0], &m)) == -EMFILE ||
		(r > 0 && is_sense(&m) && obey_door(&m))) {
		if (r < 0)
			cnd_children_lose_helped(&m);
	}
	if (r > 0)
		cnd_ipc_drop(&m);
	if (r != 0)
		cnd_children_end_bad_door();
}

static int64_t
tend_tickets(int64_t now)
{
	int64_t until = CND_NEVER;

	for (size_t i = 0; i < CND_POOL_RECORD; i++) {
		int64_t due = cnd_tls_tickets_tend(&cnd_the_master.pools[i].tickets, now);

		if (due < until)
			until = due;
	}
	return until;
}

static int64_t
tend_upgrade(int64_t now)
{
	struct cnd_upgrade_news news;
	int64_t again = cnd_upgrade_look(now, &news);

	/* whoever asked may connect after the answer: then this process must take no client any more */
	if (news.successor != 0)
		leave(news.successor);
	if (news.successor != 0 || news.why != NULL)
		cnd_admin_end_upgrade(news.why, news.successor);
	return again;
}

static int64_t
earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* `/live` of the statistics says whether the master works. Without statistics, the master need not wake up for that. */
static int64_t
beat(int64_t now)
{
	if (cnd_the_master.config->stats.n == 0)
		return CND_NEVER;
	cnd_scoreboard_beat(cnd_the_master.child.board, now);
	return now + BEAT_MS;
}

static int64_t
tend(int64_t now)
{
	int64_t until = tend_tickets(now);

	until = earlier(until, beat(now));
	until = earlier(until, cnd_children_keep_services(now));
	until = earlier(until, cnd_admin_tend(now));
	until = earlier(until, tend_upgrade(now));
	if (cnd_the_master.door == 0 && now >= cnd_the_master.door_again_ms)
		cnd_children_fork_door();
	if (cnd_the_master.door == 0)
		until = earlier(until, cnd_the_master.door_again_ms);
	if (cnd_the_master.phase != CND_PHASE_SERVING)
		return earlier(until, cnd_the_master.phase_until_ms);
	for (size_t i = 0; i < CND_POOL_RECORD; i++)
		until = earlier(
			until, cnd_children_fill_up(&cnd_the_master.pools[i], now));
	return until;
}

static void
wait_for_something(int64_t until)
{
	static struct pollfd fds[2 + 1 + CND_ADMIN_CLIENTS + CND_SLOTS_MAX];
	struct timespec left = { 0, 0 };
	int64_t ms = until == CND_NEVER ? 0 : until - cnd_now_ms();
	nfds_t groups = 2 + cnd_admin_gather(fds + 2);
	nfds_t n = groups + cnd_groups_gather(fds + groups);

	fds[0] = (struct pollfd){ .fd = cnd_the_master.control[0], .events = POLLIN };
	/* tend_upgrade() reads it, in the next turn of the loop */
	fds[1] = (struct pollfd){ .fd = cnd_upgrade_fd(), .events = POLLIN };
	if (ms > 0) {
		left.tv_sec = (time_t)(ms / 1000);
		left.tv_nsec = (long)(ms % 1000) * 1000000;
	}
	if (ppoll(fds, n, until == CND_NEVER ? NULL : &left,
		    &cnd_the_master.waiting_mask) <= 0)
		return;
	if (fds[0].revents != 0)
		hear_door();
	cnd_groups_hear(fds + groups, n - groups);
	cnd_admin_hear(fds + 2);
}

static int
serve(void)
{
	int n_hups_seen = 0;

	while (cnd_the_master.phase == CND_PHASE_SERVING ||
		cnd_children_n_workers() > 0) {
		wait_for_something(tend(cnd_now_ms()));
		cnd_children_reap();
		if (n_terms > 0 && cnd_the_master.phase == CND_PHASE_SERVING)
			begin_draining();
		if (cnd_the_master.phase != CND_PHASE_SERVING)
			go_on_ending(cnd_now_ms());
		else if (n_hups != n_hups_seen)
			(void)cnd_pools_reload();
		n_hups_seen = n_hups;
	}
	cnd_children_end_door();
	cnd_children_kill_helpers();
	cnd_admin_end();
	cnd_log(LOG_NOTICE, "ended");
	return 0;
}

/* ---- start ---- */

/* Allow one descriptor for each worker and each waiting client. */
static void
raise_limits(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/* Wait for an address that another cenoted has, if it may be about to end. This is a
 * cnd_await_address. */
static int
await_address(const char *what)
{
	const struct timespec pause = { 0, AWAIT_MS * 1000000L };
	char limit[CND_UNITS_TEXT_MAX];
	int64_t now = cnd_now_ms();
	int saved = errno;

	if (cnd_the_master.phase_until_ms == 0) {
		cnd_the_master.phase_until_ms =
			now + cnd_the_master.config->drain_timeout_ms;
		cnd_ms_text(cnd_the_master.config->drain_timeout_ms, limit);
		cnd_log(LOG_WARNING,
			"%s is in use: waiting up to drain_timeout (%s) for it", what,
			limit);
	}
	errno = saved;
	if (n_terms > 0 || now >= cnd_the_master.phase_until_ms)
		return 0;
	(void)ppoll(NULL, 0, &pause, &cnd_the_master.waiting_mask);
	return 1;
}

/* Open and lock the pid file. Returns the descriptor or -errno; -EWOULDBLOCK: another process has
 * the lock. */
static int
open_pid_file(const char *path)
{
	int fd = cnd_place_open_file(path, 0, 0644);
	int r;

	if (fd < 0)
		return fd;
	/* the process that had the lock may have removed the file after we opened it */
	r = flock(fd, LOCK_EX | LOCK_NB) < 0 ? -errno
	    : cnd_place_is(path, fd)         ? 0
					     : -EWOULDBLOCK;
	if (r == 0)
		return fd;
	close(fd);
	return r;
}

static int
write_pid_file(cnd_await_address *await)
{
	const char *path = cnd_the_master.config->pid_file;
	char text[32];
	int fd;
	int n;

	if (*path == '\0')
		return 0;
	/* in an upgrade, the old cenoted has passed it with its lock */
	fd = cnd_the_master.pid_file;
	if (!cnd_place_is(path, fd)) {
		do
			fd = open_pid_file(path);
		while (fd == -EWOULDBLOCK && await != NULL && await(path));
	}
	n = snprintf(text, sizeof(text), "%d\n", (int)getpid());
	if (fd < 0 || ftruncate(fd, 0) < 0 || pwrite(fd, text, (size_t)n, 0) != n) {
		cnd_log(LOG_ERR, "pid_file %s: %s", path,
			fd == -EWOULDBLOCK ? "another cenoted has it"
					   : cnd_place_error(fd < 0 ? -fd : errno));
		if (fd >= 0)
			close(fd);
		return -1;
	}
	/* keep it open: for its lock, and to recognize it before removing it */
	cnd_the_master.pid_file = fd;
	return 0;
}

void
cnd_master_keep_pid_file(void)
{
	const char *path = cnd_the_master.config->pid_file;

	if (*path == '\0' || access(path, F_OK) == 0 || errno != ENOENT)
		return;
	if (cnd_the_master.pid_file >= 0)
		close(cnd_the_master.pid_file);
	cnd_the_master.pid_file = -1;
	(void)write_pid_file(NULL);
}

/* An upgrade starts the program that is at this path then. */
static void
find_program(void)
{
	char *path = cnd_the_master.program;
	ssize_t n = readlink("/proc/self/exe", path, sizeof(cnd_the_master.program) - 1);

	path[n > 0 ? n : 0] = '\0';
}

static int
init(struct cnd_config *config)
{
	uint32_t n = config->max_sessions;

	cnd_the_master.config = config;
	cnd_the_master.pid_file = -1;
	find_program();
	cnd_the_master.child.config = config;
	cnd_the_master.child.master = getpid();
	cnd_the_master.child.started_s = (int64_t)time(NULL);
	cnd_the_master.started_ms = cnd_now_ms();
	cnd_the_master.child.board = cnd_scoreboard_create(n);
	cnd_the_master.places = calloc(n, sizeof(*cnd_the_master.places));
	cnd_the_master.groups = calloc(n, sizeof(*cnd_the_master.groups));
	if (cnd_the_master.child.board == NULL || cnd_the_master.places == NULL ||
		cnd_the_master.groups == NULL ||
		cnd_ipc_pair(cnd_the_master.child.helper_inbox) < 0 ||
		cnd_ipc_pair(cnd_the_master.control) < 0) {
		cnd_log(LOG_ERR, "cannot start: %s", strerror(errno));
		return -1;
	}
	cnd_log_share_level(cnd_board_log_level(cnd_the_master.child.board));
	cnd_listeners_init(&cnd_the_master.listeners);
	cnd_listeners_init(&cnd_the_master.stats_listeners);
	for (uint32_t i = 0; i < n; i++)
		cnd_the_master.places[i].inbox = -1;
	for (uint32_t i = 0; i < CND_POOL_RECORD; i++)
		cnd_the_master.pools[i] = (struct cnd_pool){ .index = i,
			.listen_fd = -1,
			.queue = { -1, -1 },
			.wake_fd = -1,
			.dir_fd = -1,
			.path_fd = -1 };
	return 0;
}

static int
open_listeners(void)
{
	const struct cnd_config *c = cnd_the_master.config;
	struct cnd_listeners new;

	if (cnd_listeners_prepare("listen", &cnd_the_master.listeners, &c->listens,
		    await_address, &new) < 0)
		return -1;
	cnd_listeners_adopt(&cnd_the_master.listeners, &c->listens, &new, -1);
	if (cnd_listeners_prepare("stats_listen", &cnd_the_master.stats_listeners,
		    &c->stats, await_address, &new) < 0)
		return -1;
	cnd_listeners_adopt(&cnd_the_master.stats_listeners, &c->stats, &new, -1);
	cnd_scoreboard_set_timed(cnd_the_master.child.board, c->stats.n > 0);
	return 0;
}

static int
open_all(const struct cnd_backend **backends, const struct cnd_upgrade_handover *handover)
{
	struct cnd_config *c = cnd_the_master.config;

	/* the pools' sockets last: a client that finds one of them finds everything */
	if (cnd_activation_begin(handover) < 0 || open_listeners() < 0)
		return -1;
	for (size_t i = 0; i < c->n_pools; i++) {
		struct cnd_pool *p = cnd_pools_open(c, &c->pools[i], await_address);

		if (p == NULL) {
			cnd_pools_unlink();
			return -1;
		}
		cnd_pools_begin(p, &c->pools[i], backends[i]);
	}
	if (handover != NULL)
		cnd_the_master.pid_file = handover->pid_file;
	if (cnd_activation_complain() > 0 || write_pid_file(await_address) < 0) {
		cnd_pools_unlink();
		return -1;
	}
	cnd_admin_open();
	return 0;
}

static void
say_ready(int ready_fd)
{
	char status[64];

	cnd_log(LOG_NOTICE, "ready: %zu pool%s in %s", cnd_the_master.config->n_pools,
		cnd_the_master.config->n_pools == 1 ? "" : "s",
		cnd_the_master.config->run_dir);
	snprintf(status, sizeof(status), "READY=1\nSTATUS=serving %zu pools",
		cnd_the_master.config->n_pools);
	cnd_notify(status);
	if (ready_fd < 0)
		return;
	if (write(ready_fd, "", 1) < 0)
		cnd_log(LOG_WARNING, "the parent process has ended");
	close(ready_fd);
}

static int
keep_minimum(void)
{
	int r = cnd_priv_keep_minimum();

	if (r < 0)
		cnd_log(LOG_ERR, "cannot give up privileges: %s", strerror(-r));
	return r;
}

int
cnd_master_run(
	struct cnd_config *config, const struct cnd_backend **backends, int ready_fd)
{
	struct cnd_upgrade_handover handover;
	bool is_successor = cnd_upgrade_take(&handover);
	int status = 1;

	if (is_successor)
		ready_fd = handover.ready_fd;
	cnd_log_set_role("master", NULL);
	cnd_log_begin_start();
	raise_limits();
	set_signals();
	if (init(config) == 0 &&
		open_all(backends, is_successor ? &handover : NULL) == 0 &&
		keep_minimum() == 0) {
		cnd_log_end_start(ready_fd >= 0);
		cnd_children_fork_door();
		say_ready(ready_fd);
		status = serve();
	}
	for (size_t i = 0; i < CND_POOL_RECORD; i++)
		cnd_pool_close(&cnd_the_master.pools[i]);
	cnd_listeners_close(&cnd_the_master.listeners);
	cnd_listeners_close(&cnd_the_master.stats_listeners);
	cnd_log_share_level(NULL);
	cnd_scoreboard_destroy(cnd_the_master.child.board);
	free(cnd_the_master.places);
	free(cnd_the_master.groups);
	cnd_config_destroy(cnd_the_master.config);
	return status;
}
