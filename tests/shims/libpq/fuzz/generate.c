/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include "support/cnt_random.h"

/*
 * A sequence is made of phrases, which are how the interface is meant to be used, and of what disturbs them:
 * calls are left out, doubled, or come in between from anywhere.
 */

#define MAX_PHRASE 12

struct phrase {
	unsigned weight;
	int calls[MAX_PHRASE]; /* ends with END */
};

/* Any call of those that fit there. */
enum {
	END = -1,
	SEND = -2,
	RESULT = -3,
	SETTING = -4
};

static const struct phrase phrases[] = {
	{ 10, { FZ_exec, END } },
	{ 4, { FZ_exec_params, END } },
	{ 6, { SEND, FZ_get_result, FZ_get_result, FZ_drain, END } },
	{ 4, { FZ_send_query, FZ_set_single_row, FZ_get_result, FZ_get_result, FZ_drain,
		     END } },
	{ 3, { FZ_send_params, FZ_settle, FZ_set_single_row, FZ_consume, FZ_drain,
		     END } },
	{ 3, { FZ_prepare, FZ_describe_prepared, FZ_exec_prepared, END } },
	{ 3, { FZ_send_prepare, FZ_drain, FZ_send_prepared, FZ_drain, END } },
	{ 5, { FZ_enter_pipeline, SEND, SEND, FZ_sync, FZ_drain, FZ_drain,
		     FZ_exit_pipeline, END } },
	{ 4, { FZ_enter_pipeline, SEND, FZ_sync, SEND, SEND, FZ_sync, FZ_get_result,
		     FZ_get_result, FZ_drain, FZ_drain, FZ_exit_pipeline, END } },
	{ 4, { FZ_enter_pipeline, SEND, FZ_flush_request, FZ_get_result, FZ_get_result,
		     SEND, FZ_sync, FZ_drain, FZ_exit_pipeline, END } },
	{ 3, { FZ_enter_pipeline, SEND, FZ_flush_request, FZ_drain, FZ_exit_pipeline,
		     FZ_exec, END } },
	{ 2, { FZ_enter_pipeline, FZ_send_params, FZ_set_single_row, FZ_sync,
		     FZ_get_result, FZ_set_single_row, FZ_drain, FZ_drain,
		     FZ_exit_pipeline, END } },
	{ 5, { FZ_copy_begin, FZ_put_copy_data, FZ_put_copy_data, FZ_put_copy_end,
		     FZ_drain, END } },
	{ 4, { FZ_copy_begin, FZ_get_copy_data, FZ_get_copy_data, FZ_drain, END } },
	{ 3, { FZ_copy_begin, FZ_putline, FZ_putline, FZ_putnbytes, FZ_endcopy, FZ_drain,
		     END } },
	{ 3, { FZ_copy_begin, FZ_getline, FZ_getline, FZ_endcopy, FZ_drain, END } },
	{ 2, { FZ_copy_begin, FZ_getline_async, FZ_getline_async, FZ_endcopy, FZ_drain,
		     END } },
	{ 4, { FZ_exec, RESULT, RESULT, RESULT, END } },
	{ 3, { FZ_exec, FZ_copy_result, FZ_set_value, FZ_look, RESULT, END } },
	{ 2, { FZ_make_result, FZ_set_attributes, FZ_set_value, FZ_set_value, RESULT,
		     END } },
	{ 3, { FZ_lo_make, FZ_lo_open, FZ_lo_write, FZ_lo_seek, FZ_lo_read,
		     FZ_lo_truncate, FZ_lo_seek, FZ_lo_read, FZ_lo_end, FZ_lo_files,
		     END } },
	{ 3, { SETTING, SETTING, FZ_exec, END } },
	{ 2, { FZ_trace, FZ_exec, SEND, FZ_drain, FZ_untrace, END } },
	{ 2, { FZ_register_event, FZ_register_event, FZ_exec, FZ_copy_result,
		     FZ_instance_data, FZ_instance_data, FZ_fire_events, END } },
	{ 2, { FZ_reset, FZ_exec, END } },
	{ 1, { FZ_finish, FZ_connect, END } },
	{ 1, { FZ_connect_badly, END } },
};

static const int sends[] = { FZ_send_query, FZ_send_params, FZ_send_params,
	FZ_send_prepare, FZ_send_prepared, FZ_send_describe_prepared,
	FZ_send_describe_portal };
static const int results[] = { FZ_look, FZ_out_of_range, FZ_field_number,
	FZ_verbose_message, FZ_copy_result, FZ_set_attributes, FZ_set_value,
	FZ_result_alloc, FZ_clear, FZ_print, FZ_display, FZ_fire_events };
static const int settings[] = { FZ_set_encoding, FZ_set_verbosity, FZ_set_context,
	FZ_set_nonblocking, FZ_set_notices, FZ_trace };

#define FZ_WEIGHT(name, weight) weight,
static const unsigned weights[] = { FZ_CALLS(FZ_WEIGHT) };

static int
one_of(struct cnt_random *rnd, const int *list, size_t n)
{
	return list[cnt_random_below(rnd, n)];
}

#define ONE_OF(rnd, list) one_of(rnd, list, sizeof(list) / sizeof((list)[0]))

static int
any_call(struct cnt_random *rnd)
{
	unsigned sum = 0;
	int call = 0;
	uint64_t at;

	for (int i = 0; i < FZ_N_CALLS; i++)
		sum += weights[i];
	at = cnt_random_below(rnd, sum);
	while (at >= weights[call])
		at -= weights[call++];
	return call;
}

static const struct phrase *
any_phrase(struct cnt_random *rnd)
{
	const size_t n = sizeof(phrases) / sizeof(phrases[0]);
	unsigned sum = 0;
	const struct phrase *p = phrases;
	uint64_t at;

	for (size_t i = 0; i < n; i++)
		sum += phrases[i].weight;
	at = cnt_random_below(rnd, sum);
	while (at >= p->weight)
		at -= p++->weight;
	return p;
}

static void
add(struct cnt_random *rnd, struct fz_sequence *seq, int call)
{
	struct fz_step *step;

	if (seq->n == FZ_MAX_STEPS)
		return;
	step = &seq->steps[seq->n++];
	if (call == SEND)
		call = ONE_OF(rnd, sends);
	else if (call == RESULT)
		call = ONE_OF(rnd, results);
	else if (call == SETTING)
		call = ONE_OF(rnd, settings);
	step->call = (uint32_t)call;
	for (size_t i = 0; i < 4; i++)
		step->n[i] = (uint32_t)(cnt_random_u64(rnd) >> 33);
}

static void
add_phrase(struct cnt_random *rnd, struct fz_sequence *seq, unsigned disturbance)
{
	const struct phrase *p = any_phrase(rnd);

	for (int i = 0; i < MAX_PHRASE && p->calls[i] != END; i++) {
		uint64_t what = cnt_random_below(rnd, 100);

		if (what < disturbance)
			continue;
		add(rnd, seq, p->calls[i]);
		if (what >= 100 - disturbance)
			add(rnd, seq, any_call(rnd));
		else if (what >= 100 - disturbance - disturbance / 4)
			add(rnd, seq, p->calls[i]);
	}
}

void
fz_generate(uint64_t seed, struct fz_sequence *ret_seq)
{
	static const unsigned disturbances[] = { 0, 5, 15, 40 };
	struct cnt_random rnd;
	uint64_t n_phrases;

	cnt_random_init(&rnd, seed);
	/* seeds come one behind the other */
	cnt_random_init(&rnd, cnt_random_u64(&rnd));
	ret_seq->n = 0;
	n_phrases = 1 + cnt_random_below(&rnd, 6);
	add(&rnd, ret_seq, FZ_connect);
	ret_seq->steps[0].n[0] = 0;
	while (n_phrases-- > 0)
		add_phrase(&rnd, ret_seq, disturbances[cnt_random_below(&rnd, 4)]);
}
