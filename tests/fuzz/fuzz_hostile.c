/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include <cenote/cenote.h>

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/*
 * A hostile pool, and libcenote. The first letter says what the program wants (p to attach, s to
 * log in with a password, t to have TLS, r to resume, o the status). The rest is what the pool
 * sends, whatever the program says; then the pool closes. The seeds are what a real pool sent to
 * such programs.
 */

#define SAID_MAX 65536u
#define TOKEN    "c1-0000000100000000-0123456789abcdef-00000000-00000000"

struct said {
	size_t n;
	uint8_t bytes[SAID_MAX];
};

static struct said *said;
static char dir[64], path[96];

static void
remove_dir(void)
{
	unlink(path);
	rmdir(dir);
}

/* The process of the pool. */
_Noreturn static void
serve(int listen_fd, pid_t parent)
{
	char room[4096];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (getppid() == parent) {
		int fd = accept(listen_fd, NULL, NULL);

		if (fd < 0)
			continue;
		(void)!send(fd, said->bytes, said->n, MSG_NOSIGNAL);
		shutdown(fd, SHUT_WR);
		while (recv(fd, room, sizeof(room), 0) > 0)
			;
		close(fd);
	}
	_exit(0);
}

static void
start(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	pid_t parent = getpid();

	said = mmap(NULL, sizeof(*said), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	FUZZ_CHECK(said != MAP_FAILED && fd >= 0);
	snprintf(dir, sizeof(dir), "/tmp/cenote-fuzz-XXXXXX");
	FUZZ_CHECK(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/main.sock", dir);
	atexit(remove_dir);
	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	FUZZ_CHECK(bind(fd, (const struct sockaddr *)&a, sizeof(a)) == 0);
	FUZZ_CHECK(listen(fd, 16) == 0);
	if (fork() == 0)
		serve(fd, parent);
	close(fd);
}

static void
set(cenote_conn *conn, const char *name, const char *value)
{
	FUZZ_CHECK(cenote_conn_set(conn, name, value) == CENOTE_OK);
}

static cenote_conn *
handle(char letter)
{
	cenote_conn *conn;

	FUZZ_CHECK(cenote_conn_create(NULL, &conn) == CENOTE_OK);
	set(conn, "pool", "main");
	set(conn, "run_dir", dir);
	set(conn, "connect_timeout", "2s");
	set(conn, "query_timeout", "2s");
	set(conn, "reattach", "no");
	if (letter == 's') {
		set(conn, "user", "joe");
		set(conn, "password", "secret");
	}
	if (letter == 't')
		set(conn, "tls", "require");
	return conn;
}

/* Every value is there, with its closing zero byte. */
static void
look_at(const cenote_result *res)
{
	for (uint64_t row = 0; row < cenote_result_n_rows(res); row++) {
		for (uint32_t i = 0; i < cenote_result_n_columns(res) && i < 64; i++) {
			size_t n = 0;
			const char *value = cenote_result_text(res, row, i, &n);

			FUZZ_CHECK(value == NULL || value[n] == '\0');
		}
	}
}

static void
ask(cenote_conn *conn)
{
	cenote_result *res;

	for (int i = 0; i < 2; i++) {
		if (cenote_query(conn, "select 1", CENOTE_NTS, NULL, NULL, &res) !=
			CENOTE_OK)
			return;
		look_at(res);
		cenote_result_destroy(res);
	}
}

static int
begin(cenote_conn *conn, char letter)
{
	cenote_result *res = NULL;
	int r;

	if (letter == 'r')
		r = cenote_resume(conn, TOKEN, &res);
	else if (letter == 'o')
		r = cenote_status(conn, "pools", &res);
	else
		return cenote_connect(conn);
	if (r == CENOTE_OK && res != NULL)
		look_at(res);
	if (r == CENOTE_OK)
		cenote_result_destroy(res);
	return r;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *login;
	cenote_conn *conn;
	int r;

	if (size == 0 || size > SAID_MAX)
		return 0;
	if (said == NULL)
		start();
	said->n = size - 1;
	memcpy(said->bytes, data + 1, size - 1);
	conn = handle((char)*data);
	r = begin(conn, (char)*data);
	/* a pool without the key or password must not pass for the real one, whatever it recorded */
	FUZZ_CHECK(*data != 't' || r < 0);
	login = cenote_info(conn, "login");
	FUZZ_CHECK(r < 0 || login == NULL || strncmp(login, "SCRAM", 5) != 0);
	FUZZ_CHECK(r >= 0 || *cenote_diag_message(cenote_conn_diag(conn)) != '\0' ||
		   r == CENOTE_ERR_NOMEM);
	if (r == CENOTE_OK)
		ask(conn);
	cenote_conn_destroy(conn);
	return 0;
}
