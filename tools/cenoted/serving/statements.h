/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_STATEMENTS_H
#define CND_STATEMENTS_H

#include "../backends/backend.h"

/* The client's statements and portals, by their numbers. */
void cnd_statements_init(struct cnd_statements *t, const struct cnd_backend *backend,
	const struct cenote_allocator *mem);
/* cnd_host.forget(): the backend frees its part of all entries, and then they are removed. */
void cnd_statements_forget(const struct cnd_host *host, struct cnd_session *s);

/* NULL: the client has no statement of that number. */
struct cnd_statement *cnd_statement_find(const struct cnd_statements *t, uint32_t number);
/* Find a statement. If there is none, set the diagnostics and return CENOTE_ERR_SERVER. */
int cnd_statement_get(const struct cnd_statements *t, uint32_t number,
	struct cnd_statement **ret_statement, struct cnc_diag *ret_diag);
/* Call cnd_statement_ops.prepare() for the statement of that number. */
int cnd_statement_prepare(struct cnd_statements *t, struct cnd_session *s,
	uint32_t number, struct cnd_prepare *prepare, struct cnd_sink *sink);
/* Call cnd_statement_ops.close() for the statement of that number. An unknown number is not an
 * error. */
int cnd_statement_close(struct cnd_statements *t, struct cnd_session *s, uint32_t number,
	struct cnd_named *which, struct cnd_sink *sink);

/* Note that a piece of a long value came for the statement. It holds the session until
 * cnd_statement_end_pieces(). */
void cnd_statement_add_piece(struct cnd_statements *t, struct cnd_statement *st);
/* The statement has no pieces any more: they were used, or dropped. NULL is allowed. */
void cnd_statement_end_pieces(struct cnd_statements *t, struct cnd_statement *st);
/* Whether a statement has pieces that no execution has used yet. They would be lost with the session. */
bool cnd_statements_have_pieces(const struct cnd_statements *t);

/* Make an entry for a request that may leave a portal. It exists for the client once the backend has
 * set its `own`. NULL: no memory. */
struct cnd_portal *cnd_portal_make(struct cnd_statements *t, uint32_t number);
/* Find a portal. CENOTE_ERR_SERVER, with the diagnostics filled: the client has no portal of that
 * number. */
int cnd_portal_get(const struct cnd_statements *t, uint32_t number,
	struct cnd_portal **ret_portal, struct cnc_diag *ret_diag);
/* Close a portal. An unknown number is not an error. */
void cnd_portal_close(struct cnd_statements *t, struct cnd_session *s, uint32_t number);

#endif
