/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include <dirent.h>
#include <string.h>

#include "support/cnt_random.h"

/*
 * usage: smoke_NAME N CORPUS
 *
 * Runs a fuzz target on every file of the folder, on each of their prefixes, and on N mutations of
 * them, which are the same each time. An input lies in memory of exactly its size, so that
 * sanitizers and valgrind see a read beyond it.
 */
#define INPUT_MAX 4096u

struct input {
	uint8_t *bytes;
	size_t len;
};

struct corpus {
	struct input *inputs;
	size_t n;
};

static void *
must(void *ptr)
{
	if (!ptr) {
		perror("fuzz-smoke");
		exit(2);
	}
	return ptr;
}

static void
run(const uint8_t *bytes, size_t len)
{
	uint8_t *exact = must(malloc(len ? len : 1));

	if (len)
		memcpy(exact, bytes, len);
	LLVMFuzzerTestOneInput(exact, len);
	free(exact);
}

static void
corpus_add(struct corpus *c, const char *folder, const char *name)
{
	uint8_t bytes[INPUT_MAX];
	char path[4096];
	size_t len;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = must(fopen(path, "rb"));
	len = fread(bytes, 1, sizeof(bytes), f);
	fclose(f);
	c->inputs = must(realloc(c->inputs, (c->n + 1) * sizeof(*c->inputs)));
	c->inputs[c->n].bytes = must(malloc(len ? len : 1));
	c->inputs[c->n].len = len;
	memcpy(c->inputs[c->n++].bytes, bytes, len);
}

static int
by_content(const void *left, const void *right)
{
	const struct input *a = left, *b = right;
	size_t min = a->len < b->len ? a->len : b->len;
	int r = memcmp(a->bytes, b->bytes, min);

	return r ? r : (a->len > b->len) - (a->len < b->len);
}

static void
corpus_read(struct corpus *c, const char *folder)
{
	DIR *dir = must(opendir(folder));
	struct dirent *entry;

	while ((entry = readdir(dir))) {
		if (entry->d_name[0] != '.')
			corpus_add(c, folder, entry->d_name);
	}
	closedir(dir);
	if (c->n == 0) {
		fprintf(stderr, "no seeds in %s\n", folder);
		exit(2);
	}
	/* The order of a folder is chance; the mutations must not be. */
	qsort(c->inputs, c->n, sizeof(*c->inputs), by_content);
}

/* Numbers at which counts and lengths tend to break. */
static uint32_t
odd_number(struct cnt_random *rnd)
{
	static const uint32_t numbers[] = { 0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0xffff,
		0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff };
	uint32_t n = numbers[cnt_random_below(rnd, sizeof(numbers) / sizeof(*numbers))];

	return cnt_random_below(rnd, 4) ? n : (uint32_t)cnt_random_below(rnd, 64);
}

static void
put_number(uint8_t *bytes, size_t len, size_t at, uint32_t number)
{
	for (size_t i = 0; i < 4 && at + i < len; i++)
		bytes[at + i] = (uint8_t)(number >> 8 * i);
}

/* Change bytes in place; there is room for INPUT_MAX. Returns the new length. */
static size_t
mutate(struct cnt_random *rnd, uint8_t *bytes, size_t len, const struct input *other)
{
	size_t at = (size_t)cnt_random_below(rnd, len + 1);
	size_t n = cnt_random_size(rnd, 64);

	switch (cnt_random_below(rnd, 6)) {
	case 0: /* flip a bit */
		if (at < len)
			bytes[at] ^= (uint8_t)(1u << cnt_random_below(rnd, 8));
		return len;
	case 1: /* another byte */
		if (at < len)
			bytes[at] = (uint8_t)cnt_random_u64(rnd);
		return len;
	case 2: /* a number that tends to break code */
		put_number(bytes, len, at, odd_number(rnd));
		return len;
	case 3: /* cut out */
		if (n > len - at)
			n = len - at;
		memmove(bytes + at, bytes + at + n, len - at - n);
		return len - n;
	case 4: /* put in */
		if (n > INPUT_MAX - len)
			n = INPUT_MAX - len;
		memmove(bytes + at + n, bytes + at, len - at);
		cnt_random_bytes(rnd, bytes + at, n);
		return len + n;
	default: /* continue as another input does */
		if (at > other->len)
			at = other->len;
		if (at > len)
			at = len;
		memcpy(bytes + at, other->bytes + at, other->len - at);
		return other->len;
	}
}

int
main(int argc, char **argv)
{
	struct corpus c = { 0 };
	struct cnt_random rnd;
	unsigned long n;

	if (argc != 3) {
		fprintf(stderr, "usage: %s N CORPUS\n", argv[0]);
		return 2;
	}
	n = strtoul(argv[1], NULL, 10);
	corpus_read(&c, argv[2]);
	cnt_random_init(&rnd, 1);
	for (size_t i = 0; i < c.n; i++) {
		for (size_t len = 0; len <= c.inputs[i].len; len++)
			run(c.inputs[i].bytes, len);
	}
	for (unsigned long i = 0; i < n; i++) {
		const struct input *in = &c.inputs[cnt_random_below(&rnd, c.n)];
		uint8_t bytes[INPUT_MAX];
		size_t len = in->len;

		memcpy(bytes, in->bytes, len);
		for (uint64_t k = cnt_random_below(&rnd, 4) + 1; k > 0; k--)
			len = mutate(
				&rnd, bytes, len, &c.inputs[cnt_random_below(&rnd, c.n)]);
		run(bytes, len);
	}
	printf("%zu seeds, %lu mutations\n", c.n, n);
	for (size_t i = 0; i < c.n; i++)
		free(c.inputs[i].bytes);
	free(c.inputs);
	return 0;
}
