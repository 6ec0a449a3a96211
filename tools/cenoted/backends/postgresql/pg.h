/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_PG_H
#define CND_PG_H

#include "core/mem.h"
#include "core/sqlstate.h"

#include "../backend.h"

/*
 * What the files of the PostgreSQL backend share that do no I/O: they know values, types, texts
 * and SQL, and nothing of a session.
 *
 *     types.c    type OIDs: logical types, names, sizes
 *     values.c   values from and to the server's forms
 *     errors.c   ErrorResponse and NoticeResponse
 *     scan.c     what SQL may leave in a session
 *     catalog.c  catalog queries
 */

/* Formats on PostgreSQL's wire. */
#define CND_PG_TEXT   0u
#define CND_PG_BINARY 1u

/* What the session reports of its settings, as far as the form of values depends on it. */
struct cnd_pg_facts {
	uint8_t is_date_iso; /* DateStyle is ISO */
	uint8_t has_standard_strings; /* standard_conforming_strings is on */
};

/* ---- types.c ---- */

/* enum cenote_type; CENOTE_TYPE_OTHER for one that is not known. */
uint8_t cnd_pg_type(uint32_t oid);
/* From native_type, modifier and length (as RowDescription tells them) fill type, type_name,
 * length, precision, scale and charset. Text is static. */
void cnd_pg_type_fill(struct cnp_column *c);

/* ---- values.c ---- */

/* Write one value that is not NULL, as the server sent it, into the batch in canonical form.
 * CENOTE_OK; CENOTE_ERR_PROTOCOL: it is not well formed; CENOTE_ERR_LIMIT, CENOTE_ERR_NOMEM. */
typedef int cnd_pg_put(struct cnc_batch *w, const uint8_t *value, size_t len);

/* Which function makes canonical values of that type from that wire format; NULL: the bytes are
 * right as they are. */
cnd_pg_put *cnd_pg_put_of(uint32_t oid, uint16_t wire_format);
/* Whether text of every type can be made canonical with these settings. If not, the columns are
 * asked for first, then each value in the format that cnd_pg_canonical_format() says. */
int cnd_pg_is_text_enough(const struct cnd_pg_facts *facts);
uint16_t cnd_pg_canonical_format(uint32_t oid, const struct cnd_pg_facts *facts);

/* A bound value. The type to declare for it in Parse; 0: the server shall find out. */
uint32_t cnd_pg_param_type(const struct cnc_value *v);
/* Its wire format, for a placeholder of type `oid` (0: not known), and its bytes with their i32
 * length in front (NULL: only -1), appended to b. CENOTE_OK, CENOTE_ERR_ARG with the diagnostics
 * filled, CENOTE_ERR_LIMIT, CENOTE_ERR_NOMEM. */
uint16_t cnd_pg_param_format(const struct cnc_value *v, uint32_t oid);
int cnd_pg_param_put(struct cnc_buf *b, const struct cnc_value *v, uint32_t oid,
	struct cnc_diag *ret_diag);

/* ---- errors.c ---- */

/* The body of an ErrorResponse or NoticeResponse; `server` is the field B, may be NULL. CENOTE_OK
 * or CENOTE_ERR_PROTOCOL (then an error of its own is set). */
int cnd_pg_diag(struct cnc_diag *d, const uint8_t *body, size_t len, const char *server);
/* One more field; nothing if text is NULL, or there is no memory. */
void cnd_pg_diag_add(struct cnc_diag *d, char letter, const char *text);
/* 1 if that body is of an error that ends the session (severity FATAL or PANIC). */
int cnd_pg_is_fatal(const uint8_t *body, size_t len);

/* ---- scan.c ---- */

enum cnd_pg_scan_flag {
	CND_PG_SCAN_NO_BLOCK =
		1, /* the server refuses it in a transaction block (VACUUM, …) */
	CND_PG_SCAN_TX = 2, /* begins or ends a transaction itself (BEGIN, COMMIT, …) */
	CND_PG_SCAN_SEVERAL = 4, /* more than one statement */
	CND_PG_SCAN_EMPTY = 8, /* no statement */
	CND_PG_SCAN_COPY = 16,
	CND_PG_SCAN_REMOVES =
		32, /* any statement: it may remove functions or other code */
	/* any statement: it may make, change or remove what a name in a function means, or change how a
	 * function's text is read */
	CND_PG_SCAN_DEFINES = 64,
	CND_PG_SCAN_STAYS = 128 /* any statement: it may leave what no reset undoes */
};

struct cnd_pg_scan {
	uint32_t pins; /* bits of enum cenote_pin: what it may leave in the session */
	uint32_t
		flags; /* of the first statement, but those from REMOVES on, NO_BLOCK and TX of any */
	uint32_t n_params; /* the highest N of $N */
	uint32_t
		tells; /* if there are no pins: the text has something that only this client would write, such as a literal */
};

/* Functions that leave what DISCARD ALL does not undo. The last ones are of extensions. */
#define CND_PG_STAYING_WORDS(X)                                                          \
	X(pg_start_backup)                                                               \
	X(pg_backup_start)                                                               \
	X(pg_replication_origin_session_setup)                                           \
	X(pg_create_logical_replication_slot)                                            \
	X(pg_create_physical_replication_slot)                                           \
	X(isn_weak)                                                                      \
	X(dblink_connect)                                                                \
	X(dblink_connect_u)

/*
 * Functions that leave what the server has in no list, and those that run a statement given as a text, besides
 * set_config(). The last ones are of extensions.
 */
#define CND_PG_HIDING_WORDS(X)                                                           \
	CND_PG_STAYING_WORDS(X)                                                          \
	X(setseed)                                                                       \
	X(query_to_xml)                                                                  \
	X(query_to_xmlschema)                                                            \
	X(query_to_xml_and_xmlschema)                                                    \
	X(ts_rewrite)                                                                    \
	X(tsquery_rewrite_query)                                                         \
	X(ts_stat)                                                                       \
	X(crosstab)                                                                      \
	X(crosstab2)                                                                     \
	X(crosstab3)                                                                     \
	X(crosstab4)                                                                     \
	X(crosstabn)                                                                     \
	X(connectby)                                                                     \
	X(xpath_table)

/* The numbers of set_config() and those of them that are the server's own, which do not change. */
#define CND_PG_HIDING_FUNCTIONS                                                          \
	2078, 1599, 2172, 3779, 3786, 6006, 2924, 2927, 2930, 3685, 3689, 3690

void cnd_pg_scan(const char *sql, size_t len, const struct cnd_pg_facts *facts,
	struct cnd_pg_scan *ret_scan);

/* ---- memo.c ---- */

#define CND_PG_MEMO_ENTRIES  8u
#define CND_PG_MEMO_TEXT_MAX 504u

/* What was found in the last texts, all zero at first. */
struct cnd_pg_memo {
	struct cnd_pg_memo_entry {
		size_t len;
		uint8_t has_standard_strings; /* all of the facts that it depends on */
		struct cnd_pg_scan scan;
		char text[CND_PG_MEMO_TEXT_MAX];
	} entries[CND_PG_MEMO_ENTRIES];
	size_t next; /* the entry that is replaced next */
};

/* As cnd_pg_scan(). */
void cnd_pg_memo_scan(struct cnd_pg_memo *memo, const char *sql, size_t len,
	const struct cnd_pg_facts *facts, struct cnd_pg_scan *ret_scan);

/* ---- catalog.c ---- */

#define CND_PG_CATALOG_PARAMS 6u

/* A catalog query: SQL with $1 …, run in canonical format. Text is static or the filter's. */
struct cnd_pg_catalog {
	const char *sql;
	struct cnc_value params[CND_PG_CATALOG_PARAMS];
	uint32_t n_params;
};

/* CENOTE_OK; CENOTE_ERR_SERVER with the diagnostics filled (22023, 0A000). `version` is the
 * server's number: 150004. */
int cnd_pg_catalog_query(const struct cnp_catalog *filter, int version,
	struct cnd_pg_catalog *ret_query, struct cnc_diag *ret_diag);

#endif
