/* SPDX-License-Identifier: BSD-2-Clause */
#include "driver.h"

/*
 * Sequences that random calls once found to differ. They stay the same when words and calls are added, so
 * that a fixed bug stays fixed.
 */

#define MAX_STEPS 14

struct scene_step {
	int call;
	const char *word; /* the word that the call uses; NULL: the numbers choose one */
	uint32_t n[3];
	uint32_t at; /* chooses the connection, as in fz_do_step() */
};

struct scene {
	const char *name;
	struct scene_step steps[MAX_STEPS]; /* ends with END */
};

/* clang-format off */
#define BY(call, a, b, c) { FZ_##call, NULL, { a, b, c }, 0 }
#define DO(call)          BY(call, 1, 2, 1)
#define ON(call, word)    { FZ_##call, word, { 1, 2, 1 }, 0 }
#define OTHER(call, word) { FZ_##call, word, { 1, 2, 1 }, 15 }
/* Two parameters more than the statement has, with the types given as 0. */
#define BEYOND(call, word) { FZ_##call, word, { 1, 2, 462 }, 0 }
#define END               { -1, NULL, { 0 }, 0 }
/* Connect with some settings. */
#define CONNECT(word)     { FZ_connect, word, { 2, 3, 1 }, 0 }
#define CONNECT_OTHER(word) { FZ_connect, word, { 2, 3, 1 }, 15 }

static const struct scene scenes[] = {
	{ "settings go back with their transaction", {
		CONNECT(" application_name=first"), ON(exec, "begin"),
		ON(exec, "set application_name to 'second'"), ON(exec, "select 1/0"),
		ON(exec, "rollback"), END } },
	{ "settings go back with a pipeline", {
		CONNECT(""), DO(enter_pipeline), ON(send_params, "begin"),
		ON(send_params, "set datestyle to sql"), DO(sync),
		ON(send_params, "selct"), DO(sync), DO(drain), DO(drain),
		DO(exit_pipeline), END } },
	{ "a Query drops the unnamed statement, behind a pipeline without a Sync too", {
		CONNECT(""), DO(enter_pipeline), ON(send_params, "select 1"),
		DO(flush_request), DO(drain), DO(exit_pipeline), ON(exec, "selct 1"),
		ON(send_describe_prepared, ""), DO(drain), END } },
	{ "a trace of an answer that was not asked for", {
		CONNECT(""), DO(enter_pipeline), DO(trace), ON(send_params, "select 1"),
		DO(drain), DO(flush_request), DO(drain), DO(exit_pipeline), END } },
	{ "the end of rows given one by one has the events of their beginning", {
		CONNECT(""), ON(send_query, "select id from items order by id"),
		DO(set_single_row), DO(get_result), DO(register_event), DO(drain), END } },
	{ "a short name over a column with a long one", {
		CONNECT(""), ON(exec, "select '' as a_long_name"),
		BY(print, 0, 3, 4), BY(print, 0, 7, 4), END } },
	{ "a Sync for nobody is traced", {
		ON(connect_badly, "host"), DO(trace), DO(enter_pipeline), DO(sync), END } },
	{ "attributes for a copy of rows without columns", {
		CONNECT(""), ON(exec, "select from items"), BY(copy_result, 0, 5, 1),
		BY(set_attributes, 1, 3, 1), END } },
	{ "a row of a copy that was taken in part is given again as a whole", {
		CONNECT(""), ON(copy_begin, "copy items (id) to stdout"),
		BY(getline_async, 1, 4, 1), DO(get_copy_data), DO(drain), END } },
	{ "a copy that is over, and of which the beginning was not taken", {
		CONNECT(""), BY(copy_begin, 0, 3, 1), DO(settle), DO(put_copy_end),
		DO(settle), ON(exec, "select 1"), ON(exec, "select 2"), END } },
	{ "a level of isolation in a unit that has prepared something", {
		CONNECT(""), DO(enter_pipeline), ON(send_prepare, "select 1"),
		DO(flush_request), DO(drain), DO(exit_pipeline),
		ON(exec, "begin isolation level serializable"), ON(exec, "rollback"),
		END } },
	{ "a trace of settings that go back with a function that failed", {
		CONNECT(""), ON(exec, "begin"), DO(trace), ON(set_encoding, "latin1"),
		BY(lo_read, 0, 1, 1), ON(exec, "rollback"), END } },
	{ "rows one by one behind a copy of which the beginning was not taken", {
		CONNECT(""),
		ON(send_params, "copy (select id from items order by id) to stdout"), DO(settle),
		BY(getline, 3, 6, 1), DO(set_single_row), DO(drain), END } },
	{ "with a notice comes what was before it in a pipeline", {
		CONNECT(""), ON(exec, "begin"), DO(enter_pipeline), DO(trace),
		ON(send_params, "rollback"), ON(send_params, "commit"),
		ON(send_params, "select notices(2)"), ON(send_params, "select 1"),
		DO(drain), DO(sync), DO(drain), DO(drain), END } },
	{ "a notice behind a failure, a Sync and what is only prepared", {
		CONNECT(""), DO(enter_pipeline), ON(send_params, "selct"), DO(sync),
		ON(send_prepare, "select 1"), ON(send_params, "commit"), DO(drain),
		DO(drain), DO(sync), DO(drain), DO(drain), END } },
	{ "what a result is like is settled when a notice brings its columns", {
		CONNECT(""), DO(enter_pipeline), ON(send_params, "select notices(2)"),
		DO(drain), DO(register_event), DO(set_single_row), DO(sync), DO(drain),
		DO(drain), END } },
	{ "rows one by one, wanted of a request that a reset ended", {
		CONNECT(""), ON(send_query, "select 1"), DO(set_single_row),
		BY(connect_poll, 4, 1, 1), DO(enter_pipeline), ON(send_params, "select 2"),
		ON(send_params, "select 3"), DO(sync), DO(drain), DO(drain), DO(drain),
		END } },
	{ "a notice that was read is told as it is wanted then", {
		CONNECT(""), ON(send_query, "select notices(1)"), DO(read_ahead),
		BY(set_verbosity, 2, 1, 1), BY(set_notices, 0, 1, 1), DO(drain), END } },
	{ "a notice that came with an answer before it is told as it is wanted then", {
		CONNECT(""), DO(enter_pipeline), ON(send_prepared, "nowhere"), DO(sync),
		ON(send_params, "rollback"), DO(sync), DO(read_ahead), DO(get_result),
		BY(set_verbosity, 3, 1, 1), DO(drain), DO(drain), END } },
	{ "notifications behind the results of a text", {
		CONNECT(""), ON(exec, "listen fz"),
		ON(send_query, "begin; notify fz, 'in one'; notify fz; commit"), DO(read_ahead),
		DO(notifies), DO(get_result), DO(notifies), DO(get_result), DO(get_result),
		DO(notifies), DO(get_result), DO(notifies), DO(drain), END } },
	{ "notifications behind rows one by one", {
		CONNECT(""), ON(exec, "listen \"Fz Two\""),
		ON(send_query, "select pg_notify('Fz Two', 'ä')"), DO(set_single_row),
		DO(read_ahead), DO(notifies), DO(get_result), DO(notifies), DO(get_result),
		DO(notifies), DO(drain), END } },
	{ "notifications behind a copy", {
		CONNECT(""), ON(exec, "listen fz"),
		ON(send_query, "copy (select 1) to stdout; notify fz"), DO(read_ahead),
		DO(drain), DO(get_copy_data), DO(get_copy_data), DO(notifies),
		DO(get_result), DO(notifies), DO(drain), DO(notifies), END } },
	{ "one connection wants what the other holds", {
		CONNECT(""), CONNECT_OTHER(""), OTHER(exec, "begin"),
		OTHER(exec, "lock table items"), ON(exec, "delete from items where id > 3"),
		END } },
	{ "what the other connection is told is heard before the next call", {
		CONNECT(""), CONNECT_OTHER(""), ON(exec, "listen fz"), DO(trace),
		OTHER(exec, "notify fz, 'from myself'"), ON(send_query, "select 1"),
		DO(get_result), DO(notifies), DO(drain), END } },
	{ "settings go back with a later Sync than the next", {
		CONNECT(""), ON(exec, "begin"), ON(exec, "set datestyle to sql"),
		DO(enter_pipeline), DO(sync), ON(send_params, "selct"), DO(sync),
		DO(read_ahead), DO(get_result), DO(drain), DO(drain), END } },
	{ "a line of a copy that was lost, and another copy that is not begun", {
		CONNECT(""), ON(copy_begin, "copy (select g, repeat('x', 100) from generate_series(1, 300) g) to stdout"),
		DO(getline_async), DO(get_copy_data), BY(copy_begin, 1, 3, 1),
		DO(getline_async), DO(drain), END } },
	{ "a trace of a transaction that fails behind the next Sync", {
		CONNECT(""), ON(exec, "begin"), ON(exec, "set datestyle to sql"), DO(trace),
		DO(enter_pipeline), DO(sync), ON(send_params, "selct"), DO(sync),
		DO(read_ahead), DO(get_result), DO(drain), DO(drain), END } },
	{ "parameters too many, of types that are to be found out", {
		CONNECT(""), BEYOND(exec_params, "select 1"), BEYOND(send_params, "select 1"),
		DO(drain), END } },
};
/* clang-format on */

_Static_assert(sizeof(scenes) / sizeof(scenes[0]) == FZ_N_SCENES, "FZ_N_SCENES");

void
fz_scene(struct fz *z, const uint32_t n[4])
{
	const struct scene *scene = &scenes[n[1] % FZ_N_SCENES];

	fz_say(z, ": %s\n", scene->name);
	for (int i = 0; i < MAX_STEPS && scene->steps[i].call >= 0; i++) {
		const struct scene_step *s = &scene->steps[i];
		const struct fz_step step = { (uint32_t)s->call,
			{ s->at, s->n[0], s->n[1], s->n[2] } };

		z->word = s->word;
		fz_do_step(z, &step);
		z->word = NULL;
	}
}
