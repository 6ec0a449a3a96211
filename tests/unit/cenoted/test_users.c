/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "crypto/crypto.h"
#include "auth/users.h"

#define SALT   "Eud57b8IlfdeEdU2MofEBA=="
#define STORED "9dW1jSxoilx4I3cPYwirgXEH7tm0KtTsnSMxlcFIfv0="
#define SERVER "OCzKqPQGQtvtfalsHB2deVv5+NrjkA4ERG/+brYSgbM="
#define PENCIL "SCRAM-SHA-256$4096:" SALT "$" STORED ":" SERVER
/* another user's verifier: more iterations, a shorter salt */
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
		{ "app", "line 1: a line must be NAME:VERIFIER, and this one has no "
			 "colon" },
		{ "\napp:secret", "line 2: user app has no SCRAM-SHA-256 verifier "
				  "(cenoted --user makes one)" },
		{ "app:" PENCIL "x", "line 1: user app has no SCRAM-SHA-256 verifier "
				     "(cenoted --user makes one)" },
		{ "app:!!" PENCIL, "line 1: user app has no SCRAM-SHA-256 verifier "
				   "(cenoted --user makes one)" },
		{ "app:SCRAM-SHA-256$4095:" SALT "$" STORED ":" SERVER,
			"line 1: user app: the verifier has 4095 iterations; clients "
			"accept 4096 to 1000000, so set the password again (cenoted "
			"--user)" },
		{ "app:SCRAM-SHA-256$1000001:" SALT "$" STORED ":" SERVER,
			"line 1: user app: the verifier has 1000001 iterations; clients "
			"accept 4096 to 1000000, so set the password again (cenoted "
			"--user)" },
		{ "app:SCRAM-SHA-256$1:" SALT "$" STORED ":x",
			"line 1: user app has no SCRAM-SHA-256 verifier (cenoted --user "
			"makes one)" },
		{ ":" PENCIL, "line 1: this cannot be the name of a user: it is empty" },
		{ "a b:" PENCIL, "line 1: this cannot be the name of a user: it has a "
				 "blank or a control character" },
		{ "a,b:" PENCIL, "line 1: this cannot be the name of a user: it has a "
				 "colon, a comma or a quote" },
		{ "0123456789012345678901234567890123456789012345678901234567890123:x",
			"line 1: this cannot be the name of a user: it is longer than 63 "
			"bytes" },
		{ "app:" PENCIL "\nb:" PENCIL "\napp:!" PENCIL,
			"user app is given twice" },
	};
	char error[CND_LINES_ERROR_MAX];
	struct cnd_users u;

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

	assert_int_equal(cnd_users_verifier(&u, hash, "app", &known), 0);
	assert_memory_equal(&known, &cnd_users_find(&u, "app")->verifier, sizeof(known));
	/* a disabled user keeps its salt, and an unknown user always gets the same one */
	assert_int_equal(cnd_users_verifier(&u, hash, "gone", &a), 1);
	assert_memory_equal(a.salt, known.salt, known.salt_len);
	assert_int_equal(cnd_users_verifier(&u, hash, "who", &a), 1);
	assert_int_equal(cnd_users_verifier(&same, hash, "who", &b), 1);
	assert_memory_equal(&a, &b, sizeof(a));
	/* a made-up verifier looks like those in the file */
	assert_int_equal(a.iterations, 10000);
	assert_int_equal(a.salt_len, 4);
	assert_int_equal(cnd_users_verifier(&u, hash, "who2", &b), 1);
	assert_memory_not_equal(a.salt, b.salt, a.salt_len);
	assert_memory_not_equal(a.stored_key, b.stored_key, sizeof(a.stored_key));
	/* the made-up verifier depends on the file, so nobody else can compute it */
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
		int is_public, is_secret; /* 1: accepted as a public or a secret file */
	} cases[] = { { 0600, 1, 1 }, { 0400, 1, 1 }, { 0640, 1, 1 }, { 0644, 1, 0 },
		{ 0660, 0, 0 }, { 0620, 0, 0 }, { 0602, 0, 0 }, { 0604, 1, 0 },
		{ 0601, 1, 0 }, { 0666, 0, 0 } };
	char path[] = "/tmp/cenote-users-XXXXXX";
	int fd = mkstemp(path);
	struct cnd_lines lines;

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
	assert_string_equal(
		lines.error, "the name of a credential must not have a \"/\"");
	unsetenv("CREDENTIALS_DIRECTORY");
	assert_int_equal(
		cnd_lines_open(&lines, "credential:users", CND_FILE_SECRET, 0), -1);
	unlink(path);
	rmdir(dir);
}

/* ---- the same computation for everybody ---- */

/* The calls of hash functions, in order, with the number of bytes of each. */
static struct {
	char text[4096];
	size_t n;
} course;

static const struct cnp_hash *real;

static void
note(const char *what, size_t n)
{
	course.n += (size_t)snprintf(course.text + course.n,
		sizeof(course.text) - course.n, "%s %zu\n", what, n);
	assert_true(course.n < sizeof(course.text));
}

static int
noted_sha256(const void *data, size_t n, uint8_t ret_hash[CNP_HASH_LEN])
{
	note("sha256", n);
	return real->sha256(data, n, ret_hash);
}

static int
noted_hmac(const void *key, size_t key_len, const struct cnp_bytes *parts, size_t n_parts,
	uint8_t ret_hash[CNP_HASH_LEN])
{
	note("hmac key", key_len);
	for (size_t i = 0; i < n_parts; i++)
		note("hmac part", parts[i].n);
	return real->hmac(key, key_len, parts, n_parts, ret_hash);
}

static int
noted_derive(const char *password, size_t password_len, const uint8_t *salt,
	size_t salt_len, uint32_t iterations, uint8_t ret_key[CNP_HASH_LEN])
{
	note("derive", iterations);
	return real->derive(password, password_len, salt, salt_len, iterations, ret_key);
}

static int
noted_random(void *room, size_t n)
{
	note("random", n);
	return real->random(room, n);
}

static int
noted_is_same(const void *a, const void *b, size_t n)
{
	note("is_same", n);
	return real->is_same(a, b, n);
}

static const struct cnp_hash noted = {
	.sha256 = noted_sha256,
	.hmac = noted_hmac,
	.derive = noted_derive,
	.random = noted_random,
	.is_same = noted_is_same,
};

/* Run a whole login, record the pool's calls in `course`, and return the status. */
static int
log_in(const struct cnd_users *u, const char *name, const char *password)
{
	struct cnp_scram_verifier v;
	struct cnp_scram_client c;
	struct cnp_scram_server s;
	struct cnp_scram_keys keys;
	struct cnp_str m;
	int is_made_up, r;

	course.n = 0;
	assert_ok(cnp_scram_client_begin(
		&c, real, name, CNP_SCRAM_UNBOUND, NULL, NULL, &m));
	cnp_scram_server_init(&s, &noted, 0, NULL);
	assert_ok(cnp_scram_server_take(&s, m.p, m.n));
	is_made_up = cnd_users_verifier(u, &noted, s.user, &v);
	assert_true(is_made_up >= 0);
	assert_ok(cnp_scram_server_challenge(&s, &v, is_made_up, NULL, &m));
	assert_ok(cnp_scram_client_challenge(&c, m.p, m.n));
	assert_ok(cnp_scram_keys_derive(
		real, password, c.salt, c.salt_len, c.iterations, &keys));
	assert_ok(cnp_scram_client_prove(&c, &keys, &m));
	r = cnp_scram_server_check(&s, m.p, m.n, &m);
	cnp_scram_server_finish(&s);
	cnp_scram_client_finish(&c);
	return r;
}

/* The pool computes the same for each of these logins, so each takes the same time. Measured
 * times would depend on the machine's load. */
static void
the_course_of_a_login_is_the_same_for_everybody(void **state)
{
	static const struct {
		const char *name, *password;
		int result;
	} logins[] = {
		{ "known", "pencil", CENOTE_OK },
		{ "known", "eraser", CENOTE_ERR_AUTH },
		{ "nobdy", "pencil", CENOTE_ERR_AUTH },
		{ "gonee", "pencil", CENOTE_ERR_AUTH },
		{ "gonee", "eraser", CENOTE_ERR_AUTH },
	};
	struct cnd_users u = users_of("known:" PENCIL "\ngonee:!" PENCIL "\n");
	char first[sizeof(course.text)] = "";

	real = cn_crypto_get(CN_CRYPTO_ABI)->hash;
	for (size_t i = 0; i < sizeof(logins) / sizeof(logins[0]); i++) {
		assert_int_equal(
			log_in(&u, logins[i].name, logins[i].password), logins[i].result);
		if (i == 0)
			memcpy(first, course.text, sizeof(first));
		assert_string_equal(course.text, first);
	}
	/* the calls were recorded */
	assert_non_null(strstr(first, "hmac part 5\n"));
	assert_non_null(strstr(first, "is_same 32\n"));
	assert_null(strstr(first, "derive"));
	cnd_users_destroy(&u);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(users_are_found_by_their_whole_names),
		cmocka_unit_test(what_is_no_users_file_is_refused_without_repeating_it),
		cmocka_unit_test(nobody_sees_who_is_unknown_or_disabled),
		cmocka_unit_test(the_course_of_a_login_is_the_same_for_everybody),
		cmocka_unit_test(
			files_that_others_could_have_written_or_read_are_refused),
		cmocka_unit_test(systemds_credentials_are_files_too),
	};

	return cmocka_run_group_tests_name("users", tests, NULL, NULL);
}
