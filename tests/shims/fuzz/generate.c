/* SPDX-License-Identifier: BSD-2-Clause */
#include "shims/fuzz/generate.h"
#include "support/cnt_random.h"

static int
any_call(struct cnt_random *rnd, const struct fz_language *language)
{
	unsigned sum = 0;
	int call = 0;
	uint64_t at;

	for (int i = 0; i < language->n_calls; i++)
		sum += language->weights[i];
	at = cnt_random_below(rnd, sum);
	while (at >= language->weights[call])
		at -= language->weights[call++];
	return call;
}

static const struct fz_phrase *
any_phrase(struct cnt_random *rnd, const struct fz_language *language)
{
	const struct fz_phrase *p = language->phrases;
	unsigned sum = 0;
	uint64_t at;

	for (size_t i = 0; i < language->n_phrases; i++)
		sum += p[i].weight;
	at = cnt_random_below(rnd, sum);
	while (at >= p->weight)
		at -= p++->weight;
	return p;
}

static void
add(struct cnt_random *rnd, const struct fz_language *language, struct fz_sequence *seq,
	int call)
{
	const struct fz_list *list;
	struct fz_step *step;

	if (seq->n == FZ_MAX_STEPS)
		return;
	step = &seq->steps[seq->n++];
	if (call < 0) {
		list = &language->lists[FZ_ANY_OF(0) - call];
		call = list->calls[cnt_random_below(rnd, list->n)];
	}
	step->call = (uint32_t)call;
	for (size_t i = 0; i < 4; i++)
		step->n[i] = (uint32_t)(cnt_random_u64(rnd) >> 33);
}

static void
add_phrase(struct cnt_random *rnd, const struct fz_language *language,
	struct fz_sequence *seq, unsigned disturbance)
{
	const struct fz_phrase *p = any_phrase(rnd, language);

	for (int i = 0; i < FZ_MAX_PHRASE && p->calls[i] != FZ_END; i++) {
		uint64_t what = cnt_random_below(rnd, 100);

		if (what < disturbance)
			continue;
		add(rnd, language, seq, p->calls[i]);
		if (what >= 100 - disturbance)
			add(rnd, language, seq, any_call(rnd, language));
		else if (what >= 100 - disturbance - disturbance / 4)
			add(rnd, language, seq, p->calls[i]);
	}
}

void
fz_generate(
	const struct fz_language *language, uint64_t seed, struct fz_sequence *ret_seq)
{
	static const unsigned disturbances[] = { 0, 5, 15, 40 };
	struct cnt_random rnd;
	uint64_t n_phrases;

	cnt_random_init(&rnd, seed);
	/* seeds are consecutive numbers, so mix their bits */
	cnt_random_init(&rnd, cnt_random_u64(&rnd));
	ret_seq->n = 0;
	n_phrases = 1 + cnt_random_below(&rnd, 6);
	add(&rnd, language, ret_seq, language->first);
	ret_seq->steps[0].n[0] = 0;
	while (n_phrases-- > 0)
		add_phrase(
			&rnd, language, ret_seq, disturbances[cnt_random_below(&rnd, 4)]);
}
