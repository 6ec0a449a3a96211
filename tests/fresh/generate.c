/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random sequences of what a client does. The same seed gives the same sequence.
 */
#include "fresh.h"

#include <string.h>

/* Text that grows up to a bound; the rest is dropped. */
struct text {
	char *bytes;
	size_t size, used;
};

static void
put(struct text *t, char c)
{
	if (t->used + 1 >= t->size)
		return;
	t->bytes[t->used++] = c;
	t->bytes[t->used] = '\0';
}

/* Find the end of the alternative that begins here: its | or } . */
static const char *
end_of_alternative(const char *p)
{
	int depth = 0;

	for (; *p != '\0'; p++) {
		if (depth == 0 && (*p == '|' || *p == '}'))
			break;
		depth += *p == '{';
		depth -= *p == '}';
	}
	return p;
}

static void expand(
	struct cnt_random *rnd, const char *p, const char *end, struct text *t);

/* Write one of the alternatives between the braces. Returns the position after them. */
static const char *
expand_choice(struct cnt_random *rnd, const char *p, struct text *t)
{
	const char *begins[64], *ends[64];
	size_t n = 0, pick;

	do {
		begins[n] = ++p;
		p = end_of_alternative(p);
		ends[n++] = p;
	} while (*p == '|' && n < 64);
	pick = cnt_random_below(rnd, n);
	expand(rnd, begins[pick], ends[pick], t);
	return *p == '}' ? p + 1 : p;
}

/* Write a text, with one alternative for each pair of braces. */
static void
expand(struct cnt_random *rnd, const char *p, const char *end, struct text *t)
{
	while (p < end) {
		if (*p == '{')
			p = expand_choice(rnd, p, t);
		else
			put(t, *p++);
	}
}

/* Statements that end the session are rare, because the next client gets a new login anyway. */
static int
is_passed_over(const char *statement, struct cnt_random *rnd, int is_superuser)
{
	return (statement[0] == '!' && !is_superuser) ||
	       (statement[0] == '~' && cnt_random_below(rnd, 10) > 0);
}

static void
random_statement(const struct fr_backend *backend, struct cnt_random *rnd,
	int is_superuser, struct text *t)
{
	const char *statement;

	do
		statement =
			backend->statements[cnt_random_below(rnd, backend->n_statements)];
	while (is_passed_over(statement, rnd, is_superuser));
	statement += statement[0] == '!' || statement[0] == '~';
	expand(rnd, statement, statement + strlen(statement), t);
}

static void
random_copy(const struct fr_backend *backend, struct cnt_random *rnd, struct text *t)
{
	const char *copy;
	size_t n = 0;

	while (backend->copies[n] != NULL)
		n++;
	copy = backend->copies[cnt_random_below(rnd, n)];
	expand(rnd, copy, copy + strlen(copy), t);
}

static enum fr_how
random_how(struct cnt_random *rnd)
{
	static const enum fr_how weights[] = { FR_QUERY, FR_QUERY, FR_QUERY, FR_QUERY,
		FR_QUERY, FR_QUERY, FR_BOUND, FR_BOUND, FR_PREPARED, FR_PREPARED,
		FR_PORTAL, FR_PIPELINE, FR_CALL, FR_CALL, FR_CALL };

	/* Slow steps are rare. */
	if (cnt_random_below(rnd, 40) == 0)
		return FR_CANCEL;
	if (cnt_random_below(rnd, 25) == 0)
		return FR_COPY;
	return weights[cnt_random_below(rnd, sizeof(weights) / sizeof(weights[0]))];
}

static void
random_step(const struct fr_backend *backend, struct cnt_random *rnd, int is_superuser,
	struct fr_step *ret_step)
{
	struct text t = { ret_step->sql, sizeof(ret_step->sql), 0 };
	uint64_t n, i;

	ret_step->how = random_how(rnd);
	ret_step->number = (uint32_t)cnt_random_u64(rnd);
	ret_step->sql[0] = '\0';
	switch (ret_step->how) {
	case FR_CANCEL:
		expand(rnd, backend->slow, backend->slow + strlen(backend->slow), &t);
		break;
	case FR_COPY:
		random_copy(backend, rnd, &t);
		break;
	case FR_CALL:
		break;
	case FR_PIPELINE:
		n = 2 + cnt_random_below(rnd, 3);
		for (i = 0; i < n; i++) {
			if (i > 0)
				put(&t, FR_SEPARATOR);
			random_statement(backend, rnd, is_superuser, &t);
		}
		break;
	default:
		random_statement(backend, rnd, is_superuser, &t);
	}
}

static enum fr_ending
random_ending(struct cnt_random *rnd)
{
	uint64_t n = cnt_random_below(rnd, 100);

	/* Killing is rare: a process costs more than the rest of a sequence. */
	return n < 4 ? FR_KILLED : n < 20 ? FR_CUT : n < 35 ? FR_SILENT : FR_CLOSE;
}

void
fr_generate(const struct fr_backend *backend, uint64_t seed, struct fr_sequence *ret_seq)
{
	struct cnt_random rnd;
	size_t i;

	cnt_random_init(&rnd, seed);
	memset(ret_seq, 0, sizeof(*ret_seq));
	ret_seq->pool = cnt_random_below(&rnd, backend->n_pools);
	ret_seq->ending = random_ending(&rnd);
	ret_seq->number =
		(uint32_t)cnt_random_below(&rnd, ret_seq->ending == FR_CUT ? 1500 : 4000);
	ret_seq->n = 1 + cnt_random_below(&rnd, FR_MAX_STEPS);
	for (i = 0; i < ret_seq->n; i++)
		random_step(backend, &rnd, backend->pools[ret_seq->pool].is_superuser,
			&ret_seq->steps[i]);
}

void
fr_print(const struct fr_backend *backend, const struct fr_sequence *seq)
{
	static const char *const hows[] = { "query", "bound", "prepared", "portal",
		"pipeline", "copy", "cancel", "call" };
	static const char *const endings[] = { "closes", "is silent", "is cut off",
		"is killed" };
	const char *p;
	size_t i;

	printf("#   on pool %s:\n", backend->pools[seq->pool].name);
	for (i = 0; i < seq->n; i++) {
		printf("#   %-8s %10u  ", hows[seq->steps[i].how], seq->steps[i].number);
		for (p = seq->steps[i].sql; *p != '\0'; p++)
			fputs(*p == FR_SEPARATOR ? "  ;;  "
				: *p == '\n'     ? " "
						 : (char[]){ *p, '\0' },
				stdout);
		putchar('\n');
	}
	printf("#   and %s (%u)\n", endings[seq->ending], seq->number);
}
