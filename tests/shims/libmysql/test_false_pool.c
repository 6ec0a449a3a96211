/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <stdio.h>
#include <stdlib.h>

#include "library.h"
#include "support/cnt_peer.h"

#define CR_MALFORMED_PACKET 2027

/* A hostile pool: it leaves out answers, or sends too much. Built for each flavour. */

struct fixture {
	struct cmy_original f;
	struct cnt_peer peer;
	MYSQL *my;
};

static int
setup(void **state)
{
	static struct fixture f;
	char server[160];

	cnt_library_open(&f.f, CNT_OURS);
	if (cnt_peer_create(&f.peer) < 0)
		return -1;
	snprintf(server, sizeof(server), "unix:%s", f.peer.dir);
	setenv("CENOTE_SERVER", server, 1);
	setenv("CENOTE_POOL", "play", 1);
	unsetenv("CENOTE_FALLBACK");
	unsetenv("CENOTE_CLIENT_CONF");
	/* one column fewer than any list has */
	f.peer.knobs.n_columns = 2;
	if (cnt_peer_start(&f.peer) < 0)
		return -1;
	f.my = f.f.mysql_init(NULL);
	if (!f.my || !f.f.mysql_real_connect(f.my, NULL, "app", NULL, NULL, 0, NULL, 0)) {
		fprintf(stderr, "%s\n", f.my ? f.f.mysql_error(f.my) : "");
		return -1;
	}
	*state = &f;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	f->f.mysql_close(f->my);
	cnt_peer_stop(&f->peer);
	cnt_peer_destroy(&f->peer);
	return 0;
}

static void
lists_without_their_columns_are_refused(void **state)
{
	struct fixture *f = *state;

	assert_null(f->f.mysql_list_tables(f->my, NULL));
	assert_int_equal(f->f.mysql_errno(f->my), CR_MALFORMED_PACKET);
	assert_null(f->f.mysql_list_fields(f->my, "t", NULL));
	assert_int_equal(f->f.mysql_errno(f->my), CR_MALFORMED_PACKET);
	assert_int_equal(f->f.mysql_query(f->my, "cmd"), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_without_their_columns_are_refused),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
