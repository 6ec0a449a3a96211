/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNC_SQLSTATE_H
#define CNC_SQLSTATE_H

/*
 * The table of all SQLSTATEs that Cenote itself raises or must know (ISO/IEC 9075-2, "SQLSTATE";
 * PostgreSQL, Appendix A; ODBC, Appendix A). A server's own states pass through untouched.
 */
#define CNC_SQLSTATE_LIST(X)                                                             \
	X(OK, "00000", "successful completion")                                          \
	X(WARNING, "01000", "warning")                                                   \
	X(TRUNCATED, "01004", "string data, right truncated")                            \
	X(NO_DATA, "02000", "no data")                                                   \
	X(WRONG_PARAM_COUNT, "07001", "wrong number of parameters")                      \
	X(CONNECTION, "08000", "connection exception")                                   \
	X(CANNOT_CONNECT, "08001", "client unable to establish connection")              \
	X(NOT_CONNECTED, "08003", "connection does not exist")                           \
	X(REJECTED, "08004", "server rejected the connection")                           \
	X(CONNECTION_LOST, "08006", "connection failure")                                \
	X(OUTCOME_UNKNOWN, "08007", "transaction resolution unknown")                    \
	X(PROTOCOL, "08P01", "protocol violation")                                       \
	X(UNSUPPORTED, "0A000", "feature not supported")                                 \
	X(DATA, "22000", "data exception")                                               \
	X(OUT_OF_RANGE, "22003", "numeric value out of range")                           \
	X(BAD_DATETIME, "22007", "invalid datetime format")                              \
	X(BAD_CAST, "22018", "invalid character value for cast")                         \
	X(BAD_PARAMETER, "22023", "invalid parameter value")                             \
	X(INTEGRITY, "23000", "integrity constraint violation")                          \
	X(NOT_NULL, "23502", "not null violation")                                       \
	X(FOREIGN_KEY, "23503", "foreign key violation")                                 \
	X(UNIQUE, "23505", "unique violation")                                           \
	X(CHECK, "23514", "check violation")                                             \
	X(BAD_CURSOR, "24000", "invalid cursor state")                                   \
	X(BAD_TX, "25000", "invalid transaction state")                                  \
	X(TX_ACTIVE, "25001", "active SQL transaction")                                  \
	X(READ_ONLY, "25006", "read-only SQL transaction")                               \
	X(TX_FAILED, "25P02", "in failed SQL transaction")                               \
	X(TX_IDLE, "25P03", "idle in transaction session timeout")                       \
	X(NO_STATEMENT, "26000", "invalid SQL statement name")                           \
	X(BAD_LOGIN, "28000", "invalid authorization specification")                     \
	X(BAD_PASSWORD, "28P01", "invalid password")                                     \
	X(NO_CURSOR, "34000", "invalid cursor name")                                     \
	X(NO_SAVEPOINT, "3B001", "invalid savepoint specification")                      \
	X(NO_CATALOG, "3D000", "invalid catalog name")                                   \
	X(NO_SCHEMA, "3F000", "invalid schema name")                                     \
	X(ROLLBACK, "40000", "transaction rollback")                                     \
	X(SERIALIZATION, "40001", "serialization failure")                               \
	X(SYNTAX_OR_ACCESS, "42000", "syntax error or access rule violation")            \
	X(PRIVILEGE, "42501", "insufficient privilege")                                  \
	X(SYNTAX, "42601", "syntax error")                                               \
	X(NO_COLUMN, "42703", "undefined column")                                        \
	X(NO_OBJECT, "42704", "undefined object")                                        \
	X(DUPLICATE_DATABASE, "42P04", "duplicate database")                             \
	X(DUPLICATE_TABLE, "42P07", "duplicate table")                                   \
	X(NO_TABLE, "42P01", "undefined table")                                          \
	X(RESOURCES, "53000", "insufficient resources")                                  \
	X(DISK_FULL, "53100", "disk full")                                               \
	X(NO_MEMORY, "53200", "out of memory")                                           \
	X(TOO_MANY, "53300", "too many connections")                                     \
	X(LIMIT, "54000", "program limit exceeded")                                      \
	X(NOT_READY, "55000", "object not in prerequisite state")                        \
	X(LOCKED, "55P03", "lock not available")                                         \
	X(CANCELED, "57014", "query canceled")                                           \
	X(SHUTDOWN, "57P01", "admin shutdown")                                           \
	X(POOL_BUSY, "57P03", "cannot connect now")                                      \
	X(IDLE_TIMEOUT, "57P05", "idle session timeout")                                 \
	X(IO, "58030", "I/O error")                                                      \
	X(GENERAL, "HY000", "general error")                                             \
	X(MEMORY, "HY001", "memory allocation error")                                    \
	X(SEQUENCE, "HY010", "function sequence error")                                  \
	X(TIMEOUT, "HYT00", "timeout expired")                                           \
	X(CONNECT_TIMEOUT, "HYT01", "connection timeout expired")                        \
	X(CORRUPTED, "XX001", "data corrupted")                                          \
	X(INTERNAL, "XX000", "internal error")

/* CNC_SQLSTATE_POOL_BUSY is "57P03", and so on. */
enum {
#define X(name, code, text) CNC_SQLSTATE_INDEX_##name,
	CNC_SQLSTATE_LIST(X)
#undef X
	CNC_SQLSTATE_COUNT
};

extern const char cnc_sqlstate_code[CNC_SQLSTATE_COUNT][6];

/* The code of a condition by its name in the list: CNC_SQLSTATE(POOL_BUSY). */
#define CNC_SQLSTATE(name) (cnc_sqlstate_code[CNC_SQLSTATE_INDEX_##name])

/* Does the code have five characters, each a digit or an upper-case letter? */
int cnc_sqlstate_is_valid(const char *code);

#endif
