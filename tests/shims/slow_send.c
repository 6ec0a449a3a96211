/* SPDX-License-Identifier: BSD-2-Clause */
#include "slow_send.h"

#include <stddef.h>
#include <sys/socket.h>

#include "support/cnt_process.h"

static int is_slow;
static unsigned pause_ms, next_pause_ms, n_sent;

void
cnt_send_slowly(unsigned first_ms, unsigned then_ms)
{
	is_slow = 1;
	pause_ms = first_ms;
	next_pause_ms = then_ms;
	n_sent = 0;
}

unsigned
cnt_send_as_ever(void)
{
	is_slow = 0;
	return n_sent;
}

/* This function replaces the C library's send(). */
ssize_t
send(int fd, const void *bytes, size_t n, int flags)
{
	ssize_t r = sendto(fd, bytes, n, flags, NULL, 0);

	if (is_slow) {
		cnt_pause_ms(pause_ms);
		pause_ms = next_pause_ms;
		n_sent++;
	}
	return r;
}
