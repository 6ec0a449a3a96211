/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rig.h"

/*
 * The same program runs on the original, directly on the server, and on the shims,
 * through the pool. It must see the same. Oracle's original is not installed, so that
 * flavour is compared with MariaDB's, in the scenes in which both show the same.
 */

/* Bytes to show of a scene that ended badly. */
#define TAIL 600u

static char *
play(struct cnt_rig *rig, const char *program, const char *library, const char *scene)
{
	char command[1024];
	size_t size = 16 << 20, n;
	char *text = malloc(size);
	int status;
	FILE *out;

	snprintf(command, sizeof(command),
		"exec timeout 120 '%s' '%s' '%s' '%s' '%s' 2>&1", program, library,
		rig->server.socket, rig->daemon.dir, scene);
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

/* The next line, without its end; NULL: there are no more. */
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

static void
play_on_both(struct cnt_rig *rig, const char *scene, const char *original,
	const char *program, const char *library)
{
	char *theirs = play(rig, original, CNT_ORIGINAL_LIBMARIADB, scene);
	char *ours = play(rig, program, library, scene);

	assert_true(strlen(theirs) > 20);
	compare(theirs, ours);
	free(theirs);
	free(ours);
}

static void
scene_on_both(
	struct cnt_rig *rig, const char *scene, const char *program, const char *library)
{
	play_on_both(rig, scene, CNT_SCENES_MARIADB, program, library);
}

/* With prepared statements; Oracle's library has other numbers for their states. */
#define STMT(name)                                                                       \
	static void stmt_##name(void **state)                                            \
	{                                                                                \
		play_on_both(*state, "stmt_" #name, CNT_STMT_SCENES_MARIADB,             \
			CNT_STMT_SCENES_MARIADB, CNT_OUR_LIBMARIADB);                    \
	}
STMT(not_prepared)
STMT(orders)
STMT(places)
STMT(parameters)
STMT(changes)
STMT(two)
STMT(cursors)
STMT(cursors_and_queries)
STMT(cursors_and_transactions)
STMT(procedures)
STMT(procedures_unread)
STMT(failures)
STMT(arrays)
STMT(many_rows)
STMT(wide_rows)
STMT(direct)
STMT(details)
STMT(beyond_mysql)
STMT(executions)
STMT(failed_user)
STMT(odd_cursors)
STMT(odd_pieces)
STMT(odd_results)
STMT(lost)
STMT(methods)

/* Every type of column into every type of buffer, and every type of parameter. */
static void
values_of_statements(void **state)
{
	play_on_both(*state, "", CNT_STMT_VALUES_MARIADB, CNT_STMT_VALUES_MARIADB,
		CNT_OUR_LIBMARIADB);
}

/* Oracle's MYSQL_TIME is larger than MariaDB's. */
static void
values_of_oracle_stay_in_their_buffers(void **state)
{
	char *text = play(*state, CNT_STMT_VALUES_ORACLE, CNT_OUR_LIBMYSQLCLIENT, "");

	assert_true(strlen(text) > 1000000);
	assert_null(strstr(text, "BEHIND"));
	free(text);
}

#define SCENE(name)                                                                      \
	static void name##_of_mariadb(void **state)                                      \
	{                                                                                \
		scene_on_both(*state, #name, CNT_SCENES_MARIADB, CNT_OUR_LIBMARIADB);    \
	}
#define SCENE_OF_BOTH(name)                                                              \
	SCENE(name)                                                                      \
	static void name##_of_oracle(void **state)                                       \
	{                                                                                \
		scene_on_both(*state, #name, CNT_SCENES_ORACLE, CNT_OUR_LIBMYSQLCLIENT); \
	}
SCENE_OF_BOTH(statements_stored)
SCENE_OF_BOTH(statements_used)
SCENE_OF_BOTH(several_results)
SCENE_OF_BOTH(types_of_columns)
SCENE(types_of_mariadb)
SCENE(answers_read_by_the_program)
SCENE(out_of_sync)
SCENE_OF_BOTH(sent_and_read)
SCENE_OF_BOTH(positions)
SCENE_OF_BOTH(lists)
SCENE(files)
SCENE(tracking)
SCENE(tracking_by_function)
SCENE(progress_is_told)
SCENE(the_program_waits)
SCENE(begun_anew)
SCENE(not_let_in)
SCENE(connecting_takes_too_long)
SCENE_OF_BOTH(lost)

static int
setup(void **state)
{
	static struct cnt_rig rig;

	*state = &rig;
	return cnt_rig_start(&rig);
}

static int
teardown(void **state)
{
	return cnt_rig_stop(*state);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(statements_stored_of_mariadb),
		cmocka_unit_test(statements_stored_of_oracle),
		cmocka_unit_test(statements_used_of_mariadb),
		cmocka_unit_test(statements_used_of_oracle),
		cmocka_unit_test(several_results_of_mariadb),
		cmocka_unit_test(several_results_of_oracle),
		cmocka_unit_test(types_of_columns_of_mariadb),
		cmocka_unit_test(types_of_columns_of_oracle),
		cmocka_unit_test(types_of_mariadb_of_mariadb),
		cmocka_unit_test(answers_read_by_the_program_of_mariadb),
		cmocka_unit_test(out_of_sync_of_mariadb),
		cmocka_unit_test(sent_and_read_of_mariadb),
		cmocka_unit_test(sent_and_read_of_oracle),
		cmocka_unit_test(positions_of_mariadb),
		cmocka_unit_test(positions_of_oracle),
		cmocka_unit_test(lists_of_mariadb),
		cmocka_unit_test(lists_of_oracle),
		cmocka_unit_test(files_of_mariadb),
		cmocka_unit_test(tracking_of_mariadb),
		cmocka_unit_test(tracking_by_function_of_mariadb),
		cmocka_unit_test(progress_is_told_of_mariadb),
		cmocka_unit_test(the_program_waits_of_mariadb),
		cmocka_unit_test(begun_anew_of_mariadb),
		cmocka_unit_test(not_let_in_of_mariadb),
		cmocka_unit_test(connecting_takes_too_long_of_mariadb),
		cmocka_unit_test(lost_of_mariadb),
		cmocka_unit_test(lost_of_oracle),
		cmocka_unit_test(stmt_not_prepared),
		cmocka_unit_test(stmt_orders),
		cmocka_unit_test(stmt_places),
		cmocka_unit_test(stmt_parameters),
		cmocka_unit_test(stmt_changes),
		cmocka_unit_test(stmt_two),
		cmocka_unit_test(stmt_cursors),
		cmocka_unit_test(stmt_cursors_and_queries),
		cmocka_unit_test(stmt_cursors_and_transactions),
		cmocka_unit_test(stmt_procedures),
		cmocka_unit_test(stmt_procedures_unread),
		cmocka_unit_test(stmt_failures),
		cmocka_unit_test(stmt_arrays),
		cmocka_unit_test(stmt_many_rows),
		cmocka_unit_test(stmt_wide_rows),
		cmocka_unit_test(stmt_direct),
		cmocka_unit_test(stmt_details),
		cmocka_unit_test(stmt_beyond_mysql),
		cmocka_unit_test(stmt_executions),
		cmocka_unit_test(stmt_failed_user),
		cmocka_unit_test(stmt_odd_cursors),
		cmocka_unit_test(stmt_odd_pieces),
		cmocka_unit_test(stmt_odd_results),
		cmocka_unit_test(stmt_lost),
		cmocka_unit_test(stmt_methods),
		cmocka_unit_test(values_of_statements),
		cmocka_unit_test(values_of_oracle_stay_in_their_buffers),
	};

	cnt_server_need(CNT_MARIADB);
	return cmocka_run_group_tests(tests, setup, teardown);
}
