/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The program cenote-cache: shows the files of the client's cache of results, and removes those that are too old. It needs no
 * cenoted. It looks only at files with names that libcenote makes, so it removes nothing else from a wrong directory.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/saved.h"

/* A name has 32 hexadecimal digits and ".res". While the file is being written, more follows, and ".tmp" is the end. */
#define N_DIGITS   32u
#define SUFFIX     ".res"
#define TEMPORARY  ".tmp"
/* A file that is being written is not older than this, unless its writer has died. */
#define WRITING_S  60
/* The part of a statement that is shown. */
#define TEXT_SHOWN 60u
/* What is read of a file, for its head and its statement. */
#define HEAD_READ  4096u

enum what {
	IS_FRESH,
	IS_OLD,
	IS_DAMAGED,
	IS_LEFT, /* by a writer that died */
	IS_BEING_WRITTEN
};

struct entry {
	const char *name;
	enum what what;
	uint64_t size;
	uint64_t age_s;
	uint64_t left_s; /* UINT64_MAX: no limit */
	char text[TEXT_SHOWN + 1];
};

struct totals {
	uint64_t n_files, n_bytes, n_old, n_old_bytes;
	bool has_failed;
};

struct command {
	const char *name;
	void (*each)(int dir, const struct entry *e, struct totals *t);
	void (*end)(const struct totals *t);
};

static bool clean_all;

/* ---- one file ---- */

static bool
is_temporary(const char *name)
{
	return name[N_DIGITS + strlen(SUFFIX)] != '\0';
}

static bool
is_name(const char *name)
{
	if (strspn(name, "0123456789abcdef") != N_DIGITS ||
		strncmp(name + N_DIGITS, SUFFIX, strlen(SUFFIX)) != 0)
		return false;
	return !is_temporary(name) ||
	       strcmp(name + strlen(name) - strlen(TEMPORARY), TEMPORARY) == 0;
}

/* The statement is the first text of the key. What a terminal would not show becomes a blank. */
static void
copy_text(const struct cnc_saved *saved, char to[TEXT_SHOWN + 1])
{
	struct cnc_reader r;
	const char *text;
	size_t len;

	cnc_reader_init(&r, saved->key, saved->key_len);
	text = cnc_read_str(&r, &len);
	if (len > TEXT_SHOWN)
		len = TEXT_SHOWN;
	for (size_t i = 0; i < len; i++)
		to[i] = (char)(text[i] >= ' ' && text[i] <= '~' ? text[i] : ' ');
	to[len] = '\0';
}

static void
judge(struct entry *e, const uint8_t *head, size_t len, const struct timespec *now)
{
	uint64_t now_us = (uint64_t)now->tv_sec * 1000000 + (uint64_t)now->tv_nsec / 1000;
	struct cnc_saved saved;

	e->what = IS_DAMAGED;
	e->left_s = UINT64_MAX;
	if (cnc_saved_peek(head, len, e->size, &saved) < 0)
		return;
	copy_text(&saved, e->text);
	e->what = cnc_saved_is_fresh(&saved, now_us, 0) ? IS_FRESH : IS_OLD;
	if (saved.written_us < now_us)
		e->age_s = (now_us - saved.written_us) / 1000000;
	if (e->what == IS_FRESH && saved.keep_ms > 0)
		e->left_s = (saved.written_us + saved.keep_ms * 1000 - now_us) / 1000000;
}

/* Returns 0, or -1 if there is no such file any more, or it is no regular file. */
static int
look(int dir, struct entry *e)
{
	uint8_t head[HEAD_READ];
	struct timespec now;
	struct stat st;
	ssize_t n = -1;
	int fd = openat(dir, e->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		n = read(fd, head, sizeof(head));
	(void)close(fd);
	if (n < 0)
		return -1;
	(void)clock_gettime(CLOCK_REALTIME, &now);
	e->size = (uint64_t)st.st_size;
	if (!is_temporary(e->name))
		judge(e, head, (size_t)n, &now);
	else
		e->what =
			now.tv_sec - st.st_mtime > WRITING_S ? IS_LEFT : IS_BEING_WRITTEN;
	return 0;
}

/* ---- commands ---- */

static void
list_one(int dir, const struct entry *e, struct totals *t)
{
	static const char *const words[] = { [IS_OLD] = "old",
		[IS_DAMAGED] = "damaged",
		[IS_LEFT] = "left",
		[IS_BEING_WRITTEN] = "writing" };
	char left[24] = "ever";

	(void)dir;
	(void)t;
	if (e->left_s != UINT64_MAX)
		(void)snprintf(left, sizeof(left), "%" PRIu64 "s", e->left_s);
	printf("%8" PRIu64 "s %9s %10" PRIu64 "  %.8s  %s\n", e->age_s,
		e->what == IS_FRESH ? left : words[e->what], e->size, e->name, e->text);
}

static void
size_one(int dir, const struct entry *e, struct totals *t)
{
	(void)dir;
	t->n_files++;
	t->n_bytes += e->size;
	if (e->what == IS_FRESH || e->what == IS_BEING_WRITTEN)
		return;
	t->n_old++;
	t->n_old_bytes += e->size;
}

static void
print_size(const struct totals *t)
{
	printf("%" PRIu64 " files, %" PRIu64 " bytes; of these, %" PRIu64
	       " files, %" PRIu64 " bytes are too old or damaged\n",
		t->n_files, t->n_bytes, t->n_old, t->n_old_bytes);
}

static void
clean_one(int dir, const struct entry *e, struct totals *t)
{
	if (e->what == IS_BEING_WRITTEN || (e->what == IS_FRESH && !clean_all))
		return;
	if (unlinkat(dir, e->name, 0) < 0 && errno != ENOENT) {
		fprintf(stderr, "cenote-cache: %s: %s\n", e->name, strerror(errno));
		t->has_failed = true;
		return;
	}
	t->n_files++;
	t->n_bytes += e->size;
}

static void
print_cleaned(const struct totals *t)
{
	printf("removed %" PRIu64 " files, %" PRIu64 " bytes\n", t->n_files, t->n_bytes);
}

static const struct command commands[] = {
	{ "list", list_one, NULL },
	{ "size", size_one, print_size },
	{ "clean", clean_one, print_cleaned },
};

static int
run(const struct command *c, const char *path)
{
	struct totals totals = { 0 };
	const struct dirent *d;
	DIR *dir = opendir(path);

	if (!dir) {
		fprintf(stderr, "cenote-cache: %s: %s\n", path, strerror(errno));
		return 1;
	}
	while ((d = readdir(dir))) {
		struct entry e = { .name = d->d_name };

		if (is_name(d->d_name) && look(dirfd(dir), &e) == 0)
			c->each(dirfd(dir), &e, &totals);
	}
	(void)closedir(dir);
	if (c->end)
		c->end(&totals);
	return totals.has_failed;
}

/* ---- arguments ---- */

static const char usage[] =
	"usage: cenote-cache COMMAND DIRECTORY\n"
	"Show or remove the results that clients keep by the option cache.\n"
	"  list          each result: age, time left, bytes, name, statement\n"
	"  size          number and bytes, and how many are too old or damaged\n"
	"  clean         remove what is too old, damaged, or was left by a writer that "
	"died\n"
	"      --all      clean: remove every result\n"
	"      --help     print this help\n"
	"      --version  print the version\n"
	"See cenote-cache(1).\n";

static const struct command *
find_command(const char *name)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	}
	return NULL;
}

int
main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "all", no_argument, NULL, 'a' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'v' },
		{ 0 },
	};
	const struct command *command = NULL;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		switch (c) {
		case 'a':
			clean_all = true;
			break;
		case 'h':
			return fputs(usage, stdout) < 0;
		case 'v':
			return puts("cenote-cache " CACHE_VERSION) < 0;
		default:
			fputs(usage, stderr);
			return 2;
		}
	}
	if (argc - optind == 2)
		command = find_command(argv[optind]);
	if (!command || (clean_all && command->each != clean_one)) {
		fputs(usage, stderr);
		return 2;
	}
	return run(command, argv[optind + 1]);
}
