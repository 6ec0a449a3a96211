/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Replaces zstd_file.c in a build without libzstd. stream.c asks stream_has_zstd() and does not call the other functions.
 */
#include "stream.h"
#include "zstd_file.h"

bool
stream_has_zstd(void)
{
	return false;
}

FILE *
zstd_file_read(FILE *raw, const char *name, struct stream_zstd **ret_zstd)
{
	(void)raw;
	(void)name;
	(void)ret_zstd;
	return NULL;
}

FILE *
zstd_file_write(FILE *raw, struct stream_zstd **ret_zstd)
{
	(void)raw;
	(void)ret_zstd;
	return NULL;
}

int
stream_find_end(const char *name, uint64_t *ret_end)
{
	(void)name;
	(void)ret_end;
	return -1;
}
