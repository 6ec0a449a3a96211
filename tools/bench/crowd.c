/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Many clients in this process, none of which waits for another: each does an operation, thinks, and
 * does the next one. One process with one loop costs less CPU than a process for each client, which
 * the pools that it measures need. clients.c calls it. The state is struct cnb_crowd.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

/* A target can have a wait without a descriptor. So ask those that wait again this often. */
#define SWEEP_NS    10000000
/* If this many clients in a row cannot connect, the others do not try. */
#define MAX_REFUSED 20

struct client {
	struct cnb_run run;
	int64_t start_ns; /* of its operation */
	int64_t due_ns; /* when it has thought */
};

struct cnb_crowd {
	uint32_t n_clients;
	uint32_t n_refused;
	struct cnb_error refusal;
	int64_t think_ns;
	struct client *clients;
	/* The clients that wait for an answer, and for what. */
	uint32_t n_busy;
	uint32_t *busy;
	struct pollfd *waits;
	/* The clients that think, as a heap. The first entry is the client whose pause ends first. */
	uint32_t n_thinking;
	uint32_t *thinking;
	uint64_t n_to_start; /* operations that are left */
	/* Operations that end outside of this time are not counted. */
	int64_t counted_from_ns, counted_to_ns;
	struct cnb_work *work;
};

/* ------------------------------------------------- the clients that think -- */

static int64_t
due_at(const struct cnb_crowd *crowd, uint32_t at)
{
	return crowd->clients[crowd->thinking[at]].due_ns;
}

static void
swap(struct cnb_crowd *crowd, uint32_t a, uint32_t b)
{
	uint32_t number = crowd->thinking[a];

	crowd->thinking[a] = crowd->thinking[b];
	crowd->thinking[b] = number;
}

static void
think(struct cnb_crowd *crowd, uint32_t number, int64_t due_ns)
{
	uint32_t at = crowd->n_thinking++;

	crowd->clients[number].due_ns = due_ns;
	crowd->thinking[at] = number;
	for (; at > 0 && due_at(crowd, at) < due_at(crowd, (at - 1) / 2);
		at = (at - 1) / 2)
		swap(crowd, at, (at - 1) / 2);
}

/* Take the client whose pause ends first. */
static uint32_t
take_first(struct cnb_crowd *crowd)
{
	uint32_t first = crowd->thinking[0], at = 0, child;

	crowd->thinking[0] = crowd->thinking[--crowd->n_thinking];
	while ((child = 2 * at + 1) < crowd->n_thinking) {
		if (child + 1 < crowd->n_thinking &&
			due_at(crowd, child + 1) < due_at(crowd, child))
			child++;
		if (due_at(crowd, at) <= due_at(crowd, child))
			break;
		swap(crowd, at, child);
		at = child;
	}
	return first;
}

static int64_t
pause_ns(const struct cnb_crowd *crowd, struct client *client)
{
	int64_t half = crowd->think_ns / 2;

	if (!client->run.workload->is_think_random || half == 0)
		return crowd->think_ns;
	return half + crowd->think_ns / 1000 * cnb_random(&client->run.script, 1000);
}

/* ------------------------------------------------------------- one client -- */

static void
finish_operation(struct cnb_crowd *crowd, uint32_t number)
{
	struct client *client = &crowd->clients[number];
	int64_t now_ns = cnb_now_ns();

	if (now_ns >= crowd->counted_from_ns && now_ns <= crowd->counted_to_ns) {
		crowd->work->n_operations++;
		cnb_latency_add(&crowd->work->latency, now_ns - client->start_ns);
	}
	think(crowd, number, now_ns + pause_ns(crowd, client));
}

static int
check_step(struct client *client, const struct cnb_answer *answer)
{
	struct cnb_run *run = &client->run;

	if (run->workload->statement == NULL)
		return cnb_run_check(run, answer);
	if (!run->script.is_query || answer->rows > 0)
		return 0;
	snprintf(run->error.text, sizeof(run->error.text), "no rows for: %s",
		run->script.sql);
	return -1;
}

/* Go to the next statement of the operation. Returns 1, or 0 if there is none. */
static int
next_step(struct client *client)
{
	struct cnb_run *run = &client->run;

	if (run->workload->statement == NULL)
		return 0;
	run->script.step++;
	return run->workload->statement(run);
}

/* Go on with the operation of a client. 0: done; 1: it waits for `ret_wait`; -1. */
static int
go_on(struct cnb_crowd *crowd, uint32_t number, struct pollfd *ret_wait)
{
	struct client *client = &crowd->clients[number];
	struct cnb_run *run = &client->run;
	struct cnb_answer answer;
	int r;

	do {
		r = run->target->try_query(run->session,
			run->workload->statement != NULL ? run->script.sql
							 : run->workload->sql,
			ret_wait, &answer, &run->error);
		if (r == 0)
			r = check_step(client, &answer);
		if (r != 0)
			return r;
	} while (next_step(client));
	finish_operation(crowd, number);
	return 0;
}

static void
begin_operation(struct client *client)
{
	struct cnb_run *run = &client->run;

	run->script.step = 0;
	if (run->workload->statement != NULL)
		(void)run->workload->statement(run);
	client->start_ns = cnb_now_ns();
}

/* --------------------------------------------------------------- the loop -- */

/* Begin the next operation of each client that has thought. */
static int
start_due(struct cnb_crowd *crowd, struct cnb_error *ret_error)
{
	int64_t now_ns = cnb_now_ns();

	while (crowd->n_thinking > 0 && crowd->n_to_start > 0) {
		struct client *client;
		uint32_t number;
		int r;

		if (due_at(crowd, 0) > now_ns)
			break;
		number = take_first(crowd);
		client = &crowd->clients[number];
		crowd->n_to_start--;
		begin_operation(client);
		r = go_on(crowd, number, &crowd->waits[crowd->n_busy]);
		if (r < 0) {
			*ret_error = client->run.error;
			return -1;
		}
		if (r > 0)
			crowd->busy[crowd->n_busy++] = number;
	}
	return 0;
}

/* Wait for an answer, or until a client has thought. 1: the time of a sweep passed. */
static int
wait_for_events(struct cnb_crowd *crowd)
{
	int64_t left_ns = SWEEP_NS;
	struct timespec left;

	if (crowd->n_thinking > 0 && crowd->n_to_start > 0)
		left_ns = due_at(crowd, 0) - cnb_now_ns();
	if (left_ns < 0)
		left_ns = 0;
	if (left_ns > SWEEP_NS)
		left_ns = SWEEP_NS;
	left = (struct timespec){ 0, left_ns };
	return ppoll(crowd->waits, crowd->n_busy, &left, NULL) == 0 &&
	       left_ns == SWEEP_NS;
}

static int
take_answers(struct cnb_crowd *crowd, int is_sweep, struct cnb_error *ret_error)
{
	uint32_t i = 0;

	while (i < crowd->n_busy) {
		uint32_t number = crowd->busy[i];
		int r = 1;

		if (is_sweep || crowd->waits[i].revents != 0)
			r = go_on(crowd, number, &crowd->waits[i]);
		if (r < 0) {
			*ret_error = crowd->clients[number].run.error;
			return -1;
		}
		if (r > 0) {
			i++;
			continue;
		}
		crowd->n_busy--;
		crowd->busy[i] = crowd->busy[crowd->n_busy];
		crowd->waits[i] = crowd->waits[crowd->n_busy];
	}
	return 0;
}

/* Let the clients that work begin one after the other, within one pause. */
static void
let_all_think(struct cnb_crowd *crowd, int64_t start_ns)
{
	uint32_t n = crowd->n_clients, i;

	if (n > 0 && crowd->clients[0].run.workload->is_idle)
		n = 1;
	crowd->n_thinking = 0;
	crowd->n_busy = 0;
	for (i = 0; i < n; i++)
		think(crowd, i, start_ns + crowd->think_ns * i / n);
}

int
cnb_crowd_work(struct cnb_crowd *crowd, uint64_t operations, int64_t time_ns,
	struct cnb_work *ret_work, struct cnb_error *ret_error)
{
	int64_t cpu_ns = cnb_own_cpu_ns(), start_ns = cnb_now_ns();

	memset(ret_work, 0, sizeof(*ret_work));
	crowd->work = ret_work;
	crowd->n_to_start = time_ns > 0 ? UINT64_MAX : operations * crowd->n_clients;
	crowd->counted_from_ns = start_ns + time_ns / 5;
	crowd->counted_to_ns = time_ns > 0 ? start_ns + time_ns : INT64_MAX;
	let_all_think(crowd, start_ns);
	while (crowd->n_busy > 0 || (crowd->n_to_start > 0 && crowd->n_thinking > 0)) {
		if (start_due(crowd, ret_error) < 0 ||
			take_answers(crowd, wait_for_events(crowd), ret_error) < 0)
			return -1;
		if (cnb_now_ns() > crowd->counted_to_ns)
			crowd->n_to_start = 0;
	}
	ret_work->wall_ns = cnb_now_ns() - start_ns;
	ret_work->measured_ns = time_ns - time_ns / 5;
	ret_work->cpu_ns = cnb_own_cpu_ns() - cpu_ns;
	ret_work->n_refused = crowd->n_refused;
	ret_work->refusal = crowd->refusal;
	return 0;
}

/* ------------------------------------------------------ begin and end -- */

/* Open the sessions. Each does a query, which is not measured. */
static int
open_clients(struct cnb_crowd *crowd, const struct cnb_run *pattern, uint32_t n,
	int may_refuse, struct cnb_error *ret_error)
{
	uint32_t i, in_a_row = 0;

	for (i = 0; i < n && in_a_row < MAX_REFUSED; i++) {
		struct cnb_run *run = &crowd->clients[crowd->n_clients].run;

		*run = *pattern;
		run->number = pattern->number + i;
		run->script.random = 1 + (uint64_t)run->number;
		if (run->workload->begin(run) == 0 &&
			run->workload->operation(run) == 0) {
			crowd->n_clients++;
			in_a_row = 0;
			continue;
		}
		cnb_run_close(run);
		*ret_error = run->error;
		if (!may_refuse)
			return -1;
		crowd->refusal = run->error;
		in_a_row++;
	}
	crowd->n_refused = n - crowd->n_clients;
	return 0;
}

int
cnb_crowd_begin(const struct cnb_run *pattern, uint32_t n_clients, int64_t think_ns,
	int may_refuse, struct cnb_crowd **ret_crowd, struct cnb_error *ret_error)
{
	struct cnb_crowd *crowd = calloc(1, sizeof(*crowd));

	if (crowd == NULL)
		goto no_memory;
	crowd->think_ns = think_ns;
	crowd->clients = calloc(n_clients, sizeof(*crowd->clients));
	crowd->busy = calloc(n_clients, sizeof(*crowd->busy));
	crowd->waits = calloc(n_clients, sizeof(*crowd->waits));
	crowd->thinking = calloc(n_clients, sizeof(*crowd->thinking));
	if (crowd->clients == NULL || crowd->busy == NULL || crowd->waits == NULL ||
		crowd->thinking == NULL)
		goto no_memory;
	if (open_clients(crowd, pattern, n_clients, may_refuse, ret_error) < 0) {
		cnb_crowd_end(crowd);
		return -1;
	}
	*ret_crowd = crowd;
	return 0;

no_memory:
	cnb_crowd_end(crowd);
	snprintf(ret_error->text, sizeof(ret_error->text), "out of memory");
	return -1;
}

void
cnb_crowd_end(struct cnb_crowd *crowd)
{
	if (crowd == NULL)
		return;
	for (uint32_t i = 0; i < crowd->n_clients; i++)
		cnb_run_close(&crowd->clients[i].run);
	free(crowd->clients);
	free(crowd->busy);
	free(crowd->waits);
	free(crowd->thinking);
	free(crowd);
}
