/* SPDX-License-Identifier: BSD-2-Clause */
/* libcenote without its module for TLS and passwords. */
#include "support/cnt_cmocka.h"

#include <cenote/cenote.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/cnt_process.h"

/* A copy of libcenote that is alone in its folder and loaded apart (RTLD_LOCAL), and its
 * functions. */
static struct {
	char dir[64];
	void *library;
	int (*create)(const struct cenote_allocator *mem, cenote_conn **ret_conn);
	int (*set_uri)(cenote_conn *conn, const char *uri);
	int (*connect)(cenote_conn *conn);
	const cenote_diag *(*diag)(const cenote_conn *conn);
	const char *(*message)(const cenote_diag *diag);
	const char *(*sqlstate)(const cenote_diag *diag);
	void (*destroy)(cenote_conn *conn);
} copy;

static void
find(void *ret_function, const char *name)
{
	*(void **)ret_function = dlsym(copy.library, name);
	if (*(void **)ret_function == NULL)
		fail_msg("there is no %s", name);
}

static int
setup(void **state)
{
	char path[128];
	const char *const argv[] = { "cp", CNT_LIBCENOTE, path, NULL };
	const struct cnt_command command = { .argv = argv };

	snprintf(copy.dir, sizeof(copy.dir), "/tmp/cenote-module-XXXXXX");
	assert_non_null(mkdtemp(copy.dir));
	snprintf(path, sizeof(path), "%s/libcenote.so.0", copy.dir);
	assert_int_equal(cnt_run(&command), 0);
	copy.library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (copy.library == NULL)
		fail_msg("%s", dlerror());
	find(&copy.create, "cenote_conn_create");
	find(&copy.set_uri, "cenote_conn_set_uri");
	find(&copy.connect, "cenote_connect");
	find(&copy.diag, "cenote_conn_diag");
	find(&copy.message, "cenote_diag_message");
	find(&copy.sqlstate, "cenote_diag_sqlstate");
	find(&copy.destroy, "cenote_conn_destroy");
	return 0;
}

static int
teardown(void **state)
{
	dlclose(copy.library);
	cnt_remove_tree(copy.dir);
	return 0;
}

/* Connect to `uri`; returns the status. The caller owns the handle. */
static int
attempt(const char *uri, cenote_conn **ret_conn)
{
	assert_ok(copy.create(NULL, ret_conn));
	assert_ok(copy.set_uri(*ret_conn, uri));
	return copy.connect(*ret_conn);
}

static void
what_needs_it_says_what_to_install(void **state)
{
	cenote_conn *conn;

	/* libcenote would find a module that is installed beside the system's libraries */
	if (access(CN_MODULE_DIR "/cenote-crypto.so", F_OK) == 0)
		skip();
	assert_int_equal(attempt("cenote://joe@127.0.0.1:1/main?tls=require", &conn),
		CENOTE_ERR_UNSUPPORTED);
	assert_string_equal(copy.sqlstate(copy.diag(conn)), "0A000");
	assert_non_null(strstr(copy.message(copy.diag(conn)),
		"TLS and passwords need Cenote's module cenote-crypto.so and OpenSSL 3"));
	copy.destroy(conn);
}

static void
what_does_not_need_it_goes_on(void **state)
{
	static const char *const uris[] = { "cenote://joe@127.0.0.1:1/main",
		"cenote://joe:secret@127.0.0.1:1/main?tls=allow",
		"cenote://joe@127.0.0.1:1/main?tls=disable",
		"cenote:///main?run_dir=/nonexistent" };

	for (size_t i = 0; i < sizeof(uris) / sizeof(uris[0]); i++) {
		cenote_conn *conn;

		/* connecting fails only since nothing listens there */
		assert_int_equal(attempt(uris[i], &conn), CENOTE_ERR_CONN);
		assert_string_equal(copy.sqlstate(copy.diag(conn)), "08001");
		copy.destroy(conn);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_needs_it_says_what_to_install),
		cmocka_unit_test(what_does_not_need_it_goes_on),
	};

	return cmocka_run_group_tests_name("module", tests, setup, teardown);
}
