/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/cnt_process.h"

/*
 * Another user runs a setuid program of root. The user's environment tells connections where to
 * go, and the program must ignore that. Each case also runs without the setuid bit, to show that
 * the environment counts then.
 */

#define NOBODY 65534

struct fixture {
	char dir[64];
	char plain[96], secure[96]; /* the program, without and with the bit */
	char libpq[96], mysql[96];
	int is_possible;
};

/* "@" stands for the test's directory. */
static const struct {
	const char *face;
	const char *variables[2];
	const char *
		sign; /* a part of the message that appears only if the variables count */
} cases[] = {
	{ "cenote", { "CENOTE_SERVER=unix:@/led" }, "@/led" },
	{ "cenote", { "CENOTE_SERVER=led" }, "led" },
	{ "cenote", { "XDG_RUNTIME_DIR=@/led" }, "@/led" },
	{ "libpq", { "CENOTE_SERVER=unix:@/led" }, "@/led" },
	{ "libpq", { "CENOTE_POOL=led" }, "led.sock" },
	{ "libpq", { "CENOTE_CLIENT_CONF=@/led" }, "syntax error in \"@/led\"" },
	{ "libpq", { "CENOTE_FALLBACK=direct" }, "/nowhere" },
	{ "libpq", { "CENOTE_FALLBACK=direct", "CENOTE_LIBPQ=@/led" }, "CENOTE_LIBPQ" },
	{ "mysql", { "CENOTE_SERVER=unix:@/led" }, "@/led" },
	{ "mysql", { "CENOTE_POOL=led" }, "led" },
	{ "mysql", { "CENOTE_CLIENT_CONF=@/led" }, "@/led" },
	{ "mysql_files", { "HOME=@" }, "by-file" },
	{ "mysql_files", { "MYSQL_HOME=@" }, "by-file" },
};

/* Put the directory in place of "@". */
static void
expand(const struct fixture *f, const char *text, char out[160])
{
	const char *at = strchr(text, '@');

	if (at == NULL)
		snprintf(out, 160, "%s", text);
	else
		snprintf(out, 160, "%.*s%s%s", (int)(at - text), text, f->dir, at + 1);
}

static void
ask(const struct fixture *f, const char *program, size_t i, char *output, size_t size)
{
	char variables[2][160] = { "NOTHING=1", "NOTHING=2" };
	const char *library = *cases[i].face == 'l'   ? f->libpq
			      : *cases[i].face == 'm' ? f->mysql
						      : NULL;
	const char *const argv[] = { "env", variables[0], variables[1], program,
		cases[i].face, library, NULL };
	const struct cnt_command command = {
		.argv = argv, .uid = NOBODY, .gid = NOBODY, .output = output, .size = size
	};

	for (size_t k = 0; k < 2 && cases[i].variables[k] != NULL; k++)
		expand(f, cases[i].variables[k], variables[k]);
	if (cnt_run(&command) < 0)
		fail_msg("%s: %s", cases[i].face, output);
}

static void
its_user_does_not_lead_a_setuid_program_astray(void **state)
{
	const struct fixture *f = *state;
	char output[4096], sign[160];

	if (!f->is_possible) {
		print_message("# skipped: no setuid program can be made here\n");
		skip();
	}
	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		expand(f, cases[i].sign, sign);
		ask(f, f->plain, i, output, sizeof(output));
		if (strncmp(output, "secure 0\n", 9) != 0 || strstr(output, sign) == NULL)
			fail_msg("%s, %s, without the bit: %s", cases[i].face,
				cases[i].variables[0], output);
		ask(f, f->secure, i, output, sizeof(output));
		if (strncmp(output, "secure 1\n", 9) != 0 || strstr(output, sign) != NULL)
			fail_msg("%s, %s: %s", cases[i].face, cases[i].variables[0],
				output);
	}
}

/* Copy a file to a directory that the user nobody can read: nobody cannot read the build's
 * directory. */
static int
copy(const struct fixture *f, const char *from, const char *name, mode_t mode,
	char to[96])
{
	const char *const argv[] = { "cp", from, to, NULL };

	snprintf(to, 96, "%s/%s", f->dir, name);
	return cnt_run(&(struct cnt_command){ .argv = argv }) < 0 ? -1 : chmod(to, mode);
}

static int
write_file(const struct fixture *f, const char *name, const char *text)
{
	char path[96];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", f->dir, name);
	file = fopen(path, "w");
	if (file == NULL)
		return -1;
	fputs(text, file);
	return fclose(file);
}

/* Whether the setuid bit has an effect. The file system or the container may ignore the bit. */
static int
can_be_secure(const struct fixture *f)
{
	const char *const argv[] = { f->secure, "cenote", NULL };
	char output[4096] = "";
	const struct cnt_command command = { .argv = argv,
		.uid = NOBODY,
		.gid = NOBODY,
		.output = output,
		.size = sizeof(output) };

	return cnt_run(&command) == 0 && strncmp(output, "secure 1\n", 9) == 0;
}

static int
setup(void **state)
{
	static struct fixture f;

	*state = &f;
	snprintf(f.dir, sizeof(f.dir), "/tmp/cenote-setuid-XXXXXX");
	if (geteuid() != 0)
		return 0;
	if (mkdtemp(f.dir) == NULL || chmod(f.dir, 0755) < 0 ||
		copy(&f, CNT_GUEST, "plain", 0755, f.plain) < 0 ||
		copy(&f, CNT_GUEST, "secure", 04755, f.secure) < 0 ||
		copy(&f, CNT_OUR_LIBPQ, "libpq.so.5", 0755, f.libpq) < 0 ||
		copy(&f, CNT_OUR_LIBMARIADB, "libmariadb.so.3", 0755, f.mysql) < 0 ||
		write_file(&f, "led", "nonsense\n") < 0 ||
		write_file(&f, "my.cnf", "[client]\ndatabase=by-file\n") < 0 ||
		write_file(&f, ".my.cnf", "[client]\ndatabase=by-file\n") < 0)
		return -1;
	f.is_possible = can_be_secure(&f);
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	if (geteuid() == 0)
		cnt_remove_tree(f->dir);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(its_user_does_not_lead_a_setuid_program_astray),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
