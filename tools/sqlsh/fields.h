/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SQLSH_FIELDS_H
#define SQLSH_FIELDS_H

#include <stdbool.h>

#include "text.h"

/* The fields of a record that a reader takes from a file, one after the other. */

#define CSV_FIELDS_MAX 65535u
#define CSV_RECORD_MAX ((size_t)1 << 30)

/* `text` NULL means NULL. */
struct cell {
	const char *text;
	size_t len;
};

struct fields {
	struct cell *list; /* after fields_point() */
	size_t n;
	struct text
		data; /* the fields, each with a zero byte. The reader adds the last field to it. */
	/* Private. */
	size_t cap;
	size_t *offsets; /* where each field begins in `data` */
	bool *is_null;
};

void fields_finish(struct fields *f);
/* Begin a record. */
void fields_clear(struct fields *f);
/* Begin a field. -1: the record has too many. */
int fields_begin(struct fields *f);
/* End a field. */
void fields_end(struct fields *f, bool is_null);
/* End a record: let `list` point to its fields. */
void fields_point(struct fields *f);

#endif
