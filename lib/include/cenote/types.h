/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CENOTE_TYPES_H
#define CENOTE_TYPES_H

/**
 * @file cenote/types.h
 *
 * Types, status codes and constants that every Cenote interface shares. Included by
 * <cenote/cenote.h>; include that one.
 *
 * Enumerations are for naming only: wherever a value crosses the ABI it travels as a
 * fixed-width integer or an int, and new values may be added in any release, so treat
 * an unknown value as "something newer", not as impossible.
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * What a call returns. The sign carries the meaning: negative is a failure (forward it),
 * zero is plain success, positive is a named condition of that one call, which its
 * documentation lists and its direct caller handles.
 */
enum cenote_status {
	/** Done as asked. */
	CENOTE_OK = 0,
	/** Non-blocking only: wait until cenote_fd() is ready for what cenote_wants() says,
	 *  then make the same call again. Nothing is lost. */
	CENOTE_AGAIN = 1,
	/** A batch of rows is available in the result. */
	CENOTE_ROW = 2,
	/** Nothing more comes from this result, request or pipeline. */
	CENOTE_DONE = 3,

	/* From here: the call failed, the handle is as good as before. */

	/** An argument is not allowed: a programming error. Nothing was changed. */
	CENOTE_ERR_ARG = -1,
	/** Not possible in this state (not connected, a request outstanding, …): a
	 *  programming error. Nothing was changed. */
	CENOTE_ERR_STATE = -2,
	/** Out of memory. Nothing was changed; the call may be repeated. */
	CENOTE_ERR_NOMEM = -3,
	/** The database refused the request; the diagnostics hold its own words. */
	CENOTE_ERR_SERVER = -4,
	/** The value is not of the asked type, or does not fit in it (SQLSTATE 22003, 22018). */
	CENOTE_ERR_CONVERT = -5,
	/** A limit was reached (message size, number of columns, of binds, …). The diagnostics
	 *  name it. */
	CENOTE_ERR_LIMIT = -6,
	/** The pool, its backend or its mode cannot give this feature; the diagnostics name it
	 *  (SQLSTATE 0A000). */
	CENOTE_ERR_UNSUPPORTED = -7,
	/** The time limit passed. The request is still running: wait again, cancel it, or
	 *  close. While connecting: the attempt is over, call cenote_connect() to try again. */
	CENOTE_ERR_TIMEOUT = -8,
	/** A file of a saved result cannot be read or written; errno says why. EBADMSG: it is
	 *  no such file, or it is damaged. */
	CENOTE_ERR_FILE = -9,

	/* From here: the session is gone; only cenote_close(), cenote_connect() (a new
	 * session) and cenote_conn_destroy() are legal, and reading what was received. */

	/** cenoted cannot be reached, or the connection or the server's session was lost.
	 *  SQLSTATE 08007 in the diagnostics: the outcome of a COMMIT is unknown. */
	CENOTE_ERR_CONN = -100,
	/** The peer sent something that is not the protocol; the session was closed. */
	CENOTE_ERR_PROTOCOL = -101,
	/** The login was refused (SQLSTATE class 28), or the pool does not exist. */
	CENOTE_ERR_AUTH = -102
};

/** What a call does if it would have to wait: cenote_set_nonblocking(). */
enum cenote_nonblocking {
	CENOTE_BLOCKING = 0, /**< it waits */
	CENOTE_NONBLOCKING = 1, /**< it returns CENOTE_AGAIN */
	/** As CENOTE_NONBLOCKING, but only cenote_process() reads from the descriptor, so that a
	 *  program that polls sees everything that comes. (Other calls read if the peer would take no
	 *  bytes otherwise.) From now on the descriptor keeps its number when the session changes,
	 *  and there is also a descriptor between two sessions. */
	CENOTE_PASSIVE = 2
};

/** Logical types: of columns, and of bound parameters. */
enum cenote_type {
	/** No value (parameters), or not known to the server (columns). */
	CENOTE_TYPE_NULL = 0,
	CENOTE_TYPE_BOOL = 1,
	/** Signed integer of up to 64 bits. */
	CENOTE_TYPE_INT64 = 2,
	/** Unsigned integer of up to 64 bits. */
	CENOTE_TYPE_UINT64 = 3,
	/** IEEE 754 double. */
	CENOTE_TYPE_DOUBLE = 4,
	/** Exact number, as text: [-+]digits[.digits][e[-+]digits]. */
	CENOTE_TYPE_DECIMAL = 5,
	/** Text, UTF-8. */
	CENOTE_TYPE_TEXT = 6,
	/** Bytes. */
	CENOTE_TYPE_BYTES = 7,
	/** Calendar date, text form YYYY-MM-DD (ISO 8601). */
	CENOTE_TYPE_DATE = 8,
	/** Time of day, text form HH:MM:SS[.nnnnnnnnn][(+|-)HH:MM]. */
	CENOTE_TYPE_TIME = 9,
	/** Date and time, text form "YYYY-MM-DD HH:MM:SS[.nnnnnnnnn][(+|-)HH:MM]". */
	CENOTE_TYPE_TIMESTAMP = 10,
	/** ISO 8601 duration or the server's own interval text. */
	CENOTE_TYPE_INTERVAL = 11,
	/** RFC 4122 text form. */
	CENOTE_TYPE_UUID = 12,
	/** RFC 8259 text. */
	CENOTE_TYPE_JSON = 13,
	/** Anything else, in the server's own text form. */
	CENOTE_TYPE_OTHER = 14
};

/** The form in which values come from the server. */
enum cenote_format {
	/** Text in the server's own form. The default. */
	CENOTE_FORMAT_TEXT = 0,
	/** The same form from every server: booleans 0/1, bytes raw, ISO dates. */
	CENOTE_FORMAT_CANONICAL = 1,
	/** The server's own binary form, where it has one. */
	CENOTE_FORMAT_BINARY = 2
};

/** Transaction state of a session. */
enum cenote_tx {
	/** No transaction is open. */
	CENOTE_TX_IDLE = 0,
	/** In a transaction. */
	CENOTE_TX_OPEN = 1,
	/** In a transaction that can only be rolled back. */
	CENOTE_TX_FAILED = 2,
	/** Not connected, or lost. */
	CENOTE_TX_UNKNOWN = 3
};

/** Isolation levels (ISO 9075). */
enum cenote_isolation {
	/** The server's default. */
	CENOTE_ISOLATION_DEFAULT = 0,
	CENOTE_ISOLATION_READ_UNCOMMITTED = 1,
	CENOTE_ISOLATION_READ_COMMITTED = 2,
	CENOTE_ISOLATION_REPEATABLE_READ = 3,
	CENOTE_ISOLATION_SERIALIZABLE = 4
};

/** Flags of cenote_begin(). */
enum cenote_begin_flag {
	CENOTE_BEGIN_READ_ONLY = 1,
	/** Take the write lock at once, if the server has one (SQLite: IMMEDIATE). */
	CENOTE_BEGIN_IMMEDIATE = 2
};

/** Why the pool cannot take a session back between transactions: bits of cenote_pins(). */
enum cenote_pin {
	CENOTE_PIN_TEMP = 1, /**< temporary tables, views, triggers, functions */
	CENOTE_PIN_SETTINGS = 2, /**< a session setting was changed */
	CENOTE_PIN_LOCK = 4, /**< advisory or table locks held across transactions */
	CENOTE_PIN_LISTEN = 8, /**< LISTEN */
	CENOTE_PIN_CURSOR = 16, /**< an open cursor, portal or unread result */
	CENOTE_PIN_ATTACHED = 32, /**< an attached database */
	CENOTE_PIN_FUNCTION = 64, /**< a volatile function may have left something */
	/** PREPARE in SQL that cannot be replayed; pieces of a long value that no execution has used */
	CENOTE_PIN_PREPARED = 128
};

/** What a cenote_result holds. */
enum cenote_result_kind {
	/** Columns, and rows (perhaps none). */
	CENOTE_RESULT_ROWS = 1,
	/** A statement that returns no rows was done. */
	CENOTE_RESULT_COMMAND = 2,
	/** The request failed; see cenote_result_diag(). */
	CENOTE_RESULT_ERROR = 3,
	/** Not done, because an earlier request of the pipeline failed. */
	CENOTE_RESULT_SKIPPED = 4,
	/** A synchronisation point of the pipeline was reached. */
	CENOTE_RESULT_SYNC = 5,
	/** Parameters and columns of a described statement; no rows. */
	CENOTE_RESULT_DESCRIPTION = 6,
	/** The statement takes data from the program: cenote_copy_put(), cenote_copy_end(). */
	CENOTE_RESULT_COPY_IN = 7,
	/** The statement gives data that is not rows: cenote_copy_get(). */
	CENOTE_RESULT_COPY_OUT = 8
};

/** Bits of cenote_result_flags(). */
enum cenote_result_flag {
	CENOTE_RESULT_FLAG_MORE = 1, /**< another result of the same request follows */
	CENOTE_RESULT_FLAG_LIMITED =
		2, /**< max_rows was reached; there may be more rows */
	CENOTE_RESULT_FLAG_EMPTY = 4, /**< there was no statement in the text */
	CENOTE_RESULT_FLAG_OUTPUT =
		8, /**< its one row holds the output values of a call */
	CENOTE_RESULT_FLAG_SAVED =
		16 /**< it was read from a file: cenote_result_open(), or the option cache */
};

/** Kinds of objects with a name at the server: cenote_describe_named(), cenote_close_named(). */
enum cenote_named {
	CENOTE_NAMED_STATEMENT = 0, /**< a prepared statement */
	CENOTE_NAMED_PORTAL = 1 /**< a cursor */
};

/** Kinds of cenote_catalog(); the columns of each are in docs/protocol.md, "Catalog". */
enum cenote_catalog_kind {
	CENOTE_CATALOG_DATABASES = 1,
	CENOTE_CATALOG_SCHEMAS = 2,
	CENOTE_CATALOG_TABLES = 3,
	CENOTE_CATALOG_COLUMNS = 4,
	CENOTE_CATALOG_PRIMARY_KEYS = 5,
	CENOTE_CATALOG_FOREIGN_KEYS = 6,
	CENOTE_CATALOG_INDEXES = 7,
	CENOTE_CATALOG_TYPES = 8,
	CENOTE_CATALOG_PROCEDURES = 9,
	CENOTE_CATALOG_PROCEDURE_COLUMNS = 10,
	CENOTE_CATALOG_TABLE_PRIVILEGES = 11,
	CENOTE_CATALOG_COLUMN_PRIVILEGES = 12
};

/** Text attributes of a column, for cenote_column_text(). */
enum cenote_column_text_attr {
	CENOTE_COLUMN_NAME = 1, /**< label, as the query named it */
	CENOTE_COLUMN_ORG_NAME = 2, /**< name in its table */
	CENOTE_COLUMN_TABLE = 3, /**< table or alias, as the query named it */
	CENOTE_COLUMN_ORG_TABLE = 4, /**< table's own name */
	CENOTE_COLUMN_SCHEMA = 5,
	CENOTE_COLUMN_CATALOG = 6,
	CENOTE_COLUMN_TYPE_NAME = 7 /**< the server's name of the type, if it sends one */
};

/** Numeric attributes of a column, for cenote_column_int(). */
enum cenote_column_int_attr {
	CENOTE_COLUMN_TYPE = 1, /**< enum cenote_type */
	CENOTE_COLUMN_NATIVE_TYPE = 2, /**< the server's type id (PostgreSQL: OID) */
	CENOTE_COLUMN_MODIFIER = 3, /**< the server's type modifier, -1 if none */
	CENOTE_COLUMN_NATIVE_FLAGS = 4,
	CENOTE_COLUMN_CHARSET = 5,
	CENOTE_COLUMN_LENGTH = 6, /**< bytes, -1 if variable or unknown */
	CENOTE_COLUMN_PRECISION = 7, /**< digits, -1 if unknown */
	CENOTE_COLUMN_SCALE = 8, /**< digits after the point, -1 if unknown */
	CENOTE_COLUMN_NULLABLE = 9, /**< 0 no, 1 yes, 2 unknown (ODBC's values) */
	CENOTE_COLUMN_TABLE_ID = 10,
	CENOTE_COLUMN_ATTNUM = 11, /**< position in its table from 1, 0 if none */
	CENOTE_COLUMN_FORMAT = 12 /**< enum cenote_format of its values */
};

/** Calendar date, proleptic Gregorian. */
typedef struct cenote_date {
	int32_t year; /**< astronomical: 0 is 1 BC */
	uint8_t month; /**< 1…12 */
	uint8_t day; /**< 1…31 */
	uint16_t reserved; /**< 0 */
} cenote_date;

/** CENOTE_NO_OFFSET in utc_offset_s: the value has no time zone. */
#define CENOTE_NO_OFFSET INT32_MIN

/** Time of day. */
typedef struct cenote_time {
	uint8_t hour; /**< 0…23, and 24 in 24:00:00 */
	uint8_t minute; /**< 0…59 */
	uint8_t second; /**< 0…60 */
	uint8_t reserved; /**< 0 */
	uint32_t nanosecond; /**< 0…999,999,999 */
	int32_t utc_offset_s; /**< seconds east of UTC, or CENOTE_NO_OFFSET */
} cenote_time;

/** Date and time. */
typedef struct cenote_timestamp {
	cenote_date date;
	cenote_time time;
} cenote_timestamp;

/**
 * Where memory comes from. Copied by cenote_conn_create(); `user` must outlive every
 * handle made with it. The functions behave as malloc(), realloc() and free() do, are
 * only called from within calls into libcenote, and may fail at any time.
 */
typedef struct cenote_allocator {
	void *(*alloc)(size_t size, void *user);
	void *(*realloc)(void *ptr, size_t size, void *user);
	void (*free)(void *ptr, void *user);
	void *user;
} cenote_allocator;

#ifdef __cplusplus
}
#endif

#endif
