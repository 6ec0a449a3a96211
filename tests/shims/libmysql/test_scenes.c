/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "library.h"
#include "older.h"
#include "rig.h"
#include "scene_list.h"

/*
 * The same program runs on the original, directly on the server, and on the shims, through the
 * pool. It must print the same. Oracle's original is not installed, so that flavour is compared
 * with MariaDB's, in the scenes in which both print the same.
 */

/* Bytes to show of a scene that ended badly. */
#define TAIL 600u

static char *
play(struct cnt_rig *on, const char *program, const char *library, const char *scene)
{
	char command[1024];
	size_t size = 16 << 20, n;
	char *text = malloc(size);
	int status;
	FILE *out;

	snprintf(command, sizeof(command),
		"exec timeout 120 '%s' '%s' '%s' '%s' '%s' 2>&1", program, library,
		on->server.socket, on->daemon.dir, scene);
	out = popen(command, "r");
	assert_non_null(text);
	assert_non_null(out);
	n = fread(text, 1, size - 1, out);
	/* values may have zero bytes, which count, too */
	for (size_t i = 0; i < n; i++) {
		if (text[i] == '\0')
			text[i] = '\1';
	}
	text[n] = '\0';
	status = pclose(out);
	if (status != 0)
		fprintf(stderr, "# %s ended behind: %s\n", scene,
			n > TAIL ? text + n - TAIL : text);
	assert_int_equal(status, 0);
	return text;
}

/* Returns the next line, without its end, or NULL after the last one. */
static char *
line(char **at)
{
	char *begin = *at, *end = begin;

	if (*begin == '\0')
		return NULL;
	/* not strchr(): for each line the address sanitizer's version would read all of
	 * the text */
	while (*end != '\n' && *end != '\0')
		end++;
	*at = *end == '\n' ? end + 1 : end;
	*end = '\0';
	return begin;
}

static void
compare(char *theirs, char *ours)
{
	const char *a, *b, *said = "";
	int n = 0;

	do {
		a = line(&theirs);
		b = line(&ours);
		if (a && a[0] == '>')
			said = a;
		if (a && b && strcmp(a, b) == 0)
			continue;
		if (a || b)
			print_message("%s\n  original: %s\n  ours:     %s\n", said,
				a ? a : "(nothing)", b ? b : "(nothing)");
		n += a || b;
	} while ((a || b) && n < 10);
	assert_int_equal(n, 0);
}

/* What one test compares: the output of `original`, and that of `program` on our library. */
struct scene {
	const char *name, *original, *program, *library;
};

static struct cnt_rig rig;

static void
shows_the_same(void **state)
{
	const struct scene *s = *state;
	char *theirs = play(&rig, s->original,
		cnt_library_original(CNT_ORIGINAL_LIBMARIADB), s->name);
	char *ours = play(&rig, s->program, s->library, s->name);

	assert_true(strlen(theirs) > 20);
	compare(theirs, ours);
	free(theirs);
	free(ours);
}

/* Oracle's MYSQL_TIME is larger than MariaDB's. */
static void
values_of_oracle_stay_in_their_buffers(void **state)
{
	char *text = play(&rig, CNT_STMT_VALUES_ORACLE, CNT_OUR_LIBMYSQLCLIENT, "");

	assert_true(strlen(text) > 1000000);
	assert_null(strstr(text, "BEHIND"));
	free(text);
}

static int
setup(void **state)
{
	return cnt_rig_start(&rig);
}

static int
teardown(void **state)
{
	return cnt_rig_stop(&rig);
}

#define TEST(title, ...)                                                                 \
	{ title, shows_the_same, NULL, NULL, &(struct scene){ __VA_ARGS__ } },
#define MARIADB(name)                                                                    \
	TEST(#name "_of_mariadb", #name, CNT_SCENES_MARIADB, CNT_SCENES_MARIADB,         \
		CNT_OUR_LIBMARIADB)
#define ORACLE(name)                                                                     \
	TEST(#name "_of_oracle", #name, CNT_SCENES_MARIADB, CNT_SCENES_ORACLE,           \
		CNT_OUR_LIBMYSQLCLIENT)
#define STATEMENT(name)                                                                  \
	TEST(#name, #name, CNT_STMT_SCENES_MARIADB, CNT_STMT_SCENES_MARIADB,             \
		CNT_OUR_LIBMARIADB)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		SCENES_OF_BOTH(MARIADB) SCENES_OF_BOTH(ORACLE) SCENES_OF_ONE(MARIADB)
			SCENES_OF_MARIADB(MARIADB) SCENES_OF_STATEMENTS(STATEMENT)
		/* fetch every type of column into every type of buffer, and send every type of
		 * parameter */
		TEST("values_of_statements", "", CNT_STMT_VALUES_MARIADB,
			CNT_STMT_VALUES_MARIADB, CNT_OUR_LIBMARIADB)
			cmocka_unit_test(values_of_oracle_stay_in_their_buffers),
	};

	cnt_older_note(cnt_library_original(CNT_ORIGINAL_LIBMARIADB));
	cnt_server_need(CNT_MARIADB);
	return cmocka_run_group_tests(tests, setup, teardown);
}
