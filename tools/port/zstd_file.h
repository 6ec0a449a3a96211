/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PORT_ZSTD_FILE_H
#define PORT_ZSTD_FILE_H

#include <stdio.h>

struct stream_zstd;

/* Make a FILE whose data is compressed in `raw`, which stays open when it is closed. NULL after a message. */
FILE *zstd_file_read(FILE *raw, const char *name, struct stream_zstd **ret_zstd);
FILE *zstd_file_write(FILE *raw, struct stream_zstd **ret_zstd);

#endif
