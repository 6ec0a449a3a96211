/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench.h"
#include "support/cnt_tds.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * The backend against the server that CENOTE_TEST_TDS names: TLS, and a section of a freetds.conf.
 * For TLS, the line must have `ca_file`, and a `host` that the certificate names.
 */

static char texts[2048]; /* holds the words of the line */
static struct tds_line server;

/* The keys of a login; a line may have them beside a section. */
static const char *const login_keys[] = { "user", "password", "database" };

static void
read_line(void)
{
	char *p = texts;

	snprintf(texts, sizeof(texts), "%s", cnt_tds_line());
	for (p = strtok(p, " "); p; p = strtok(NULL, " ")) {
		char *value = strchr(p, '=');

		assert_non_null(value);
		*value++ = '\0';
		tds_line_set(&server, p, value);
	}
}

static const char *
value_of(const char *key)
{
	for (size_t i = 0; i < server.n; i++) {
		if (strcmp(server.options[i].key, key) == 0)
			return server.options[i].value;
	}
	return NULL;
}

/* The server line without this key. */
static struct tds_line
without(const char *key)
{
	struct tds_line line = { .n = 0 };

	for (size_t i = 0; i < server.n; i++) {
		if (strcmp(server.options[i].key, key) != 0)
			line.options[line.n++] = server.options[i];
	}
	return line;
}

/* ---- TLS ---- */

/* The server's address written as one number. Resolvers accept it, but no certificate names it. */
static const char *
another_name(void)
{
	static char text[16];
	const struct addrinfo hints = { .ai_family = AF_INET,
		.ai_socktype = SOCK_STREAM };
	struct addrinfo *found = NULL;

	assert_int_equal(getaddrinfo(value_of("host"), NULL, &hints, &found), 0);
	snprintf(text, sizeof(text), "%u",
		(unsigned)ntohl(
			((struct sockaddr_in *)(void *)found->ai_addr)->sin_addr.s_addr));
	freeaddrinfo(found);
	return text;
}

enum outcome {
	CLEAR,
	ENCRYPTED,
	/* encrypted or not, depending on the server's settings */
	EITHER,
	REFUSED
};

struct tls_case {
	const char *name;
	const char *more[7];
	enum outcome outcome;
	const char *message; /* part of the error message; for REFUSED only */
};

static void
expect_refusal(const struct tls_case *c, const struct tds_bench *b, int r)
{
	if (r != CENOTE_ERR_CONN)
		fail_msg("%s: the login was taken", c->name);
	if (strcmp(b->diag.sqlstate, "08001") != 0 ||
		!strstr(b->diag.message, c->message))
		fail_msg("%s: %s %s, expected … %s", c->name, b->diag.sqlstate,
			b->diag.message, c->message);
}

/* Check what the server says about encryption. For ENCRYPTED, the backend reports that FreeTDS
 * does not tell the kind of TLS. */
static void
expect_session(const struct tls_case *c, struct tds_bench *b, int r)
{
	struct cnd_info info;
	size_t n_untold = 0;

	if (r != CENOTE_OK)
		fail_msg("%s: %s", c->name, b->diag.message);
	assert_ok(tds_query(b, "select encrypt_option from "
			       "sys.dm_exec_connections where session_id = "
			       "@@spid"));
	if (c->outcome != EITHER &&
		!strstr(b->seen.log,
			c->outcome == CLEAR ? "\nrow FALSE\n" : "\nrow TRUE\n"))
		fail_msg("%s: %s", c->name, b->seen.log);
	tds_backend->info(b->s, &info);
	for (size_t i = 0; i < info.n_parameters; i++)
		n_untold +=
			strncmp(info.parameters[i].key, "server_tls_", 11) == 0 &&
			strcmp(info.parameters[i].value, "not told by this FreeTDS") == 0;
	assert_int_equal(n_untold, c->outcome == ENCRYPTED ? 2 : 0);
}

static void
run_tls_case(const struct tls_case *c)
{
	struct tds_line line = without("ca_file");
	struct tds_bench b;
	int r;

	tds_line_set_all(&line, c->more);
	tds_bench_init(&b);
	r = tds_log_in(&b, &line);
	if (c->outcome == REFUSED)
		expect_refusal(c, &b, r);
	else
		expect_session(c, &b, r);
	tds_bench_finish(&b);
}

static void
tls_is_what_the_line_says(void **state)
{
	const char *ca = value_of("ca_file"), *other = tds_cert("other-ca.crt");
	const char *name = another_name();
	const struct tls_case cases[] = {
		{ "off", { "encryption", "off", NULL }, CLEAR, NULL },
		{ "request", { "encryption", "request", NULL }, EITHER, NULL },
		{ "require", { "encryption", "require", NULL }, ENCRYPTED, NULL },
		{ "the right CA and name", { "ca_file", ca, NULL }, ENCRYPTED, NULL },
		{ "another CA", { "ca_file", other, NULL }, REFUSED,
			"certificate not trusted" },
		{ "another name", { "ca_file", ca, "host", name, NULL }, REFUSED,
			"name mismatch: wanted " },
		{ "another name that is not checked",
			{ "ca_file", ca, "host", name, "check_certificate_hostname", "no",
				NULL },
			ENCRYPTED, NULL },
		{ "another CA and a name that is not checked",
			{ "ca_file", other, "host", name, "check_certificate_hostname",
				"no", NULL },
			REFUSED, "certificate not trusted" },
		{ "no such file", { "ca_file", "/nonexistent", NULL }, REFUSED,
			"ca /nonexistent: No such file or directory" },
	};

	if (!ca)
		skip();
	for (size_t i = 0; i < CNT_COUNT(cases); i++)
		run_tls_case(&cases[i]);
}

/* ---- a section of a freetds.conf ---- */

static void
write_section(const char *path)
{
	const char *ca = value_of("ca_file");
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fprintf(f, "[global]\ntds version = 7.0\n[elsewhere]\nhost = 127.0.0.9\n");
	fprintf(f, "[cenote test]\nhost = %s\nport = %s\ntds version = 7.4\n",
		value_of("host"), value_of("port") ? value_of("port") : "1433");
	if (ca)
		fprintf(f, "encryption = require\nca file = %s\n", ca);
	assert_int_equal(fclose(f), 0);
}

static const char *
parameter_of(const struct cnd_session *s, const char *name)
{
	struct cnd_info info;

	tds_backend->info(s, &info);
	for (size_t i = 0; i < info.n_parameters; i++) {
		if (strcmp(info.parameters[i].key, name) == 0)
			return info.parameters[i].value;
	}
	return "";
}

static void
a_section_of_a_file_is_a_server(void **state)
{
	char path[] = "/tmp/cenote-tds-conf-XXXXXX";
	struct tds_line line = { .n = 0 };
	struct tds_bench b;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	write_section(path);
	for (size_t i = 0; i < CNT_COUNT(login_keys); i++) {
		if (value_of(login_keys[i]))
			tds_line_set(&line, login_keys[i], value_of(login_keys[i]));
	}
	tds_line_set(&line, "conf", path);
	tds_line_set(&line, "section", "cenote test");
	tds_bench_init(&b);
	if (tds_log_in(&b, &line) != CENOTE_OK)
		fail_msg("%s", b.diag.message);
	assert_string_equal(parameter_of(b.s, "tds_version"), "7.4");
	assert_ok(tds_query(&b, "select 1 as a"));
	assert_string_equal(b.seen.log, "columns a:INT64\nrow 1\ndone \n");
	tds_bench_finish(&b);
	unlink(path);
}

static void
a_section_that_is_not_there_is_no_server(void **state)
{
	struct tds_line line = { .n = 0 };
	struct tds_bench b;

	tds_line_set(&line, "conf", "/dev/null");
	tds_line_set(&line, "section", "no such section.invalid");
	tds_line_set(&line, "user", "app");
	tds_bench_init(&b);
	assert_int_equal(tds_log_in(&b, &line), CENOTE_ERR_CONN);
	assert_non_null(strstr(b.diag.message, "[no such section.invalid] of /dev/null"));
	tds_bench_finish(&b);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tls_is_what_the_line_says),
		cmocka_unit_test(a_section_of_a_file_is_a_server),
		cmocka_unit_test(a_section_that_is_not_there_is_no_server),
	};

	if (argc != 2)
		return 2;
	cnt_tds_need();
	read_line();
	tds_backend = cnt_backend_load(argv[1]);
	return cmocka_run_group_tests_name(
		"freetds_server", tests, tds_certs_make, tds_certs_remove);
}
