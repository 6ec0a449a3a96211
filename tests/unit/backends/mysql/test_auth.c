/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Logins by each plugin that the server has, by each way to the server. The accounts of MySQL have caching_sha2_password. Those of
 * MariaDB have mysql_native_password, and ed25519 and parsec if the server has the plugin's file, which is in another package than
 * the server.
 */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PASSWORD "Water-over-the-stone"

/* A plugin's account has the plugin's name. */
static const struct account {
	const char *name;
	const char *client; /* the client's name of the plugin */
	const char *file; /* of the server; NULL: none */
	const char *create;
	int is_mysql; /* which server has it */
	int is_key_wanted; /* over TCP without TLS, the password goes encrypted with an RSA key unless the server knows it */
} accounts[] = {
	{ "native", "mysql_native_password", NULL,
		"mysql_native_password using password('" PASSWORD "')", 0, 0 },
	{ "ed25519", "client_ed25519", "auth_ed25519",
		"ed25519 using password('" PASSWORD "')", 0, 0 },
	{ "parsec", "parsec", "auth_parsec", "parsec using password('" PASSWORD "')", 0,
		0 },
	{ "sha2", "caching_sha2_password", NULL,
		"caching_sha2_password by '" PASSWORD "'", 1, 1 },
};

enum way {
	BY_UNIX,
	BY_TCP,
	BY_TLS, /* TLS that verifies nothing */
	BY_VERIFIED_TLS,
	BY_PREFERRED_TLS,
	N_WAYS
};

static const char *const ways[] = { "unix", "TCP", "TLS", "verified TLS",
	"preferred TLS" };

/* ---- the server ---- */

static void
sql(const char *text)
{
	assert_int_equal(cnt_server_sql(&my_server, text), 0);
}

static int
has_file(const char *name)
{
	char dir[256], path[512];

	assert_int_equal(
		cnt_server_ask(&my_server, "select @@plugin_dir", dir, sizeof(dir)), 0);
	dir[strcspn(dir, "\n")] = '\0';
	(void)snprintf(path, sizeof(path), "%s/%s.so", dir, name);
	return access(path, R_OK) == 0;
}

static int
is_there(const struct account *a)
{
	return a->is_mysql == (int)cnt_server_is_mysql() && (!a->file || has_file(a->file));
}

static void
create(const struct account *a)
{
	static const char *const hosts[] = { "localhost", "%" };
	char text[512];
	size_t i;

	if (a->file) {
		(void)snprintf(text, sizeof(text), "install soname '%s'", a->file);
		sql(text);
	}
	for (i = 0; i < 2; i++) {
		(void)snprintf(text, sizeof(text),
			"create user %s@'%s' identified %s %s; grant all on app.* to %s@'%s'",
			a->name, hosts[i], a->is_mysql ? "with" : "via", a->create,
			a->name, hosts[i]);
		sql(text);
	}
}

/* MySQL's server keeps hashes of the passwords that it has seen, and then needs no key. */
static void
forget_passwords(void)
{
	sql("flush privileges");
}

/* ---- logins ---- */

static void
begin(struct my *t, enum way way, const char *user, const char *password)
{
	char port[16];

	my_init(t);
	my_option(t, "user", user);
	my_option(t, "password", password);
	my_option(t, "dbname", "app");
	if (getenv("PD")) my_option(t, "plugin_dir", getenv("PD"));
	if (way == BY_UNIX) {
		my_option(t, "socket", my_server.socket);
		return;
	}
	(void)snprintf(port, sizeof(port), "%d", my_server.port);
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

/* Log in, and check who is. */
static void
__attribute__((unused)) get_in(struct my *t, const char *user)
{
	if (my_login(t) != CENOTE_OK)
		fail_msg("%s: %s", user, t->base.diag.message);
	assert_string_equal(my_value(t, "select substring_index(user(), '@', 1)"), user);
}

static void
__attribute__((unused)) is_refused(struct my *t, const char *sqlstate, const char *why)
{
	assert_int_equal(my_login(t), CENOTE_ERR_CONN);
	if (strcmp(t->base.diag.sqlstate, sqlstate) != 0)
		fail_msg("%s: %s", t->base.diag.sqlstate, t->base.diag.message);
	assert_contains(t->base.diag.message, why);
}
static void
explore(void **state)
{
	for (size_t i = 0; i < CNT_COUNT(accounts); i++) {
		const struct account *a = &accounts[i];
		if (!is_there(a))
			continue;
		create(a);
		for (int w = 0; w < N_WAYS; w++)
			for (int k = 0; k < 6; k++) {
				struct my t;
				static char path[256];
				forget_passwords();
				begin(&t, w, a->name, k == 5 ? "wrong" : PASSWORD);
				(void)snprintf(path, sizeof(path), "%s/data/public_key.pem", my_server.dir);
				if (k == 1)
					my_option(&t, "get_server_public_key", "yes");
				if (k == 2)
					my_option(&t, "server_public_key", path);
				if (k == 3)
					my_option(&t, "server_public_key", "/nonexistent");
				if (k == 4)
					my_option(&t, "server_public_key", "/etc/passwd");
				int r = my_login(&t);
				fprintf(stderr, "%s by %s %d: %d %s %d %s\n", a->name, ways[w], k, r, t.base.diag.sqlstate, (int)t.base.diag.native, t.base.diag.message);
				my_finish(&t);
			}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(explore),
	};

	return my_main(tests, CNT_COUNT(tests), "mysql_auth", CNT_SERVER_TCP);
}
