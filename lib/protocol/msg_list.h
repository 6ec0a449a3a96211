/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNP_MSG_LIST_H
#define CNP_MSG_LIST_H

/*
 * The message schema: one line and one field list for each message. The structs, the codes, the encoder, the
 * decoder and the tests' random generator are made from it. docs/protocol.md is normative; a test compares the
 * two.
 *
 * Field kinds: U8 U16 U32 U64 I32 I64 (little-endian), STR (u32 length, bytes, a zero byte that the length
 * does not include; an encoded list is also a STR, called a blob).
 *
 * CNP_MSG_LIST(X): X(UPPER, lower, code, from)   from: C client, S server, B both
 */
#define CNP_MSG_LIST(X)                                                                  \
	/* requests */                                                                   \
	X(ATTACH, attach, 0x01, C)                                                       \
	X(AUTH, auth, 0x02, B)                                                           \
	X(CANCEL, cancel, 0x03, C)                                                       \
	X(RESUME, resume, 0x04, C)                                                       \
	X(STATUS, status, 0x05, C)                                                       \
	X(QUERY, query, 0x10, C)                                                         \
	X(PREPARE, prepare, 0x11, C)                                                     \
	X(DESCRIBE, describe, 0x12, C)                                                   \
	X(EXECUTE, execute, 0x13, C)                                                     \
	X(CLOSE, close, 0x14, C)                                                         \
	X(FETCH, fetch, 0x15, C)                                                         \
	X(CLOSE_PORTAL, close_portal, 0x16, C)                                           \
	X(FUNCTION, function, 0x17, C)                                                   \
	X(BEGIN, begin, 0x18, C)                                                         \
	X(COMMIT, commit, 0x19, C)                                                       \
	X(ROLLBACK, rollback, 0x1a, C)                                                   \
	X(SAVEPOINT, savepoint, 0x1b, C)                                                 \
	X(AUTOCOMMIT, autocommit, 0x1c, C)                                               \
	X(LONG_DATA, long_data, 0x1d, C)                                                 \
	X(CATALOG, catalog, 0x20, C)                                                     \
	X(PING, ping, 0x21, C)                                                           \
	X(RESET, reset, 0x22, C)                                                         \
	X(SYNC, sync, 0x23, C)                                                           \
	X(DETACH, detach, 0x24, C)                                                       \
	X(SUSPEND, suspend, 0x25, C)                                                     \
	X(CHANGE_USER, change_user, 0x26, C)                                             \
	X(SELECT_DATABASE, select_database, 0x27, C)                                     \
	X(SET_OPTION, set_option, 0x28, C)                                               \
	/* both directions */                                                            \
	X(COPY_DATA, copy_data, 0x30, B)                                                 \
	X(COPY_DONE, copy_done, 0x31, B)                                                 \
	X(COPY_FAIL, copy_fail, 0x32, C)                                                 \
	/* replies */                                                                    \
	X(HELLO, hello, 0x40, S)                                                         \
	X(ATTACHED, attached, 0x41, S)                                                   \
	X(READY, ready, 0x42, S)                                                         \
	X(COLUMNS, columns, 0x43, S)                                                     \
	X(ROWS, rows, 0x44, S)                                                           \
	X(DONE, done, 0x45, S)                                                           \
	X(ERROR, error, 0x46, S)                                                         \
	X(NOTICE, notice, 0x47, S)                                                       \
	X(SKIPPED, skipped, 0x48, S)                                                     \
	X(PARAMS, params, 0x49, S)                                                       \
	X(NOTIFICATION, notification, 0x4b, S)                                           \
	X(PARAMETER, parameter, 0x4c, S)                                                 \
	X(COPY_IN, copy_in, 0x4d, S)                                                     \
	X(COPY_OUT, copy_out, 0x4e, S)                                                   \
	X(SUSPENDED, suspended, 0x4f, S)                                                 \
	X(YIELD, yield, 0x50, S)                                                         \
	X(CANCELLED, cancelled, 0x51, S)

/* clang-format never settles on lists like these. */
/* clang-format off */
/*
 * ATTACH: who attaches, and how. `flags`: CNP_ATTACH_…. `options`: blob of pairs (str name, str
 * value), unknown options are ignored. `carry`: on a re-attach, the last READY's `carry`. `generation`: how
 * often this handle was attached before.
 */
#define CNP_FIELDS_ATTACH(F)                                                             \
	F(STR, user)                                                                     \
	F(STR, database)                                                                 \
	F(STR, program)                                                                  \
	F(STR, application) F(STR, trace) F(U32, pid) F(U32, flags) F(U32, generation)   \
		F(U64, features) F(U64, max_frame) F(STR, options) F(STR, carry)
#define CNP_FIELDS_AUTH(F)   F(STR, data)
#define CNP_FIELDS_CANCEL(F) F(U64, session) F(U64, key) F(U32, request)
/* `portal`: the portal to resume; 0: none. */
#define CNP_FIELDS_RESUME(F)                                                             \
	F(U64, session)                                                                  \
	F(U64, key)                                                                      \
	F(U32, portal)                                                                   \
	F(U32, pid) F(STR, user) F(STR, program) F(STR, application) F(U64, max_frame)
/* `what`: "pools", "workers", "pins", "pin_counts", "servers", "times" or "digests". */
#define CNP_FIELDS_STATUS(F) F(STR, what) F(STR, user)

/* `format`: enum cenote_format. `batch_rows`: 0 sends everything; n stops after n rows and keeps a
 * portal named by this request's number. `max_rows`: 0 all. `params`: blob of values; an empty blob selects
 * the simple form of a query, but a blob with 0 values does not. `formats`: one enum cenote_format for each
 * column, or empty. */
#define CNP_FIELDS_QUERY(F)                                                              \
	F(STR, sql)                                                                      \
	F(U8, format) F(U32, batch_rows) F(U64, max_rows) F(STR, params) F(STR, formats)
/* `statement`: a number that the client chooses. `name`: its name at the server, if the server has names.
 * `types`: the server's type id (U32) of each parameter; 0: the server decides. */
#define CNP_FIELDS_PREPARE(F)  F(U32, statement) F(STR, sql) F(STR, name) F(STR, types)
/* `statement` 0: the server's `name` identifies the object. `kind`: enum cnp_named, the kind of object. */
#define CNP_FIELDS_DESCRIBE(F) F(U32, statement) F(U8, kind) F(STR, name)
/* `known`: 1 if the client has the statement's columns. Then they are sent only if they changed. */
#define CNP_FIELDS_EXECUTE(F)                                                            \
	F(U32, statement)                                                                \
	F(U8, known)                                                                     \
	F(U8, format)                                                                    \
	F(U32, batch_rows) F(U64, max_rows) F(STR, params) F(STR, formats) F(STR, name)
#define CNP_FIELDS_CLOSE(F)        F(U32, statement) F(U8, kind) F(STR, name)
/* `portal`: the request that opened it. `columns`: 1 to get COLUMNS first (after a resume). */
#define CNP_FIELDS_FETCH(F)        F(U32, portal) F(U32, batch_rows) F(U8, columns)
#define CNP_FIELDS_CLOSE_PORTAL(F) F(U32, portal)
/* Call a function by the server's id (PostgreSQL's fast path). `format`: enum cenote_format of the
 * result. */
#define CNP_FIELDS_FUNCTION(F)     F(U32, function) F(U8, format) F(STR, params)
/* A piece of a parameter's value, sent before EXECUTE; `param` counts from 0. */
#define CNP_FIELDS_LONG_DATA(F)    F(U32, statement) F(U16, param) F(STR, data)

#define CNP_FIELDS_BEGIN(F) F(U8, isolation) F(U32, flags)
#define CNP_FIELDS_COMMIT(F)
#define CNP_FIELDS_ROLLBACK(F)
/* `action`: 0 set, 1 release, 2 roll back to. */
#define CNP_FIELDS_SAVEPOINT(F)  F(U8, action) F(STR, name)
#define CNP_FIELDS_AUTOCOMMIT(F) F(U8, on)

/* `given`: which fields are filters: bit 0 catalog, 1 schema, 2 object, 3 column, 4 types. */
#define CNP_FIELDS_CATALOG(F)                                                            \
	F(U8, kind)                                                                      \
	F(U8, given)                                                                     \
	F(STR, catalog) F(STR, schema) F(STR, object) F(STR, column) F(STR, types)
#define CNP_FIELDS_PING(F)
#define CNP_FIELDS_RESET(F)
#define CNP_FIELDS_SYNC(F)
#define CNP_FIELDS_DETACH(F)
#define CNP_FIELDS_SUSPEND(F)         F(U32, timeout_ms)
#define CNP_FIELDS_CHANGE_USER(F)     F(STR, user) F(STR, password) F(STR, database)
#define CNP_FIELDS_SELECT_DATABASE(F) F(STR, database)
#define CNP_FIELDS_SET_OPTION(F)      F(STR, name) F(STR, value)

#define CNP_FIELDS_COPY_DATA(F) F(STR, data)
#define CNP_FIELDS_COPY_DONE(F)
#define CNP_FIELDS_COPY_FAIL(F) F(STR, message)

/* `tls`: 1 if the handshake follows. `auth`: enum cnp_auth_method, what the client must do. `version`: the
 * chosen version. */
#define CNP_FIELDS_HELLO(F)                                                              \
	F(U8, version) F(U8, tls) F(U8, auth) F(U64, max_frame) F(STR, mechanisms)
/* `features`: bits of enum cnp_feature. `parameters`: blob of pairs. */
#define CNP_FIELDS_ATTACHED(F)                                                           \
	F(U64, session)                                                                  \
	F(U64, key)                                                                      \
	F(U32, worker_pid)                                                               \
	F(U64, features) F(STR, pool) F(STR, backend) F(STR, server)                     \
		F(STR, server_version) F(STR, database) F(STR, user) F(STR, parameters)
/* `tx`: enum cenote_tx. `pins`: bits of enum cenote_pin. `carry`: opaque state of the backend, which the
 * client returns on a re-attach; empty: unchanged. */
#define CNP_FIELDS_READY(F) F(U8, tx) F(U32, pins) F(STR, carry)
/* These frames contain a list or a batch, which columns.h and core/batch.h encode and decode. The schema has no
 * field for it. */
#define CNP_FIELDS_COLUMNS(F)
#define CNP_FIELDS_ROWS(F)
#define CNP_FIELDS_PARAMS(F)
/* `flags`: CNP_DONE_…. `affected`: -1 unknown. */
#define CNP_FIELDS_DONE(F)                                                               \
	F(STR, tag)                                                                      \
	F(I64, affected)                                                                 \
	F(U64, last_insert_id) F(U32, warnings) F(U32, server_status) F(U8, flags)
#define CNP_FIELDS_ERROR(F)  F(STR, fields)
#define CNP_FIELDS_NOTICE(F) F(STR, fields)
#define CNP_FIELDS_SKIPPED(F)
#define CNP_FIELDS_NOTIFICATION(F) F(U32, pid) F(STR, channel) F(STR, payload)
#define CNP_FIELDS_PARAMETER(F)    F(STR, name) F(STR, value)
/* `formats`: one enum cenote_format for each column. `name`: the client's file that the server asks for;
 * empty: the server names no file, and the client knows what to send. */
#define CNP_FIELDS_COPY_IN(F)      F(U8, format) F(STR, formats) F(STR, name)
#define CNP_FIELDS_COPY_OUT(F)     F(U8, format) F(STR, formats)
#define CNP_FIELDS_SUSPENDED(F)    F(U64, session) F(U64, key) F(U32, timeout_ms)
/* `last`: the last request that was carried out; later requests were not started. `reason`: enum
 * cnp_yield_reason. `words`: if the server ended the session, its message, as in ERROR. */
#define CNP_FIELDS_YIELD(F)        F(U32, last) F(U8, reason) F(STR, carry) F(STR, words)
/* `delivered`: 1; or 0 if the request no longer runs. */
#define CNP_FIELDS_CANCELLED(F)    F(U8, delivered)

/* clang-format on */

#endif
