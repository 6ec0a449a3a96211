/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * test_fresh postgresql|postgresql-tame|postgresql-lent|postgresql-shared|mariadb|mariadb-shared|freetds [ODBC DRIVER]
 *
 * With a driver (support/cnt_odbc.h) the backend is odbc. postgresql-tame has a database without the functions because
 * of which cenoted replaces sessions. So have postgresql-lent, whose pools lend their sessions, and postgresql-shared,
 * and mariadb-shared, whose pools have mode = transaction.
 *
 * CHECK_FRESH_SEQUENCES  number of random clients (1000)
 * CHECK_FRESH_SECONDS    the time after which no more clients start (0: no limit)
 * CNT_SEED               seed of the first client; each of the others has the next number
 */

#include "fresh.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/cnt_cmocka.h"
#include "support/cnt_daemon.h"
#include "support/cnt_odbc.h"
#include "support/cnt_tds.h"

/* The lines of a difference that are printed. */
#define MAX_LINES 12u

static const struct fr_backend *backend;
static int is_tame;
static bool lends;
static const char *pool_lines = ""; /* more lines for each pool that is not *_new */
static uint64_t n_lent; /* clients whose session was lent */
static const struct cnt_odbc *odbc; /* NULL: the server's own backend */
static struct cnt_server server;
static struct cnt_daemon daemon_;
static struct fr_relay *relays[4];
static char *expected[4]; /* for each pool's user: the probe's answers on a login */
/* The backend's questions, with `sql` filled in for those with `made_by`. */
static struct fr_probe probes[64];
static char made[32768]; /* `sql` of the question with `made_by` */

/* --------------------------------------------------------------------- the pools ----- */

/* Write the backend's lines of a pool. */
static void
put_server(char *text, size_t size, const char *user)
{
	char connect[512];

	if (odbc) {
		cnt_odbc_connect(odbc, &server, user, connect, sizeof(connect));
		snprintf(text, size, "backend = odbc\nserver = connect='%s'\n", connect);
	} else if (backend->is_elsewhere) {
		snprintf(text, size, "backend = freetds\nserver = %s\n", cnt_tds_line());
	} else if (backend->kind == CNT_POSTGRESQL) {
		snprintf(text, size,
			"backend = postgresql\n"
			"server = host=%s port=%d dbname=app user=%s\n",
			server.run_dir, server.port, user);
	} else {
		snprintf(text, size,
			"backend = mysql\nserver = socket=%s dbname=app user=%s\n",
			server.socket, user);
	}
}

static void
put_pool(char *conf, size_t size, const struct fr_pool *pool, const char *suffix,
	const char *more)
{
	size_t used = strlen(conf);
	char lines[768];

	put_server(lines, sizeof(lines), pool->user);
	snprintf(conf + used, size - used, "\n[pool %s%s]\n%ssessions = 1..1\n%s",
		pool->name, suffix, lines, more);
}

/* Two pools for each user: the second logs in again after each client. */
static int
start_daemon(void)
{
	char conf[8192] = CNT_DAEMON_GLOBAL;
	size_t i;

	for (i = 0; i < backend->n_pools; i++) {
		put_pool(conf, sizeof(conf), &backend->pools[i], "", pool_lines);
		put_pool(conf, sizeof(conf), &backend->pools[i], "_new",
			"reset = reconnect\n");
	}
	return cnt_daemon_start(&daemon_, conf);
}

static cenote_conn *
handle(const char *pool)
{
	cenote_conn *conn;

	assert_ok(cenote_conn_create(NULL, &conn));
	assert_ok(cenote_conn_set(conn, "run_dir", daemon_.run_dir));
	assert_ok(cenote_conn_set(conn, "pool", pool));
	/* cenoted ends a reset in which a driver hangs after login_timeout, 15 s */
	assert_ok(cenote_conn_set(conn, "connect_timeout", "40s"));
	return conn;
}

/* Returns NULL if the pool's one worker does not come back. */
static cenote_conn *
attach(const char *pool)
{
	cenote_conn *conn = handle(pool);
	int r = cenote_connect(conn);

	if (r == CENOTE_OK)
		return conn;
	printf("# pool %s: %s: %s\n", pool, cenote_status_name(r),
		cenote_diag_message(cenote_conn_diag(conn)));
	cenote_conn_destroy(conn);
	return NULL;
}

/* Get the probe's answers as the next client of a pool. The caller frees them. NULL: the probe
 * failed. */
static char *
look(const char *pool)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	cenote_conn *conn = attach(pool);
	int r;

	assert_non_null(f);
	r = conn != NULL ? fr_probe(conn, probes, f) : -1;
	cenote_conn_destroy(conn);
	fclose(f);
	if (r == 0)
		return text;
	free(text);
	return NULL;
}

static const char *
field(const cenote_result *res, uint64_t row, const char *name)
{
	int64_t col = cenote_result_find_column(res, name);
	const char *text =
		col < 0 ? NULL : cenote_result_text(res, row, (uint32_t)col, NULL);

	return text != NULL ? text : "";
}

/* End a pool's worker, and so everything that its session holds. */
static void
renew(const char *pool)
{
	cenote_conn *conn = handle(pool);
	cenote_result *res;
	uint64_t row;
	pid_t pid;

	assert_ok(cenote_status(conn, "workers", &res));
	for (row = 0; row < cenote_result_n_rows(res); row++) {
		if (strcmp(field(res, row, "pool"), pool) != 0)
			continue;
		pid = (pid_t)strtol(field(res, row, "pid"), NULL, 10);
		kill(pid, SIGKILL);
		while (kill(pid, 0) == 0)
			usleep(1000);
	}
	cenote_result_destroy(res);
	cenote_conn_destroy(conn);
}

/* Get the probe's answers on a program's own login. For ODBC and FreeTDS, take the first login of a
 * pool, since each driver gives values in a form of its own. */
static char *
log_in(const struct fr_pool *pool)
{
	char conninfo[512], *text = NULL;
	size_t size;
	FILE *f;
	int r;

	if (odbc || backend->is_elsewhere) {
		snprintf(conninfo, sizeof(conninfo), "%s_new", pool->name);
		return look(conninfo);
	}
	f = open_memstream(&text, &size);
	assert_non_null(f);
	snprintf(conninfo, sizeof(conninfo),
		"host=%s port=%d dbname=app user=%s client_encoding=UTF8 "
		"application_name=cenoted",
		server.run_dir, server.port, pool->user);
	r = backend->kind == CNT_POSTGRESQL
		    ? fr_probe_postgresql(conninfo, probes, f)
		    : fr_probe_mariadb(server.socket, pool->user, "app", probes, f);
	fclose(f);
	if (r == 0)
		return text;
	free(text);
	return NULL;
}

/* Run the batches of the setup through the pool. */
static int
set_up_elsewhere(void)
{
	char *sql = strdup(backend->setup), *batch, *next;
	cenote_conn *conn = attach(backend->pools[0].name);
	cenote_result *res;
	int r = sql && conn ? CENOTE_OK : CENOTE_ERR_CONN;

	for (batch = sql; r == CENOTE_OK && batch; batch = next) {
		next = strstr(batch, "\ngo\n");
		if (next) {
			*next = '\0';
			next += strlen("\ngo\n");
		}
		r = cenote_query(conn, batch, CENOTE_NTS, NULL, NULL, &res);
		if (r == CENOTE_OK)
			cenote_result_destroy(res);
		else
			printf("# %s: %s\n", batch,
				cenote_diag_message(cenote_conn_diag(conn)));
	}
	cenote_conn_destroy(conn);
	free(sql);
	return r == CENOTE_OK ? 0 : -1;
}

static int
make_probes(void)
{
	size_t i;

	for (i = 0; backend->probes[i].sql != NULL; i++) {
		assert_true(i + 1 < sizeof(probes) / sizeof(probes[0]));
		probes[i] = backend->probes[i];
		if (!probes[i].made_by)
			continue;
		if (cnt_server_ask(&server, probes[i].made_by, made, sizeof(made)) < 0)
			return -1;
		made[strcspn(made, "\n")] = '\0';
		probes[i].sql = made;
	}
	return 0;
}

static int
start_server(void)
{
	if (backend->is_elsewhere)
		return start_daemon() < 0 ? -1 : set_up_elsewhere();
	if (cnt_server_start(&server, backend->kind, 0) < 0)
		return -1;
	if (cnt_server_sql(&server, backend->setup) == 0 &&
		(!is_tame || backend->tame == NULL ||
			cnt_server_sql(&server, backend->tame) == 0) &&
		start_daemon() == 0)
		return 0;
	cnt_server_stop(&server);
	return -1;
}

static int
setup(void **state)
{
	size_t i;

	if (start_server() < 0 || make_probes() < 0)
		return -1;
	for (i = 0; i < backend->n_pools; i++) {
		if (fr_relay_start(daemon_.run_dir, backend->pools[i].name, &relays[i]) <
			0)
			return -1;
		expected[i] = log_in(&backend->pools[i]);
		if (expected[i] == NULL)
			return -1;
	}
	return 0;
}

static int
teardown(void **state)
{
	size_t i;
	int r;

	for (i = 0; i < backend->n_pools; i++) {
		fr_relay_stop(relays[i]);
		free(expected[i]);
	}
	r = cnt_daemon_stop(&daemon_);
	if (!backend->is_elsewhere)
		cnt_server_stop(&server);
	return r;
}

/* ------------------------------------------------------------------- comparison ----- */

static int
has_line(const char *text, const char *line, size_t len)
{
	for (; *text != '\0'; text = strchr(text, '\n') + 1) {
		if (strncmp(text, line, len) == 0 && text[len] == '\n')
			return 1;
	}
	return 0;
}

/* Whether the pool refused the question of this line: the answers have the line NAME?. */
static int
is_unanswered(const char *line, const char *answers)
{
	char refused[64];

	snprintf(refused, sizeof(refused), "%.*s?", (int)strcspn(line, "|!?"), line);
	return has_line(answers, refused, strlen(refused));
}

/* The text without the questions that the pool refused. With `forgives`, also without what the server's reset is known to
 * leave. The caller frees it. */
static char *
without_known(const char *text, const char *answers, bool forgives)
{
	char *copy = strdup(text), *kept = calloc(1, strlen(text) + 1), *line, *next;

	assert_non_null(copy);
	assert_non_null(kept);
	for (line = copy; *line != '\0'; line = next) {
		next = strchr(line, '\n');
		*next++ = '\0';
		/* odbc logs in again after each client, so nothing is left to forgive */
		if (is_unanswered(line, answers) ||
			(forgives && !odbc && !backend->forgive(line)))
			continue;
		strcat(kept, line);
		strcat(kept, "\n");
	}
	free(copy);
	return kept;
}

/* Print the lines that only `a` has. */
static void
print_only(const char *sign, const char *a, const char *b)
{
	size_t len, n = 0;

	for (; *a != '\0'; a += len + 1) {
		len = strcspn(a, "\n");
		if (!has_line(b, a, len) && ++n <= MAX_LINES)
			printf("#   %s %.*s\n", sign, len < 200 ? (int)len : 200, a);
	}
	if (n > MAX_LINES)
		printf("#   %s and %zu lines more\n", sign, n - MAX_LINES);
}

/* Whether two answers of the probe differ, with `forgives` in more than the server's reset is known to leave. */
static int
differ(const char *fresh, const char *now, bool forgives, int say)
{
	char *a, *b;
	int r;

	if (strcmp(fresh, now) == 0)
		return 0;
	a = without_known(fresh, now, forgives);
	b = without_known(now, now, forgives);
	r = strcmp(a, b) != 0;
	if (r && say) {
		print_only("new login:", a, b);
		print_only("here:     ", b, a);
	}
	free(a);
	free(b);
	return r;
}

static void
assert_fresh(const char *fresh, const char *now)
{
	assert_non_null(now);
	if (differ(fresh, now, false, 1))
		fail_msg("a session differs from a new login");
}

/* --------------------------------------------------------------- random sequences ----- */

static void
run_killed(const struct fr_sequence *seq, const char *run_dir, const char *pool)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		(void)fr_run(seq, backend, run_dir, pool, lends);
		_exit(0);
	}
	usleep(seq->number);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* Run one client, and look as the next one. Returns 1 if the session differs from a new login. */
static int
leaves_something(const struct fr_sequence *seq, int say)
{
	const char *pool = backend->pools[seq->pool].name, *run_dir = daemon_.run_dir;
	char *now;
	int r;

	if (seq->ending == FR_CUT) {
		fr_relay_cut(relays[seq->pool], seq->number);
		run_dir = fr_relay_dir(relays[seq->pool]);
	}
	if (seq->ending == FR_KILLED)
		run_killed(seq, run_dir, pool);
	else
		n_lent += fr_run(seq, backend, run_dir, pool, lends);
	now = look(pool);
	r = now == NULL || differ(expected[seq->pool], now, true, say);
	free(now);
	return r;
}

/* Remove the steps without which the difference still shows. */
static void
minimise(struct fr_sequence *seq)
{
	struct fr_sequence less;
	size_t i = 0;

	while (i < seq->n) {
		less = *seq;
		memmove(&less.steps[i], &less.steps[i + 1],
			(less.n - i - 1) * sizeof(less.steps[0]));
		less.n--;
		renew(backend->pools[seq->pool].name);
		if (leaves_something(&less, 0))
			*seq = less;
		else
			i++;
	}
}

static void
report(struct fr_sequence *seq, uint64_t seed)
{
	renew(backend->pools[seq->pool].name);
	if (!leaves_something(seq, 0)) {
		printf("# CNT_SEED=%llu: only after the clients before it\n",
			(unsigned long long)seed);
		fr_print(backend, seq);
		return;
	}
	minimise(seq);
	printf("# CNT_SEED=%llu CHECK_FRESH_SEQUENCES=1; the least that shows it:\n",
		(unsigned long long)seed);
	fr_print(backend, seq);
	renew(backend->pools[seq->pool].name);
	(void)leaves_something(seq, 1);
}

static void
show_progress(uint64_t i, uint64_t n, int64_t start_ms)
{
	double seconds = (double)(cnt_now_ms() - start_ms) / 1000;
	int filled = (int)(i * 40 / n);

	fprintf(stderr, "\r[%.*s%*s] %llu of %llu, %.0f s left \033[K", filled,
		"########################################", 40 - filled, "",
		(unsigned long long)i, (unsigned long long)n,
		i > 0 ? seconds / (double)i * (double)(n - i) : 0.0);
	if (i == n)
		fputs("\r\033[K", stderr);
}

static void
random_clients_leave_nothing(void **state)
{
	uint64_t n = strtoull(cnt_env_or("CHECK_FRESH_SEQUENCES", "1000"), NULL, 10), i;
	int64_t limit_ms =
		strtoll(cnt_env_or("CHECK_FRESH_SECONDS", "0"), NULL, 10) * 1000;
	int64_t start_ms = cnt_now_ms();
	int is_shown = isatty(STDERR_FILENO);
	struct fr_sequence *seq = calloc(1, sizeof(*seq));
	struct cnt_random rnd;

	assert_non_null(seq);
	cnt_random_init_printed(&rnd);
	for (i = 0; i < n; i++) {
		if (limit_ms > 0 && cnt_now_ms() - start_ms > limit_ms)
			break;
		fr_generate(backend, rnd.seed + i, seq);
		if (leaves_something(seq, 1)) {
			printf("# client %llu\n", (unsigned long long)i);
			report(seq, rnd.seed + i);
			free(seq);
			fail_msg("a client can tell who was there before it");
		}
		if (is_shown && i % 16 == 0)
			show_progress(i, n, start_ms);
	}
	if (is_shown)
		show_progress(n, n, start_ms);
	printf("# %llu sequences in %.1f s, %llu of them lent\n", (unsigned long long)i,
		(double)(cnt_now_ms() - start_ms) / 1000, (unsigned long long)n_lent);
	assert_true(n_lent >= (lends ? i / 3 : 0));
	free(seq);
}

/* ------------------------------------------------------------------- fixed cases ----- */

/* A pool's first session is like a login that a program makes. */
static void
a_session_is_a_login(void **state)
{
	char *now;
	size_t i;

	for (i = 0; i < backend->n_pools; i++) {
		renew(backend->pools[i].name);
		now = look(backend->pools[i].name);
		assert_fresh(expected[i], now);
		free(now);
	}
}

/* Get the first value of a statement; "error" if the statement fails. */
static void
ask(cenote_conn *conn, const char *sql, char *ret_value, size_t size)
{
	cenote_result *res = NULL;
	const char *text;

	snprintf(ret_value, size, "error");
	if (cenote_query(conn, sql, CENOTE_NTS, NULL, NULL, &res) != CENOTE_OK)
		return;
	text = cenote_result_text(res, 0, 0, NULL);
	snprintf(ret_value, size, "%s", text != NULL ? text : "");
	cenote_result_destroy(res);
	while (cenote_get_result(conn, &res) == CENOTE_OK)
		cenote_result_destroy(res);
}

/* The probe sees what a client leaves in its own session. After the reset, it sees no
 * difference. */
static void
the_probe_sees_what_a_session_holds(void **state)
{
	const struct fr_planted *p;
	char *now, value[256];
	size_t size;
	cenote_conn *conn;
	FILE *f;

	for (p = backend->planted; p->sql != NULL; p++) {
		conn = attach(backend->pools[p->pool].name);
		assert_non_null(conn);
		ask(conn, p->sql, value, sizeof(value));
		f = open_memstream(&now, &size);
		assert_non_null(f);
		assert_int_equal(fr_probe(conn, probes, f), 0);
		fclose(f);
		if (!differ(expected[p->pool], now, true, 0))
			fail_msg("the probe does not see: %s", p->sql);
		free(now);
		cenote_conn_destroy(conn);
		now = look(backend->pools[p->pool].name);
		if (now == NULL || differ(expected[p->pool], now, true, 1))
			fail_msg("stays behind the reset: %s", p->sql);
		free(now);
	}
}

/* One client decrypts a text. The next client on the same worker must not be able to. */
static void
a_key_stays_with_its_client(void **state)
{
	char value[256] = "", worker[32];
	const char *const *sql;
	cenote_conn *conn;
	size_t i;

	for (i = 0; i < backend->n_pools; i++) {
		conn = attach(backend->pools[i].name);
		assert_non_null(conn);
		snprintf(worker, sizeof(worker), "%s", cenote_info(conn, "worker_pid"));
		for (sql = backend->enable_key; *sql != NULL; sql++)
			ask(conn, *sql, value, sizeof(value));
		assert_string_equal(value, "clear text");
		cenote_conn_destroy(conn);
		conn = attach(backend->pools[i].name);
		assert_non_null(conn);
		assert_string_equal(worker, cenote_info(conn, "worker_pid"));
		for (sql = backend->look_for_key; *sql != NULL; sql++) {
			ask(conn, *sql, value, sizeof(value));
			if (strcmp(value, "error") != 0 && value[0] != '\0')
				fail_msg("%s: %s", *sql, value);
		}
		cenote_conn_destroy(conn);
	}
}

static void
assert_leaves(const struct fr_leftover *l, const char *pool, const char *wanted)
{
	cenote_conn *conn = attach(pool);
	char value[256];

	assert_non_null(conn);
	ask(conn, l->leave, value, sizeof(value));
	if (strcmp(value, "error") == 0)
		fail_msg("%s: %s", l->leave, cenote_diag_message(cenote_conn_diag(conn)));
	cenote_conn_destroy(conn);
	conn = attach(pool);
	assert_non_null(conn);
	ask(conn, l->ask, value, sizeof(value));
	cenote_conn_destroy(conn);
	if (strcmp(value, wanted) != 0)
		fail_msg("%s, pool %s: \"%s\" instead of \"%s\"", l->name, pool, value,
			wanted);
}

/* The server's reset leaves all that docs/backends.md lists, so the list is no longer than it has
 * to be. With reset = reconnect, nothing is left. */
static void
what_is_left_needs_a_new_login(void **state)
{
	const struct fr_leftover *l;
	char pool[32];

	for (l = backend->leftovers; l->name != NULL; l++) {
		renew(backend->pools[l->pool].name);
		assert_leaves(l, backend->pools[l->pool].name, l->left);
		renew(backend->pools[l->pool].name);
		snprintf(pool, sizeof(pool), "%s_new", backend->pools[l->pool].name);
		assert_leaves(l, pool, l->fresh);
	}
}

/* With reset = reconnect, the session after each of a few random clients equals a new login, to the
 * last line. */
static void
reset_by_reconnecting_leaves_nothing_at_all(void **state)
{
	struct fr_sequence *seq = calloc(1, sizeof(*seq));
	struct cnt_random rnd;
	char pool[32], *now;
	uint64_t i;

	assert_non_null(seq);
	cnt_random_init_printed(&rnd);
	for (i = 0; i < 50; i++) {
		fr_generate(backend, rnd.seed + i, seq);
		snprintf(pool, sizeof(pool), "%s_new", backend->pools[seq->pool].name);
		(void)fr_run(seq, backend, daemon_.run_dir, pool, false);
		now = look(pool);
		if (now == NULL || strcmp(now, expected[seq->pool]) != 0)
			fr_print(backend, seq);
		assert_fresh(expected[seq->pool], now);
		free(now);
	}
	free(seq);
}

static void
choose(const char *server_name)
{
	lends = strcmp(server_name, "postgresql-lent") == 0;
	if (lends)
		pool_lines = "lend = auto\n";
	else if (strstr(server_name, "-shared"))
		pool_lines = "mode = transaction\n";
	is_tame = strchr(server_name, '-') != NULL;
	backend = strncmp(server_name, "mariadb", 7) == 0
			  ? (cnt_server_is_mysql() ? &fr_mysql : &fr_mariadb)
		  : strcmp(server_name, "freetds") == 0 ? &fr_tds
							: &fr_postgresql;
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_session_is_a_login),
		cmocka_unit_test(the_probe_sees_what_a_session_holds),
		cmocka_unit_test(a_key_stays_with_its_client),
		cmocka_unit_test(what_is_left_needs_a_new_login),
		cmocka_unit_test(reset_by_reconnecting_leaves_nothing_at_all),
		cmocka_unit_test(random_clients_leave_nothing),
	};

	/* on a database without the functions because of which cenoted replaces sessions */
	const struct CMUnitTest tame_tests[] = {
		cmocka_unit_test(a_session_is_a_login),
		cmocka_unit_test(random_clients_leave_nothing),
	};

	/* for odbc and freetds */
	const struct CMUnitTest short_tests[] = {
		cmocka_unit_test(a_session_is_a_login),
		cmocka_unit_test(a_key_stays_with_its_client),
		cmocka_unit_test(random_clients_leave_nothing),
	};

	choose(argc > 1 ? argv[1] : "postgresql");
	odbc = argc > 2 ? cnt_odbc_find(argv[2]) : NULL;
	if (argc > 2 && !odbc) {
		fprintf(stderr, "there is no driver %s\n", argv[2]);
		return 2;
	}
	if (odbc)
		cnt_odbc_need(odbc);
	if (backend->is_elsewhere)
		cnt_tds_need();
	else
		cnt_server_need(backend->kind);
	if (is_tame)
		return cmocka_run_group_tests(tame_tests, setup, teardown);
	return odbc || backend->is_elsewhere
		       ? cmocka_run_group_tests(short_tests, setup, teardown)
		       : cmocka_run_group_tests(tests, setup, teardown);
}
