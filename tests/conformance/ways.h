/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_WAYS_H
#define CNT_WAYS_H

#include "seen.h"

/* One way to run a case through libcenote; the results must be the same in each. */
struct cnt_way {
	const char *name;
	int is_nonblocking;
	int is_pipelined;
	int is_prepared;
	int is_streamed;
	uint32_t batch_rows;
};

extern const struct cnt_way cnt_ways[];
extern const size_t cnt_n_ways;

/* Run a case on a new session. 0, or -1 with the reason in ret_why. */
int cnt_way_run(const struct cnt_way *way, const struct cnt_case *test, const char *uri,
	char ret_why[CNT_WHY_MAX]);

#endif
