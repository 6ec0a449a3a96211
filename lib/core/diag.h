/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNC_DIAG_H
#define CNC_DIAG_H

#include "core/buf.h"

#define CNC_DIAG_MESSAGE_MAX 512u

/*
 * A diagnostics record. The code that detects an error sets it once, and nothing is appended later. Setting it
 * cannot fail: the inline part always fits (cut at a UTF-8 boundary), and the full list of fields is kept only
 * if there is memory for it.
 *
 * The fields are those of the ERROR and NOTICE frames: u8 letter, str text (docs/protocol.md).
 */
struct cnc_diag {
	const struct cenote_allocator *mem;
	char sqlstate[6];
	int32_t native;
	char message[CNC_DIAG_MESSAGE_MAX];
	uint8_t *fields; /* encoded, NULL if none were kept */
	size_t fields_len;
};

/* `mem` may be NULL: then no fields are kept. */
void cnc_diag_init(struct cnc_diag *d, const struct cenote_allocator *mem);
void cnc_diag_finish(struct cnc_diag *d);
/* Back to "00000" and "". */
void cnc_diag_clear(struct cnc_diag *d);
/* printf-style; replaces the previous record. Newlines and control bytes are kept. */
void cnc_diag_set(struct cnc_diag *d, const char *sqlstate, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Set the record from an encoded list of fields. CENOTE_ERR_PROTOCOL if the list is not well formed; then the
 * record is cleared. */
int cnc_diag_set_fields(struct cnc_diag *d, const uint8_t *fields, size_t len);
/* Deep copy. If there is no memory, the long fields are lost, but the message is kept. */
void cnc_diag_copy(struct cnc_diag *to, const struct cnc_diag *from);
/* A field by its letter, borrowed; NULL if it is absent. 'C' and 'M' are never absent. */
const char *cnc_diag_field(const struct cnc_diag *d, char letter);

/* Append the record as a list of fields: C, M, N unless it is 0, then all other fields of the record. On
 * failure the buffer is as before. */
int cnc_diag_put(struct cnc_buf *b, const struct cnc_diag *d);
/* Append one field in wire form. On failure the buffer is as before. */
int cnc_diag_put_field(struct cnc_buf *b, char letter, const char *text, size_t len);

/* Longest prefix of text, at most max bytes, that does not cut a UTF-8 sequence. */
size_t cnc_utf8_cut(const char *text, size_t len, size_t max);

#endif
