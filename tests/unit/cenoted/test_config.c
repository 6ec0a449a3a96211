/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/config.h"
#include "crypto/crypto.h"

#define N_ITEMS(a) (sizeof(a) / sizeof((a)[0]))

#define CENOTED "[cenoted]\nrun_dir = /tmp/x\n"
#define POOL    "[pool a]\nbackend = sqlite\nserver = path=/x\n"

static struct cnd_config *
load(const char *text)
{
	char path[] = "/tmp/cenote-config-XXXXXX";
	int fd = mkstemp(path);
	struct cnd_config *c;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	c = cnd_config_load(path);
	unlink(path);
	return c;
}

/* The text of error number `i`, after "FILE:". */
static const char *
error_of(const struct cnd_config *c, size_t i)
{
	assert_true(i < c->n_errors);
	assert_memory_equal(c->errors[i], c->path, strlen(c->path));
	return c->errors[i] + strlen(c->path) + 1;
}

static char *
printed(const struct cnd_config *c)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	cnd_config_print(c, f);
	fclose(f);
	return text;
}

static char warnings[2048];

static void
on_warning(const char *text)
{
	size_t n = strlen(warnings);

	snprintf(warnings + n, sizeof(warnings) - n, "%s\n", text);
}

/* The text of all warnings, without the "FILE:" of the first one. */
static const char *
warnings_of(const char *text)
{
	struct cnd_config *c = load(text);
	size_t n = strlen(c->path);

	warnings[0] = '\0';
	assert_int_equal(c->n_errors, 0);
	cnd_config_warn(c, on_warning);
	if (warnings[0] != '\0')
		assert_memory_equal(warnings, c->path, n);
	else
		n = 0;
	cnd_config_destroy(c);
	return warnings + n;
}

static void
lines_that_may_read_texts_otherwise_are_warned_of(void **state)
{
#define MYSQL CENOTED "[pool b]\nbackend = mysql\nserver = host=x charset=utf8mb4\n"
	static const char warning[] = ":6: pool b: charset differs from the first";

	assert_string_equal(warnings_of(MYSQL "server = host=y charset=utf8mb4\n"), "");
	assert_string_equal(warnings_of(MYSQL POOL), "");
	assert_memory_equal(warnings_of(MYSQL "server = host=y charset=gbk\n"), warning,
		sizeof(warning) - 1);
	assert_memory_equal(
		warnings_of(MYSQL "server = host=y\n"), warning, sizeof(warning) - 1);
	assert_null(strstr(warnings, "gbk"));
#undef MYSQL
}

static void
what_a_pool_cannot_do_is_warned_of(void **state)
{
	static const struct {
		const char *lines, *warning;
	} cases[] = {
		{ "pin_timeout = 5s\nmode = transaction\n", "" },
		{ "pin_timeout = 5s\n", ":3: pool a: pin_timeout has no effect: in" },
		{ "auth = peer, reject tls=yes\n", "" },
		{ "auth = peer\nauth = trust door=tcp\n",
			":7: pool a: this rule of auth matches nobody: no client comes "
			"by TCP" },
		{ "auth = trust from=10.0.0.0/8\n",
			":6: pool a: this rule of auth matches nobody: a unix socket has "
			"no address" },
		{ "auth = cert\n", ":6: pool a: this rule of auth matches nobody: no "
				   "client has TLS, since the pool has no tls_cert" },
		{ "auth = trust tls=yes\n",
			":6: pool a: this rule of auth matches nobody: no client has "
			"TLS" },
	};

	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		char text[512];
		const char *got;

		snprintf(text, sizeof(text), CENOTED POOL "%s", cases[i].lines);
		got = warnings_of(text);
		if (strncmp(got, cases[i].warning, strlen(cases[i].warning)) != 0 ||
			(*cases[i].warning == '\0' && *got != '\0'))
			fail_msg("%s: %s", cases[i].lines, got);
	}
	assert_string_equal(
		warnings_of(CENOTED "listen = 127.0.0.1:1\n" POOL
				    "auth = trust door=tcp from=10.0.0.0/8\n"),
		"");
}

static void
a_password_that_everybody_may_read_is_warned_of(void **state)
{
#define LINE "[pool a]\nbackend = mysql\nserver = host=x user=y "
	static const struct {
		const char *text;
		mode_t mode;
		int is_warned;
	} cases[] = {
		{ LINE "password=z\n", 0644, 1 },
		{ LINE "password=z\n", 0640, 0 },
		{ LINE "passfile=/z\n", 0644, 0 },
		{ "[pool a]\nbackend = odbc\nserver = connect='DSN=x;PWD=z'\n", 0604, 1 },
	};
#undef LINE

	for (size_t i = 0; i < N_ITEMS(cases); i++) {
		char path[] = "/tmp/cenote-config-XXXXXX";
		int fd = mkstemp(path);
		size_t n = strlen(cases[i].text);
		struct cnd_config *c;

		assert_int_equal(write(fd, cases[i].text, n), (ssize_t)n);
		assert_int_equal(fchmod(fd, cases[i].mode), 0);
		close(fd);
		c = cnd_config_load(path);
		warnings[0] = '\0';
		cnd_config_warn(c, on_warning);
		assert_int_equal(strstr(warnings, ":3: this file contains a password, "
						  "and everybody may read it") != NULL,
			cases[i].is_warned);
		cnd_config_destroy(c);
		unlink(path);
	}
}

static const struct {
	const char *text;
	const char *error; /* text after "FILE:", with the line number */
} one_error[] = {
	{ POOL "sesions = 1\n",
		"4: unknown key \"sesions\"; did you mean \"sessions\"?" },
	{ POOL "zzzzzzzz = 1\n", "4: unknown key \"zzzzzzzz\"" },
	/* PgBouncer's names, and keys in the wrong section */
	{ CENOTED "max_client_conn = 100\n" POOL,
		"3: unknown key \"max_client_conn\"; sessions, in [pool NAME], limits "
		"how many clients are served at once, and max_waiting how many wait" },
	{ POOL "pool_size = 5\n", "4: unknown key \"pool_size\"; here it is sessions = "
				  "MIN..MAX, in [pool NAME]" },
	{ POOL "host = db1\n",
		"4: unknown key \"host\"; here it is host=... in the server line" },
	{ POOL "run_dir = /x\n", "4: run_dir belongs in the section [cenoted]" },
	{ CENOTED "sessions = 1\n" POOL,
		"3: sessions belongs in the section [pool NAME]" },
	{ POOL "[databases]\napp = host=db1\n",
		"4: unknown section [databases]; here each database is a section [pool "
		"NAME] with a backend and a server line" },
	{ POOL "[pgbouncer]\n", "4: unknown section [pgbouncer]; there are [cenoted] and "
				"[pool NAME], and these keys belong in [cenoted]" },
	{ POOL "server = postgresql://app:secret@db1/app\n",
		"4: server: this cannot be a URI; write its parts as host=HOST port=PORT "
		"dbname=DATABASE user=USER password=PASSWORD" },
	{ POOL "nothing_of_ours = 1\n", "4: unknown key \"nothing_of_ours\"" },
	{ POOL "sessions = 5..2\n",
		"4: \"5..2\": MAX must be at least 1, and not less than MIN" },
	{ POOL "sessions = 0\n",
		"4: \"0\": MAX must be at least 1, and not less than MIN" },
	{ POOL "lend = yes\n", "4: \"yes\" is not known; write auto or off" },
	{ POOL "workers = few\n",
		"4: \"few\" is not a number of processes from 1 to 4096, or 0 for the "
		"default" },
	{ POOL "workers = 4097\n",
		"4: \"4097\" is not a number of processes from 1 to 4096, or 0 for the "
		"default" },
	{ POOL "sessions = many\n",
		"4: \"many\" is not a number of sessions; write MIN..MAX or N, at most "
		"4096" },
	{ POOL "sessions = 1...2\n",
		"4: \"1...2\" is not a number of sessions; write MIN..MAX or N, at most "
		"4096" },
	{ POOL "idle_ttl = 5\n",
		"4: \"5\" is not a time; write a number and ms, s, min, h or d, or 0 for "
		"none" },
	{ POOL "max_frame = 5\n",
		"4: \"5\" is not a size; write a number and B, kB, MB or GB" },
	{ POOL "max_frame = 5kB\n", "4: \"5kB\" is out of range; write 16kB to 1023MB" },
	{ POOL "cache_size = 1kB\n", "4: \"1kB\" is not a size from 256kB to 4095MB" },
	{ POOL "cache_size = 4GB\n", "4: \"4GB\" is not a size from 256kB to 4095MB" },
	{ POOL "mode = statement\n",
		"4: \"statement\" is not a mode; write session or transaction" },
	{ POOL "program_sql = oracle\n",
		"4: \"oracle\" is not a kind of SQL; write postgresql, mysql, sqlite, "
		"tsql, or server" },
	{ POOL "on_error = 08006 -> 40001\n",
		"4: on_error: \"08006\" is not an SQLSTATE of an error, such as 23505; "
		"class 08 cannot be changed" },
	{ "[pool a]\nbackend = odbc\nserver = x=y\nnormalize = yes\n",
		"1: pool a: program_sql and normalize need to know the server's SQL, and "
		"backend = odbc may have any server" },
	{ POOL "auth = ident\n",
		"4: auth: \"ident\" is not a way to log in (peer, "
		"scram-sha-256, cert, trust, pass-through, scram-pass-through, reject)" },
	{ POOL "auth = peer\nauth = trust from=10.0.0.1/8\n",
		"5: auth: from: \"10.0.0.1/8\" is not a network; write 10.0.0.0/8, or "
		"2001:db8::/32, or an address" },
	{ POOL "auth = peer, scram-sha-256\n",
		"1: pool a: auth has scram-sha-256, but users names no file" },
	{ POOL "auth = scram-sha-256\nusers = /no/such/file\n",
		"1: pool a: users /no/such/file: cannot be read: No such file or "
		"directory" },
	{ POOL "auth = peer map=/no/such/file\n",
		"4: auth: map /no/such/file: cannot be read: No such file or "
		"directory" },
	{ POOL "auth = scram-sha-256\nusers = credential:../x\n",
		"1: pool a: users credential:../x: there are no credentials from "
		"systemd: $CREDENTIALS_DIRECTORY is not set (set LoadCredential= in the "
		"service)" },
	{ POOL "login_rate = 20\n",
		"4: \"20\" is not a rate; write N/s or N/min, or 0 for none" },
	{ POOL "user_limits = ann session=2\n",
		"4: user_limits: unknown limit \"session\"; there are sessions, "
		"waiting, query_timeout and priority" },
	{ POOL "user_limits = ann sessions=-1\n",
		"4: user_limits: sessions=-1: write a number up to 12288, or 0 for no "
		"limit" },
	{ POOL "user_limits = ann priority=low\n",
		"4: user_limits: priority=low: write high or normal" },
	{ POOL "address_limits = sessions=x\n",
		"4: address_limits: \"sessions=x\"; write sessions=N and waiting=N, "
		"each a number up to 12288, or 0 for no limit" },
	{ POOL "max_waiting = 12289\n",
		"4: \"12289\" is not a number up to 12288, or 0 for no limit" },
	{ POOL "user_limits = ann sessions\n",
		"4: user_limits: write NAME KEY=VALUE ...; \"sessions\" is no "
		"KEY=VALUE" },
	{ POOL "user_limits = ann query_timeout=5\n",
		"4: user_limits: query_timeout=5: write a time, such as 30s; or 0 for "
		"none" },
	{ POOL "user_limits =\n",
		"4: user_limits: write NAME KEY=VALUE ..., or * for NAME" },
	{ POOL "user_limits = ann query_timeout=5s\nuser_limits = ann "
	       "query_timeout=5s\n",
		"5: user_limits: ann is given twice" },
	{ POOL "auth_timeout = 0\n",
		"1: pool a: auth_timeout must not be 0: a login needs a time limit" },
	{ POOL "allow_users = root, no-such-user-here\n",
		"4: there is no unix user \"no-such-user-here\"" },
	{ POOL "mode = session\nmode = session\n",
		"5: mode is given twice; first in line 4" },
	{ POOL "server = path\n", "4: server: write a list of key=value; the text after "
				  "\"server =\" is not one" },
	{ POOL "server = path=/x nonsense\n",
		"4: server: write a list of key=value; the text after path is not one" },
	{ POOL "server =\n", "4: server: write a list of key=value" },
	{ POOL "server = path='/x\n",
		"4: server: the quotes of path must enclose the whole value" },
	{ POOL "server = path='/x'mode=ro\n",
		"4: server: the quotes of path must enclose the whole value" },
	{ POOL "server = path='/x' ,mode=ro\n",
		"4: server: write a list of key=value; the text after path is not one" },
	{ POOL "server = path=/x path=/y\n", "4: server: path is given twice" },
	{ POOL "nonsense\n",
		"4: this line is neither a section, nor key = value, nor a comment" },
	{ POOL "[pool\n", "4: the section's ']' is missing" },
	{ POOL "[other]\n",
		"4: unknown section [other]; there are [cenoted] and [pool NAME]" },
	{ "x = 1\n" POOL, "1: \"x\" comes before any section" },
	{ "[pool ../a]\nbackend = sqlite\nserver = path=/x\n",
		"1: \"../a\" is not a pool's name; write at most 64 letters, digits, _ - "
		"and ., and begin with a letter or digit" },
	{ "[pool]\nbackend = sqlite\nserver = path=/x\n",
		"1: \"\" is not a pool's name; write at most 64 letters, digits, _ - and "
		"., and begin with a letter or digit" },
	{ POOL POOL, "4: pool a is given twice; first in line 1" },
	{ "[pool a]\nserver = path=/x\n", "1: pool a: the key backend is missing" },
	{ "[pool admin]\nbackend = sqlite\nserver = path=/x\n",
		"1: pool admin: choose another name: run_dir/admin.sock is the socket of "
		"cenotectl" },
	{ "[pool a]\nbackend = sqlite\n", "1: pool a: a server line is missing" },
	{ "", " there is no [pool NAME] section" },
	{ CENOTED CENOTED POOL, "3: section [cenoted] is given twice; first in line 1" },
	{ CENOTED "log_level = loud\n" POOL, "3: \"loud\" is not a log level; write "
					     "error, warning, notice, info or debug" },
	{ CENOTED "seccomp = maybe\n" POOL, "3: \"maybe\" is not one of auto, on, off" },
	{ CENOTED "core_dumps = 1\n" POOL, "3: \"1\" is not one of no, yes" },
	{ CENOTED "log = here\n" POOL, "3: \"here\" is not a log; write stderr, syslog, "
				       "or the path of a file, beginning with /" },
	{ CENOTED "max_sessions = 0\n" POOL,
		"3: \"0\" is not a number of sessions from 1 to 4096" },
	{ CENOTED "max_sessions = 7\n" POOL,
		"3: the pools may have up to 8 sessions, but max_sessions is 7" },
	{ CENOTED "user = no-such-user-here\n" POOL,
		"3: there is no unix user \"no-such-user-here\"" },
	{ POOL "user = no-such-user-here\n",
		"1: pool a: there is no unix user \"no-such-user-here\"" },
	{ CENOTED "socket_group = no-such-group\n" POOL,
		"3: there is no unix group \"no-such-group\"" },
	{ CENOTED "socket_mode = 9\n" POOL,
		"3: \"9\" is not a file mode; write it in octal, such as 0660" },
	{ CENOTED "drain_timeout = soon\n" POOL,
		"3: \"soon\" is not a time; write a number and ms, s, min, h or d, or 0 "
		"for none" },
	{ CENOTED "listen = 127.0.0.1\n" POOL,
		"3: listen: \"127.0.0.1\" is not an address; write HOST:PORT, "
		"[IPV6]:PORT or *:PORT" },
	{ CENOTED "listen = 127.0.0.1:9432\nlisten = 127.0.0.1:9432\n" POOL,
		"4: listen: 127.0.0.1:9432 is given twice" },
	{ CENOTED "listen = 127.0.0.1:9432 proxy\n" POOL,
		"3: listen: unknown option \"proxy\"; only proxy=v2 may follow the "
		"address" },
	{ POOL "deny = 10.0.0.1/8\n",
		"4: \"10.0.0.1/8\" is not a network; write it as 192.0.2.0/24 or "
		"2001:db8::/32, with no bits set after the prefix" },
	{ CENOTED "tls_cert = /no/such/file\n" POOL,
		"4: pool a: tls_cert /no/such/file: No such file or directory" },
	{ CENOTED "tls_cert = /etc/passwd\ntls_key = /etc/passwd\n" POOL,
		"5: pool a: tls_key /etc/passwd: others may read it (mode 0644); use "
		"chmod 600" },
	{ POOL "tls_client_cert = perhaps\n", "1: pool a: tls_client_cert \"perhaps\"; "
					      "write none, request or require" },
	{ CENOTED "notify = mail root\n" POOL, "3: notify: write a command that begins "
					       "with /, or a URL that begins with "
					       "https:// or http://" },
	{ CENOTED "notify = ftp://x/\n" POOL, "3: notify: write a command that begins "
					      "with /, or a URL that begins with "
					      "https:// or http://" },
	{ CENOTED "stats_listen = x\n" POOL,
		"3: stats_listen: \"x\" is not an address; write HOST:PORT, [IPV6]:PORT "
		"or *:PORT" },
	{ "[cenoted]\nrun_dir = here\n" POOL, "2: run_dir must begin with /" },
	{ "[cenoted]\nrun_dir = /"
	  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	  "aaaaaaaaaaaaaaaaaaaaaaaa\n" POOL,
		"3: pool a: its socket's path in /"
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		"aa"
		"aaaaaaaaaaaaaaaaaaaaaaaaaa would be longer than 107 bytes" },
};

static void
each_error_names_its_line_and_what_is_allowed(void **state)
{
	for (size_t i = 0; i < N_ITEMS(one_error); i++) {
		struct cnd_config *c = load(one_error[i].text);

		if (c->n_errors != 1 || strcmp(error_of(c, 0), one_error[i].error) != 0)
			fail_msg("%s: %zu errors, first %s", one_error[i].error,
				c->n_errors, c->n_errors > 0 ? c->errors[0] : "none");
		cnd_config_destroy(c);
	}
}

static void
all_errors_are_reported(void **state)
{
	struct cnd_config *c =
		load("[cenoted]\nrun_dir = /tmp/x\nlog_level = x\nfoo = 1\n[pool a]\n"
		     "mode = x\nsessions = x\n");

	assert_int_equal(c->n_errors, 6);
	assert_memory_equal(error_of(c, 0), "3: ", 3);
	assert_memory_equal(error_of(c, 1), "4: ", 3);
	assert_memory_equal(error_of(c, 2), "6: ", 3);
	assert_memory_equal(error_of(c, 3), "7: ", 3);
	assert_non_null(strstr(error_of(c, 4), "backend is missing"));
	assert_non_null(strstr(error_of(c, 5), "server line is missing"));
	cnd_config_destroy(c);
}

static void
a_missing_file_is_an_error(void **state)
{
	struct cnd_config *c = cnd_config_load("/nonexistent/cenoted.conf");

	assert_int_equal(c->n_errors, 1);
	assert_string_equal(c->errors[0],
		"/nonexistent/cenoted.conf: cannot be read: No such file or directory");
	cnd_config_destroy(c);
}

static void
a_file_without_an_end_is_an_error(void **state)
{
	struct cnd_config *c = cnd_config_load("/dev/zero");

	assert_int_equal(c->n_errors, 1);
	assert_string_equal(c->errors[0],
		"/dev/zero: is longer than 1 MB, so it is not a configuration");
	cnd_config_destroy(c);
}

static void
values_have_their_defaults(void **state)
{
	struct cnd_config *c = load(CENOTED POOL);
	const struct cnd_pool_config *p = &c->pools[0];

	assert_int_equal(c->n_errors, 0);
	assert_int_equal(c->max_sessions, 1024);
	assert_int_equal(c->drain_timeout_ms, 30000);
	assert_int_equal(c->socket_mode, 0700);
	assert_int_equal(p->min_sessions, 1);
	assert_int_equal(p->max_sessions, 8);
	assert_int_equal(p->queue_timeout_ms, 30000);
	assert_int_equal(p->query_timeout_ms, 0);
	assert_int_equal(p->pin_warning_ms, 30000);
	assert_int_equal(p->pin_timeout_ms, 0);
	assert_int_equal(p->mode, CND_MODE_SESSION);
	assert_int_equal(p->rules.n, 1);
	assert_int_equal(p->rules.list[0].method, CND_METHOD_PEER);
	assert_true(cnd_pool_config_allows(p, geteuid()));
	assert_true(cnd_pool_config_allows(p, 0));
	assert_false(cnd_pool_config_allows(p, 54321));
	cnd_config_destroy(c);
}

static void
a_user_has_the_limits_of_its_line_or_of_any_user(void **state)
{
	static const char lines[] = CENOTED POOL
		"user_limits = ann query_timeout=0\nuser_limits = * query_timeout=5s\n"
		"user_limits = joe\n";
	struct cnd_config *c = load(lines);
	struct cnd_config *same = load(lines);
	struct cnd_config *other =
		load(CENOTED POOL "user_limits = * query_timeout=5s\n");
	const struct cnd_pool_config *p = &c->pools[0];

	assert_int_equal(c->n_errors, 0);
	assert_int_equal(cnd_pool_config_user(p, "ann")->query_timeout_ms, 0);
	assert_int_equal(cnd_pool_config_user(p, "joe")->query_timeout_ms, -1);
	assert_int_equal(cnd_pool_config_user(p, "bob")->query_timeout_ms, 5000);
	assert_true(cnd_pool_config_is_equal(p, &same->pools[0]));
	assert_false(cnd_pool_config_is_equal(p, &other->pools[0]));
	cnd_config_destroy(c);
	cnd_config_destroy(same);
	cnd_config_destroy(other);
}

/* Before a login, the unix user counts only if the client cannot log in as another user. */
static void
a_unix_user_has_its_limits_if_the_rules_leave_no_choice(void **state)
{
	static const struct {
		const char *auth;
		int is_known;
	} cases[] = { { "", 1 }, { "auth = peer\n", 1 }, { "auth = trust\n", 0 },
		{ "auth = peer user=root, trust\n", 0 },
		{ "auth = trust from=10.0.0.0/8\n", 1 } };
	char text[512];

	for (size_t i = 0; i < N_ITEMS(cases); i++) {
		struct cnd_config *c;

		snprintf(text, sizeof(text),
			CENOTED POOL "%suser_limits = root sessions=3\n"
				     "user_limits = * sessions=2\n",
			cases[i].auth);
		c = load(text);
		assert_int_equal(c->n_errors, 0);
		if (cases[i].is_known) {
			assert_int_equal(
				cnd_pool_config_uid(&c->pools[0], 0)->sessions, 3);
			assert_int_equal(
				cnd_pool_config_uid(&c->pools[0], 54321)->sessions, 2);
		} else {
			assert_null(cnd_pool_config_uid(&c->pools[0], 0));
		}
		cnd_config_destroy(c);
	}
}

static void
limits_that_cannot_count_are_warned_of(void **state)
{
	const char *got = warnings_of(CENOTED POOL "auth = trust\n"
						   "user_limits = ann priority=high\n"
						   "user_limits = joe sessions=1\n");

	assert_non_null(
		strstr(got, "user_limits = ann: waiting and priority have no effect"));
	assert_null(strstr(got, "joe"));
	assert_string_equal(
		warnings_of(CENOTED POOL "user_limits = ann priority=high\n"), "");
}

static void
a_group_may_use_its_socket(void **state)
{
	struct cnd_config *c = load(CENOTED "socket_group = root\n" POOL);

	assert_int_equal(c->n_errors, 0);
	assert_int_equal(c->socket_mode, 0660);
	assert_int_equal(c->socket_gid, 0);
	cnd_config_destroy(c);
}

static void
users_are_names_numbers_or_everybody(void **state)
{
	struct cnd_config *c = load(CENOTED POOL "allow_users = root 54321\n");

	assert_int_equal(c->n_errors, 0);
	assert_true(cnd_pool_config_allows(&c->pools[0], 0));
	assert_true(cnd_pool_config_allows(&c->pools[0], 54321));
	assert_false(cnd_pool_config_allows(&c->pools[0], 54322));
	cnd_config_destroy(c);
	c = load(CENOTED POOL "allow_users = *\n");
	assert_true(cnd_pool_config_allows(&c->pools[0], 54322));
	cnd_config_destroy(c);
}

static void
server_lines_are_quoted_as_conninfo_is(void **state)
{
	struct cnd_config *c = load(
		CENOTED "[pool a]\nbackend = sqlite\n"
			"server = a=1 b = 'two words' c='it\\'s' d=back\\\\slash e='' "
			"f='x \\;y' ; a comment\n");
	const struct cnd_server_line *s = &c->pools[0].servers[0];
	static const char *const wanted[][2] = { { "a", "1" }, { "b", "two words" },
		{ "c", "it's" }, { "d", "back\\slash" }, { "e", "" }, { "f", "x ;y" } };

	assert_int_equal(c->n_errors, 0);
	assert_int_equal(s->line, 5);
	assert_int_equal(s->n_options, N_ITEMS(wanted));
	for (size_t i = 0; i < N_ITEMS(wanted); i++) {
		assert_string_equal(s->options[i].key, wanted[i][0]);
		assert_string_equal(s->options[i].value, wanted[i][1]);
	}
	cnd_config_destroy(c);
}

static void
a_value_may_be_longer_than_inih_likes(void **state)
{
	char text[3000];
	char path[2001];
	struct cnd_config *c;

	memset(path, 'p', 2000);
	path[2000] = '\0';
	snprintf(text, sizeof(text),
		CENOTED "  [pool a]\n  backend = sqlite\n  server = path=/%s mode=ro  ; "
			"the comment\n  sessions = 3\n",
		path);
	c = load(text);
	assert_int_equal(c->n_errors, 0);
	assert_int_equal(c->pools[0].servers[0].n_options, 2);
	assert_int_equal(strlen(c->pools[0].servers[0].options[0].value), 2001);
	assert_string_equal(c->pools[0].servers[0].options[1].value, "ro");
	assert_int_equal(c->pools[0].min_sessions, 3);
	cnd_config_destroy(c);
}

static void
the_normal_form_reads_back_the_same_and_hides_secrets(void **state)
{
	struct cnd_config *c = load(
		CENOTED POOL "server = host=h password='top secret' passfile=/etc/p "
			     "x='a \\;b\\\\'\n"
			     "sessions = 2..5\nidle_ttl = 90s\nmode = transaction\n");
	char *first = printed(c);
	struct cnd_config *again;
	char *second;

	assert_int_equal(c->n_errors, 0);
	assert_null(strstr(first, "secret"));
	assert_non_null(strstr(first, "password=***"));
	assert_non_null(strstr(first, "passfile=/etc/p"));
	assert_non_null(strstr(first, "sessions            = 2..5\n"));
	again = load(first);
	assert_int_equal(again->n_errors, 0);
	second = printed(again);
	assert_string_equal(first, second);
	free(first);
	free(second);
	cnd_config_destroy(c);
	cnd_config_destroy(again);
}

static void
sessions_keys_are_read_and_shown(void **state)
{
	struct cnd_config *c = load(CENOTED POOL "reset = reconnect\nrebalance = 5min\n"
						 "login_timeout = 3s\n");
	char *shown = printed(c);
	struct cnd_config *usual = load(CENOTED POOL);

	assert_int_equal(c->n_errors, 0);
	assert_int_equal(c->pools[0].reset, CND_RESET_RECONNECT);
	assert_int_equal(c->pools[0].rebalance_ms, 300000);
	assert_int_equal(c->pools[0].login_timeout_ms, 3000);
	assert_non_null(strstr(shown, "reset               = reconnect\n"));
	assert_non_null(strstr(shown, "rebalance           = 5min\n"));
	assert_non_null(strstr(shown, "login_timeout       = 3s\n"));
	assert_int_equal(usual->pools[0].reset, CND_RESET_SERVER);
	assert_int_equal(usual->pools[0].rebalance_ms, 60000);
	assert_int_equal(usual->pools[0].login_timeout_ms, 15000);
	free(shown);
	cnd_config_destroy(c);
	cnd_config_destroy(usual);
	c = load(CENOTED POOL "reset = never\n");
	assert_int_equal(c->n_errors, 1);
	assert_non_null(strstr(
		c->errors[0], "\"never\" is not a reset; write server or reconnect"));
	cnd_config_destroy(c);
}

static void
there_are_at_most_64_server_lines(void **state)
{
	char text[4096] = CENOTED "[pool a]\nbackend = sqlite\n";
	struct cnd_config *c;

	for (int i = 0; i < 64; i++)
		strcat(text, "server = path=/x\n");
	c = load(text);
	assert_int_equal(c->n_errors, 0);
	assert_int_equal(c->pools[0].n_servers, 64);
	cnd_config_destroy(c);
	strcat(text, "server = path=/x\n");
	c = load(text);
	assert_int_equal(c->n_errors, 1);
	assert_non_null(strstr(c->errors[0], "more than 64 lines"));
	cnd_config_destroy(c);
}

static void
a_server_is_named_by_what_tells_it_from_others(void **state)
{
	static const struct {
		const char *line;
		const char *label;
	} table[] = {
		{ "host=h port=5 password=secret", "host=h port=5" },
		{ "password=secret path=/x options='-c a=b,c'", "path=/x" },
		{ "password=secret", "server of line 5" },
	};
	char label[CND_LABEL_MAX];
	char text[2048];

	for (size_t i = 0; i < N_ITEMS(table); i++) {
		struct cnd_config *c;

		snprintf(text, sizeof(text),
			CENOTED "[pool a]\nbackend = sqlite\nserver = %s\n",
			table[i].line);
		c = load(text);
		assert_int_equal(c->n_errors, 0);
		cnd_server_label(&c->pools[0].servers[0], label);
		assert_string_equal(label, table[i].label);
		cnd_config_destroy(c);
	}
	/* a long label is cut between two characters */
	{
		struct cnd_config *c;
		size_t n = (size_t)snprintf(text, sizeof(text),
			CENOTED "[pool a]\nbackend = sqlite\nserver = host=");

		for (int i = 0; i < 100; i++)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "\xc3\xa4");
		snprintf(text + n, sizeof(text) - n, " port=5\n");
		c = load(text);
		cnd_server_label(&c->pools[0].servers[0], label);
		assert_int_equal(strlen(label), 95);
		assert_int_equal((uint8_t)label[94], 0xa4);
		cnd_config_destroy(c);
	}
}

/* The number that a pool with these lines gets; -1: there was an error, now in warnings. */
static int
workers_of(const char *lines, const struct cnd_backend *backend)
{
	char text[512];
	struct cnd_config *c;
	int n;

	snprintf(text, sizeof(text), "%s%s%s", CENOTED, POOL, lines);
	c = load(text);
	assert_int_equal(c->n_errors, 0);
	cnd_pool_config_set_workers(c, &c->pools[0], backend);
	n = c->n_errors > 0 ? -1 : (int)c->pools[0].workers;
	if (n < 0)
		snprintf(warnings, sizeof(warnings), "%s", error_of(c, 0));
	cnd_config_destroy(c);
	return n;
}

static void
sessions_share_processes_if_the_backend_can(void **state)
{
	const struct cnd_backend shares = { .can_share = 1 };
	const struct cnd_backend alone = { .can_share = 0 };
	const char *const transactions = "mode = transaction\nsessions = 16\n";

	assert_int_equal(workers_of(transactions, &shares), 1);
	assert_int_equal(workers_of("mode = transaction\nsessions = 17\n", &shares), 2);
	assert_int_equal(workers_of(transactions, &alone), 0);
	assert_int_equal(workers_of("sessions = 16\n", &shares), 0);
	assert_int_equal(workers_of("sessions = 16\nworkers = 3\n", &shares), 3);
	assert_int_equal(workers_of("sessions = 4\nworkers = 4\n", &shares), 4);
	assert_int_equal(workers_of("mode = transaction\nworkers = 0\n", &shares), 1);
	assert_int_equal(workers_of("sessions = 4\nworkers = 5\n", &shares), -1);
	assert_string_equal(
		warnings, "3: pool a: workers is 5, but the pool has at most 4 sessions");
	assert_int_equal(workers_of("workers = 1\n", &alone), -1);
	assert_string_equal(warnings,
		"3: pool a: workers: backend sqlite needs a process for each session");
}

static int
no_lend(struct cnd_session *s, struct cnc_buf *facts, int *ret_fd, struct cnc_diag *diag)
{
	(void)s;
	(void)facts;
	(void)ret_fd;
	(void)diag;
	return CENOTE_ERR_UNSUPPORTED;
}

/* Why a pool with these lines lends nothing; "": it lends. */
static const char *
why_not_lent(const char *lines, const struct cnd_backend *backend)
{
	char text[512];
	struct cnd_config *c;
	const char *why;

	snprintf(text, sizeof(text), "%s%s%s", CENOTED, POOL, lines);
	c = load(text);
	assert_int_equal(c->n_errors, 0);
	cnd_pool_config_set_workers(c, &c->pools[0], backend);
	cnd_pool_config_set_lend(&c->pools[0], backend);
	why = c->pools[0].no_lend;
	cnd_config_destroy(c);
	return why != NULL ? why : "";
}

static void
a_pool_says_why_it_lends_nothing(void **state)
{
	const struct cnd_backend lends = { .can_share = 1, .lend = no_lend };
	const struct cnd_backend alone = { .can_share = 0 };

	assert_string_equal(why_not_lent("", &alone), "");
	assert_string_equal(why_not_lent("lend = auto\n", &lends), "");
	assert_non_null(strstr(why_not_lent("lend = auto\n", &alone), "backend"));
	assert_non_null(strstr(
		why_not_lent("lend = auto\nmode = transaction\n", &lends), "mode"));
	assert_non_null(
		strstr(why_not_lent("lend = auto\nworkers = 1\n", &lends), "workers"));
}

static int
no_role(struct cnd_session *s, struct cnd_sink *sink, struct cnd_server_role *ret_role,
	struct cnc_diag *diag)
{
	(void)s;
	(void)sink;
	(void)ret_role;
	(void)diag;
	return CENOTE_ERR_UNSUPPORTED;
}

/* The error of a pool with these lines; "": there is none. */
static const char *
target_error(const char *lines, const struct cnd_backend *backend)
{
	char text[512];
	struct cnd_config *c;

	snprintf(text, sizeof(text), "%s%s%s", CENOTED, POOL, lines);
	c = load(text);
	if (c->n_errors == 0)
		cnd_pool_config_check_target(c, &c->pools[0], backend);
	snprintf(warnings, sizeof(warnings), "%s", c->n_errors > 0 ? error_of(c, 0) : "");
	cnd_config_destroy(c);
	return warnings;
}

static void
a_target_needs_servers_with_roles(void **state)
{
	const struct cnd_backend asks = { .role = no_role };
	const struct cnd_backend deaf = { .role = NULL };

	assert_string_equal(target_error("target = any\n", &deaf), "");
	assert_string_equal(target_error("target = prefer-replica\n", &asks), "");
	assert_non_null(strstr(target_error("target = primary\n", &deaf),
		"pool a: target: the servers of backend sqlite have no roles"));
	assert_non_null(
		strstr(target_error("target = replica\ncheck_interval = 0\n", &asks),
			"check_interval must not be 0"));
	assert_non_null(strstr(target_error("read_own_writes = 5s\n", &asks),
		"pool a: read_own_writes: the servers of backend sqlite have no "
		"positions"));
	assert_non_null(strstr(target_error("target = standby\n", &asks),
		"\"standby\" is not one of any, primary, replica, prefer-replica"));
}

static bool
has_target(const struct cnd_server_spec *spec, const char *target)
{
	for (size_t i = 0; i < spec->n_options; i++) {
		if (strcmp(spec->options[i].key, target) == 0)
			return true;
	}
	return false;
}

/* Returns the error of the pool r with these lines, beside the pool a; or "" if there is none. */
static const char *
router_error(const char *lines, const struct cnd_backend *backend)
{
	char text[1024];
	struct cnd_config *c;

	snprintf(text, sizeof(text), "%s%s[pool r]\nbackend = %s\n%s", CENOTED, POOL,
		backend->router != NULL ? "router" : "sqlite", lines);
	c = load(text);
	assert_int_equal(c->n_errors, 0);
	cnd_pool_config_check_router(c, &c->pools[1], backend);
	snprintf(warnings, sizeof(warnings), "%s", c->n_errors > 0 ? error_of(c, 0) : "");
	cnd_config_destroy(c);
	return warnings;
}

static void
a_router_names_targets_that_exist(void **state)
{
	const struct cnd_router_ops ops = { .has_target = has_target };
	const struct cnd_backend router = { .router = &ops };
	const struct cnd_backend plain = { .router = NULL };
	const struct {
		const char *lines, *error;
	} list[] = {
		{ "server = x=b\n", "pool r: target x: there is no pool \"b\"" },
		{ "server = x=r\n", "pool r is a router, too" },
		{ "server = x=a\nserver = y=a\n",
			"one server line with all its targets" },
		{ "server = x=a\nmode = transaction\n",
			"cannot have mode = transaction" },
		{ "server = x=a\nrule = class=read -> pool y\n",
			"the server line has no target \"y\"" },
	};

	assert_string_equal(router_error("server = x=a y=cenote://h/b\n"
					 "rule = class=read -> pool y\n",
				    &router),
		"");
	for (size_t i = 0; i < N_ITEMS(list); i++)
		assert_non_null(
			strstr(router_error(list[i].lines, &router), list[i].error));
	assert_non_null(
		strstr(router_error("server = path=/y\nrule = -> pool x\n", &plain),
			"-> pool needs backend = router"));
}

static void
results_are_kept_of_one_server(void **state)
{
	const struct cnd_router_ops ops = { .has_target = has_target };
	const struct cnd_backend router = { .router = &ops }, plain = { .router = NULL };
	const struct {
		const char *lines;
		const struct cnd_backend *backend;
		const char *error; /* NULL: none */
	} list[] = {
		{ "server = path=/a\n", &plain, NULL },
		{ "server = path=/a\nserver = path=/b\ntarget = primary\n", &plain,
			NULL },
		{ "server = path=/a\nserver = path=/b\n", &plain,
			"needs one server line, or target = primary" },
		{ "server = path=/a\nserver = path=/b\ntarget = replica\n", &plain,
			"needs one server line, or target = primary" },
		{ "server = x=main\n", &router, "a router keeps no results" },
	};

	for (size_t i = 0; i < N_ITEMS(list); i++) {
		char text[512];
		struct cnd_config *c;

		snprintf(text, sizeof(text),
			"%s[pool r]\nbackend = sqlite\n%srule = -> cache ttl=1s\n",
			CENOTED, list[i].lines);
		c = load(text);
		assert_int_equal(c->n_errors, 0);
		cnd_pool_config_check_cache(c, &c->pools[0], list[i].backend);
		assert_int_equal(c->n_errors, list[i].error != NULL);
		if (list[i].error != NULL)
			assert_non_null(strstr(error_of(c, 0), list[i].error));
		cnd_config_destroy(c);
	}
}

static void
a_uri_with_a_password_is_not_shown(void **state)
{
	struct cnd_config *c = load(CENOTED "[pool r]\nbackend = router\nserver = "
					    "x=cenote://u:hush@h/a y=cenote://h/b\n");
	char *shown = printed(c);

	assert_null(strstr(shown, "hush"));
	assert_non_null(strstr(shown, "x=*** y=cenote://h/b"));
	free(shown);
	cnd_config_destroy(c);
}

static void
a_server_line_has_a_weight(void **state)
{
	struct cnd_config *c =
		load(CENOTED "[pool a]\nbackend = sqlite\n"
			     "server = path=/x weight=3\nserver = path=/y\n");
	struct cnd_config *other = load(CENOTED "[pool a]\nbackend = sqlite\n"
						"server = path=/x\nserver = path=/y\n");
	char *shown = printed(c);

	assert_int_equal(c->n_errors, 0);
	assert_int_equal(c->pools[0].servers[0].weight, 3);
	assert_int_equal(c->pools[0].servers[1].weight, 1);
	/* the backend does not get this key */
	assert_null(cnd_server_option(&c->pools[0].servers[0], "weight"));
	assert_non_null(strstr(shown, "path=/x weight=3\n"));
	assert_false(cnd_pool_config_is_equal(&c->pools[0], &other->pools[0]));
	free(shown);
	cnd_config_destroy(c);
	cnd_config_destroy(other);
	for (size_t i = 0; i < 3; i++) {
		static const char *const bad[] = { "0", "1001", "much" };
		char text[256];

		snprintf(text, sizeof(text),
			CENOTED
			"[pool a]\nbackend = sqlite\nserver = path=/x weight=%s\n",
			bad[i]);
		c = load(text);
		assert_non_null(strstr(error_of(c, 0), "a whole number from 1 to 1000"));
		cnd_config_destroy(c);
	}
}

static void
clients_that_log_in_as_themselves_share_no_process(void **state)
{
	const struct cnd_backend shares = { .can_share = 1 };

	if (cn_crypto_get(CN_CRYPTO_ABI) == NULL)
		skip();
	assert_int_equal(
		workers_of("mode = transaction\nauth = pass-through\n", &shares), 0);
	assert_int_equal(workers_of("workers = 2\nauth = pass-through\n", &shares), -1);
	assert_string_equal(warnings,
		"3: pool a: workers: clients log in to the server as themselves, so each "
		"session needs its own process");
}

static void
the_number_of_workers_is_shown_and_compared(void **state)
{
	struct cnd_config *a = load(CENOTED POOL);
	struct cnd_config *b = load(CENOTED POOL "workers = 2\n");
	char *shown = printed(b);

	assert_non_null(strstr(shown, "workers             = 2\n"));
	assert_false(cnd_pool_config_is_equal(&a->pools[0], &b->pools[0]));
	free(shown);
	cnd_config_destroy(a);
	cnd_config_destroy(b);
}

/* This holds also for a build without libcurl, which reports an error for a URL. */
static void
a_url_is_not_shown(void **state)
{
	struct cnd_config *c = load(CENOTED "notify = https://host/hidden\n" POOL);
	struct cnd_config *command = load(CENOTED "notify = /bin/true\n" POOL);
	char *shown = printed(c), *shown_command = printed(command);

	assert_non_null(strstr(shown, "notify              = https://***\n"));
	assert_null(strstr(shown, "hidden"));
	assert_non_null(strstr(shown_command, "notify              = /bin/true\n"));
	assert_int_equal(command->n_errors, 0);
	free(shown);
	free(shown_command);
	cnd_config_destroy(c);
	cnd_config_destroy(command);
}

static void
equal_pools_are_told_from_changed_ones(void **state)
{
	struct cnd_config *a = load(CENOTED POOL);
	struct cnd_config *b = load("; moved down\n" CENOTED POOL "sessions = 1..8\n");
	struct cnd_config *other = load(CENOTED POOL "query_timeout = 1s\n");
	struct cnd_config *x =
		load(CENOTED "[pool a]\nbackend = sqlite\nserver = path=/x password=1\n");
	struct cnd_config *y =
		load(CENOTED "[pool a]\nbackend = sqlite\nserver = path=/x password=2\n");

	assert_true(cnd_pool_config_is_equal(&a->pools[0], &b->pools[0]));
	assert_false(cnd_pool_config_is_equal(&a->pools[0], &other->pools[0]));
	assert_false(cnd_pool_config_is_equal(&x->pools[0], &y->pools[0]));
	cnd_config_destroy(a);
	cnd_config_destroy(b);
	cnd_config_destroy(other);
	cnd_config_destroy(x);
	cnd_config_destroy(y);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_error_names_its_line_and_what_is_allowed),
		cmocka_unit_test(all_errors_are_reported),
		cmocka_unit_test(a_missing_file_is_an_error),
		cmocka_unit_test(a_file_without_an_end_is_an_error),
		cmocka_unit_test(values_have_their_defaults),
		cmocka_unit_test(a_user_has_the_limits_of_its_line_or_of_any_user),
		cmocka_unit_test(limits_that_cannot_count_are_warned_of),
		cmocka_unit_test(a_unix_user_has_its_limits_if_the_rules_leave_no_choice),
		cmocka_unit_test(a_group_may_use_its_socket),
		cmocka_unit_test(users_are_names_numbers_or_everybody),
		cmocka_unit_test(server_lines_are_quoted_as_conninfo_is),
		cmocka_unit_test(a_value_may_be_longer_than_inih_likes),
		cmocka_unit_test(the_normal_form_reads_back_the_same_and_hides_secrets),
		cmocka_unit_test(sessions_keys_are_read_and_shown),
		cmocka_unit_test(sessions_share_processes_if_the_backend_can),
		cmocka_unit_test(clients_that_log_in_as_themselves_share_no_process),
		cmocka_unit_test(a_pool_says_why_it_lends_nothing),
		cmocka_unit_test(a_target_needs_servers_with_roles),
		cmocka_unit_test(a_router_names_targets_that_exist),
		cmocka_unit_test(results_are_kept_of_one_server),
		cmocka_unit_test(a_uri_with_a_password_is_not_shown),
		cmocka_unit_test(a_server_line_has_a_weight),
		cmocka_unit_test(the_number_of_workers_is_shown_and_compared),
		cmocka_unit_test(there_are_at_most_64_server_lines),
		cmocka_unit_test(a_server_is_named_by_what_tells_it_from_others),
		cmocka_unit_test(lines_that_may_read_texts_otherwise_are_warned_of),
		cmocka_unit_test(what_a_pool_cannot_do_is_warned_of),
		cmocka_unit_test(a_password_that_everybody_may_read_is_warned_of),
		cmocka_unit_test(a_url_is_not_shown),
		cmocka_unit_test(equal_pools_are_told_from_changed_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
