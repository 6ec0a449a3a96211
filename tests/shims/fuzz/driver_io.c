/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <unistd.h>

#include "shims/fuzz/sequence.h"

static void
write_all(const void *bytes, size_t len)
{
	const char *p = bytes;

	while (len > 0) {
		ssize_t n = write(STDOUT_FILENO, p, len);

		if (n <= 0)
			exit(1);
		p += n;
		len -= (size_t)n;
	}
}

void
fz_write_answer(const char *text, size_t len)
{
	uint32_t size = (uint32_t)len;

	write_all(&size, sizeof(size));
	write_all(text, len);
}

int
fz_read_sequence(struct fz_sequence *ret_seq)
{
	char *p = (char *)ret_seq;
	size_t left = sizeof(*ret_seq);

	while (left > 0) {
		ssize_t n = read(STDIN_FILENO, p, left);

		if (n <= 0)
			return 0;
		p += n;
		left -= (size_t)n;
	}
	return 1;
}
