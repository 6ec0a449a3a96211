/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PORT_ZSTD_FILE_H
#define PORT_ZSTD_FILE_H

#include <stdio.h>

struct stream_zstd;

/* Make a FILE that decompresses the data of `raw`, or compresses data into it. Closing it leaves `raw` open. NULL after a
 * message. `name` is for messages. */
FILE *zstd_file_read(FILE *raw, const char *name, struct stream_zstd **ret_zstd);
FILE *zstd_file_write(FILE *raw, struct stream_zstd **ret_zstd);

#endif
