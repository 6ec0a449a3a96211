/* SPDX-License-Identifier: BSD-2-Clause */
#include "turns.h"

#include <stdio.h>
#include <string.h>

struct cnt_server turns_server;

int
turns_setup(void **state)
{
	return cnt_server_start(&turns_server, CNT_POSTGRESQL, 0);
}

int
turns_teardown(void **state)
{
	cnt_server_stop(&turns_server);
	return 0;
}

const char *
turns_config(const char *lines)
{
	static char config[4096];

	return cnt_server_config(&turns_server, lines, config, sizeof(config));
}

void
turns_start(const char *lines)
{
	wp_start(turns_config(lines));
}

void
turns_attach(cenote_conn **conns, size_t n)
{
	for (size_t i = 0; i < n; i++)
		conns[i] = wp_attach(NULL);
}

void
turns_destroy(cenote_conn **conns, size_t n)
{
	for (size_t i = 0; i < n; i++)
		cenote_conn_destroy(conns[i]);
}

void
turns_take(cenote_conn **conns, size_t n, int rounds)
{
	char sql[64], wanted[16];

	for (int round = 0; round < rounds; round++) {
		for (size_t i = 0; i < n; i++) {
			snprintf(wanted, sizeof(wanted), "%d", round * 1000 + (int)i);
			snprintf(sql, sizeof(sql), "select %s", wanted);
			assert_string_equal(wp_value(conns[i], sql), wanted);
		}
	}
}

void
turns_await_server(const char *sql, const char *wanted)
{
	char text[256];
	int64_t until = wp_now_ms() + 20000;

	do {
		assert_int_equal(
			cnt_server_ask(&turns_server, sql, text, sizeof(text)), 0);
	} while (strcmp(text, wanted) != 0 && wp_now_ms() < until);
	assert_string_equal(text, wanted);
}
