/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_lab [NAME...]
 *
 * The fault lab: each fault of lab_faults.c happens to a pool of its own while clients write to a ledger. All run at the same
 * time, since most of them wait most of the time. The last lines are the table of docs/operations.md: what clients saw, the
 * longest time that one of them waited, the time to recovery, and the sessions that were left on the server.
 */
#include "lab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "support/cnt_client.h"
#include "support/cnt_cmocka.h"

#define FAULTS_MAX 32

struct run {
	const struct lab_fault *fault;
	struct lab_place place;
	struct lab_report *report; /* shared with the lab's process */
	pid_t pid;
};

static struct cnt_server server; /* of all labs that need no other */
static struct run runs[FAULTS_MAX];
static size_t n_runs;

static int
be_lab(void *arg)
{
	const struct run *r = arg;

	return lab_run(r->fault, &r->place, r->report);
}

static int
start_all(void **state)
{
	struct lab_report *reports = mmap(NULL, sizeof(*reports) * FAULTS_MAX,
		PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (reports == MAP_FAILED)
		return -1;
	for (size_t i = 0; i < n_runs; i++) {
		runs[i].report = &reports[i];
		runs[i].place = (struct lab_place){ &server, cnt_server_free_port(),
			cnt_server_free_port() };
	}
	if (cnt_server_start(&server, CNT_POSTGRESQL, 0) < 0)
		return -1;
	for (size_t i = 0; i < n_runs; i++) {
		runs[i].pid = cnt_fork(be_lab, &runs[i]);
		if (runs[i].pid < 0)
			return -1;
	}
	return 0;
}

static void
the_fault_is_survived(void **state)
{
	const struct run *r = *state;

	assert_int_equal(cnt_wait(r->pid), 0);
	if (r->report->skipped[0] != '\0') {
		printf("# %s: %s\n", r->fault->what, r->report->skipped);
		skip();
	}
}

static int
end_all(void **state)
{
	cnt_server_stop(&server);
	printf("# | fault | clients saw | longest wait | recovery | sessions left | "
	       "commits: acknowledged, lost before, unknown |\n");
	for (size_t i = 0; i < n_runs; i++) {
		const struct lab_report *r = runs[i].report;

		if (r->skipped[0] != '\0')
			continue;
		printf("# | %s | %s | %lld ms | %lld ms | %d of %d | %d, %d, %d |\n",
			runs[i].fault->what, r->saw[0] != '\0' ? r->saw : "nothing",
			(long long)r->longest_ms, (long long)r->recovery_ms,
			r->n_sessions, LAB_SESSIONS, r->n_rows[LAB_ROW_DONE],
			r->n_rows[LAB_ROW_LOST], r->n_rows[LAB_ROW_UNKNOWN]);
	}
	return 0;
}

static bool
is_wanted(const struct lab_fault *f, int argc, char **argv)
{
	bool is_wanted = argc < 2;

	for (int i = 1; i < argc; i++)
		is_wanted |= strcmp(argv[i], f->test) == 0;
	return is_wanted;
}

int
main(int argc, char **argv)
{
	struct CMUnitTest tests[FAULTS_MAX];

	cnt_server_need(CNT_POSTGRESQL);
	cnt_clean_environment();
	for (size_t i = 0; i < lab_n_faults; i++) {
		if (!is_wanted(&lab_faults[i], argc, argv))
			continue;
		runs[n_runs].fault = &lab_faults[i];
		tests[n_runs] = (struct CMUnitTest){ .name = lab_faults[i].test,
			.test_func = the_fault_is_survived,
			.initial_state = &runs[n_runs] };
		n_runs++;
	}
	return _cmocka_run_group_tests("fault lab", tests, n_runs, start_all, end_all);
}
