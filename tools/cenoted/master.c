/* SPDX-License-Identifier: BSD-2-Clause */
#include "master.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "activation.h"
#include "door.h"
#include "ipc.h"
#include "log.h"
#include "notify.h"
#include "priv.h"
#include "tls.h"
#include "worker.h"

/* A worker that ends so soon after its birth is not replaced at once. */
#define YOUNG_MS       1000
#define FORK_AGAIN_MIN 100
#define FORK_AGAIN_MAX 5000
/* After "end now", what is left is killed. */
#define KILL_MS        2000

#define N_FDS_KEPT 8

enum phase {
	PHASE_SERVING,
	PHASE_DRAINING, /* workers end as their clients hold nothing */
	PHASE_ENDING /* they end whatever they hold */
};

static struct master {
	struct cnd_child child; /* what children inherit */
	struct cnd_config *config;
	struct cnd_pool pools[CND_POOL_RECORD]; /* by the index of their record */
	struct cnd_listeners listeners;
	int *inboxes; /* by slot: the end that the door writes into; -1 */
	int64_t *born_ms; /* by slot */
	int control[2]; /* [0] the master's, [1] the door's */
	pid_t door;
	int64_t door_again_ms;
	enum phase phase;
	int64_t phase_until_ms;
	sigset_t waiting_mask;
} master;

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
	sigaction(SIGUSR1, &ignore, NULL);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	sigemptyset(&master.waiting_mask);
}

static struct cnd_pool_record *
record_of(const struct cnd_pool *p)
{
	return &master.child.board->pools[p->index];
}

/* Whoever looks at the pools should do it again: a worker is gone without a word. */
static void
wake_door(void)
{
	atomic_store(&master.child.board->door_is_awake, 1);
	(void)eventfd_write(master.child.door_wake, 1);
}

/* ---- forking ---- */

static int
compare_ints(const void *a, const void *b)
{
	int x = *(const int *)a;
	int y = *(const int *)b;

	return (x > y) - (x < y);
}

/* In a child: close everything but the standard descriptors and these. */
static void
close_others(int *keep, size_t n)
{
	unsigned from = 3;

	qsort(keep, n, sizeof(*keep), compare_ints);
	cnd_log_before_closing();
	for (size_t i = 0; i < n; i++) {
		if (keep[i] < 3)
			continue;
		if ((unsigned)keep[i] > from)
			(void)close_range(from, (unsigned)keep[i] - 1, 0);
		from = (unsigned)keep[i] + 1;
	}
	(void)close_range(from, ~0u, 0);
	cnd_log_after_fork();
}

_Noreturn static void
become_worker(struct cnd_pool *p, uint32_t slot, int inbox)
{
	int keep[N_FDS_KEPT] = { p->listen_fd, p->queue[1], inbox, master.child.door_wake,
		master.child.door_inbox[0], cnd_log_fd(), -1, -1 };
	struct cnd_pool mine = *p;

	close_others(keep, N_FDS_KEPT);
	cnd_worker_run(&master.child, &mine, slot, inbox);
}

_Noreturn static void
become_door(void)
{
	size_t most = N_FDS_KEPT + 2 * CND_POOL_RECORD + CND_LISTENERS_MAX +
		      master.child.board->n_slots;
	int *keep = malloc(most * sizeof(*keep));
	struct cnd_pool *pools = calloc(CND_POOL_RECORD, sizeof(*pools));
	size_t n = 0;
	size_t n_pools = 0;

	if (keep == NULL || pools == NULL)
		cnd_fatal("out of memory");
	keep[n++] = master.control[1];
	keep[n++] = master.child.door_wake;
	keep[n++] = master.child.door_inbox[1];
	keep[n++] = cnd_log_fd();
	for (size_t i = 0; i < CND_POOL_RECORD; i++) {
		if (master.pools[i].config == NULL)
			continue;
		keep[n++] = master.pools[i].listen_fd;
		keep[n++] = master.pools[i].queue[0];
		pools[n_pools++] = master.pools[i];
	}
	for (uint32_t i = 0; i < master.child.board->n_slots; i++) {
		if (master.inboxes[i] >= 0)
			keep[n++] = master.inboxes[i];
	}
	for (size_t i = 0; i < CND_LISTENERS_MAX; i++) {
		if (master.listeners.list[i].fd >= 0)
			keep[n++] = master.listeners.list[i].fd;
	}
	close_others(keep, n);
	free(keep);
	cnd_door_run(&master.child, master.control[1], pools, n_pools, &master.listeners,
		master.inboxes);
}

static void
fork_door(void)
{
	struct cnd_ipc m;
	pid_t pid;

	/* what was meant for the one before */
	while (cnd_ipc_receive(master.control[1], &m) > 0) {
		for (uint32_t i = 0; i < m.n_fds; i++)
			close(m.fds[i]);
	}
	cnd_tickets_reset(master.child.board);
	pid = fork();
	if (pid == 0)
		become_door();
	if (pid < 0) {
		cnd_log(LOG_ERR, "cannot fork: %s", strerror(errno));
		master.door_again_ms = cnd_now_ms() + FORK_AGAIN_MIN;
		return;
	}
	master.door = pid;
}

/* The door gets a copy of the inbox, to forward those who resume. */
static void
announce_inbox(uint32_t slot)
{
	struct cnd_ipc m = { .kind = CND_IPC_INBOX,
		.index = slot,
		.n_fds = 1,
		.fds = { master.inboxes[slot] } };

	if (cnd_ipc_send(master.control[0], &m) < 0)
		cnd_log(LOG_WARNING, "the door does not listen");
}

static int
fork_worker(struct cnd_pool *p)
{
	int inbox[2];
	int slot = cnd_slot_take(master.child.board, p->index);
	pid_t pid;

	if (slot < 0) {
		cnd_log(LOG_WARNING, "pool %s: max_sessions is reached", p->name);
		return -1;
	}
	if (cnd_ipc_pair(inbox) < 0) {
		cnd_log(LOG_ERR, "pool %s: %s", p->name, strerror(errno));
		cnd_slot_release(master.child.board, (uint32_t)slot);
		return -1;
	}
	pid = fork();
	if (pid == 0)
		become_worker(p, (uint32_t)slot, inbox[1]);
	close(inbox[1]);
	if (pid < 0) {
		cnd_log(LOG_ERR, "cannot fork: %s", strerror(errno));
		close(inbox[0]);
		cnd_slot_release(master.child.board, (uint32_t)slot);
		return -1;
	}
	master.child.board->slots[slot].pid = pid;
	master.inboxes[slot] = inbox[0];
	master.born_ms[slot] = cnd_now_ms();
	atomic_fetch_add(&record_of(p)->live, 1);
	announce_inbox((uint32_t)slot);
	return 0;
}

/* As many workers as there should be at least. When it is to be called again; CND_NEVER. */
static int64_t
fill_up(struct cnd_pool *p, int64_t now)
{
	struct cnd_pool_record *record = record_of(p);

	if (p->config == NULL || record->live >= record->min_sessions)
		return CND_NEVER;
	if (now < p->fork_again_ms)
		return p->fork_again_ms;
	while (record->live < record->min_sessions) {
		if (fork_worker(p) < 0) {
			p->fork_again_ms = now + FORK_AGAIN_MAX;
			return p->fork_again_ms;
		}
	}
	return CND_NEVER;
}

/* Clients wait: more workers, if those who are there or on their way are not enough. */
static void
grow(struct cnd_pool *p)
{
	struct cnd_pool_record *record = record_of(p);
	struct cnd_census census;

	if (p->config == NULL || cnd_now_ms() < p->fork_again_ms)
		return;
	cnd_pool_census(master.child.board, p->index, &census);
	/* the server does not let those in who are there already */
	if (census.n[CND_SLOT_FAILING] > 0)
		return;
	for (uint32_t coming = census.n[CND_SLOT_STARTING];
		coming < record->waiting && record->live < record->max_sessions;
		coming++) {
		if (fork_worker(p) < 0)
			return;
	}
}

/* ---- reaping ---- */

static int
slot_of(pid_t pid)
{
	for (uint32_t i = 0; i < master.child.board->n_slots; i++) {
		if (master.child.board->slots[i].pid == pid)
			return (int)i;
	}
	return -1;
}

static void
log_end(const char *what, const char *pool, pid_t pid, int status)
{
	if (WIFSIGNALED(status))
		cnd_log(LOG_ERR, "%s%s%s %d was killed by signal %d", what,
			*pool != '\0' ? " of pool " : "", pool, (int)pid,
			WTERMSIG(status));
	else if (WEXITSTATUS(status) != 0)
		cnd_log(LOG_ERR, "%s%s%s %d ended with status %d", what,
			*pool != '\0' ? " of pool " : "", pool, (int)pid,
			WEXITSTATUS(status));
}

/* Deaths in childhood are answered with patience. */
static void
count_death(struct cnd_pool *p, int64_t age_ms, int status)
{
	int64_t delay;

	if (status == 0 || age_ms > YOUNG_MS) {
		p->n_young_deaths = 0;
		return;
	}
	delay = (int64_t)FORK_AGAIN_MIN
		<< (p->n_young_deaths < 6 ? p->n_young_deaths : 6);
	p->n_young_deaths++;
	p->fork_again_ms =
		cnd_now_ms() + (delay < FORK_AGAIN_MAX ? delay : FORK_AGAIN_MAX);
}

static void
bury_worker(uint32_t slot, pid_t pid, int status)
{
	struct cnd_slot *s = &master.child.board->slots[slot];
	struct cnd_pool *p = &master.pools[s->pool];
	struct cnd_pool_record *record = record_of(p);

	log_end("worker", p->name, pid, status);
	count_death(p, cnd_now_ms() - master.born_ms[slot], status);
	close(master.inboxes[slot]);
	master.inboxes[slot] = -1;
	cnd_slot_release(master.child.board, slot);
	atomic_fetch_sub(&record->live, 1);
	if (p->config == NULL && record->live == 0) {
		cnd_pool_close(p);
		atomic_store(&record->is_used, 0);
	}
}

static void
reap(void)
{
	int status;
	pid_t pid;
	int n = 0;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		int slot = slot_of(pid);

		n++;
		if (slot >= 0) {
			bury_worker((uint32_t)slot, pid, status);
		} else if (pid == master.door) {
			log_end("door", "", pid, status);
			master.door = 0;
			master.door_again_ms = cnd_now_ms() + FORK_AGAIN_MIN;
		}
	}
	if (n == 0)
		return;
	/* those who wait may need others now */
	for (size_t i = 0; i < CND_POOL_RECORD; i++) {
		if (master.phase == PHASE_SERVING && record_of(&master.pools[i])->waiting)
			grow(&master.pools[i]);
	}
	wake_door();
}

/* ---- pools ---- */

static void
order_worker(uint32_t slot, uint32_t order)
{
	struct cnd_slot *s = &master.child.board->slots[slot];

	if (s->state == CND_SLOT_FREE || s->order >= order)
		return;
	atomic_store(&s->order, order);
	kill(s->pid, SIGUSR1);
}

static void
order_pool(uint32_t pool, uint32_t order)
{
	for (uint32_t i = 0; i < master.child.board->n_slots; i++) {
		if (master.child.board->slots[i].pool == pool)
			order_worker(i, order);
	}
}

static void
publish_pool(struct cnd_pool *p)
{
	struct cnd_pool_record *record = record_of(p);
	const struct cnd_pool_config *c = p->config;

	atomic_store(&record->min_sessions, c->min_sessions);
	atomic_store(&record->max_sessions, c->max_sessions);
	atomic_store(&record->queue_timeout_ms, c->queue_timeout_ms);
	atomic_store(&record->mode, (uint32_t)c->mode);
	snprintf(record->name, sizeof(record->name), "%s", c->name);
	snprintf(record->backend, sizeof(record->backend), "%s", c->backend);
}

static struct cnd_pool *
find_pool(const char *name)
{
	for (size_t i = 0; i < CND_POOL_RECORD; i++) {
		if (master.pools[i].config != NULL &&
			strcmp(master.pools[i].name, name) == 0)
			return &master.pools[i];
	}
	return NULL;
}

/* A record that no pool uses, nor a removed one that still has workers. */
static struct cnd_pool *
free_pool(void)
{
	for (uint32_t i = 0; i < CND_POOL_RECORD; i++) {
		if (!master.child.board->pools[i].is_used)
			return &master.pools[i];
	}
	return NULL;
}

static struct cnd_pool *
open_pool(const struct cnd_config *c, const struct cnd_pool_config *pc)
{
	struct cnd_pool *p = free_pool();
	uint32_t index;

	if (p == NULL) {
		cnd_log(LOG_ERR, "pool %s: too many pools", pc->name);
		return NULL;
	}
	index = (uint32_t)(p - master.pools);
	*p = (struct cnd_pool){ .index = index };
	snprintf(p->name, sizeof(p->name), "%s", pc->name);
	if (cnd_pool_open(p, c) < 0)
		return NULL;
	return p;
}

static void
begin_pool(
	struct cnd_pool *p, struct cnd_pool_config *pc, const struct cnd_backend *backend)
{
	struct cnd_pool_record *record = record_of(p);

	p->config = pc;
	p->backend = backend;
	atomic_store(&record->live, 0);
	atomic_store(&record->leaving, 0);
	atomic_store(&record->unproven, 0);
	atomic_store(&record->held, 0);
	atomic_store(&record->attaches, 0);
	atomic_store(&record->requests, 0);
	atomic_store(&record->errors, 0);
	atomic_store(&record->yields, 0);
	atomic_store(&record->queued, 0);
	atomic_store(&record->timeouts, 0);
	atomic_store(&record->contended_ms, INT32_MIN);
	for (size_t i = 0; i < CND_SERVERS_MAX; i++) {
		atomic_store(&record->line_sessions[i], 0);
		atomic_store(&record->line_failed_ms[i], 0);
	}
	publish_pool(p);
	atomic_store(&record->is_used, 1);
}

static void
tell_door(uint32_t kind, const struct cnd_pool *p)
{
	struct cnd_ipc m = { .kind = kind, .index = p->index };

	if (kind == CND_IPC_POOL) {
		m.n_fds = 2;
		m.fds[0] = p->listen_fd;
		m.fds[1] = p->queue[0];
	}
	if (kind == CND_IPC_POOL || kind == CND_IPC_NETWORKS) {
		m.n_bytes = sizeof(p->config->networks);
		memcpy(m.bytes, &p->config->networks, m.n_bytes);
	}
	if (master.door > 0 && cnd_ipc_send(master.control[0], &m) < 0)
		cnd_log(LOG_ERR, "the door does not listen");
}

/* ---- reloading ---- */

/* What a reload cannot change; said, so that nobody believes it did. */
static void
warn_of_unchanged(const struct cnd_config *new)
{
	const struct cnd_config *old = master.config;
	const struct {
		const char *key;
		int is_changed;
	} keys[] = {
		{ "run_dir", strcmp(old->run_dir, new->run_dir) != 0 },
		{ "user", strcmp(old->user, new->user) != 0 },
		{ "max_sessions", old->max_sessions != new->max_sessions },
		{ "pid_file", strcmp(old->pid_file, new->pid_file) != 0 },
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (keys[i].is_changed)
			cnd_log(LOG_WARNING, "a change of %s needs a restart",
				keys[i].key);
	}
}

static void
remove_pool(struct cnd_pool *p)
{
	cnd_log(LOG_NOTICE, "pool %s was removed", p->name);
	cnd_pool_unlink(p);
	tell_door(CND_IPC_POOL_GONE, p);
	p->config = NULL;
	atomic_store(&record_of(p)->min_sessions, 0);
	atomic_store(&record_of(p)->max_sessions, 0);
	/* those who connected before its name was gone are served yet */
	order_pool(p->index, CND_ORDER_DRAIN);
	if (record_of(p)->live == 0) {
		cnd_pool_close(p);
		atomic_store(&record_of(p)->is_used, 0);
	}
}

/* A socket that has lost its name cannot get it back: its pool is opened anew. */
static void
remove_unreachable(void)
{
	for (size_t i = 0; i < CND_POOL_RECORD; i++) {
		struct cnd_pool *p = &master.pools[i];

		if (p->config == NULL || cnd_pool_has_socket(p))
			continue;
		cnd_log(LOG_WARNING, "%s is gone", p->address.sun_path);
		remove_pool(p);
	}
}

static void
change_pool(
	struct cnd_pool *p, struct cnd_pool_config *pc, const struct cnd_backend *backend)
{
	cnd_log(LOG_NOTICE, "pool %s was changed", p->name);
	p->config = pc;
	p->backend = backend;
	p->fork_again_ms = 0;
	publish_pool(p);
	tell_door(CND_IPC_NETWORKS, p);
	order_pool(p->index, CND_ORDER_RELOAD);
}

static int
has_pool(const struct cnd_config *c, const char *name)
{
	for (size_t i = 0; i < c->n_pools; i++) {
		if (strcmp(c->pools[i].name, name) == 0)
			return 1;
	}
	return 0;
}

/* New pools first: if one cannot be opened nothing has changed yet. 0 or -1. */
static int
open_new_pools(const struct cnd_config *c, struct cnd_pool **opened)
{
	for (size_t i = 0; i < c->n_pools; i++) {
		opened[i] = NULL;
		if (find_pool(c->pools[i].name) != NULL)
			continue;
		opened[i] = open_pool(c, &c->pools[i]);
		if (opened[i] != NULL) {
			/* not to be taken for another one's record */
			atomic_store(&record_of(opened[i])->is_used, 1);
			continue;
		}
		while (i-- > 0) {
			if (opened[i] == NULL)
				continue;
			cnd_pool_unlink(opened[i]);
			cnd_pool_close(opened[i]);
			atomic_store(&record_of(opened[i])->is_used, 0);
		}
		return -1;
	}
	return 0;
}

static void
adopt_log(const struct cnd_config *c)
{
	int r = cnd_log_open(c->log);

	if (r < 0)
		cnd_log(LOG_ERR, "log %s: %s", c->log, strerror(-r));
	cnd_log_set_level(c->log_level);
}

static void
adopt_pools(struct cnd_config *c, const struct cnd_backend **backends,
	struct cnd_pool **opened)
{
	for (size_t i = 0; i < CND_POOL_RECORD; i++) {
		if (master.pools[i].config != NULL && !has_pool(c, master.pools[i].name))
			remove_pool(&master.pools[i]);
	}
	for (size_t i = 0; i < c->n_pools; i++) {
		struct cnd_pool *p = find_pool(c->pools[i].name);

		if (opened[i] != NULL) {
			cnd_log(LOG_NOTICE, "pool %s was added", opened[i]->name);
			begin_pool(opened[i], &c->pools[i], backends[i]);
			tell_door(CND_IPC_POOL, opened[i]);
		} else if (!cnd_pool_config_is_equal(p->config, &c->pools[i])) {
			change_pool(p, &c->pools[i], backends[i]);
		} else {
			p->config = &c->pools[i];
		}
		if (opened[i] == NULL)
			(void)cnd_pool_set_owner(p, c);
	}
}

/* The run directory, the user and the size of the scoreboard are those of the start. */
static void
keep_fixed(struct cnd_config *c)
{
	char *swap = c->run_dir;

	c->run_dir = master.config->run_dir;
	master.config->run_dir = swap;
	swap = c->user;
	c->user = master.config->user;
	master.config->user = swap;
	swap = c->pid_file;
	c->pid_file = master.config->pid_file;
	master.config->pid_file = swap;
	c->uid = master.config->uid;
	c->gid = master.config->gid;
	c->max_sessions = master.config->max_sessions;
}

static void
reload(void)
{
	static const struct cnd_backend *backends[CND_CONFIG_POOLS];
	static struct cnd_pool *opened[CND_CONFIG_POOLS];
	struct cnd_listeners listeners;
	struct cnd_config *c = cnd_config_load(master.config->path);

	cnd_notify_reloading();
	if (c->n_errors == 0)
		cnd_pool_check_backends(c, backends);
	for (size_t i = 0; i < c->n_errors; i++)
		cnd_log(LOG_ERR, "%s", c->errors[i]);
	if (c->n_errors > 0)
		cnd_log(LOG_ERR, "the configuration stays as it was");
	else
		warn_of_unchanged(c);
	if (c->n_errors > 0) {
		cnd_config_destroy(c);
		cnd_notify("READY=1");
		return;
	}
	keep_fixed(c);
	remove_unreachable();
	if (cnd_listeners_prepare(&master.listeners, &c->listens, &listeners) < 0 ||
		open_new_pools(c, opened) < 0) {
		cnd_listeners_close(&listeners);
		cnd_log(LOG_ERR, "the configuration stays as it was");
		/* what was swapped goes back */
		keep_fixed(c);
		cnd_config_destroy(c);
		cnd_notify("READY=1");
		return;
	}
	adopt_log(c);
	adopt_pools(c, backends, opened);
	cnd_listeners_adopt(&master.listeners, &c->listens, &listeners,
		master.door > 0 ? master.control[0] : -1);
	cnd_config_destroy(master.config);
	master.config = c;
	master.child.config = c;
	cnd_log(LOG_NOTICE, "reloaded %s", c->path);
	cnd_notify("READY=1");
}

/* ---- ending ---- */

static void
unlink_all(void)
{
	for (size_t i = 0; i < CND_POOL_RECORD; i++) {
		if (master.pools[i].config != NULL)
			cnd_pool_unlink(&master.pools[i]);
	}
	if (*master.config->pid_file != '\0')
		unlink(master.config->pid_file);
}

static void
order_all(uint32_t order)
{
	for (uint32_t i = 0; i < master.child.board->n_slots; i++)
		order_worker(i, order);
}

static void
begin_draining(void)
{
	const struct cnd_listens nowhere = { .n = 0 };
	struct cnd_listeners none;

	cnd_listeners_init(&none);
	cnd_log(LOG_NOTICE, "draining");
	cnd_notify("STOPPING=1\nSTATUS=draining");
	/* first, so that clients that lose their session here find the next daemon, if any */
	unlink_all();
	cnd_listeners_adopt(&master.listeners, &nowhere, &none, master.control[0]);
	master.phase = PHASE_DRAINING;
	master.phase_until_ms = cnd_now_ms() + master.config->drain_timeout_ms;
	order_all(CND_ORDER_DRAIN);
}

static void
begin_ending(void)
{
	cnd_log(LOG_NOTICE, "ending now");
	master.phase = PHASE_ENDING;
	master.phase_until_ms = cnd_now_ms() + KILL_MS;
	order_all(CND_ORDER_NOW);
}

static void
kill_all(void)
{
	for (uint32_t i = 0; i < master.child.board->n_slots; i++) {
		if (master.child.board->slots[i].pid > 0)
			kill(master.child.board->slots[i].pid, SIGKILL);
	}
	master.phase_until_ms = CND_NEVER;
}

static uint32_t
n_workers(void)
{
	uint32_t n = 0;

	for (size_t i = 0; i < CND_POOL_RECORD; i++)
		n += master.child.board->pools[i].live;
	return n;
}

/* What time and signals ask for, while not serving. */
static void
go_on_ending(int64_t now)
{
	if (master.phase == PHASE_DRAINING &&
		(n_terms > 1 || now >= master.phase_until_ms))
		begin_ending();
	else if (master.phase == PHASE_ENDING && now >= master.phase_until_ms)
		kill_all();
}

static void
end_door(void)
{
	if (master.door <= 0)
		return;
	kill(master.door, SIGTERM);
	/* it has only to say goodbye to those who wait */
	for (int i = 0; i < 200 && waitpid(master.door, NULL, WNOHANG) == 0; i++)
		poll(NULL, 0, 10);
	kill(master.door, SIGKILL);
	(void)waitpid(master.door, NULL, 0);
}

/* ---- life ---- */

static void
hear_door(void)
{
	static struct cnd_ipc m;
	int r;

	while ((r = cnd_ipc_receive(master.control[0], &m)) > 0) {
		if (m.kind != CND_IPC_WAITING || m.index >= CND_POOL_RECORD)
			cnd_fatal("the door sent nonsense");
		if (master.phase == PHASE_SERVING)
			grow(&master.pools[m.index]);
	}
	if (r < 0)
		cnd_fatal("the door: %s", strerror(-r));
}

static int64_t
tend(int64_t now)
{
	int64_t until = cnd_tls_tickets_tend(master.child.tickets, now);

	if (master.door == 0 && now >= master.door_again_ms)
		fork_door();
	if (master.door == 0 && master.door_again_ms < until)
		until = master.door_again_ms;
	if (master.phase != PHASE_SERVING)
		return master.phase_until_ms < until ? master.phase_until_ms : until;
	for (size_t i = 0; i < CND_POOL_RECORD; i++) {
		int64_t again = fill_up(&master.pools[i], now);

		if (again < until)
			until = again;
	}
	return until;
}

static void
wait_for_something(int64_t until)
{
	struct pollfd fd = { .fd = master.control[0], .events = POLLIN };
	struct timespec left = { 0, 0 };
	int64_t ms = until == CND_NEVER ? 0 : until - cnd_now_ms();

	if (ms > 0) {
		left.tv_sec = (time_t)(ms / 1000);
		left.tv_nsec = (long)(ms % 1000) * 1000000;
	}
	if (ppoll(&fd, 1, until == CND_NEVER ? NULL : &left, &master.waiting_mask) > 0)
		hear_door();
}

static int
serve(void)
{
	int n_hups_seen = 0;

	while (master.phase == PHASE_SERVING || n_workers() > 0) {
		wait_for_something(tend(cnd_now_ms()));
		reap();
		if (n_terms > 0 && master.phase == PHASE_SERVING)
			begin_draining();
		if (master.phase != PHASE_SERVING)
			go_on_ending(cnd_now_ms());
		else if (n_hups != n_hups_seen)
			reload();
		n_hups_seen = n_hups;
	}
	end_door();
	cnd_log(LOG_NOTICE, "ended");
	return 0;
}

/* ---- beginning ---- */

/* A descriptor per worker and per waiting client. */
static void
raise_limits(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static int
write_pid_file(void)
{
	const char *path = master.config->pid_file;
	char text[32];
	int fd;
	int n;

	if (*path == '\0')
		return 0;
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
	n = snprintf(text, sizeof(text), "%d\n", (int)getpid());
	if (fd < 0 || write(fd, text, (size_t)n) != n) {
		cnd_log(LOG_ERR, "pid_file %s: %s", path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return -1;
	}
	close(fd);
	return 0;
}

static int
init(struct cnd_config *config)
{
	uint32_t n = config->max_sessions;

	master.config = config;
	master.child.config = config;
	master.child.master = getpid();
	master.child.board = cnd_scoreboard_create(n);
	master.child.tickets = cnd_tls_tickets_create();
	master.child.door_wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	master.inboxes = malloc(n * sizeof(*master.inboxes));
	master.born_ms = calloc(n, sizeof(*master.born_ms));
	if (master.child.board == NULL || master.child.door_wake < 0 ||
		master.inboxes == NULL || master.born_ms == NULL ||
		cnd_ipc_pair(master.child.door_inbox) < 0 ||
		cnd_ipc_pair(master.control) < 0) {
		cnd_log(LOG_ERR, "cannot begin: %s", strerror(errno));
		return -1;
	}
	cnd_listeners_init(&master.listeners);
	for (uint32_t i = 0; i < n; i++)
		master.inboxes[i] = -1;
	for (uint32_t i = 0; i < CND_POOL_RECORD; i++)
		master.pools[i] = (struct cnd_pool){
			.index = i, .listen_fd = -1, .queue = { -1, -1 }
		};
	return 0;
}

static int
open_listeners(void)
{
	const struct cnd_listens *wanted = &master.config->listens;
	struct cnd_listeners listeners;

	if (cnd_listeners_prepare(&master.listeners, wanted, &listeners) < 0)
		return -1;
	cnd_listeners_adopt(&master.listeners, wanted, &listeners, -1);
	return cnd_activation_complain() > 0 ? -1 : 0;
}

static int
open_all(const struct cnd_backend **backends)
{
	struct cnd_config *c = master.config;

	if (cnd_activation_begin() < 0 || cnd_pool_make_run_dir(c) < 0)
		return -1;
	for (size_t i = 0; i < c->n_pools; i++) {
		struct cnd_pool *p = open_pool(c, &c->pools[i]);

		if (p == NULL) {
			unlink_all();
			return -1;
		}
		begin_pool(p, &c->pools[i], backends[i]);
	}
	if (open_listeners() < 0 || write_pid_file() < 0) {
		unlink_all();
		return -1;
	}
	return 0;
}

static void
say_ready(int ready_fd)
{
	char status[64];

	cnd_log(LOG_NOTICE, "ready: %zu pool%s in %s", master.config->n_pools,
		master.config->n_pools == 1 ? "" : "s", master.config->run_dir);
	snprintf(status, sizeof(status), "READY=1\nSTATUS=serving %zu pools",
		master.config->n_pools);
	cnd_notify(status);
	if (ready_fd < 0)
		return;
	if (write(ready_fd, "", 1) < 0)
		cnd_log(LOG_WARNING, "nobody waits for the start");
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
	int status = 1;

	cnd_log_set_role("master", NULL);
	raise_limits();
	set_signals();
	if (init(config) == 0 && open_all(backends) == 0 && keep_minimum() == 0) {
		fork_door();
		say_ready(ready_fd);
		status = serve();
	}
	for (size_t i = 0; i < CND_POOL_RECORD; i++)
		cnd_pool_close(&master.pools[i]);
	cnd_listeners_close(&master.listeners);
	cnd_scoreboard_destroy(master.child.board);
	free(master.inboxes);
	free(master.born_ms);
	cnd_config_destroy(master.config);
	return status;
}
