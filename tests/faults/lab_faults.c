/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The faults of the labs: how each is made, how it ends, and what clients may see of it. Most of them are processes that
 * die or hang. The others take something away: the network between cenoted and its server, room for the log, descriptors, the
 * server's connections, the right time of day. Nothing is changed outside of the lab's processes.
 */
#include "lab.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/cnt_client.h"

#define HANG_MS 10000
#define WAIT_MS 10000

/* ---- a process of cenoted dies or hangs ---- */

static int
kill_child(const struct lab *l, const char *name)
{
	pid_t pid = lab_child(l, name);

	return pid > 0 && kill(pid, SIGKILL) == 0 ? 0 : lab_fail(l, name);
}

static int
stop(struct lab *l, pid_t pid)
{
	l->victim = pid;
	return pid > 0 && kill(pid, SIGSTOP) == 0 ? 0 : lab_fail(l, "SIGSTOP");
}

static int
go_on(struct lab *l)
{
	int r = kill(l->victim, SIGCONT);

	l->victim = 0;
	return r < 0 ? lab_fail(l, "SIGCONT") : 0;
}

static int
kill_worker(struct lab *l)
{
	return kill_child(l, "cenoted-worker");
}

static int
stop_worker(struct lab *l)
{
	return stop(l, lab_child(l, "cenoted-worker"));
}

static int
kill_door(struct lab *l)
{
	return kill_child(l, "cenoted-door");
}

static int
stop_door(struct lab *l)
{
	return stop(l, lab_child(l, "cenoted-door"));
}

static int
kill_stats(struct lab *l)
{
	return kill_child(l, "cenoted-stats");
}

static int
stop_stats(struct lab *l)
{
	return stop(l, lab_child(l, "cenoted-stats"));
}

static int
stop_master(struct lab *l)
{
	return stop(l, l->daemon.pid);
}

/* No process of the killed master may stay. */
static int
kill_master(struct lab *l)
{
	pid_t pid = l->daemon.pid;
	int64_t until = cnt_now_ms() + WAIT_MS;

	if (kill(pid, SIGKILL) < 0)
		return lab_fail(l, "SIGKILL");
	l->daemon.pid = 0;
	while (kill(-pid, 0) == 0) {
		while (waitpid(-pid, NULL, WNOHANG) > 0)
			;
		if (cnt_now_ms() > until)
			return lab_complain(l, "a child of the master stays");
		cnt_pause_ms(2);
	}
	return 0;
}

/* A service manager does this. */
static int
start_again(struct lab *l)
{
	return cnt_daemon_run(&l->daemon);
}

/* ---- the server dies or hangs ---- */

static int
kill_server(struct lab *l)
{
	cnt_server_kill(&l->server);
	return 0;
}

static int
run_server(struct lab *l)
{
	return cnt_server_run(&l->server);
}

static int
stop_server(struct lab *l)
{
	cnt_server_signal(&l->server, SIGSTOP);
	return 0;
}

static int
continue_server(struct lab *l)
{
	cnt_server_signal(&l->server, SIGCONT);
	return 0;
}

/* ---- the network is cut ---- */

#define SERVER_ADDRESS "10.99.0.1"
#define SERVER_NET     "10.99.0.1/24"

static int
run_ip(const char *const *words)
{
	const struct cnt_command c = { .argv = words };

	return cnt_run(&c);
}

#define IP(...) run_ip((const char *const[]){ "ip", __VA_ARGS__, NULL })

static int
has_ip(void)
{
	char text[256];
	const char *const words[] = { "sh", "-c", "command -v ip || echo none", NULL };
	const struct cnt_command c = {
		.argv = words, .output = text, .size = sizeof(text)
	};

	return cnt_run(&c) == 0 && strcmp(text, "none") != 0;
}

static int
append(const char *path, const char *text)
{
	FILE *f = fopen(path, "ae");

	if (f == NULL)
		return -1;
	fputs(text, f);
	return fclose(f);
}

/* The server gets a network of its own. */
static int
separate_server(struct lab *l)
{
	char hba[CNT_SERVER_PATH_MAX + 16];

	if (!has_ip() || unshare(CLONE_NEWNET) < 0) {
		snprintf(l->report->skipped, sizeof(l->report->skipped),
			"a network namespace needs root and iproute2");
		return 1;
	}
	l->server_net = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	snprintf(l->server_line, sizeof(l->server_line),
		"host=" SERVER_ADDRESS " port=%d dbname=app user=%s sslmode=disable",
		l->server.port, l->user);
	snprintf(hba, sizeof(hba), "%s/pg_hba.conf", l->server.dir);
	if (l->server_net < 0 || append(hba, "host all all 10.99.0.0/24 trust\n") < 0)
		return lab_fail(l, hba);
	return cnt_server_configure(&l->server, "listen_addresses = '*'\n");
}

/* cenoted and its clients get another one, and a cable leads from there to the server. */
static int
lay_cable(struct lab *l)
{
	char pid[16];
	int here, r;

	snprintf(pid, sizeof(pid), "%d", (int)l->server.pid);
	if (unshare(CLONE_NEWNET) < 0)
		return lab_fail(l, "unshare");
	here = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	r = IP("link", "set", "lo", "up") < 0 ||
	    IP("link", "add", "pool", "type", "veth", "peer", "name", "server", "netns",
		    pid) < 0 ||
	    IP("addr", "add", "10.99.0.2/24", "dev", "pool") < 0 ||
	    IP("link", "set", "pool", "up") < 0 ||
	    setns(l->server_net, CLONE_NEWNET) < 0 ||
	    IP("addr", "add", SERVER_NET, "dev", "server") < 0 ||
	    IP("link", "set", "server", "up") < 0 || setns(here, CLONE_NEWNET) < 0;
	close(here);
	return r == 0 ? 0 : lab_fail(l, "ip");
}

/* The server's end goes down, so cenoted gets no error: its packets get no answer. */
static int
set_cable(const struct lab *l, const char *state)
{
	int here = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	int r = setns(l->server_net, CLONE_NEWNET) < 0 ||
		IP("link", "set", "server", state) < 0 || setns(here, CLONE_NEWNET) < 0;

	close(here);
	return r == 0 ? 0 : lab_fail(l, "ip link set");
}

static int
cut(struct lab *l)
{
	return set_cable(l, "down");
}

static int
mend(struct lab *l)
{
	return set_cable(l, "up");
}

/* ---- the log cannot grow ---- */

/* In the lab's own view of the files. */
#define DISK     "/mnt"
#define DISK_LOG DISK "/log"
#define OWN_LOG  "own.log"

static long
size_of_log(const struct lab *l)
{
	struct stat st;

	return stat(l->log, &st) == 0 ? (long)st.st_size : -1;
}

/* Run a command of cenotectl, and get what it says. */
static int
control(const struct lab *l, const char *command, char *ret_text, size_t size)
{
	const char *const words[] = { CNT_CENOTECTL, "-r", l->daemon.run_dir, command,
		NULL };
	const struct cnt_command c = { .argv = words, .output = ret_text, .size = size };

	return cnt_run(&c);
}

/* A reload writes to the log. It has done so when this returns. */
static int
reload(const struct lab *l)
{
	char text[1024];

	return control(l, "reload", text, sizeof(text));
}

/* Wait until a reload adds nothing to the log: its last page may have some room. */
static int
await_full_log(struct lab *l)
{
	for (int i = 0; i < 500 && size_of_log(l) != l->log_size; i++) {
		l->log_size = size_of_log(l);
		if (reload(l) < 0)
			return -1;
	}
	return size_of_log(l) == l->log_size ? 0 : lab_complain(l, "the log grows");
}

/* The log had no room. Wait until it grows. */
static int
await_growing_log(const struct lab *l)
{
	int64_t until = cnt_now_ms() + WAIT_MS;

	while (size_of_log(l) == l->log_size) {
		if (cnt_now_ms() > until)
			return lab_complain(l, "nothing is logged any more");
		if (reload(l) < 0)
			return -1;
		cnt_pause_ms(100);
	}
	return 0;
}

static int
mount_disk(struct lab *l)
{
	snprintf(l->log, sizeof(l->log), DISK_LOG);
	if (unshare(CLONE_NEWNS) == 0 &&
		mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
		mount("none", DISK, "tmpfs", 0, "size=64k,mode=0755") == 0)
		return 0;
	snprintf(l->report->skipped, sizeof(l->report->skipped),
		"a small disk needs root");
	return 1;
}

static int
fill_disk(struct lab *l)
{
	static const char block[512];
	int fd = open(DISK "/filler", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0)
		return lab_fail(l, DISK);
	while (write(fd, block, sizeof(block)) > 0)
		;
	close(fd);
	return await_full_log(l);
}

static int
free_disk(struct lab *l)
{
	if (size_of_log(l) != l->log_size)
		return lab_complain(l, "the disk was not full");
	return unlink(DISK "/filler") < 0 ? lab_fail(l, DISK) : await_growing_log(l);
}

/* Limit the size of files that cenoted's processes write. */
static int
limit_files(const struct lab *l, rlim_t size)
{
	const struct rlimit limit = { size, RLIM_INFINITY };
	pid_t pids[16];
	size_t n = cnt_daemon_children(&l->daemon, pids, 15);

	pids[n++] = l->daemon.pid;
	for (size_t i = 0; i < n; i++) {
		/* the process for statistics ends at each reload */
		if (prlimit(pids[i], RLIMIT_FSIZE, &limit, NULL) < 0 && errno != ESRCH)
			return lab_fail(l, "prlimit");
	}
	return 0;
}

static int
limit_log(struct lab *l)
{
	snprintf(l->log, sizeof(l->log), "%s/" OWN_LOG, l->daemon.dir);
	return limit_files(l, (rlim_t)size_of_log(l) + 100) < 0 ? -1 : await_full_log(l);
}

static int
free_log(struct lab *l)
{
	if (size_of_log(l) != l->log_size)
		return lab_complain(l, "the log has no limit");
	return limit_files(l, RLIM_INFINITY) < 0 ? -1 : await_growing_log(l);
}

/* ---- descriptors run out ---- */

#define DESCRIPTORS 64
#define CROWD       50 /* connections of each process of the crowd */

/* cenoted inherits this. */
static int
limit_descriptors(struct lab *l)
{
	const struct rlimit limit = { DESCRIPTORS, DESCRIPTORS };

	return setrlimit(RLIMIT_NOFILE, &limit) < 0 ? lab_fail(l, "setrlimit") : 0;
}

static void
connect_to(const struct sockaddr *to, socklen_t len)
{
	int fd = socket(to->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	/* the connection stays; what becomes of it is up to cenoted */
	if (fd >= 0 && connect(fd, to, len) < 0 && errno != EINPROGRESS)
		close(fd);
}

static int
be_tcp_crowd(void *arg)
{
	const struct lab *l = arg;
	struct sockaddr_in to = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)l->place->port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	for (int i = 0; i < CROWD; i++)
		connect_to((const struct sockaddr *)&to, sizeof(to));
	return pause();
}

static int
be_unix_crowd(void *arg)
{
	const struct lab *l = arg;
	struct sockaddr_un to = { .sun_family = AF_UNIX };

	snprintf(to.sun_path, sizeof(to.sun_path), "%s/main.sock", l->daemon.run_dir);
	for (int i = 0; i < CROWD; i++)
		connect_to((const struct sockaddr *)&to, sizeof(to));
	return pause();
}

/* Many clients that connect and say nothing. */
static int
begin_crowd(struct lab *l)
{
	for (size_t i = 0; i < sizeof(l->crowd) / sizeof(l->crowd[0]); i++) {
		l->crowd[i] = cnt_fork(i == 0 ? be_unix_crowd : be_tcp_crowd, l);
		if (l->crowd[i] < 0)
			return lab_fail(l, "fork");
	}
	return 0;
}

static int
end_crowd(struct lab *l)
{
	for (size_t i = 0; i < sizeof(l->crowd) / sizeof(l->crowd[0]); i++) {
		kill(l->crowd[i], SIGKILL);
		if (cnt_wait(l->crowd[i]) != 256 + SIGKILL)
			return lab_complain(l, "the crowd has gone early");
	}
	return 0;
}

/* ---- others use all connections of the server ---- */

static int
allow_few(struct lab *l)
{
	return cnt_server_configure(&l->server, "max_connections = 12\n");
}

/* Read the server's messages until it says that it is ready, or refuses. */
static int
is_welcome(int fd)
{
	unsigned char head[5] = { 0 };
	char body[1024];

	while (head[0] != 'Z' && head[0] != 'E') {
		size_t len;

		if (recv(fd, head, sizeof(head), MSG_WAITALL) != (ssize_t)sizeof(head))
			return 0;
		len = (size_t)head[3] << 8 | head[4];
		if (len < 4 || len - 4 > sizeof(body) ||
			recv(fd, body, len - 4, MSG_WAITALL) != (ssize_t)len - 4)
			return 0;
	}
	return head[0] == 'Z';
}

/* Log in as another program of the user app. Returns the connection; -1: the server refuses it. */
static int
log_in(const struct lab *l)
{
	static const char hello[] = "\0\0\0\037\0\003\0\0user\0app\0database\0app\0";
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(to.sun_path, sizeof(to.sun_path), "%s", l->server.socket);
	if (fd >= 0 && connect(fd, (const struct sockaddr *)&to, sizeof(to)) == 0 &&
		send(fd, hello, sizeof(hello), MSG_NOSIGNAL) == (ssize_t)sizeof(hello) &&
		is_welcome(fd))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* The pool's workers pause while its connections are given to others, so that they do not win some of them back. */
static int
use_connections(struct lab *l)
{
	pid_t pids[8];
	size_t n = cnt_daemon_children(&l->daemon, pids, 8);
	int n_refused = 0, r;
	char sql[128];

	for (size_t i = 0; i < n; i++)
		kill(pids[i], SIGSTOP);
	snprintf(sql, sizeof(sql),
		"select pg_terminate_backend(pid, 5000) from pg_stat_activity where "
		"usename = '%s'",
		l->user);
	r = cnt_server_sql(&l->server, sql);
	while (r == 0 && n_refused < 10 && l->n_hogs < LAB_HOGS) {
		l->hogs[l->n_hogs] = log_in(l);
		if (l->hogs[l->n_hogs] >= 0) {
			l->n_hogs++;
			continue;
		}
		n_refused++;
		cnt_pause_ms(10);
	}
	for (size_t i = 0; i < n; i++)
		kill(pids[i], SIGCONT);
	return r == 0 && l->n_hogs > 0 && l->n_hogs < LAB_HOGS
		       ? 0
		       : lab_complain(l, "the connections are not used up");
}

static int
leave_connections(struct lab *l)
{
	for (; l->n_hogs > 0; l->n_hogs--)
		close(l->hogs[l->n_hogs - 1]);
	return 0;
}

/* ---- somebody sets the clock ---- */

#define DAY 86400

/* cenoted reads its time of day through clock_jump.c. The clock of the machine stays as it is. */
static int
give_clock(struct lab *l)
{
	const char *had = getenv("ASAN_OPTIONS");
	char path[CNT_PATH_MAX + 16], options[1024];
	int fd;

	snprintf(path, sizeof(path), "%s/clock", l->daemon.dir);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0 || ftruncate(fd, sizeof(*l->clock_s)) < 0)
		return lab_fail(l, path);
	l->clock_s = mmap(
		NULL, sizeof(*l->clock_s), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (l->clock_s == MAP_FAILED)
		return lab_fail(l, "mmap");
	snprintf(options, sizeof(options), "%s:verify_asan_link_order=0", had ? had : "");
	setenv("ASAN_OPTIONS", options, 1);
	setenv("CNT_CLOCK", path, 1);
	return setenv("LD_PRELOAD", CNT_CLOCK_JUMP, 1);
}

/* Set the clock, and wait until the log has a line of that day. */
static int
set_clock(struct lab *l, int64_t offset_s)
{
	time_t now = time(NULL) + offset_s;
	int64_t until = cnt_now_ms() + WAIT_MS;
	char date[32], line[1024];
	struct tm utc;

	strftime(date, sizeof(date), "%Y-%m-%dT", gmtime_r(&now, &utc));
	*l->clock_s = offset_s;
	while (cnt_now_ms() < until) {
		FILE *f = fopen(l->daemon.log, "re");
		int is_there = 0;

		if (f == NULL || reload(l) < 0)
			return lab_fail(l, l->daemon.log);
		while (!is_there && fgets(line, sizeof(line), f) != NULL)
			is_there = strncmp(line, date, strlen(date)) == 0;
		fclose(f);
		if (is_there)
			return 0;
		cnt_pause_ms(50);
	}
	return lab_complain(l, "cenoted does not see that the clock was set");
}

/* What people are told must be true, too. */
static int
ask_uptime(const struct lab *l)
{
	const char *at;
	char text[4096];
	long up = -1;

	if (control(l, "status", text, sizeof(text)) < 0)
		return -1;
	at = strstr(text, "up for ");
	if (at != NULL)
		up = strtol(at + strlen("up for "), NULL, 10);
	return up >= 0 && up < DAY / 2 ? 0 : lab_complain(l, text);
}

static int
jump_forward(struct lab *l)
{
	return set_clock(l, DAY) < 0 ? -1 : ask_uptime(l);
}

static int
jump_back(struct lab *l)
{
	return set_clock(l, -DAY) < 0 ? -1 : ask_uptime(l);
}

/* ---- the table ---- */

#define NOTHING ""
/* The session is lost: its transaction, or the outcome of a commit. */
#define LOST    "08006 08007 57P01"
/* A client's own time limit has passed. */
#define LATE    "HYT00 HYT01"
#define REFUSED "08001 57P03"

const struct lab_fault lab_faults[] = {
	{ "a_killed_worker_loses_no_commit", "worker: SIGKILL", LOST, 0,
		.begin = kill_worker },
	{ "a_worker_that_hangs_loses_no_commit", "worker: SIGSTOP for 10 s",
		LOST " " LATE, HANG_MS, .begin = stop_worker, .end = go_on },
	{ "a_killed_worker_of_one_session_loses_no_commit",
		"worker of mode = session: SIGKILL", LOST, 0, .mode = "mode = session\n",
		.begin = kill_worker },
	{ "a_worker_of_one_session_that_hangs_loses_no_commit",
		"worker of mode = session: SIGSTOP for 10 s", LOST " " LATE, HANG_MS,
		.mode = "mode = session\n", .begin = stop_worker, .end = go_on },
	{ "a_killed_door_loses_no_commit", "door: SIGKILL", "08001", 0,
		.begin = kill_door },
	{ "a_door_that_hangs_loses_no_commit", "door: SIGSTOP for 10 s", LATE, HANG_MS,
		.begin = stop_door, .end = go_on },
	{ "nobody_notices_that_stats_is_killed", "stats: SIGKILL", NOTHING, 0,
		.begin = kill_stats },
	{ "nobody_notices_that_stats_hangs", "stats: SIGSTOP for 10 s", NOTHING, HANG_MS,
		.begin = stop_stats, .end = go_on },
	{ "a_killed_master_loses_no_commit", "master: SIGKILL, started again",
		LOST " 08001", 0, .begin = kill_master, .end = start_again },
	{ "nobody_notices_that_the_master_hangs", "master: SIGSTOP for 10 s", NOTHING,
		HANG_MS, .begin = stop_master, .end = go_on },
	{ "a_killed_server_loses_no_commit", "server: SIGKILL, started after 1 s",
		LOST " " REFUSED, 1000, .has_server = true, .begin = kill_server,
		.end = run_server },
	{ "a_server_that_hangs_loses_no_commit", "server: SIGSTOP for 10 s",
		LOST " " LATE, HANG_MS, .has_server = true, .begin = stop_server,
		.end = continue_server },
	{ "a_cut_network_loses_no_commit", "network to the server: cut for 10 s",
		LOST " " LATE, HANG_MS, .has_server = true, .prepare = separate_server,
		.before_daemon = lay_cable, .begin = cut, .end = mend },
	{ "nobody_notices_that_the_log_s_disk_is_full", "disk of the log: full", NOTHING,
		1000, .log = DISK_LOG, .prepare = mount_disk, .begin = fill_disk,
		.end = free_disk },
	{ "nobody_notices_that_the_log_is_at_its_limit", "file of the log: RLIMIT_FSIZE",
		NOTHING, 1000, .log = "@DIR@/" OWN_LOG, .begin = limit_log,
		.end = free_log },
	{ "a_crowd_beyond_the_descriptors_loses_no_commit",
		"64 descriptors, 200 silent clients for 10 s", LATE " 53300", HANG_MS,
		.before_daemon = limit_descriptors, .begin = begin_crowd,
		.end = end_crowd },
	{ "a_server_without_connections_loses_no_commit",
		"max_connections used up for 5 s", LOST " 08001 53300", 5000,
		.has_server = true, .prepare = allow_few, .begin = use_connections,
		.end = leave_connections },
	{ "nobody_notices_that_the_clock_is_set", "clock: a day on, two days back",
		NOTHING, 3000, .before_daemon = give_clock, .begin = jump_forward,
		.end = jump_back },
};

const size_t lab_n_faults = sizeof(lab_faults) / sizeof(lab_faults[0]);
