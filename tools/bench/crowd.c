/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Many clients in this process, none of which waits for another: each sends a query, gets its
 * answer, thinks, and sends the next one. One process with one loop costs less CPU than a process
 * for each client, which the pools that it measures need. clients.c calls it. The state is
 * struct cnb_crowd.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

/* A target can have a wait without a descriptor. So ask those that wait again this often. */
#define SWEEP_NS 10000000

struct client {
	struct cnb_run run;
	int64_t start_ns; /* of its query */
	int64_t due_ns; /* when it has thought */
};

struct cnb_crowd {
	uint32_t n_clients;
	int64_t think_ns;
	struct client *clients;
	/* The clients that wait for an answer, and for what. */
	uint32_t n_busy;
	uint32_t *busy;
	struct pollfd *waits;
	/* The clients that think, as a ring. All think for the same time, so the first is due
	 * first. */
	uint32_t n_thinking, first;
	uint32_t *thinking;
	uint64_t n_to_start; /* queries that are left */
	struct cnb_latency *latency;
};

static void
think(struct cnb_crowd *crowd, uint32_t number, int64_t due_ns)
{
	uint32_t at = (crowd->first + crowd->n_thinking) % crowd->n_clients;

	crowd->clients[number].due_ns = due_ns;
	crowd->thinking[at] = number;
	crowd->n_thinking++;
}

/* Go on with the query of a client. 0: done; 1: it waits for `ret_wait`; -1. */
static int
go_on(struct cnb_crowd *crowd, uint32_t number, struct pollfd *ret_wait)
{
	struct client *client = &crowd->clients[number];
	struct cnb_answer answer;
	int64_t now_ns;
	int r = client->run.target->try_query(client->run.session,
		client->run.workload->sql, ret_wait, &answer, &client->run.error);

	if (r == 0)
		r = cnb_run_check(&client->run, &answer);
	if (r != 0)
		return r;
	now_ns = cnb_now_ns();
	cnb_latency_add(crowd->latency, now_ns - client->start_ns);
	think(crowd, number, now_ns + crowd->think_ns);
	return 0;
}

/* Send the next query of each client that has thought. */
static int
start_due(struct cnb_crowd *crowd, struct cnb_error *ret_error)
{
	int64_t now_ns = cnb_now_ns();

	while (crowd->n_thinking > 0 && crowd->n_to_start > 0) {
		uint32_t number = crowd->thinking[crowd->first];
		struct client *client = &crowd->clients[number];
		int r;

		if (client->due_ns > now_ns)
			break;
		crowd->first = (crowd->first + 1) % crowd->n_clients;
		crowd->n_thinking--;
		crowd->n_to_start--;
		client->start_ns = cnb_now_ns();
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
		left_ns = crowd->clients[crowd->thinking[crowd->first]].due_ns -
			  cnb_now_ns();
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

int
cnb_crowd_work(struct cnb_crowd *crowd, uint64_t operations, struct cnb_work *ret_work,
	struct cnb_error *ret_error)
{
	int64_t cpu_ns = cnb_own_cpu_ns(), start_ns = cnb_now_ns();
	uint32_t i;

	memset(ret_work, 0, sizeof(*ret_work));
	crowd->latency = &ret_work->latency;
	crowd->n_to_start = operations * crowd->n_clients;
	crowd->n_thinking = 0;
	crowd->n_busy = 0;
	/* They do not all begin at once. */
	for (i = 0; i < crowd->n_clients; i++)
		think(crowd, i, start_ns + crowd->think_ns * i / crowd->n_clients);
	while (crowd->n_to_start > 0 || crowd->n_busy > 0) {
		if (start_due(crowd, ret_error) < 0 ||
			take_answers(crowd, wait_for_events(crowd), ret_error) < 0)
			return -1;
	}
	ret_work->wall_ns = cnb_now_ns() - start_ns;
	ret_work->cpu_ns = cnb_own_cpu_ns() - cpu_ns;
	return 0;
}

/* Open the sessions. Each does a query, which is not measured. */
static int
open_clients(struct cnb_crowd *crowd, const struct cnb_run *pattern, uint32_t n,
	struct cnb_error *ret_error)
{
	for (; crowd->n_clients < n; crowd->n_clients++) {
		struct cnb_run *run = &crowd->clients[crowd->n_clients].run;

		*run = *pattern;
		if (run->workload->begin(run) < 0 || run->workload->operation(run) < 0) {
			*ret_error = run->error;
			cnb_run_close(run);
			return -1;
		}
	}
	return 0;
}

int
cnb_crowd_begin(const struct cnb_run *pattern, uint32_t n_clients, int64_t think_ns,
	struct cnb_crowd **ret_crowd, struct cnb_error *ret_error)
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
	if (open_clients(crowd, pattern, n_clients, ret_error) < 0) {
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
