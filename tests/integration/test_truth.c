/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who may log in: every method, with every user, by every way in and with every kind of TLS. The
 * expected result is derived here from the manual, not from the code under test. Every other login
 * must be refused.
 */
#include "with_tls.h"

#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LONG_NAME                                                                        \
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

enum method {
	TRUST,
	PEER,
	SCRAM,
	SCRAM_PLUS, /* only if the login can be bound to TLS */
	SCRAM_CLEAR, /* only if the login cannot be bound to TLS */
	CERT,
	REJECT,
	NOTHING
};

static const struct {
	enum method method;
	const char *auth;
} methods[] = {
	{ TRUST, "auth = trust, trust door=tcp\n" },
	{ PEER, "auth = peer\n" },
	{ SCRAM, "auth = scram-sha-256\n" },
	{ SCRAM_PLUS, "auth = scram-sha-256 tls=yes\n" },
	{ SCRAM_CLEAR, "auth = scram-sha-256 tls=no\n" },
	{ CERT, "auth = cert\n" },
	{ REJECT, "auth = reject\n" },
	{ NOTHING, "auth = trust user=nobody-else\n" },
};

enum user {
	KNOWN,
	NAMED, /* a known user who is also named in the good certificate */
	UNKNOWN,
	DISABLED,
	WRONG_PASSWORD,
	EMPTY_PASSWORD,
	EMPTY_USER,
	NAMELESS, /* neither a user nor a password */
	OVERLONG
};

static const struct {
	enum user user;
	const char *name, *password;
} users[] = {
	{ KNOWN, "joe", "secret" },
	{ NAMED, "cert", "secret" },
	{ UNKNOWN, "jane", "secret" },
	{ DISABLED, "dan", "secret" },
	{ WRONG_PASSWORD, "joe", "Secret" },
	{ EMPTY_PASSWORD, "joe", "" },
	{ EMPTY_USER, "", "secret" },
	{ NAMELESS, "", "" },
	{ OVERLONG, LONG_NAME, "secret" },
};

enum tls {
	NO_TLS,
	SERVER_CERT,
	GOOD_CERT,
	BAD_CERT
};

static const char *const tls_names[] = { "no TLS", "TLS", "a good certificate",
	"a revoked certificate" };

#define USERS "joe:" WT_SECRET "\ncert:" WT_SECRET "\ndan:!" WT_SECRET "\n"
#define CLIENT_CERTS                                                                     \
	"tls_client_cert = request\ntls_ca = @DIR@/certs/ca.crt\ntls_crl = "             \
	"@DIR@/certs/ca.crl\n"

struct attempt {
	enum method method;
	enum user user;
	int is_tcp;
	enum tls tls;
};

/* ---- what the manual says ---- */

static int
has_right_password(enum user u)
{
	return u == KNOWN || u == NAMED;
}

static int
is_expected(const struct attempt *a)
{
	int names_nobody = a->user == EMPTY_USER || a->user == NAMELESS;

	if (a->tls == BAD_CERT || a->user == OVERLONG)
		return 0;
	switch (a->method) {
	case TRUST:
		/* a client on a unix socket always has a name */
		return !a->is_tcp || !names_nobody;
	case PEER:
		return !a->is_tcp && names_nobody;
	case SCRAM:
		return has_right_password(a->user) && (!a->is_tcp || a->tls != NO_TLS);
	case SCRAM_PLUS:
		return has_right_password(a->user) && a->tls != NO_TLS;
	case SCRAM_CLEAR:
		return has_right_password(a->user) && a->tls == NO_TLS;
	case CERT:
		return a->tls == GOOD_CERT && (a->user == NAMED || names_nobody);
	default:
		return 0;
	}
}

static const char *
expected_login(const struct attempt *a)
{
	if (a->method < SCRAM || a->method > SCRAM_CLEAR)
		return "";
	return a->tls == NO_TLS ? "SCRAM-SHA-256" : "SCRAM-SHA-256-PLUS";
}

static const char *
expected_user(const struct attempt *a, const char *name)
{
	const struct passwd *me = getpwuid(geteuid());

	if (*name != '\0')
		return name;
	return a->method == CERT || me == NULL ? "cert" : me->pw_name;
}

/* ---- what cenoted does ---- */

static cenote_conn *
handle(const struct attempt *a, int port, const char *name, const char *password)
{
	const char *tls = a->tls == NO_TLS ? "disable" : "require";
	cenote_conn *conn = a->is_tcp ? wt_joe(port, NULL, tls) : wp_handle(NULL);

	wt_set(conn, "tls", tls);
	wt_set(conn, "user", name);
	wt_set(conn, "password", password);
	if (a->tls >= GOOD_CERT) {
		wt_set(conn, "cert",
			wt_file(a->tls == GOOD_CERT ? "client.crt"
						    : "client-revoked.crt"));
		wt_set(conn, "key", wt_file("client.key"));
	}
	return conn;
}

static void
complain(const struct attempt *a, const char *name, const cenote_conn *conn)
{
	fail_msg("%suser \"%s\" by %s with %s: %s", methods[a->method].auth, name,
		a->is_tcp ? "TCP" : "unix", tls_names[a->tls], wp_message(conn));
}

/* Returns 1 if the password was refused over TCP, so that the next login from there would have to
 * wait. */
static int
try_one(const struct attempt *a, int port)
{
	const char *name = users[a->user].name;
	cenote_conn *conn = handle(a, port, name, users[a->user].password);
	int r = cenote_connect(conn);
	int must_wait = a->is_tcp && strcmp(wp_sqlstate(conn), "28P01") == 0;

	if ((r == CENOTE_OK) != is_expected(a))
		complain(a, name, conn);
	if (r == CENOTE_OK) {
		assert_string_equal(wp_value(conn, "select 1"), "1");
		assert_string_equal(cenote_info(conn, "user"), expected_user(a, name));
		assert_string_equal(cenote_info(conn, "login"), expected_login(a));
	} else if (strncmp(wp_sqlstate(conn), "28", 2) != 0) {
		complain(a, name, conn);
	}
	cenote_conn_destroy(conn);
	return must_wait;
}

static void
every_case_is_as_the_manual_says(void **state)
{
	size_t n_in = 0, n = 0;

	for (size_t m = 0; m < CNT_COUNT(methods); m++) {
		struct attempt a = { .method = methods[m].method };
		char lines[256];
		int port;

		assert_int_equal(a.method, m);
		(void)snprintf(
			lines, sizeof(lines), "%s%s", methods[m].auth, CLIENT_CERTS);
		port = wt_start_for(lines, USERS);
		for (unsigned i = 0; i < CNT_COUNT(users) * 8; i++) {
			a.user = users[i / 8].user;
			a.is_tcp = i / 4 % 2;
			a.tls = i % 4;
			n_in += (size_t)is_expected(&a);
			n++;
			if (try_one(&a, port)) {
				assert_int_equal(cnt_daemon_end(&wp_daemon), 0);
				assert_int_equal(cnt_daemon_run(&wp_daemon), 0);
			}
		}
		assert_int_equal(wp_teardown(state), 0);
	}
	/* neither successes nor refusals are rare */
	assert_int_equal(n, 576);
	assert_true(n_in > 60 && n_in < 120);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(every_case_is_as_the_manual_says, wp_teardown),
	};

	return cmocka_run_group_tests_name(
		"truth", tests, wt_make_certs, wt_remove_certs);
}
