/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "crypto/crypto.h"
#include "users.h"

#define SALT   "Eud57b8IlfdeEdU2MofEBA=="
#define STORED "9dW1jSxoilx4I3cPYwirgXEH7tm0KtTsnSMxlcFIfv0="
#define SERVER "OCzKqPQGQtvtfalsHB2deVv5+NrjkA4ERG/+brYSgbM="
#define PENCIL "SCRAM-SHA-256$4096:" SALT "$" STORED ":" SERVER
/* another user's: more iterations, a shorter salt */
#define OTHER  "SCRAM-SHA-256$10000:c2FsdA==$" SERVER ":" STORED

static int
read_text(
	const char *text, size_t n, struct cnd_users *u, char error[CND_LINES_ERROR_MAX])
{
	struct cnd_lines lines;
	int r;

	cnd_lines_take(&lines, text, n);
	r = cnd_users_read(u, &lines);
	memcpy(error, lines.error, CND_LINES_ERROR_MAX);
	cnd_lines_close(&lines);
	return r;
}

static struct cnd_users
users_of(const char *text)
{
	char error[CND_LINES_ERROR_MAX];
	struct cnd_users u;

	if (read_text(text, strlen(text), &u, error) < 0)
		fail_msg("%s", error);
	return u;
}

static void
users_are_found_by_their_whole_names(void **state)
{
	struct cnd_users u =
		users_of("# comment\n\nzoe:" PENCIL "\n  app:!" OTHER "  \r\nb:" OTHER);

	(void)state;
	assert_int_equal(u.n, 3);
	assert_non_null(cnd_users_find(&u, "zoe"));
	assert_int_equal(cnd_users_find(&u, "app")->is_disabled, 1);
	assert_int_equal(cnd_users_find(&u, "b")->verifier.iterations, 10000);
	assert_null(cnd_users_find(&u, "zo"));
	assert_null(cnd_users_find(&u, "zoee"));
	assert_null(cnd_users_find(&u, ""));
	assert_null(cnd_users_find(&u, "ZOE"));
	assert_null(
		cnd_users_find(&u, "a name that is longer than any that a users file can "
				   "have, by far"));
	cnd_users_destroy(&u);
}

static void
what_is_no_users_file_is_refused_without_repeating_it(void **state)
{
	static const char *const cases[][2] = {
		{ "app", "line 1: NAME:VERIFIER is wanted, and has a colon" },
		{ "\napp:secret", "line 2: user app has no verifier of SCRAM-SHA-256 "
				  "(cenoted --user makes one)" },
		{ "app:" PENCIL "x", "line 1: user app has no verifier of SCRAM-SHA-256 "
				     "(cenoted --user makes one)" },
		{ "app:!!" PENCIL, "line 1: user app has no verifier of SCRAM-SHA-256 "
				   "(cenoted --user makes one)" },
		{ ":" PENCIL, "line 1: no name of a user: it is empty" },
		{ "a b:" PENCIL, "line 1: no name of a user: it has a blank or a control "
				 "character" },
		{ "a,b:" PENCIL,
			"line 1: no name of a user: it has a colon, a comma or a quote" },
		{ "0123456789012345678901234567890123456789012345678901234567890123:x",
			"line 1: no name of a user: it is longer than 63 bytes" },
		{ "app:" PENCIL "\nb:" PENCIL "\napp:!" PENCIL,
			"user app is given twice" },
	};
	char error[CND_LINES_ERROR_MAX];
	struct cnd_users u;

	(void)state;
	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		assert_int_equal(
			read_text(cases[i][0], strlen(cases[i][0]), &u, error), -1);
		assert_string_equal(error, cases[i][1]);
		cnd_users_destroy(&u);
	}
	assert_int_equal(read_text("app\0:x", 6, &u, error), -1);
	assert_string_equal(error, "line 1: a zero byte");
	cnd_users_destroy(&u);
}

static void
nobody_sees_who_is_unknown_or_disabled(void **state)
{
	const struct cnp_hash *hash = cn_crypto_get(CN_CRYPTO_ABI)->hash;
	struct cnd_users u =
		users_of("first:" OTHER "\napp:" PENCIL "\ngone:!" PENCIL "\n");
	struct cnd_users same = users_of("first:" OTHER "\nother:" PENCIL "\n");
	struct cnp_scram_verifier a, b, known;

	(void)state;
	assert_int_equal(cnd_users_verifier(&u, hash, "app", &known), 0);
	assert_memory_equal(&known, &cnd_users_find(&u, "app")->verifier, sizeof(known));
	/* the disabled keeps its salt, and the unknown always has the same one */
	assert_int_equal(cnd_users_verifier(&u, hash, "gone", &a), 1);
	assert_memory_equal(a.salt, known.salt, known.salt_len);
	assert_int_equal(cnd_users_verifier(&u, hash, "who", &a), 1);
	assert_int_equal(cnd_users_verifier(&same, hash, "who", &b), 1);
	assert_memory_equal(&a, &b, sizeof(a));
	/* which looks like the file's */
	assert_int_equal(a.iterations, 10000);
	assert_int_equal(a.salt_len, 4);
	assert_int_equal(cnd_users_verifier(&u, hash, "who2", &b), 1);
	assert_memory_not_equal(a.salt, b.salt, a.salt_len);
	assert_memory_not_equal(a.stored_key, b.stored_key, sizeof(a.stored_key));
	/* and is not known to who does not know the file */
	cnd_users_destroy(&same);
	same = users_of("first:SCRAM-SHA-256$10000:c2FsdA==$" SERVER ":" SERVER);
	assert_int_equal(cnd_users_verifier(&same, hash, "who", &b), 1);
	assert_memory_not_equal(a.salt, b.salt, a.salt_len);
	cnd_users_destroy(&same);
	cnd_users_destroy(&u);
	u = users_of("");
	assert_int_equal(cnd_users_verifier(&u, hash, "who", &b), 1);
	assert_int_equal(b.iterations, CNP_SCRAM_ITERATIONS);
	assert_int_equal(b.salt_len, CNP_SCRAM_SALT_LEN);
	cnd_users_destroy(&u);
}

static void
files_that_others_could_have_written_or_read_are_refused(void **state)
{
	static const struct {
		mode_t mode;
		int is_public, is_secret; /* 1: it is taken as such */
	} cases[] = { { 0600, 1, 1 }, { 0400, 1, 1 }, { 0640, 1, 1 }, { 0644, 1, 0 },
		{ 0660, 0, 0 }, { 0620, 0, 0 }, { 0602, 0, 0 }, { 0604, 1, 0 },
		{ 0601, 1, 0 }, { 0666, 0, 0 } };
	char path[] = "/tmp/cenote-users-XXXXXX";
	int fd = mkstemp(path);
	struct cnd_lines lines;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "a\n", 2), 2);
	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		assert_int_equal(fchmod(fd, cases[i].mode), 0);
		assert_int_equal(
			cnd_lines_open(&lines, path, CND_FILE_PUBLIC, geteuid()) == 0,
			cases[i].is_public);
		cnd_lines_close(&lines);
		assert_int_equal(
			cnd_lines_open(&lines, path, CND_FILE_SECRET, geteuid()) == 0,
			cases[i].is_secret);
		assert_int_equal(lines.error[0] == '\0', cases[i].is_secret);
		cnd_lines_close(&lines);
	}
	if (geteuid() == 0) {
		assert_int_equal(fchmod(fd, 0600), 0);
		assert_int_equal(fchown(fd, 12345, 12345), 0);
		assert_int_equal(
			cnd_lines_open(&lines, path, CND_FILE_SECRET, 54321), -1);
		assert_int_equal(cnd_lines_open(&lines, path, CND_FILE_SECRET, 12345), 0);
		assert_string_equal(cnd_lines_next(&lines), "a");
		assert_null(cnd_lines_next(&lines));
		cnd_lines_close(&lines);
	}
	close(fd);
	unlink(path);
	assert_int_equal(cnd_lines_open(&lines, "/tmp", CND_FILE_PUBLIC, 0), -1);
	assert_string_equal(lines.error, "is not a file");
}

static void
systemds_credentials_are_files_too(void **state)
{
	char dir[] = "/tmp/cenote-cred-XXXXXX";
	char path[64];
	struct cnd_lines lines;
	FILE *f;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/users", dir);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs("a:b\n", f);
	fclose(f);
	assert_int_equal(chmod(path, 0400), 0);
	assert_int_equal(setenv("CREDENTIALS_DIRECTORY", dir, 1), 0);
	assert_int_equal(
		cnd_lines_open(&lines, "credential:users", CND_FILE_SECRET, 0), 0);
	assert_string_equal(cnd_lines_next(&lines), "a:b");
	cnd_lines_close(&lines);
	assert_int_equal(
		cnd_lines_open(&lines, "credential:../users", CND_FILE_SECRET, 0), -1);
	assert_string_equal(lines.error, "the name of a credential has no \"/\"");
	unsetenv("CREDENTIALS_DIRECTORY");
	assert_int_equal(
		cnd_lines_open(&lines, "credential:users", CND_FILE_SECRET, 0), -1);
	unlink(path);
	rmdir(dir);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(users_are_found_by_their_whole_names),
		cmocka_unit_test(what_is_no_users_file_is_refused_without_repeating_it),
		cmocka_unit_test(nobody_sees_who_is_unknown_or_disabled),
		cmocka_unit_test(
			files_that_others_could_have_written_or_read_are_refused),
		cmocka_unit_test(systemds_credentials_are_files_too),
	};

	return cmocka_run_group_tests_name("users", tests, NULL, NULL);
}
