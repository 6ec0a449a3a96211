/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_SCENE_LIST_H
#define CNT_SCENE_LIST_H

/*
 * The names of all scenes, once for the programs that play them (scenes.c, stmt_scenes.c) and for the
 * test that compares what they print (test_scenes.c).
 */

/* clang-format off */
/* Both flavours must print the same. */
#define SCENES_OF_BOTH(SCENE) \
	SCENE(statements_stored) SCENE(statements_used) SCENE(several_results) \
	SCENE(types_of_columns) SCENE(sent_and_read) SCENE(positions) SCENE(lists) \
	SCENE(lost)
/* Only MariaDB's flavour is compared, because Oracle's prints something else. */
#define SCENES_OF_ONE(SCENE) \
	SCENE(out_of_sync) SCENE(files) SCENE(tracking) SCENE(begun_anew) \
	SCENE(not_let_in) SCENE(connecting_takes_too_long)
/* Only MariaDB's flavour is compared, because Oracle's does not have the functions. */
#define SCENES_OF_MARIADB(SCENE) \
	SCENE(types_of_mariadb) SCENE(answers_read_by_the_program) \
	SCENE(tracking_by_function) SCENE(progress_is_told) \
	SCENE(the_program_waits)
/* Prepared statements: MariaDB's flavour only, because Oracle's library has other numbers for their states. */
#define SCENES_OF_STATEMENTS(SCENE) \
	SCENE(stmt_not_prepared) SCENE(stmt_orders) SCENE(stmt_places) \
	SCENE(stmt_parameters) SCENE(stmt_changes) SCENE(stmt_two) \
	SCENE(stmt_failures) SCENE(stmt_odd_pieces) SCENE(stmt_lost) \
	SCENE(stmt_cursors) SCENE(stmt_cursors_and_queries) \
	SCENE(stmt_cursors_and_transactions) SCENE(stmt_odd_cursors) \
	SCENE(stmt_arrays) SCENE(stmt_many_rows) SCENE(stmt_wide_rows) \
	SCENE(stmt_direct) SCENE(stmt_details) SCENE(stmt_beyond_mysql) \
	SCENE(stmt_failed_user) SCENE(stmt_procedures) \
	SCENE(stmt_procedures_unread) SCENE(stmt_executions) \
	SCENE(stmt_odd_results) SCENE(stmt_methods)
/* clang-format on */

#endif
