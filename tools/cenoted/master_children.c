/* SPDX-License-Identifier: BSD-2-Clause */
#include "master_parts.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "door.h"
#include "ipc.h"
#include "log.h"

/* The master's children: how they are born, what they are told, and how they are buried. */

/* A worker that ends so soon after its birth is not replaced at once. */
#define YOUNG_MS       1000
#define FORK_AGAIN_MIN 100
#define FORK_AGAIN_MAX 5000

#define N_FDS_KEPT 8

/* Whoever looks at the pools should do it again: a worker is gone without a word. */
static void
wake_door(void)
{
	atomic_store(&cnd_the_master.child.board->door_is_awake, 1);
	(void)eventfd_write(cnd_the_master.child.door_wake, 1);
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
	int keep[N_FDS_KEPT] = { p->listen_fd, p->queue[1], inbox,
		cnd_the_master.child.door_wake, cnd_the_master.child.door_inbox[0],
		cnd_log_fd(), -1, -1 };
	struct cnd_pool mine = *p;

	/* it may have a client before the master, which notes the same, comes to it */
	cnd_the_master.child.board->slots[slot].pid = getpid();
	close_others(keep, N_FDS_KEPT);
	cnd_worker_run(&cnd_the_master.child, &mine, slot, inbox);
}

_Noreturn static void
become_door(void)
{
	size_t most = N_FDS_KEPT + 2 * CND_POOL_RECORD + CND_LISTENERS_MAX +
		      cnd_the_master.child.board->n_slots;
	int *keep = malloc(most * sizeof(*keep));
	struct cnd_pool *pools = calloc(CND_POOL_RECORD, sizeof(*pools));
	size_t n = 0;
	size_t n_pools = 0;

	if (keep == NULL || pools == NULL)
		cnd_fatal("out of memory");
	keep[n++] = cnd_the_master.control[1];
	keep[n++] = cnd_the_master.child.door_wake;
	keep[n++] = cnd_the_master.child.door_inbox[1];
	keep[n++] = cnd_log_fd();
	for (size_t i = 0; i < CND_POOL_RECORD; i++) {
		if (cnd_the_master.pools[i].config == NULL)
			continue;
		keep[n++] = cnd_the_master.pools[i].listen_fd;
		keep[n++] = cnd_the_master.pools[i].queue[0];
		pools[n_pools++] = cnd_the_master.pools[i];
	}
	for (uint32_t i = 0; i < cnd_the_master.child.board->n_slots; i++) {
		if (cnd_the_master.inboxes[i] >= 0)
			keep[n++] = cnd_the_master.inboxes[i];
	}
	for (size_t i = 0; i < CND_LISTENERS_MAX; i++) {
		if (cnd_the_master.listeners.list[i].fd >= 0)
			keep[n++] = cnd_the_master.listeners.list[i].fd;
	}
	close_others(keep, n);
	free(keep);
	cnd_door_run(&cnd_the_master.child, cnd_the_master.control[1], pools, n_pools,
		&cnd_the_master.listeners, cnd_the_master.inboxes);
}

void
cnd_children_fork_door(void)
{
	struct cnd_ipc m;
	pid_t pid;

	/* what was meant for the one before */
	while (cnd_ipc_receive(cnd_the_master.control[1], &m) > 0) {
		for (uint32_t i = 0; i < m.n_fds; i++)
			close(m.fds[i]);
	}
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
become_helper(const struct cnd_pool *p, const struct cnd_ipc *m)
{
	int keep[] = { m->fds[0], cnd_the_master.child.door_inbox[0], cnd_log_fd() };
	struct cnd_pool mine = *p;
	struct cnd_ipc client = *m;

	close_others(keep, sizeof(keep) / sizeof(keep[0]));
	cnd_helper_run(&cnd_the_master.child, &mine, &client);
}

static void
say_helped(uint32_t place)
{
	struct cnd_ipc m = { .kind = CND_IPC_HELPED, .index = place };

	if (cnd_the_master.door > 0 && cnd_ipc_send(cnd_the_master.control[0], &m) < 0)
		cnd_log(LOG_WARNING, "the door does not listen");
}

/* A door that was forked anew may not know which places are taken. */
void
cnd_children_fork_helper(const struct cnd_ipc *m)
{
	const struct cnd_pool *p = &cnd_the_master.pools[m->index];
	pid_t *place = &cnd_the_master.helpers.list[m->serial];
	pid_t pid = -1;

	if (*place == 0 && p->config != NULL)
		pid = fork();
	if (pid == 0)
		become_helper(p, m);
	close(m->fds[0]);
	if (pid > 0)
		*place = pid;
	else if (*place == 0)
		say_helped((uint32_t)m->serial);
}

/* The door gets a copy of the inbox, to forward those who resume. */
static void
announce_inbox(uint32_t slot)
{
	struct cnd_ipc m = { .kind = CND_IPC_INBOX,
		.index = slot,
		.n_fds = 1,
		.fds = { cnd_the_master.inboxes[slot] } };

	if (cnd_ipc_send(cnd_the_master.control[0], &m) < 0)
		cnd_log(LOG_WARNING, "the door does not listen");
}

static int
fork_worker(struct cnd_pool *p)
{
	int inbox[2];
	int slot = cnd_slot_take(cnd_the_master.child.board, p->index);
	pid_t pid;

	if (slot < 0) {
		cnd_log(LOG_WARNING, "pool %s: max_sessions is reached", p->name);
		return -1;
	}
	if (cnd_ipc_pair(inbox) < 0) {
		cnd_log(LOG_ERR, "pool %s: %s", p->name, strerror(errno));
		cnd_slot_release(cnd_the_master.child.board, (uint32_t)slot);
		return -1;
	}
	pid = fork();
	if (pid == 0)
		become_worker(p, (uint32_t)slot, inbox[1]);
	close(inbox[1]);
	if (pid < 0) {
		cnd_log(LOG_ERR, "cannot fork: %s", strerror(errno));
		close(inbox[0]);
		cnd_slot_release(cnd_the_master.child.board, (uint32_t)slot);
		return -1;
	}
	cnd_the_master.child.board->slots[slot].pid = pid;
	cnd_the_master.inboxes[slot] = inbox[0];
	cnd_the_master.born_ms[slot] = cnd_now_ms();
	atomic_fetch_add(&cnd_master_record(p)->live, 1);
	announce_inbox((uint32_t)slot);
	return 0;
}

int64_t
cnd_children_fill_up(struct cnd_pool *p, int64_t now)
{
	struct cnd_pool_record *record = cnd_master_record(p);

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

void
cnd_children_grow(struct cnd_pool *p)
{
	struct cnd_pool_record *record = cnd_master_record(p);
	struct cnd_census census;

	if (p->config == NULL || cnd_now_ms() < p->fork_again_ms)
		return;
	cnd_pool_census(cnd_the_master.child.board, p->index, &census);
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

/* ---- orders ---- */

static void
order_worker(uint32_t slot, uint32_t order)
{
	struct cnd_slot *s = &cnd_the_master.child.board->slots[slot];

	if (s->state == CND_SLOT_FREE || s->order >= order)
		return;
	atomic_store(&s->order, order);
	kill(s->pid, SIGUSR1);
}

void
cnd_children_order_pool(uint32_t pool, uint32_t order)
{
	for (uint32_t i = 0; i < cnd_the_master.child.board->n_slots; i++) {
		if (cnd_the_master.child.board->slots[i].pool == pool)
			order_worker(i, order);
	}
}

void
cnd_children_order_all(uint32_t order)
{
	for (uint32_t i = 0; i < cnd_the_master.child.board->n_slots; i++)
		order_worker(i, order);
}

uint32_t
cnd_children_n_workers(void)
{
	uint32_t n = 0;

	for (size_t i = 0; i < CND_POOL_RECORD; i++)
		n += cnd_the_master.child.board->pools[i].live;
	return n;
}

void
cnd_children_end_door(void)
{
	if (cnd_the_master.door <= 0)
		return;
	kill(cnd_the_master.door, SIGTERM);
	/* it has only to say goodbye to those who wait */
	for (int i = 0; i < 200 && waitpid(cnd_the_master.door, NULL, WNOHANG) == 0; i++)
		poll(NULL, 0, 10);
	kill(cnd_the_master.door, SIGKILL);
	(void)waitpid(cnd_the_master.door, NULL, 0);
}

void
cnd_children_kill(void)
{
	for (uint32_t i = 0; i < cnd_the_master.child.board->n_slots; i++) {
		if (cnd_the_master.child.board->slots[i].pid > 0)
			kill(cnd_the_master.child.board->slots[i].pid, SIGKILL);
	}
	cnd_the_master.phase_until_ms = CND_NEVER;
}

/* ---- reaping ---- */

static int
slot_of(pid_t pid)
{
	for (uint32_t i = 0; i < cnd_the_master.child.board->n_slots; i++) {
		if (cnd_the_master.child.board->slots[i].pid == pid)
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
	struct cnd_slot *s = &cnd_the_master.child.board->slots[slot];
	struct cnd_pool *p = &cnd_the_master.pools[s->pool];
	struct cnd_pool_record *record = cnd_master_record(p);

	log_end("worker", p->name, pid, status);
	count_death(p, cnd_now_ms() - cnd_the_master.born_ms[slot], status);
	close(cnd_the_master.inboxes[slot]);
	cnd_the_master.inboxes[slot] = -1;
	cnd_slot_release(cnd_the_master.child.board, slot);
	atomic_fetch_sub(&record->live, 1);
	if (p->config == NULL && record->live == 0) {
		cnd_pool_close(p);
		atomic_store(&record->is_used, 0);
	}
}

void
cnd_children_reap(void)
{
	int status;
	pid_t pid;
	int n = 0;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		int place = cnd_helpers_bury(&cnd_the_master.helpers, pid);
		int slot = slot_of(pid);

		if (place >= 0) {
			say_helped((uint32_t)place);
			continue;
		}
		n++;
		if (slot >= 0) {
			bury_worker((uint32_t)slot, pid, status);
		} else if (pid == cnd_the_master.door) {
			log_end("door", "", pid, status);
			cnd_the_master.door = 0;
			cnd_the_master.door_again_ms = cnd_now_ms() + FORK_AGAIN_MIN;
		}
	}
	if (n == 0)
		return;
	/* those who wait may need others now */
	for (size_t i = 0; i < CND_POOL_RECORD; i++) {
		if (cnd_the_master.phase == CND_PHASE_SERVING &&
			cnd_master_record(&cnd_the_master.pools[i])->waiting)
			cnd_children_grow(&cnd_the_master.pools[i]);
	}
	wake_door();
}
