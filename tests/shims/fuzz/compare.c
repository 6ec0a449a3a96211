/* SPDX-License-Identifier: BSD-2-Clause */
#include "compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/cnt_process.h"
#include "support/cnt_random.h"

/* Lines to print before and after a difference. */
#define SHOWN_LINES 16

/* A program cannot do what crashes the original. If ours crashes as well, that is no
 * difference. */
static int
is_beyond(const struct fz_contest *c)
{
	return c->original.has_crashed && c->ours.pid != 0;
}

static int
differ(struct fz_contest *c, const struct fz_sequence *seq)
{
	c->renew();
	fz_peer_ask(&c->original, seq);
	if (c->is_shared) {
		fz_peer_answer(&c->original);
		c->renew();
	}
	fz_peer_ask(&c->ours, seq);
	if (!c->is_shared)
		fz_peer_answer(&c->original);
	fz_peer_answer(&c->ours);
	if (getenv("CHECK_SHOW"))
		printf("%s\n", c->ours.text);
	if (is_beyond(c))
		return 0;
	return c->original.pid == 0 || c->ours.pid == 0 ||
	       strcmp(c->original.text, c->ours.text) != 0;
}

static void
restart(struct fz_contest *c)
{
	(void)fz_peer_stop(&c->original);
	(void)fz_peer_stop(&c->ours);
}

/* Whether the texts differ. If the original crashes, compare only the calls before the crash. */
static int
differ_before(struct fz_contest *c, struct fz_sequence *seq, uint64_t seed)
{
	uint32_t n = seq->n;
	int r = differ(c, seq);

	if (!is_beyond(c))
		return r;
	c->n_crashes++;
	printf("# CNT_SEED=%llu: %s %s", (unsigned long long)seed, c->name,
		c->original.text);
	/* start both again: an earlier sequence may have caused the crash */
	restart(c);
	while (r = differ(c, seq), is_beyond(c) && seq->n > 0) {
		restart(c);
		seq->n--;
	}
	printf("; %u of its %u calls are compared\n", seq->n, n);
	return r;
}

/* The texts of the last two drivers that differed. */
struct texts {
	char *original, *ours;
	int has_crash;
};

static void
keep_texts(struct texts *t, const struct fz_contest *c)
{
	free(t->original);
	free(t->ours);
	t->original = strdup(c->original.text);
	t->ours = strdup(c->ours.text);
	t->has_crash = c->original.pid == 0 || c->ours.pid == 0;
}

/* Remove the calls that the difference does not need. */
static void
minimise(struct fz_contest *c, struct fz_sequence *seq, struct texts *last)
{
	for (uint32_t size = seq->n / 2; size > 0; size /= 2) {
		uint32_t i = 0;

		while (i < seq->n) {
			struct fz_sequence less = *seq;
			uint32_t n = size < seq->n - i ? size : seq->n - i;

			less.n -= n;
			memmove(&less.steps[i], &less.steps[i + n],
				(less.n - i) * sizeof(less.steps[0]));
			if (differ(c, &less)) {
				*seq = less;
				keep_texts(last, c);
			} else {
				i += size;
			}
		}
	}
}

static size_t
line_length(const char *text)
{
	return strcspn(text, "\n");
}

static void
print_line(const char *mark, const char *line)
{
	printf("# %-8s", mark);
	fwrite(line, 1, line_length(line), stdout);
	putchar('\n');
}

/* Print lines of a text, each with a mark, around the first difference. */
static void
print_lines(const char *mark, const char *text, int n)
{
	for (; *text != '\0' && n > 0; n--) {
		print_line(mark, text);
		text += line_length(text);
		text += *text == '\n';
	}
}

static void
show(const struct fz_contest *c, const char *a, const char *b)
{
	while (*a != '\0' && line_length(a) == line_length(b) &&
		strncmp(a, b, line_length(a)) == 0) {
		print_line("", a);
		a += line_length(a);
		b += line_length(b);
		if (*a == '\0' || *b == '\0')
			break;
		a++;
		b++;
	}
	print_lines(c->name, a, SHOWN_LINES);
	print_lines("cenote:", b, SHOWN_LINES);
}

/* Print the calls of a sequence. The text of a driver that crashed does not name them. */
static void
print_steps(const struct fz_contest *c, const struct fz_sequence *seq)
{
	for (uint32_t i = 0; i < seq->n; i++) {
		const struct fz_step *step = &seq->steps[i];

		printf("#   %s %u %u %u %u\n", c->language->names[step->call], step->n[0],
			step->n[1], step->n[2], step->n[3]);
	}
}

int
fz_contest_ask(struct fz_contest *c, const struct fz_sequence *seq)
{
	int r = differ(c, seq);

	if (r) {
		print_steps(c, seq);
		show(c, c->original.text, c->ours.text);
	}
	return r;
}

/* Repeat the sequence with new drivers, shorten it while it still differs, and print the last
 * difference: it may not show each time. */
static void
report(struct fz_contest *c, struct fz_sequence *seq, uint64_t seed)
{
	struct texts last = { 0 };

	keep_texts(&last, c);
	restart(c);
	if (!differ(c, seq)) {
		printf("# CNT_SEED=%llu: only behind others, or not each time\n",
			(unsigned long long)seed);
	} else {
		keep_texts(&last, c);
		minimise(c, seq, &last);
		printf("# CNT_SEED=%llu %s=1; the least that shows it:\n",
			(unsigned long long)seed, c->count);
		if (last.has_crash)
			print_steps(c, seq);
	}
	show(c, last.original, last.ours);
	fflush(stdout);
	free(last.original);
	free(last.ours);
}

/* A busy machine answers late. So repeat the sequence with new drivers that wait longer, and
 * return whether the texts still differ. With FZ_STRICT in the environment the first difference
 * counts, because it may depend on earlier sequences. */
static int
differ_patiently(struct fz_contest *c, struct fz_sequence *seq, uint64_t seed)
{
	int r;

	if (getenv("FZ_STRICT") != NULL) {
		report(c, seq, seed);
		return 1;
	}
	setenv("FZ_PATIENCE", "20", 1);
	restart(c);
	r = differ(c, seq);
	if (r)
		report(c, seq, seed);
	else
		printf("# CNT_SEED=%llu: the same at the second try\n",
			(unsigned long long)seed);
	unsetenv("FZ_PATIENCE");
	restart(c);
	return r;
}

static uint64_t
number_from(const char *variable, const char *otherwise)
{
	return strtoull(cnt_env_or(variable, otherwise), NULL, 10);
}

uint64_t
fz_contest_run(struct fz_contest *c)
{
	static struct fz_sequence seq;
	uint64_t n = number_from(c->count, c->default_count);
	uint64_t allowed = number_from(c->differences, "1");
	uint64_t n_differences = 0, n_late = 0, i;
	int64_t start_ms = cnt_now_ms();
	struct cnt_random rnd;

	cnt_random_init_printed(&rnd);
	for (i = 0; i < n && n_differences < allowed; i++) {
		fz_generate(c->language, rnd.seed + i, &seq);
		if (!differ_before(c, &seq, rnd.seed + i))
			continue;
		if (differ_patiently(c, &seq, rnd.seed + i))
			n_differences++;
		else
			n_late++;
	}
	printf("# %llu sequences in %.1f s, the original crashed at %llu\n",
		(unsigned long long)i, (double)(cnt_now_ms() - start_ms) / 1000,
		(unsigned long long)c->n_crashes);
	/* if the original crashes all the time, the comparison says nothing */
	if (c->n_crashes > 1 + i / 200)
		n_differences++;
	/* too many differences for a slow machine to be the cause */
	if (n_late > 3 + i / 20)
		n_differences++;
	return n_differences;
}
