/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Logins by each plugin that the server has, by each way to the server. The accounts of MySQL have caching_sha2_password and
 * sha256_password. Those of MariaDB have mysql_native_password, and ed25519 and parsec if the server has the plugin's file. Debian has
 * these files in another package than the server; tests/versions/get_server gets them. A relay between both sides plays an attacker
 * who takes the server's TLS away.
 */
#include "harness.h"

#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PASSWORD "Water-over-the-stone"

static const struct account {
	const char *name;
	const char *file; /* the server's plugin; NULL: built in */
	const char *client_file; /* the library's plugin; NULL: built in */
	const char *how; /* after CREATE USER … IDENTIFIED */
	int is_mysql; /* whether MySQL has it, or MariaDB */
} accounts[] = {
	{ "native", NULL, NULL,
		"via mysql_native_password using password('" PASSWORD "')", 0 },
	{ "ed25519", "auth_ed25519", "client_ed25519",
		"via ed25519 using password('" PASSWORD "')", 0 },
	{ "parsec", "auth_parsec", "parsec", "via parsec using password('" PASSWORD "')",
		0 },
	{ "sha2", NULL, "caching_sha2_password",
		"with caching_sha2_password by '" PASSWORD "'", 1 },
	{ "sha256", NULL, "sha256_password", "with sha256_password by '" PASSWORD "'",
		1 },
};

#define ED25519 1

enum way {
	BY_UNIX,
	BY_TCP,
	BY_TLS, /* TLS that verifies nothing */
	BY_VERIFIED_TLS,
	BY_PREFERRED_TLS,
	N_WAYS
};

/* ---- the server ---- */

static void
sql(const char *text)
{
	assert_int_equal(cnt_server_sql(&my_server, text), 0);
}

/* Whether the server has the account. */
static int has[CNT_COUNT(accounts)];

static int
create(const struct account *a)
{
	static const char *const hosts[] = { "localhost", "%" };
	char text[512];
	size_t i;

	if (a->is_mysql != (int)cnt_server_is_mysql() ||
		(a->file && !cnt_server_add_plugin(&my_server, a->file)))
		return 0;
	for (i = 0; i < 2; i++) {
		(void)snprintf(text, sizeof(text),
			"create user %s@'%s' identified %s; grant all on app.* to "
			"%s@'%s'",
			a->name, hosts[i], a->how, a->name, hosts[i]);
		sql(text);
	}
	return 1;
}

static int
setup(void **state)
{
	size_t i;

	for (i = 0; i < CNT_COUNT(accounts); i++)
		has[i] = create(&accounts[i]);
	return 0;
}

/* MySQL's server keeps hashes of the passwords that it has seen. Over TCP without TLS, it asks for the password only if it has none. */
static void
forget_passwords(void)
{
	sql("flush privileges");
}

/* ---- logins ---- */

static void
begin_at(struct my *t, int at, enum way way, const char *user, const char *password)
{
	static char port[16];

	my_init(t);
	my_option(t, "user", user);
	my_option(t, "password", password);
	my_option(t, "dbname", "app");
	if (way == BY_UNIX) {
		my_option(t, "socket", my_server.socket);
		return;
	}
	(void)snprintf(port, sizeof(port), "%d", at);
	my_option(t, "host", "127.0.0.1");
	my_option(t, "port", port);
	if (way == BY_PREFERRED_TLS)
		my_option(t, "ssl_mode", "preferred");
	if (way == BY_TLS)
		my_option(t, "ssl_mode", "required");
	if (way == BY_VERIFIED_TLS) {
		my_option(t, "ssl_ca", my_server.ca);
		my_option(t, "ssl_verify_server_cert", "yes");
	}
}

static void
begin(struct my *t, enum way way, const char *user, const char *password)
{
	begin_at(t, my_server.port, way, user, password);
}

/* Log in, check who is and whether by TLS, and log out. */
static void
gets_in(struct my *t, const char *user, int has_tls)
{
	if (my_login(t) != CENOTE_OK)
		fail_msg("%s: %s", user, t->base.diag.message);
	assert_string_equal(my_value(t, "select substring_index(user(), '@', 1)"), user);
	(void)my_query(t, "show session status like 'Ssl_cipher'");
	assert_int_equal(strstr(t->base.seen.log, "Ssl_cipher|TLS") != NULL, has_tls);
	my_finish(t);
}

static void
is_refused(struct my *t, const char *sqlstate, const char *why)
{
	assert_int_equal(my_login(t), CENOTE_ERR_CONN);
	if (strcmp(t->base.diag.sqlstate, sqlstate) != 0)
		fail_msg("%s: %s", t->base.diag.sqlstate, t->base.diag.message);
	assert_contains(t->base.diag.message, why);
	my_finish(t);
}

/* ---- the library's plugins ---- */

/* This test comes first: the library keeps each plugin that it has loaded, and then none is missing. */
static void
a_missing_plugin_is_named_with_its_package(void **state)
{
	struct my t;
	size_t i;

	for (i = 0; i < CNT_COUNT(accounts); i++) {
		const struct account *a = &accounts[i];

		if (!has[i] || !a->client_file)
			continue;
		begin(&t, BY_VERIFIED_TLS, a->name, PASSWORD);
		my_option(&t, "plugin_dir", "/nonexistent");
		assert_int_equal(my_login(&t), CENOTE_ERR_CONN);
		assert_string_equal(t.base.diag.sqlstate, "08004");
		assert_contains(t.base.diag.message, a->client_file);
		assert_contains(t.base.diag.message, "/nonexistent/");
		assert_contains(t.base.diag.message, "libmariadb3");
		my_finish(&t);
	}
}

static void
each_account_gets_in_by_each_way(void **state)
{
	/* the installed library may lack parsec */
	const char *plugins = cnt_server_client_plugins();
	struct my t;
	size_t i;
	int w;

	/* tests/versions/get_server sees to it */
	if (plugins)
		assert_true(has[ED25519]);
	for (i = 0; i < CNT_COUNT(accounts); i++) {
		const struct account *a = &accounts[i];

		for (w = 0; has[i] && w < N_WAYS; w++) {
			if (a->is_mysql && w == BY_TCP)
				continue;
			forget_passwords();
			begin(&t, w, a->name, PASSWORD);
			if (plugins)
				my_option(&t, "plugin_dir", plugins);
			gets_in(&t, a->name, w >= BY_TLS);
			begin(&t, w, a->name, PASSWORD "r");
			is_refused(&t, "28000", "Access denied");
		}
	}
}

static void
a_plugin_s_account_is_changed_to(void **state)
{
	struct my t;
	size_t i;

	for (i = 0; i < CNT_COUNT(accounts); i++) {
		const struct account *a = &accounts[i];

		if (!has[i])
			continue;
		begin(&t, BY_VERIFIED_TLS, "app", CNT_SERVER_PASSWORD);
		assert_int_equal(my_login(&t), CENOTE_OK);
		forget_passwords();
		(void)my_change_user(&t, a->name, PASSWORD, "app");
		assert_int_equal(t.base.last, CENOTE_OK);
		assert_string_equal(
			my_value(&t, "select substring_index(user(), '@', 1)"), a->name);
		(void)my_change_user(&t, a->name, "wrong", "app");
		assert_int_not_equal(t.base.last, CENOTE_OK);
		my_finish(&t);
	}
}

/* ---- the server's RSA key ---- */

/* The key of nobody. */
static const char other_key[] =
	"-----BEGIN PUBLIC KEY-----\n"
	"MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAlm/eKmIqeUBQ3LmRVbZV\n"
	"WY8KhYGgJm/evEjBMHqRjp4XD4Dx9UEptMjkmKZcUomfny2y96mjP6bwpG1lLals\n"
	"NX/sf6xXb54Vh0C211Sa+HKFF473IvsmVxWqcrZUEfjDwH5QGK2XHXxbMOFcE6OM\n"
	"Pe8MHW/p/d3tzLu2LpMDp3S9gzKHeoAtH5UF+QwQgK3WVF5hL91eXgc7g237LH8u\n"
	"oXAlRZhb45v7821WLrtz8dCfPtwYTg/0BvAUstBhWNbAuNfhPfKlsth7TzDjkPvh\n"
	"K3IFFRITYmwdWEUjPP7K7ExsiUEgbZSMfAviKL/21SKzy0oiC9lQdxooX3NohPUq\n"
	"pQIDAQAB\n"
	"-----END PUBLIC KEY-----\n";

static const char *
file_with(const char *text)
{
	static char path[CNT_SERVER_PATH_MAX + 16];
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/key.pem", my_server.dir);
	f = fopen(path, "we");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
	return path;
}

static const char *
key_of_server(void)
{
	static char path[CNT_SERVER_PATH_MAX + 32];

	(void)snprintf(path, sizeof(path), "%s/data/public_key.pem", my_server.dir);
	return path;
}

static const char *with_key = "sha2"; /* whose password needs a key */

static void
begin_with(struct my *t, const char *key, const char *value, const char *password)
{
	forget_passwords();
	begin(t, BY_TCP, with_key, password);
	if (key)
		my_option(t, key, value);
}

static void
without_tls_the_password_needs_a_key(void **state)
{
	struct my t;

	begin_with(&t, NULL, NULL, PASSWORD);
	is_refused(&t, "08004", "server_public_key");
	begin_with(&t, "get_server_public_key", "no", PASSWORD);
	is_refused(&t, "08004", "get_server_public_key=yes takes any key");
	begin_with(&t, "get_server_public_key", "yes", PASSWORD);
	gets_in(&t, "sha2", 0);
	/* the server has it now, and needs no more than a hash */
	begin(&t, BY_TCP, "sha2", PASSWORD);
	gets_in(&t, "sha2", 0);
	begin_with(&t, "get_server_public_key", "yes", "wrong");
	is_refused(&t, "28000", "Access denied");
}

static void
the_key_of_a_file_is_the_only_one(void **state)
{
	struct my t;

	begin_with(&t, "server_public_key", key_of_server(), PASSWORD);
	gets_in(&t, with_key, 0);
	begin_with(&t, "server_public_key", key_of_server(), "wrong");
	is_refused(&t, "28000", "Access denied");
	begin_with(&t, "server_public_key", file_with(other_key), PASSWORD);
	is_refused(&t, "28000", "/key.pem is another server's");
	begin_with(&t, "server_public_key", file_with("no key\n"), PASSWORD);
	is_refused(&t, "08004", "no RSA key");
	begin_with(&t, "server_public_key", file_with(""), PASSWORD);
	is_refused(&t, "08004", "server_public_key");
	/* if the line names a file, the file must exist, also with get_server_public_key=yes */
	begin_with(&t, "server_public_key", "/nonexistent", PASSWORD);
	my_option(&t, "get_server_public_key", "yes");
	is_refused(&t, "08004", "server_public_key /nonexistent: No such file");
}

static void
sha256_password_needs_the_same_key(void **state)
{
	struct my t;

	with_key = "sha256";
	begin_with(&t, NULL, NULL, PASSWORD);
	is_refused(&t, "08004", "server_public_key");
	begin_with(&t, "get_server_public_key", "yes", PASSWORD);
	gets_in(&t, with_key, 0);
	the_key_of_a_file_is_the_only_one(state);
	with_key = "sha2";
}

static void
a_key_file_is_checked_with_the_configuration(void **state)
{
	static const struct {
		const char *text, *fault;
	} files[] = {
		{ other_key, NULL },
		{ "no key\n", "key.pem: no RSA key in PEM form" },
		{ "", "key.pem: no RSA key in PEM form" },
		{ NULL, "server_public_key /nonexistent: No such file" },
	};
	struct my t;
	size_t i;

	for (i = 0; i < CNT_COUNT(files); i++) {
		struct cnd_server_spec spec = { .options = t.base.options };

		begin(&t, BY_TCP, "sha2", PASSWORD);
		my_option(&t, "server_public_key",
			files[i].text ? file_with(files[i].text) : "/nonexistent");
		spec.n_options = t.base.n_options;
		assert_int_equal(t.base.b->check(&spec, &t.base.diag),
			files[i].fault ? CENOTE_ERR_ARG : CENOTE_OK);
		if (files[i].fault)
			assert_contains(t.base.diag.message, files[i].fault);
		my_finish(&t);
	}
}

/* KILL QUERY needs a second connection, which logs in by the same rules. */
static void
a_statement_is_stopped_on_such_a_session(void **state)
{
	struct my t;

	begin_with(&t, "server_public_key", key_of_server(), PASSWORD);
	assert_int_equal(my_login(&t), CENOTE_OK);
	forget_passwords();
	t.stop_after_ms = 50;
	(void)my_query(&t, "select count(*) from seq_1_to_100000000 a, seq_1_to_1000 b");
	assert_contains(t.base.seen.log, "error 57014 1317 canceled by the test\n");
	t.stop_after_ms = 0;
	assert_string_equal(my_value(&t, "select 5"), "5");
	my_finish(&t);
}

/* ---- TLS that is taken away ---- */

/* Passes everything on, except that the server's greeting offers no TLS. */
static struct {
	int listener, port;
	pthread_t thread;
	char sent[65536]; /* what the client has sent in all connections */
	size_t n_sent;
} relay;

#define CLIENT_SSL 0x08u /* in the second byte of the capabilities */

static int
listen_anywhere(int *ret_port)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&at, len), 0);
	assert_int_equal(listen(fd, 8), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &len), 0);
	*ret_port = ntohs(at.sin_port);
	return fd;
}

static int
connect_to_server(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		.sin_port = htons((uint16_t)my_server.port) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0 ? fd : -1;
}

/* The capabilities follow the version, the number of the session and the first part of the scramble. */
static void
take_tls_away(char *greeting, size_t n)
{
	size_t at = 5 + strnlen(greeting + 5, n - 5) + 1 + 4 + 8 + 1;

	greeting[at + 1] = (char)(greeting[at + 1] & ~CLIENT_SSL);
}

static void
relay_one(int client)
{
	struct pollfd p[2] = { { client, POLLIN, 0 },
		{ connect_to_server(), POLLIN, 0 } };
	char bytes[8192];
	int is_greeting = 1, i;
	ssize_t n = 1;

	while (n > 0 && poll(p, 2, -1) > 0) {
		for (i = 0; i < 2 && n > 0; i++) {
			if (!p[i].revents)
				continue;
			n = recv(p[i].fd, bytes, sizeof(bytes), 0);
			if (n > 0 && i == 1 && is_greeting)
				take_tls_away(bytes, (size_t)n);
			is_greeting = is_greeting && i == 0;
			if (n > 0 && i == 0 &&
				relay.n_sent + (size_t)n < sizeof(relay.sent)) {
				memcpy(relay.sent + relay.n_sent, bytes, (size_t)n);
				relay.n_sent += (size_t)n;
			}
			if (n > 0)
				n = send(p[1 - i].fd, bytes, (size_t)n, MSG_NOSIGNAL);
		}
	}
	(void)close(p[1].fd);
}

static void *
run_relay(void *unused)
{
	int client;

	while ((client = accept(relay.listener, NULL, NULL)) >= 0) {
		relay_one(client);
		(void)close(client);
	}
	return unused;
}

static int
start_relay(void **state)
{
	relay.n_sent = 0;
	relay.listener = listen_anywhere(&relay.port);
	return pthread_create(&relay.thread, NULL, run_relay, NULL);
}

static int
stop_relay(void **state)
{
	(void)shutdown(relay.listener, SHUT_RDWR);
	(void)pthread_join(relay.thread, NULL);
	return close(relay.listener);
}

/* With TLS required, not even a hash of the password is sent. */
static void
tls_that_is_required_cannot_be_taken_away(void **state)
{
	struct my t;
	size_t i;

	for (i = 0; i < CNT_COUNT(accounts); i++) {
		if (!has[i])
			continue;
		begin_at(&t, relay.port, BY_TLS, accounts[i].name, PASSWORD);
		is_refused(&t, "08001", "the server has no TLS");
		begin_at(&t, relay.port, BY_VERIFIED_TLS, accounts[i].name, PASSWORD);
		is_refused(&t, "08001", "TLS");
	}
	(void)stop_relay(NULL);
	assert_int_equal(relay.n_sent, 0);
	assert_int_equal(start_relay(NULL), 0);
}

/* The library takes the wish for TLS for TLS, and would send the password in clear text. */
static void
tls_that_is_preferred_and_missing_needs_a_key(void **state)
{
	struct my t;

	forget_passwords();
	begin_at(&t, relay.port, BY_PREFERRED_TLS, "sha2", PASSWORD);
	is_refused(&t, "08004", "server_public_key");
	forget_passwords();
	begin_at(&t, relay.port, BY_PREFERRED_TLS, "sha2", PASSWORD);
	my_option(&t, "server_public_key", key_of_server());
	gets_in(&t, "sha2", 0);
	assert_null(memmem(relay.sent, relay.n_sent, PASSWORD, strlen(PASSWORD)));
}

/* ---- other reasons ---- */

static void
has_hint(const struct my *t, const char *part)
{
	const char *hint = cnc_diag_field(&t->base.diag, 'H');

	assert_non_null(hint);
	assert_contains(hint, part);
}

static void
other_reasons_are_told(void **state)
{
	static const struct {
		const char *make;
		enum way way;
		const char *sqlstate, *why, *hint;
	} cases[] = {
		{ "account lock", BY_TLS, "28000", "locked", NULL },
		{ "password expire", BY_TLS, "28000", "You", "Set a new password" },
		{ "require x509", BY_TLS, "28000", "Access denied", NULL },
	};
	char text[256];
	struct my t;
	size_t i;

	for (i = 0; i < CNT_COUNT(cases); i++) {
		(void)snprintf(text, sizeof(text),
			"drop user if exists other; create user other identified by "
			"'" PASSWORD
			"'; grant all on app.* to other; alter user other %s",
			cases[i].make);
		sql(text);
		begin(&t, cases[i].way, "other", PASSWORD);
		assert_int_equal(my_login(&t), CENOTE_ERR_CONN);
		assert_string_equal(t.base.diag.sqlstate, cases[i].sqlstate);
		assert_contains(t.base.diag.message, cases[i].why);
		if (cases[i].hint)
			has_hint(&t, cases[i].hint);
		my_finish(&t);
	}
	sql("set global require_secure_transport = 1");
	begin(&t, BY_TCP, "app", CNT_SERVER_PASSWORD);
	my_option(&t, "get_server_public_key", "yes");
	assert_int_equal(my_login(&t), CENOTE_ERR_CONN);
	sql("set global require_secure_transport = 0");
	/* MariaDB 10.11 says no more than that */
	if (t.base.diag.native == 1045) {
		assert_string_equal(t.base.diag.sqlstate, "28000");
	} else {
		assert_string_equal(t.base.diag.sqlstate, "08004");
		has_hint(&t, "ssl_mode=required");
	}
	my_finish(&t);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_missing_plugin_is_named_with_its_package, setup),
		cmocka_unit_test(each_account_gets_in_by_each_way),
		cmocka_unit_test(a_plugin_s_account_is_changed_to),
		cmocka_unit_test(a_key_file_is_checked_with_the_configuration),
		cmocka_unit_test_setup_teardown(tls_that_is_required_cannot_be_taken_away,
			start_relay, stop_relay),
		cmocka_unit_test(other_reasons_are_told),
		/* these are for MySQL only */
		cmocka_unit_test(without_tls_the_password_needs_a_key),
		cmocka_unit_test(the_key_of_a_file_is_the_only_one),
		cmocka_unit_test(sha256_password_needs_the_same_key),
		cmocka_unit_test(a_statement_is_stopped_on_such_a_session),
		cmocka_unit_test_setup_teardown(
			tls_that_is_preferred_and_missing_needs_a_key, start_relay,
			stop_relay),
	};
	size_t n = CNT_COUNT(tests);

	if (!cnt_server_is_mysql())
		n -= 5;
	return my_main(tests, n, "mysql_auth", CNT_SERVER_TCP);
}
