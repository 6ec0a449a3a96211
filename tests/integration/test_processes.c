/* SPDX-License-Identifier: BSD-2-Clause */
/* The rights of each kind of process, as the kernel reports them, against the table in
 * docs/threat-model.md: user, capabilities, writable shared memory, and descriptors. */
#include "with_tls.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pwd.h>
#include <stdint.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "protocol/frame.h"
#include "shared/sandbox.h"
#include "shared/scoreboard.h"
#include "stats/stats.h"

#define CELL 256

/* ---- the table ---- */

/* The cell of a column in the row with this name; "" if there is no such row. */
static void
read_cell(const char *row, int column, char ret_cell[CELL])
{
	char line[2048];
	FILE *f = fopen(CNT_THREAT_MODEL, "re");

	assert_non_null(f);
	ret_cell[0] = '\0';
	while (fgets(line, sizeof(line), f) != NULL) {
		char *at = line;
		char *cell;

		if (strncmp(line, "| ", 2) != 0 ||
			strncmp(line + 2, row, strlen(row)) != 0 ||
			strncmp(line + 2 + strlen(row), " |", 2) != 0)
			continue;
		strsep(&at, "|");
		strsep(&at, "|");
		for (int i = 0; i < column; i++)
			strsep(&at, "|");
		cell = strsep(&at, "|");
		assert_non_null(cell);
		cell += strspn(cell, " ");
		while (*cell != '\0' && cell[strlen(cell) - 1] == ' ')
			cell[strlen(cell) - 1] = '\0';
		snprintf(ret_cell, CELL, "%s", cell);
		break;
	}
	fclose(f);
}

/* ---- what the kernel says ---- */

static void
read_status(pid_t pid, const char *name, char ret_value[CELL])
{
	char path[64], line[512];
	size_t n = strlen(name);
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	assert_non_null(f);
	ret_value[0] = '\0';
	while (fgets(line, sizeof(line), f) != NULL) {
		if (strncmp(line, name, n) != 0 || line[n] != ':')
			continue;
		line[strcspn(line, "\n")] = '\0';
		snprintf(ret_value, CELL, "%s",
			line + n + 1 + strspn(line + n + 1, "\t "));
	}
	fclose(f);
}

static void
append(char text[CELL], const char *word)
{
	size_t n = strlen(text);

	snprintf(text + n, CELL - n, "%s%s", n > 0 ? ", " : "", word);
}

static void
tell_user(pid_t pid, char ret_cell[CELL])
{
	char value[CELL];
	unsigned ids[4];
	const struct passwd *pw;

	read_status(pid, "Uid", value);
	assert_int_equal(
		sscanf(value, "%u %u %u %u", &ids[0], &ids[1], &ids[2], &ids[3]), 4);
	for (int i = 1; i < 4; i++)
		assert_int_equal(ids[i], ids[0]);
	pw = getpwuid(ids[0]);
	assert_non_null(pw);
	snprintf(ret_cell, CELL, "%s",
		ids[0] == 0                          ? "root"
		: strcmp(pw->pw_name, "nobody") == 0 ? "`user`"
						     : pw->pw_name);
}

static void
tell_capabilities(pid_t pid, char ret_cell[CELL])
{
	static const struct {
		unsigned bit;
		const char *name;
	} names[] = { { 0, "chown" }, { 1, "dac_override" }, { 3, "fowner" },
		{ 5, "kill" }, { 6, "setgid" }, { 7, "setuid" },
		{ 10, "net_bind_service" } };
	char effective[CELL], permitted[CELL];
	uint64_t bits;

	read_status(pid, "CapEff", effective);
	read_status(pid, "CapPrm", permitted);
	assert_string_equal(effective, permitted);
	bits = strtoull(effective, NULL, 16);
	ret_cell[0] = '\0';
	for (size_t i = 0; i < CNT_COUNT(names); i++) {
		if (bits & UINT64_C(1) << names[i].bit)
			append(ret_cell, names[i].name);
		bits &= ~(UINT64_C(1) << names[i].bit);
	}
	if (bits != 0)
		append(ret_cell, "others");
	if (*ret_cell == '\0')
		append(ret_cell, "none");
}

static void
tell_new_privileges(pid_t pid, char ret_cell[CELL])
{
	char value[CELL];

	read_status(pid, "NoNewPrivs", value);
	snprintf(ret_cell, CELL, "%s", strcmp(value, "1") == 0 ? "never" : "possible");
}

static void
tell_filter(pid_t pid, char ret_cell[CELL])
{
	char value[CELL];

	read_status(pid, "Seccomp", value);
	snprintf(ret_cell, CELL, "%s", strcmp(value, "2") == 0 ? "filtered" : "all");
}

/* How many areas of a shared memory a process has with these rights, and how large they are
 * together. */
static unsigned
count_areas(pid_t pid, const char *memory, const char *rights, size_t *ret_size)
{
	char path[64], line[512], has[8];
	unsigned long from, to;
	unsigned n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	f = fopen(path, "re");
	assert_non_null(f);
	*ret_size = 0;
	while (fgets(line, sizeof(line), f) != NULL) {
		if (strstr(line, memory) == NULL ||
			sscanf(line, "%lx-%lx %7s", &from, &to, has) != 3 ||
			strncmp(has, rights, 4) != 0)
			continue;
		n++;
		*ret_size += to - from;
	}
	fclose(f);
	return n;
}

static size_t
in_pages(size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (size + page - 1) / page * page;
}

static void
tell_board(pid_t pid, char ret_cell[CELL])
{
	size_t writable, readable;
	unsigned n = count_areas(pid, "cenote-board", "rw-s", &writable);

	(void)count_areas(pid, "cenote-board", "r--s", &readable);
	if (n == 0)
		append(ret_cell, "nothing");
	else if (readable == 0)
		append(ret_cell, "everything");
	else if (writable == in_pages(sizeof(struct cnd_pool_record)) +
				     in_pages(sizeof(struct cnd_slot)))
		append(ret_cell, "its pool's record, its slot");
	else if (n == 1 && writable > readable)
		append(ret_cell, "all records, all slots");
	else
		append(ret_cell, "something else");
}

static void
tell_tickets(pid_t pid, char ret_cell[CELL])
{
	size_t size;

	if (count_areas(pid, "cenoted-tickets", "rw-s", &size) > 0)
		append(ret_cell, "makes all pools'");
	else if (count_areas(pid, "cenoted-tickets", "r--s", &size) == 1)
		append(ret_cell, "reads its pool's");
	else
		append(ret_cell, size == 0 ? "none" : "reads several pools'");
}

/* ---- descriptors ---- */

static const char *
kind_of_socket(int fd)
{
	int type = 0, domain = 0, listens = 0;
	socklen_t len = sizeof(int);

	(void)getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len);
	(void)getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len);
	(void)getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &len);
	if (type == SOCK_SEQPACKET)
		return "channel";
	if (domain == AF_UNIX)
		return listens ? "pool's socket" : "connection";
	return listens ? "address" : "connection";
}

/* The kind of a process's descriptor `number`, of which `fd` is a copy. NULL: there is no such
 * descriptor. */
static const char *
kind_of(pid_t pid, int number, int fd)
{
	static const struct {
		const char *begins;
		const char *kind;
	} kinds[] = { { "anon_inode:[eventpoll]", "epoll" },
		{ "anon_inode:[eventfd]", "wake-up" }, { "/memfd:", "shared memory" },
		{ "/dev/null", "/dev/null" }, { "/", "path" }, { "pipe:", "pipe" } };
	char path[64], to[512];
	ssize_t n;

	if (fd >= 0 && getsockopt(fd, SOL_SOCKET, SO_TYPE, &(int){ 0 },
			       &(socklen_t){ sizeof(int) }) == 0)
		return kind_of_socket(fd);
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, number);
	n = readlink(path, to, sizeof(to) - 1);
	if (n < 0)
		return NULL;
	to[n] = '\0';
	if (strstr(to, "/data/") != NULL)
		return "database";
	for (size_t i = 0; i < CNT_COUNT(kinds); i++) {
		if (strncmp(to, kinds[i].begins, strlen(kinds[i].begins)) == 0)
			return kinds[i].kind;
	}
	return "other";
}

/* The descriptors beyond standard input, output and error, and the databases. */
static void
tell_descriptors(pid_t pid, char ret_cell[CELL])
{
	static const char *const kinds[] = { "address", "pool's socket", "connection",
		"channel", "wake-up", "epoll", "shared memory", "path", "pipe",
		"/dev/null", "other" };
	unsigned counts[CNT_COUNT(kinds)] = { 0 };
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);

	assert_true(pidfd >= 0);
	for (int number = 3; number < 256; number++) {
		int fd = (int)syscall(SYS_pidfd_getfd, pidfd, number, 0);
		const char *kind = kind_of(pid, number, fd);

		for (size_t i = 0; kind != NULL && i < CNT_COUNT(kinds); i++)
			counts[i] += strcmp(kind, kinds[i]) == 0;
		if (fd >= 0)
			close(fd);
	}
	close(pidfd);
	for (size_t i = 0; i < CNT_COUNT(kinds); i++) {
		char text[64];

		snprintf(text, sizeof(text), "%u %s", counts[i], kinds[i]);
		if (counts[i] > 0)
			append(ret_cell, text);
	}
}

/* ---- the processes ---- */

/* Wait until a process is filtered: it has its name before it has given up its privileges. */
static void
await_filter(pid_t pid)
{
	int64_t until = wp_now_ms() + 20000;
	char cell[CELL];

	for (;;) {
		tell_filter(pid, cell);
		if (strcmp(cell, "filtered") == 0)
			return;
		if (wp_now_ms() > until)
			fail_msg("%d is not filtered", (int)pid);
		wp_pause_ms(5);
	}
}

/* Connect as a client that wants to cancel through TLS, and send nothing more: a helper waits for
 * that client. */
static int
keep_helper(int port)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	const struct cnp_opening o = { .kind = CNP_OPEN_CANCEL,
		.tls = CNP_TLS_REQUIRE,
		.version_min = CNP_VERSION_MIN,
		.version_max = CNP_VERSION_MAX,
		.pool = "main" };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct cnc_buf b;

	assert_true(fd >= 0);
	cnc_buf_init(&b, &cnc_mem_default, 1024);
	assert_ok(cnp_opening_encode(&b, &o));
	assert_int_equal(connect(fd, (const struct sockaddr *)&to, sizeof(to)), 0);
	assert_int_equal(write(fd, cnc_buf_head(&b), cnc_buf_len(&b)), cnc_buf_len(&b));
	cnc_buf_finish(&b);
	return fd;
}

struct row {
	const char *name;
	void (*tell)(pid_t pid, char ret_cell[CELL]);
};

/* Whether the process is as the table says, now or soon: a descriptor that it has passed on is closed a moment later. */
static bool
is_so(const struct row *row, const char *process, int column, pid_t pid)
{
	int64_t until = wp_now_ms() + 5000;
	char is[CELL], says[CELL];

	read_cell(row->name, column, says);
	for (;;) {
		is[0] = '\0';
		row->tell(pid, is);
		if (strcmp(is, says) == 0)
			return true;
		if (wp_now_ms() > until)
			break;
		wp_pause_ms(10);
	}
	print_message("# %s, %s: the table says \"%s\", it is \"%s\"\n", process,
		row->name, says, is);
	return false;
}

/* Compare a process with its column of the table. Returns how many rows differ. */
static unsigned
compare(const char *process, int column, pid_t pid)
{
	static const struct row rows[] = { { "runs as", tell_user },
		{ "capabilities", tell_capabilities },
		{ "new privileges", tell_new_privileges },
		{ "system calls", tell_filter },
		{ "writes of the scoreboard", tell_board },
		{ "ticket keys", tell_tickets }, { "descriptors", tell_descriptors } };
	unsigned n_wrong = 0;

	for (size_t i = 0; i < CNT_COUNT(rows); i++)
		n_wrong += !is_so(&rows[i], process, column, pid);
	return n_wrong;
}

/* Start two pools with TLS and one session each, and two addresses. Returns the port for clients. */
static int
start(void)
{
	static char config[1024];
	char data[CNT_PATH_MAX + 8];
	const struct passwd *nobody = getpwnam("nobody");
	int port = cnt_server_free_port();

	assert_non_null(nobody);
	snprintf(config, sizeof(config),
		"[cenoted]\nuser = nobody\nrun_dir = @DIR@/run\n"
		"backend_dir = @BACKENDS@\nlog = stderr\nlisten = 127.0.0.1:%d\n"
		"stats_listen = 127.0.0.1:%d\n"
		"\n[pool main]\nbackend = sqlite\nserver = path=@DIR@/data/main.db\n"
		"sessions = 1\ntls_cert = @DIR@/certs/pool.crt\n"
		"tls_key = @DIR@/certs/server.key\nallow_users = *\n"
		"\n[pool other]\nbackend = sqlite\nserver = path=@DIR@/data/other.db\n"
		"sessions = 1\ntls_cert = @DIR@/certs/pool.crt\n"
		"tls_key = @DIR@/certs/server.key\n",
		port, cnt_server_free_port());
	wt_create(config, "server.crt");
	snprintf(data, sizeof(data), "%s/data", wp_daemon.dir);
	assert_int_equal(mkdir(data, 0700), 0);
	assert_int_equal(chown(data, nobody->pw_uid, nobody->pw_gid), 0);
	/* the directories above belong to the test */
	assert_int_equal(chmod(wp_daemon.dir, 0755), 0);
	assert_int_equal(cnt_daemon_run(&wp_daemon), 0);
	return port;
}

static void
each_process_is_as_the_table_says(void **state)
{
	cenote_conn *conn;
	unsigned n_wrong;
	pid_t helper;
	int fd;

	if (geteuid() != 0 || cnd_sandbox_lacks_seccomp() != NULL ||
		cnd_stats_lacks() != NULL) {
		print_message("# it needs root, seccomp and libmicrohttpd\n");
		skip();
	}
	fd = keep_helper(start());
	conn = wp_attach(NULL);
	helper = wp_await_child("cenoted-helper");
	await_filter(helper);
	await_filter(wp_await_child("cenoted-door"));
	await_filter(wp_await_child("cenoted-stats"));
	n_wrong = compare("master", 0, wp_daemon.pid) +
		  compare("door", 1, wp_await_child("cenoted-door")) +
		  compare("worker", 2, wp_worker_pid(conn)) +
		  compare("helper", 3, helper) +
		  compare("stats", 4, wp_await_child("cenoted-stats"));
	close(fd);
	cenote_conn_destroy(conn);
	assert_int_equal(n_wrong, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(each_process_is_as_the_table_says, wp_teardown),
	};

	return cmocka_run_group_tests(tests, wt_make_certs, wt_remove_certs);
}
