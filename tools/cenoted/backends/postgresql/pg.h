/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_PG_H
#define CND_PG_H

#include "core/mem.h"
#include "core/sqlstate.h"

#include "../backend.h"

/*
 * The files of the PostgreSQL backend that do no I/O. They handle values, types, texts
 * and SQL, and know nothing of a session.
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

/* Settings of the session on which the text of values and SQL depends. The server reports them. */
struct cnd_pg_facts {
	uint8_t is_date_iso; /* DateStyle is ISO */
	uint8_t has_standard_strings; /* standard_conforming_strings is on */
};

/* ---- types.c ---- */

/* Returns an enum cenote_type; CENOTE_TYPE_OTHER for an unknown OID. */
uint8_t cnd_pg_type(uint32_t oid);
/* Fill type, type_name, length, precision, scale and charset from native_type, modifier and length, which
 * are as in RowDescription. Text is static. */
void cnd_pg_type_fill(struct cnp_column *c);

/* ---- values.c ---- */

/* Write one value that is not NULL, as the server sent it, into the batch in canonical form.
 * CENOTE_OK; CENOTE_ERR_PROTOCOL: the value is malformed; CENOTE_ERR_LIMIT, CENOTE_ERR_NOMEM. */
typedef int cnd_pg_put(struct cnc_batch *w, const uint8_t *value, size_t len);

/* The function that converts values of that type and wire format to canonical form; NULL: the bytes are
 * canonical already. */
cnd_pg_put *cnd_pg_put_of(uint32_t oid, uint16_t wire_format);
/* Whether text of every type can be converted to canonical form with these settings. If not, the backend first asks for
 * the columns, then for each value in the format of cnd_pg_canonical_format(). */
int cnd_pg_is_text_enough(const struct cnd_pg_facts *facts);
uint16_t cnd_pg_canonical_format(uint32_t oid, const struct cnd_pg_facts *facts);

/* The type to declare in Parse for a bound value; 0: the server decides. */
uint32_t cnd_pg_param_type(const struct cnc_value *v);
/* The wire format of a bound value, for a placeholder of type `oid` (0: not known). cnd_pg_param_put() appends the
 * value to b: its length as i32, then its bytes (NULL: only the length -1). CENOTE_OK, CENOTE_ERR_ARG with the
 * diagnostics filled, CENOTE_ERR_LIMIT, CENOTE_ERR_NOMEM. */
uint16_t cnd_pg_param_format(const struct cnc_value *v, uint32_t oid);
int cnd_pg_param_put(struct cnc_buf *b, const struct cnc_value *v, uint32_t oid,
	struct cnc_diag *ret_diag);

/* ---- errors.c ---- */

/* Read the body of an ErrorResponse or NoticeResponse. `server` becomes field B; NULL: no such field. CENOTE_OK
 * or CENOTE_ERR_PROTOCOL (then `d` has an error that says so). */
int cnd_pg_diag(struct cnc_diag *d, const uint8_t *body, size_t len, const char *server);
/* Add one field. Does nothing if text is NULL, or without memory. */
void cnd_pg_diag_add(struct cnc_diag *d, char letter, const char *text);
/* 1 if the body is an error that ends the session (severity FATAL or PANIC). */
int cnd_pg_is_fatal(const uint8_t *body, size_t len);

/* ---- scan.c ---- */

enum cnd_pg_scan_flag {
	CND_PG_SCAN_NO_BLOCK = 1, /* refused in a transaction block (VACUUM, …) */
	CND_PG_SCAN_TX = 2, /* begins or ends a transaction (BEGIN, COMMIT, …) */
	CND_PG_SCAN_SEVERAL = 4, /* more than one statement */
	CND_PG_SCAN_EMPTY = 8, /* no statement */
	CND_PG_SCAN_COPY = 16,
	CND_PG_SCAN_REMOVES = 32, /* a statement may remove functions or other code */
	/* a statement may define, change or remove an object that a function names, or change how the text of a
	 * function is read */
	CND_PG_SCAN_DEFINES = 64,
	CND_PG_SCAN_STAYS = 128, /* any statement: it may leave what no reset undoes */
	/* any statement: it runs a routine, defines or sets something, and does not only read and write rows; or it is
	 * not known what it does */
	CND_PG_SCAN_ACTS = 256,
	/* a statement changes a setting on which the meaning of SQL may depend */
	CND_PG_SCAN_LOCAL = 512,
	/* a statement changes settings for the rest of the session; `names` has those that the server does not list */
	CND_PG_SCAN_SETS = 1024,
	CND_PG_SCAN_RESETS = 2048, /* a statement may undo such changes */
	/* a statement may set something that no question shows */
	CND_PG_SCAN_HIDES = 4096,
	CND_PG_SCAN_ON_COMMIT_DROP = 8192,
	CND_PG_SCAN_DEALLOCATES = 16384, /* a statement may end prepared statements */
	CND_PG_SCAN_ENDS =
		32768 /* a statement ends a transaction, and begins no other one */
};

/* Room for the names of the settings that one text sets. */
#define CND_PG_NAMES_MAX 126u

/* A client with more bytes of settings and statements that move with it keeps its session (settings.c). The number has no
 * suffix, since it also stands in questions to the server. */
#define CND_PG_CARRY_MAX 4000

struct cnd_pg_scan {
	uint32_t pins; /* bits of enum cenote_pin: what may stay in the session */
	uint32_t flags; /* bits of enum cnd_pg_scan_flag, of all statements */
	uint32_t n_params; /* the highest N of $N */
	/* if `pins` is 0: the text has a part that only this client may know, such as a literal */
	uint32_t tells;
	/* if the text is one PREPARE, which can be run again on another session: its cnd_pg_hash(); else 0 */
	uint64_t prepares;
	char names[CND_PG_NAMES_MAX +
		   2]; /* each ends with a zero byte, and the list with another */
};

/* Functions whose effect DISCARD ALL does not undo. The last ones belong to extensions. */
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
 * Functions whose effect the server shows in no catalog, and functions that run a statement given as text.
 * set_config() is not in this list. The last ones belong to extensions.
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

/* The OIDs of set_config() and of those functions above that are built into the server. These OIDs never change. */
#define CND_PG_HIDING_FUNCTIONS                                                          \
	2078, 1599, 2172, 3779, 3786, 6006, 2924, 2927, 2930, 3685, 3689, 3690

/* The OIDs of the functions that take an advisory lock for the session. */
#define CND_PG_LOCKING_FUNCTIONS 2880, 2881, 2882, 2883, 2886, 2887, 2888, 2889

void cnd_pg_scan(const char *sql, size_t len, const struct cnd_pg_facts *facts,
	struct cnd_pg_scan *ret_scan);

/* A hash of a text, which is never 0. */
uint64_t cnd_pg_hash(const char *text, size_t len);

/* Whether it is one of the settings by which PL/pgSQL reads the text of a function. */
int cnd_pg_is_reading(const char *name, size_t len);
/* Whether the name has no other characters than ASCII letters, digits, underscores and dots. */
int cnd_pg_is_setting_name(const char *name, size_t len);

/* ---- memo.c ---- */

#define CND_PG_MEMO_ENTRIES  8u
#define CND_PG_MEMO_TEXT_MAX 504u

/* The last scans, by their SQL. All zero at first. */
struct cnd_pg_memo {
	struct cnd_pg_memo_entry {
		size_t len;
		uint8_t has_standard_strings; /* the only fact on which a scan depends */
		struct cnd_pg_scan scan;
		char text[CND_PG_MEMO_TEXT_MAX];
	} entries[CND_PG_MEMO_ENTRIES];
	size_t next; /* the entry that is replaced next */
};

/* As cnd_pg_scan(), but look for the SQL in `memo` first. */
void cnd_pg_memo_scan(struct cnd_pg_memo *memo, const char *sql, size_t len,
	const struct cnd_pg_facts *facts, struct cnd_pg_scan *ret_scan);

/* ---- catalog.c ---- */

#define CND_PG_CATALOG_PARAMS 6u

/* A catalog query: SQL with the parameters $1, $2, …, run in canonical format. Texts are static or the filter's. */
struct cnd_pg_catalog {
	const char *sql;
	struct cnc_value params[CND_PG_CATALOG_PARAMS];
	uint32_t n_params;
};

/* CENOTE_OK; CENOTE_ERR_SERVER with the diagnostics filled (22023, 0A000). `version` is the
 * server's version as a number, such as 150004. */
int cnd_pg_catalog_query(const struct cnp_catalog *filter, int version,
	struct cnd_pg_catalog *ret_query, struct cnc_diag *ret_diag);

#endif
