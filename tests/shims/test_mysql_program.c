/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * usage: test_mysql_program PROGRAM LIBMARIADB EXAMPLE
 *
 * examples/mysql-program-on-postgresql: a program of libmariadb with the shim in its place, on a pool of PostgreSQL that has
 * the example's lines, prints what the example says.
 */
#include "support/cnt_cmocka.h"

#include <stdio.h>
#include <string.h>

#include "support/cnt_daemon.h"
#include "support/cnt_server.h"

static char *const *arguments;
static struct cnt_server server;
static struct cnt_daemon daemon_of_test;

static void
read_file(const char *name, char *text, size_t size)
{
	char path[1024];
	FILE *f;
	size_t n;

	snprintf(path, sizeof(path), "%s/%s", arguments[3], name);
	f = fopen(path, "r");
	assert_non_null(f);
	n = fread(text, 1, size - 1, f);
	assert_true(n > 0 && n < size - 1);
	text[n] = '\0';
	fclose(f);
}

static void
the_program_prints_what_the_example_says(void **state)
{
	char lines[4096], config[8192], expected[4096], output[4096];
	char preload[1024], address[256];
	const char *const argv[] = { "env", preload, address, "CENOTE_POOL=main",
		arguments[1], "stock", NULL };
	const struct cnt_command command = {
		.argv = argv, .output = output, .size = sizeof(output)
	};

	read_file("pool.conf", lines, sizeof(lines));
	read_file("expected.txt", expected, sizeof(expected));
	assert_int_equal(cnt_server_start(&server, CNT_POSTGRESQL, 0), 0);
	assert_int_equal(
		cnt_daemon_start(&daemon_of_test,
			cnt_server_config(&server, lines, config, sizeof(config))),
		0);
	snprintf(preload, sizeof(preload), "LD_PRELOAD=%s", arguments[2]);
	snprintf(address, sizeof(address), "CENOTE_SERVER=unix:%s",
		daemon_of_test.run_dir);
	assert_int_equal(cnt_run(&command), 0);
	/* cnt_run() leaves out the last newline */
	expected[strlen(expected) - 1] = '\0';
	assert_string_equal(output, expected);
}

static int
teardown(void **state)
{
	int r = cnt_daemon_stop(&daemon_of_test);

	cnt_server_stop(&server);
	return r;
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_program_prints_what_the_example_says),
	};

	if (argc != 4) {
		fprintf(stderr, "usage: %s PROGRAM LIBMARIADB EXAMPLE\n", argv[0]);
		return 2;
	}
	arguments = argv;
	return cmocka_run_group_tests(tests, NULL, teardown);
}
