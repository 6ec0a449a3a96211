/* SPDX-License-Identifier: BSD-2-Clause */
#include "with_probe.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/batch.h"

/* ---- the server ---- */

int probe_listener = -1;
int probe_server = -1;

void
probe_listen_as(const char *name)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };

	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s/%s", wp_daemon.dir, name);
	unlink(sa.sun_path);
	probe_listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(probe_listener >= 0);
	assert_int_equal(bind(probe_listener, (struct sockaddr *)&sa, sizeof(sa)), 0);
	assert_int_equal(listen(probe_listener, 16), 0);
}

int
probe_is_readable(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, ms) > 0;
}

void
probe_say(const char *text)
{
	assert_int_equal(
		send(probe_server, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

void
probe_accept_login(int is_silent)
{
	int before = probe_server;

	assert_true(probe_is_readable(probe_listener, 20000));
	probe_server = accept(probe_listener, NULL, NULL);
	assert_true(probe_server >= 0);
	if (before >= 0)
		close(before);
	if (!is_silent)
		probe_say("ok\n");
}

void
probe_hear(const char *text)
{
	char got[256] = "";
	size_t n = 0;

	while (n < strlen(text) && probe_is_readable(probe_server, 20000)) {
		ssize_t r = recv(probe_server, got + n, sizeof(got) - 1 - n, 0);

		if (r <= 0)
			break;
		n += (size_t)r;
	}
	assert_string_equal(got, text);
}

void
probe_hang_up(void)
{
	close(probe_server);
	probe_server = -1;
}

void
probe_expect_logout(void)
{
	char byte;

	assert_true(probe_is_readable(probe_server, 20000));
	assert_int_equal(recv(probe_server, &byte, 1, 0), 0);
	probe_hang_up();
}

void
probe_start(const char *config)
{
	assert_int_equal(cnt_daemon_create(&wp_daemon, config), 0);
	probe_listen_as("server");
	assert_int_equal(cnt_daemon_run(&wp_daemon), 0);
}

/* ---- the client ---- */

struct cnt_raw probe_client = { .fd = -1 };

void
probe_attach(void)
{
	assert_int_equal(cnt_raw_open(&probe_client, wp_daemon.run_dir, "main", NULL), 0);
}

void
probe_begin(const char *config)
{
	probe_start(config);
	probe_accept_login(0);
	probe_attach();
}

void
probe_leave(void)
{
	cnt_raw_close(&probe_client);
	probe_hear("reset\n");
	probe_say("done\n");
}

int
probe_teardown(void **state)
{
	cnt_raw_close(&probe_client);
	/* so that a reset that waits for an answer ends */
	if (probe_server >= 0)
		close(probe_server);
	if (probe_listener >= 0)
		close(probe_listener);
	probe_server = probe_listener = -1;
	return wp_teardown(state);
}

void
probe_send_code(uint32_t request, uint8_t flags, uint8_t code)
{
	struct cnp_msg m;

	memset(&m, 0, sizeof(m));
	m.code = code;
	cnt_raw_send(&probe_client, request, flags, &m);
}

const char *
probe_row_text(void)
{
	size_t n;
	const char *text =
		cnc_row_value(probe_client.payload + CNC_BATCH_HEADER, 1, 0, &n);

	assert_int_equal(probe_client.msg.code, CNP_MSG_ROWS);
	return text;
}

const char *
probe_ask(uint32_t request, const char *sql)
{
	static char text[256];
	char list[64];

	QUERY(request, SYNC, sql);
	snprintf(list, sizeof(list), "COLUMNS/%u ROWS/%u", (unsigned)request,
		(unsigned)request);
	EXPECT(list);
	snprintf(text, sizeof(text), "%s", probe_row_text());
	snprintf(list, sizeof(list), "DONE/%u READY/%u", (unsigned)request,
		(unsigned)request);
	EXPECT(list);
	return text;
}
