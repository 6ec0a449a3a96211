/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The master's children: it forks the door, workers, helpers and the process for statistics, sends workers their orders, and
 * reaps children that have ended. It decides how many workers each pool has. master.c and
 * master_pools.c call this file.
 */
#include "master_internal.h"
#include "upgrade.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "alerts/alerts.h"
#include "door/door.h"
#include "shared/log.h"
#include "stats/stats.h"
#include "worker/helper.h"
#include "worker/worker.h"

/* A worker that ends sooner after its start than this is not replaced at once. */
#define YOUNG_MS       1000
#define FORK_AGAIN_MIN 100
#define FORK_AGAIN_MAX 5000

#define N_FDS_KEPT 8u

/* Make the door look at the pool again: a worker has ended without a word. */
static void
wake_door(const struct cnd_pool *p)
{
	atomic_store(&cnd_master_record(p)->door_is_awake, 1);
	(void)eventfd_write(p->wake_fd, 1);
}

/* ---- forking ---- */

static int
compare_ints(const void *a, const void *b)
{
	int x = *(const int *)a;
	int y = *(const int *)b;

	return (x > y) - (x < y);
}

/* In a child: close all descriptors except the standard ones and these. */
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

/* In a child: make all of the shared memory read-only except what this child writes. */
static void
confine_board(uint32_t pool, const uint32_t *slots, uint32_t n_slots)
{
	int r = cnd_scoreboard_confine(cnd_the_master.child.board, pool, slots, n_slots);

	if (r < 0)
		cnd_fatal("cannot give up the scoreboard: %s", strerror(-r));
}

/* In a child: unmap the memory of the pools' caches, except that of this pool. */
static void
confine_caches(const struct cnd_pool *own)
{
	for (size_t i = 0; i < CND_POOL_RECORD; i++) {
		struct cnd_pool *p = &cnd_the_master.pools[i];

		if (p != own)
			cnd_cache_destroy(&p->cache);
	}
	if (own == NULL)
		return;
	cnd_the_master.child.cache = own->cache;
	cnd_the_master.child.pool_version =
		cnd_pool_head(cnd_the_master.child.board, own->index)->version;
}

void
cnd_children_confine(
	const struct cnd_pool *p, const uint32_t *slots, uint32_t n_slots, int own_fd)
{
	int keep[] = { p->listen_fd, p->queue[1], own_fd, p->wake_fd, cnd_log_fd() };

	confine_board(p->index, slots, n_slots);
	confine_caches(p);
	cnd_the_master.child.tickets = cnd_tls_tickets_map(&p->tickets);
	close_others(keep, sizeof(keep) / sizeof(keep[0]));
}

_Noreturn static void
become_worker(struct cnd_pool *p, uint32_t slot, int inbox)
{
	struct cnd_pool mine = *p;

	/* the worker may have a client before the master has noted its process id */
	cnd_slot_head(cnd_the_master.child.board, slot)->pid = getpid();
	cnd_children_confine(p, &slot, 1, inbox);
	cnd_worker_run(&cnd_the_master.child, &mine, slot, inbox);
}

/* Gather the door's descriptors in `keep` and its pools in `pools`. Returns the number of
 * descriptors. */
static size_t
gather_for_door(int *keep, struct cnd_pool *pools, size_t *ret_n_pools)
{
	size_t n = 0;

	*ret_n_pools = 0;
	keep[n++] = cnd_the_master.control[1];
	keep[n++] = cnd_the_master.child.helper_inbox[1];
	keep[n++] = cnd_log_fd();
	for (size_t i = 0; i < CND_POOL_RECORD; i++) {
		const struct cnd_pool *p = &cnd_the_master.pools[i];

		if (p->config == NULL)
			continue;
		keep[n++] = p->listen_fd;
		keep[n++] = p->queue[0];
		keep[n++] = p->wake_fd;
		pools[(*ret_n_pools)++] = *p;
	}
	for (uint32_t i = 0; i < cnd_the_master.child.board->n_slots; i++) {
		if (cnd_the_master.places[i].inbox >= 0)
			keep[n++] = cnd_the_master.places[i].inbox;
	}
	for (size_t i = 0; i < CND_LISTENERS_MAX; i++) {
		if (cnd_the_master.listeners.list[i].fd >= 0)
			keep[n++] = cnd_the_master.listeners.list[i].fd;
	}
	return n;
}

_Noreturn static void
become_door(void)
{
	size_t most = N_FDS_KEPT + 3 * CND_POOL_RECORD + CND_LISTENERS_MAX +
		      cnd_the_master.child.board->n_slots;
	int *keep = malloc(most * sizeof(*keep));
	struct cnd_pool *pools = calloc(CND_POOL_RECORD, sizeof(*pools));
	size_t n_pools;

	if (keep == NULL || pools == NULL)
		cnd_fatal("out of memory");
	confine_board(CND_BOARD_ALL, NULL, 0);
	confine_caches(NULL);
	close_others(keep, gather_for_door(keep, pools, &n_pools));
	free(keep);
	cnd_door_run(&cnd_the_master.child, cnd_the_master.control[1], pools, n_pools,
		&cnd_the_master.listeners, cnd_the_master.places);
}

void
cnd_children_fork_door(void)
{
	struct cnd_ipc m;
	pid_t pid;
	int r;

	/* drop the messages that the previous door did not read */
	while ((r = cnd_ipc_receive(cnd_the_master.control[1], &m)) > 0 || r == -EMFILE)
		cnd_ipc_drop(&m);
	cnd_tickets_reset(cnd_the_master.child.board);
	pid = fork();
	if (pid == 0)
		become_door();
	if (pid < 0) {
		cnd_log(LOG_ERR, "cannot fork: %s", strerror(errno));
		cnd_the_master.door_again_ms = cnd_now_ms() + FORK_AGAIN_MIN;
		return;
	}
	cnd_the_master.door = pid;
}

_Noreturn static void
become_stats(void)
{
	const struct cnd_listeners *l = &cnd_the_master.stats_listeners;
	int keep[CND_LISTENERS_MAX + 1] = { cnd_log_fd() };
	size_t n = 1;

	for (size_t i = 0; i < CND_LISTENERS_MAX; i++) {
		if (l->list[i].fd >= 0)
			keep[n++] = l->list[i].fd;
	}
	confine_board(CND_BOARD_NONE, NULL, 0);
	confine_caches(NULL);
	close_others(keep, n);
	cnd_stats_run(&cnd_the_master.child, l);
}

_Noreturn static void
become_alerts(void)
{
	int keep[] = { cnd_log_fd() };

	confine_board(CND_BOARD_NONE, NULL, 0);
	confine_caches(NULL);
	close_others(keep, 1);
	cnd_alerts_run(&cnd_the_master.child);
}

/* Fork the process if it does not run. Returns when to try again; CND_NEVER: not needed. */
static int64_t
keep_service(struct cnd_service *s, int64_t now, void (*become)(void))
{
	pid_t pid;

	if (s->pid > 0)
		return CND_NEVER;
	if (now < s->again_ms)
		return s->again_ms;
	pid = fork();
	if (pid == 0)
		become();
	s->born_ms = now;
	if (pid > 0) {
		s->pid = pid;
		return CND_NEVER;
	}
	cnd_log(LOG_ERR, "cannot fork: %s", strerror(errno));
	s->again_ms = now + FORK_AGAIN_MIN;
	return s->again_ms;
}

int64_t
cnd_children_keep_services(int64_t now)
{
	const struct cnd_config *c = cnd_the_master.config;
	int64_t stats = CND_NEVER, alerts = CND_NEVER;

	if (cnd_the_master.phase != CND_PHASE_SERVING)
		return CND_NEVER;
	if (c->stats.n > 0)
		stats = keep_service(&cnd_the_master.stats, now, become_stats);
	if (*c->notify != '\0')
		alerts = keep_service(&cnd_the_master.alerts, now, become_alerts);
	return stats < alerts ? stats : alerts;
}

static void
end_service(struct cnd_service *s)
{
	if (s->pid > 0) {
		kill(s->pid, SIGKILL);
		(void)waitpid(s->pid, NULL, 0);
	}
	*s = (struct cnd_service){ .pid = 0 };
}

/* Nothing that they know is lost. */
void
cnd_children_end_services(void)
{
	end_service(&cnd_the_master.stats);
	end_service(&cnd_the_master.alerts);
}

_Noreturn static void
become_helper(const struct cnd_pool *p, const struct cnd_ipc *m)
{
	int keep[] = { m->fds[0], cnd_the_master.child.helper_inbox[0], cnd_log_fd() };
	struct cnd_pool mine = *p;
	struct cnd_ipc client = *m;

	confine_board(CND_BOARD_NONE, NULL, 0);
	confine_caches(NULL);
	cnd_the_master.child.tickets = cnd_tls_tickets_map(&p->tickets);
	close_others(keep, sizeof(keep) / sizeof(keep[0]));
	cnd_helper_run(&cnd_the_master.child, &mine, &client);
}

static void
say_helped(uint32_t place, int is_in_vain)
{
	struct cnd_ipc m = {
		.kind = CND_IPC_HELPED, .index = place, .serial = (uint64_t)is_in_vain
	};

	if (cnd_the_master.door > 0 && cnd_ipc_send(cnd_the_master.control[0], &m) < 0)
		cnd_log(LOG_WARNING, "the door does not read its messages");
}

/* A new door may ask for a place that a helper of the previous door still has. */
void
cnd_children_fork_helper(const struct cnd_ipc *m)
{
	const struct cnd_pool *p = &cnd_the_master.pools[m->index];
	pid_t *place = &cnd_the_master.helpers[m->serial];
	pid_t pid = -1;

	if (*place == 0 && p->config != NULL)
		pid = fork();
	if (pid == 0)
		become_helper(p, m);
	close(m->fds[0]);
	if (pid > 0)
		*place = pid;
	else if (*place == 0)
		say_helped((uint32_t)m->serial, 0);
}

void
cnd_children_lose_helped(const struct cnd_ipc *m)
{
	cnd_log(LOG_WARNING, "out of descriptors: closed the connection of a client");
	if (m->kind == CND_IPC_HELP && m->serial < CND_HELPERS_MAX &&
		cnd_the_master.helpers[m->serial] == 0)
		say_helped((uint32_t)m->serial, 0);
}

/*
 * Send the door a copy of the worker's inbox, through which it sends clients that resume a session.
 * This happens before the fork: the worker may lend its session, and a cancel may reach the door,
 * before the master runs again. If the fork fails, the inbox is closed, and the door forgets it.
 */
static void
announce_inbox(const struct cnd_pool *p, uint32_t slot, int inbox)
{
	struct cnd_ipc m = { .kind = CND_IPC_INBOX,
		.index = slot,
		.serial = p->index,
		.n_fds = 1,
		.fds = { inbox } };

	if (cnd_ipc_send(cnd_the_master.control[0], &m) < 0)
		cnd_log(LOG_WARNING, "the door does not read its messages");
}

int
cnd_children_free_slot(void)
{
	for (uint32_t i = 0; i < cnd_the_master.child.board->n_slots; i++) {
		const struct cnd_place *place = &cnd_the_master.places[i];

		if (place->pid == 0 && place->group == 0)
			return (int)i;
	}
	return -1;
}

int
cnd_children_make_inbox(const struct cnd_pool *p, uint32_t slot, int *ret_door_end)
{
	int inbox[2];
	int r = cnd_ipc_pair(inbox);

	if (r < 0) {
		cnd_log(LOG_ERR, "pool %s: %s", p->name, strerror(-r));
		return -1;
	}
	cnd_slot_begin(cnd_the_master.child.board, slot, p->index);
	announce_inbox(p, slot, inbox[0]);
	*ret_door_end = inbox[0];
	return inbox[1];
}

/* Returns the process, or -1, logged. */
static pid_t
fork_into(struct cnd_pool *p, uint32_t slot, int *ret_door_end)
{
	int inbox = cnd_children_make_inbox(p, slot, ret_door_end);
	pid_t pid;

	if (inbox < 0)
		return -1;
	pid = fork();
	if (pid == 0)
		become_worker(p, slot, inbox);
	close(inbox);
	if (pid > 0)
		return pid;
	cnd_log(LOG_ERR, "cannot fork: %s", strerror(errno));
	close(*ret_door_end);
	cnd_slot_release(cnd_the_master.child.board, slot);
	return -1;
}

void
cnd_children_take_place(uint32_t slot, const struct cnd_place *place)
{
	struct cnd_pool *p = &cnd_the_master.pools[place->pool];

	cnd_the_master.places[slot] = *place;
	cnd_slot_head(cnd_the_master.child.board, slot)->pid = place->pid;
	p->live++;
	cnd_master_head(p)->live = p->live;
}

void
cnd_children_leave_place(uint32_t slot)
{
	struct cnd_place *place = &cnd_the_master.places[slot];
	struct cnd_pool *p = &cnd_the_master.pools[place->pool];

	close(place->inbox);
	*place = (struct cnd_place){ .inbox = -1, .group = place->group };
	cnd_slot_release(cnd_the_master.child.board, slot);
	p->live--;
	cnd_master_head(p)->live = p->live;
	wake_door(p);
}

/* 0; -EAGAIN: try again soon; another negative number: failed, logged. */
static int
fork_worker(struct cnd_pool *p)
{
	struct cnd_place place = { .pool = p->index, .born_ms = cnd_now_ms() };
	int slot;

	if (p->config->workers > 0)
		return cnd_groups_seat(p);
	slot = cnd_children_free_slot();
	if (slot < 0) {
		cnd_log(LOG_WARNING, "pool %s: max_sessions is reached", p->name);
		return -1;
	}
	place.pid = fork_into(p, (uint32_t)slot, &place.inbox);
	if (place.pid < 0)
		return -1;
	cnd_children_take_place((uint32_t)slot, &place);
	return 0;
}

int64_t
cnd_children_fill_up(struct cnd_pool *p, int64_t now)
{
	if (p->config == NULL || p->live >= p->config->min_sessions)
		return CND_NEVER;
	if (now < p->fork_again_ms)
		return p->fork_again_ms;
	while (p->live < p->config->min_sessions) {
		int r = fork_worker(p);

		if (r < 0) {
			p->fork_again_ms =
				now + (r == -EAGAIN ? FORK_AGAIN_MIN : FORK_AGAIN_MAX);
			return p->fork_again_ms;
		}
	}
	return CND_NEVER;
}

void
cnd_children_grow_for(struct cnd_pool *p, uint64_t n_waiting)
{
	const struct cnd_pool_record *record = cnd_master_record(p);
	struct cnd_census census;
	uint64_t n;

	if (p->config == NULL || cnd_master_head(p)->is_paused ||
		cnd_now_ms() < p->fork_again_ms)
		return;
	cnd_pool_census(cnd_the_master.child.board, p->index, &census);
	/* the server refuses even the workers that exist */
	if (census.n[CND_SLOT_FAILING] > 0)
		return;
	/* processes of the pool write both numbers: they must not overflow */
	n = n_waiting < CND_SLOTS_MAX ? n_waiting : CND_SLOTS_MAX;
	n += record->waiting;
	for (uint32_t coming = census.n[CND_SLOT_STARTING];
		coming < n && p->live < p->config->max_sessions; coming++) {
		if (fork_worker(p) < 0)
			return;
	}
}

void
cnd_children_grow(struct cnd_pool *p)
{
	cnd_children_grow_for(p, 0);
}

/* ---- orders ---- */

static void
order_worker(uint32_t slot, uint32_t order)
{
	struct cnd_place *place = &cnd_the_master.places[slot];

	if (place->pid == 0 || place->order >= order)
		return;
	place->order = order;
	atomic_store(&cnd_slot_head(cnd_the_master.child.board, slot)->order, order);
	kill(place->pid, SIGUSR1);
}

void
cnd_children_order_pool(uint32_t pool, uint32_t order)
{
	for (uint32_t i = 0; i < cnd_the_master.child.board->n_slots; i++) {
		if (cnd_the_master.places[i].pool == pool)
			order_worker(i, order);
	}
	cnd_groups_retire(pool);
}

void
cnd_children_order_all(uint32_t order)
{
	for (uint32_t i = 0; i < cnd_the_master.child.board->n_slots; i++)
		order_worker(i, order);
	for (uint32_t i = 0; i < CND_POOL_RECORD; i++)
		cnd_groups_retire(i);
}

void
cnd_children_nudge(uint32_t slot)
{
	if (cnd_the_master.places[slot].pid > 0)
		kill(cnd_the_master.places[slot].pid, SIGUSR1);
}

void
cnd_children_nudge_pool(uint32_t pool)
{
	for (uint32_t i = 0; i < cnd_the_master.child.board->n_slots; i++) {
		if (cnd_the_master.places[i].pool == pool)
			cnd_children_nudge(i);
	}
}

void
cnd_children_kill_client(uint32_t slot)
{
	struct cnd_scoreboard *board = cnd_the_master.child.board;

	atomic_store(&cnd_slot_head(board, slot)->kill_generation,
		cnd_slot_at(board, slot)->generation);
	order_worker(slot, CND_ORDER_KILL);
}

uint32_t
cnd_children_n_workers(void)
{
	uint32_t n = 0;

	for (size_t i = 0; i < CND_POOL_RECORD; i++)
		n += cnd_the_master.pools[i].live + cnd_the_master.pools[i].n_groups;
	return n;
}

/* ---- senders of nonsense: an attacker may run them, so they are replaced ---- */

void
cnd_children_end_bad_worker(uint32_t pool, pid_t pid)
{
	cnd_log(LOG_ERR, "worker of pool %s %d sent nonsense",
		cnd_the_master.pools[pool].name, (int)pid);
	kill(pid, SIGKILL);
}

void
cnd_children_end_bad(uint32_t slot)
{
	const struct cnd_place *place = &cnd_the_master.places[slot];

	if (place->pid > 0)
		cnd_children_end_bad_worker(place->pool, place->pid);
}

void
cnd_children_end_bad_door(void)
{
	if (cnd_the_master.door <= 0)
		return;
	cnd_log(LOG_ERR, "door %d sent nonsense", (int)cnd_the_master.door);
	kill(cnd_the_master.door, SIGKILL);
}

void
cnd_children_end_door(void)
{
	if (cnd_the_master.door <= 0)
		return;
	kill(cnd_the_master.door, SIGTERM);
	/* the door only has to refuse the clients that wait */
	for (int i = 0; i < 200 && waitpid(cnd_the_master.door, NULL, WNOHANG) == 0; i++)
		poll(NULL, 0, 10);
	kill(cnd_the_master.door, SIGKILL);
	(void)waitpid(cnd_the_master.door, NULL, 0);
}

void
cnd_children_kill(void)
{
	for (uint32_t i = 0; i < cnd_the_master.child.board->n_slots; i++) {
		if (cnd_the_master.places[i].pid > 0)
			kill(cnd_the_master.places[i].pid, SIGKILL);
	}
	cnd_groups_kill();
	cnd_the_master.phase_until_ms = CND_NEVER;
}

/* ---- reaping ---- */

static int
slot_of(pid_t pid)
{
	for (uint32_t i = 0; i < cnd_the_master.child.board->n_slots; i++) {
		if (cnd_the_master.places[i].pid == pid)
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

/* After early deaths, fork again after growing pauses. */
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

void
cnd_children_note_end(struct cnd_pool *p, pid_t pid, int64_t born_ms, int status)
{
	log_end("worker", p->name, pid, status);
	count_death(p, cnd_now_ms() - born_ms, status);
}

static void
bury_worker(uint32_t slot, int status)
{
	const struct cnd_place *place = &cnd_the_master.places[slot];
	struct cnd_pool *p = &cnd_the_master.pools[place->pool];

	cnd_children_note_end(p, place->pid, place->born_ms, status);
	cnd_children_leave_place(slot);
	cnd_master_forget_pool(p);
}

static void
bury_service(struct cnd_service *s, const char *name, int status)
{
	int64_t now = cnd_now_ms();

	log_end(name, "", s->pid, status);
	s->pid = 0;
	s->again_ms = now + (now - s->born_ms < YOUNG_MS ? YOUNG_MS : FORK_AGAIN_MIN);
}

/* A child other than a helper has ended. */
static void
bury(pid_t pid, int status)
{
	int slot;

	/* the slots of a group have its process id */
	if (cnd_groups_bury(pid, status))
		return;
	slot = slot_of(pid);
	if (slot >= 0) {
		bury_worker((uint32_t)slot, status);
	} else if (pid == cnd_the_master.stats.pid) {
		bury_service(&cnd_the_master.stats, "stats", status);
	} else if (pid == cnd_the_master.alerts.pid) {
		bury_service(&cnd_the_master.alerts, "alerts", status);
	} else if (pid == cnd_the_master.door) {
		log_end("door", "", pid, status);
		cnd_the_master.door = 0;
		cnd_the_master.door_again_ms = cnd_now_ms() + FORK_AGAIN_MIN;
	} else {
		cnd_upgrade_bury(pid, status);
	}
}

/* The place of the helper that ended; -1: the process was not a helper. */
static int
bury_helper(pid_t pid)
{
	for (int i = 0; i < (int)CND_HELPERS_MAX; i++) {
		if (cnd_the_master.helpers[i] != pid)
			continue;
		cnd_the_master.helpers[i] = 0;
		return i;
	}
	return -1;
}

void
cnd_children_kill_helpers(void)
{
	for (unsigned i = 0; i < CND_HELPERS_MAX; i++) {
		pid_t *helper = &cnd_the_master.helpers[i];

		if (*helper == 0)
			continue;
		kill(*helper, SIGKILL);
		(void)waitpid(*helper, NULL, 0);
		*helper = 0;
	}
}

/* Workers have ended: clients that wait may need others now. */
static void
replace_ended(void)
{
	for (size_t i = 0; i < CND_POOL_RECORD; i++) {
		struct cnd_pool *p = &cnd_the_master.pools[i];

		if (cnd_the_master.phase == CND_PHASE_SERVING && p->config != NULL &&
			cnd_master_record(p)->waiting)
			cnd_children_grow(p);
	}
}

void
cnd_children_reap(void)
{
	int status;
	pid_t pid;
	int n = 0;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		int place = bury_helper(pid);

		if (place >= 0)
			say_helped((uint32_t)place, status != 0);
		else
			bury(pid, status);
		n += place < 0;
	}
	if (n > 0)
		replace_ended();
}
