/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CPQ_FACE_LIST_H
#define CPQ_FACE_LIST_H

/*
 * Every libpq function that takes a handle or helps to make one. Each entry has the parameters, and
 * the argument that decides whether the shim or the original serves the call (NULL: no argument
 * does). FN returns a value, FV returns nothing. All other exported functions (buffers, encodings)
 * do not depend on a handle, and are exported where they are defined. exports.txt lists all names,
 * and a test compares the two lists.
 */
/* clang-format off */
#define CPQ_FACE_15(FN, FV) \
	FN(NULL, PGconn *, PQconnectStart, (const char *conninfo), (conninfo)) \
	FN(NULL, PGconn *, PQconnectStartParams, (const char *const *keywords, const char *const *values, int expand_dbname), (keywords, values, expand_dbname)) \
	FN(conn, PostgresPollingStatusType, PQconnectPoll, (PGconn *conn), (conn)) \
	FN(NULL, PGconn *, PQconnectdb, (const char *conninfo), (conninfo)) \
	FN(NULL, PGconn *, PQconnectdbParams, (const char *const *keywords, const char *const *values, int expand_dbname), (keywords, values, expand_dbname)) \
	FN(NULL, PGconn *, PQsetdbLogin, (const char *pghost, const char *pgport, const char *pgoptions, const char *pgtty, const char *dbName, const char *login, const char *pwd), (pghost, pgport, pgoptions, pgtty, dbName, login, pwd)) \
	FV(ended, PQfinish, (PGconn *ended), (ended)) \
	FN(NULL, PQconninfoOption *, PQconndefaults, (void), ()) \
	FN(NULL, PQconninfoOption *, PQconninfoParse, (const char *conninfo, char **errmsg), (conninfo, errmsg)) \
	FN(conn, PQconninfoOption *, PQconninfo, (PGconn *conn), (conn)) \
	FV(NULL, PQconninfoFree, (PQconninfoOption *connOptions), (connOptions)) \
	FN(conn, int, PQresetStart, (PGconn *conn), (conn)) \
	FN(conn, PostgresPollingStatusType, PQresetPoll, (PGconn *conn), (conn)) \
	FV(conn, PQreset, (PGconn *conn), (conn)) \
	FN(conn, PGcancel *, PQgetCancel, (PGconn *conn), (conn)) \
	FV(cancel, PQfreeCancel, (PGcancel *cancel), (cancel)) \
	FN(cancel, int, PQcancel, (PGcancel *cancel, char *errbuf, int errbufsize), (cancel, errbuf, errbufsize)) \
	FN(conn, int, PQrequestCancel, (PGconn *conn), (conn)) \
	FN(conn, char *, PQdb, (const PGconn *conn), (conn)) \
	FN(conn, char *, PQuser, (const PGconn *conn), (conn)) \
	FN(conn, char *, PQpass, (const PGconn *conn), (conn)) \
	FN(conn, char *, PQhost, (const PGconn *conn), (conn)) \
	FN(conn, char *, PQhostaddr, (const PGconn *conn), (conn)) \
	FN(conn, char *, PQport, (const PGconn *conn), (conn)) \
	FN(conn, char *, PQtty, (const PGconn *conn), (conn)) \
	FN(conn, char *, PQoptions, (const PGconn *conn), (conn)) \
	FN(conn, ConnStatusType, PQstatus, (const PGconn *conn), (conn)) \
	FN(conn, PGTransactionStatusType, PQtransactionStatus, (const PGconn *conn), (conn)) \
	FN(conn, const char *, PQparameterStatus, (const PGconn *conn, const char *paramName), (conn, paramName)) \
	FN(conn, int, PQprotocolVersion, (const PGconn *conn), (conn)) \
	FN(conn, int, PQserverVersion, (const PGconn *conn), (conn)) \
	FN(conn, char *, PQerrorMessage, (const PGconn *conn), (conn)) \
	FN(conn, int, PQsocket, (const PGconn *conn), (conn)) \
	FN(conn, int, PQbackendPID, (const PGconn *conn), (conn)) \
	FN(conn, PGpipelineStatus, PQpipelineStatus, (const PGconn *conn), (conn)) \
	FN(conn, int, PQconnectionNeedsPassword, (const PGconn *conn), (conn)) \
	FN(conn, int, PQconnectionUsedPassword, (const PGconn *conn), (conn)) \
	FN(conn, int, PQclientEncoding, (const PGconn *conn), (conn)) \
	FN(conn, int, PQsetClientEncoding, (PGconn *conn, const char *encoding), (conn, encoding)) \
	FN(conn, int, PQsslInUse, (PGconn *conn), (conn)) \
	FN(conn, void *, PQsslStruct, (PGconn *conn, const char *struct_name), (conn, struct_name)) \
	FN(conn, const char *, PQsslAttribute, (PGconn *conn, const char *attribute_name), (conn, attribute_name)) \
	FN(conn, const char *const *, PQsslAttributeNames, (PGconn *conn), (conn)) \
	FN(conn, void *, PQgetssl, (PGconn *conn), (conn)) \
	FV(NULL, PQinitSSL, (int do_init), (do_init)) \
	FV(NULL, PQinitOpenSSL, (int do_ssl, int do_crypto), (do_ssl, do_crypto)) \
	FN(conn, int, PQgssEncInUse, (PGconn *conn), (conn)) \
	FN(conn, void *, PQgetgssctx, (PGconn *conn), (conn)) \
	FN(conn, PGVerbosity, PQsetErrorVerbosity, (PGconn *conn, PGVerbosity verbosity), (conn, verbosity)) \
	FN(conn, PGContextVisibility, PQsetErrorContextVisibility, (PGconn *conn, PGContextVisibility show_context), (conn, show_context)) \
	FN(conn, PQnoticeReceiver, PQsetNoticeReceiver, (PGconn *conn, PQnoticeReceiver proc, void *arg), (conn, proc, arg)) \
	FN(conn, PQnoticeProcessor, PQsetNoticeProcessor, (PGconn *conn, PQnoticeProcessor proc, void *arg), (conn, proc, arg)) \
	FN(NULL, pgthreadlock_t, PQregisterThreadLock, (pgthreadlock_t newhandler), (newhandler)) \
	FV(conn, PQtrace, (PGconn *conn, FILE *debug_port), (conn, debug_port)) \
	FV(conn, PQuntrace, (PGconn *conn), (conn)) \
	FV(conn, PQsetTraceFlags, (PGconn *conn, int flags), (conn, flags)) \
	FN(conn, PGresult *, PQexec, (PGconn *conn, const char *query), (conn, query)) \
	FN(conn, PGresult *, PQexecParams, (PGconn *conn, const char *command, int nParams, const Oid *paramTypes, const char *const *paramValues, const int *paramLengths, const int *paramFormats, int resultFormat), (conn, command, nParams, paramTypes, paramValues, paramLengths, paramFormats, resultFormat)) \
	FN(conn, PGresult *, PQprepare, (PGconn *conn, const char *stmtName, const char *query, int nParams, const Oid *paramTypes), (conn, stmtName, query, nParams, paramTypes)) \
	FN(conn, PGresult *, PQexecPrepared, (PGconn *conn, const char *stmtName, int nParams, const char *const *paramValues, const int *paramLengths, const int *paramFormats, int resultFormat), (conn, stmtName, nParams, paramValues, paramLengths, paramFormats, resultFormat)) \
	FN(conn, int, PQsendQuery, (PGconn *conn, const char *query), (conn, query)) \
	FN(conn, int, PQsendQueryParams, (PGconn *conn, const char *command, int nParams, const Oid *paramTypes, const char *const *paramValues, const int *paramLengths, const int *paramFormats, int resultFormat), (conn, command, nParams, paramTypes, paramValues, paramLengths, paramFormats, resultFormat)) \
	FN(conn, int, PQsendPrepare, (PGconn *conn, const char *stmtName, const char *query, int nParams, const Oid *paramTypes), (conn, stmtName, query, nParams, paramTypes)) \
	FN(conn, int, PQsendQueryPrepared, (PGconn *conn, const char *stmtName, int nParams, const char *const *paramValues, const int *paramLengths, const int *paramFormats, int resultFormat), (conn, stmtName, nParams, paramValues, paramLengths, paramFormats, resultFormat)) \
	FN(conn, int, PQsetSingleRowMode, (PGconn *conn), (conn)) \
	FN(conn, PGresult *, PQgetResult, (PGconn *conn), (conn)) \
	FN(conn, int, PQisBusy, (PGconn *conn), (conn)) \
	FN(conn, int, PQconsumeInput, (PGconn *conn), (conn)) \
	FN(conn, int, PQenterPipelineMode, (PGconn *conn), (conn)) \
	FN(conn, int, PQexitPipelineMode, (PGconn *conn), (conn)) \
	FN(conn, int, PQpipelineSync, (PGconn *conn), (conn)) \
	FN(conn, int, PQsendFlushRequest, (PGconn *conn), (conn)) \
	FN(conn, PGnotify *, PQnotifies, (PGconn *conn), (conn)) \
	FN(conn, int, PQputCopyData, (PGconn *conn, const char *buffer, int nbytes), (conn, buffer, nbytes)) \
	FN(conn, int, PQputCopyEnd, (PGconn *conn, const char *errormsg), (conn, errormsg)) \
	FN(conn, int, PQgetCopyData, (PGconn *conn, char **buffer, int async), (conn, buffer, async)) \
	FN(conn, int, PQgetline, (PGconn *conn, char *string, int length), (conn, string, length)) \
	FN(conn, int, PQputline, (PGconn *conn, const char *string), (conn, string)) \
	FN(conn, int, PQgetlineAsync, (PGconn *conn, char *buffer, int bufsize), (conn, buffer, bufsize)) \
	FN(conn, int, PQputnbytes, (PGconn *conn, const char *buffer, int nbytes), (conn, buffer, nbytes)) \
	FN(conn, int, PQendcopy, (PGconn *conn), (conn)) \
	FN(conn, int, PQsetnonblocking, (PGconn *conn, int arg), (conn, arg)) \
	FN(conn, int, PQisnonblocking, (const PGconn *conn), (conn)) \
	FN(NULL, int, PQisthreadsafe, (void), ()) \
	FN(NULL, PGPing, PQping, (const char *conninfo), (conninfo)) \
	FN(NULL, PGPing, PQpingParams, (const char *const *keywords, const char *const *values, int expand_dbname), (keywords, values, expand_dbname)) \
	FN(conn, int, PQflush, (PGconn *conn), (conn)) \
	FN(conn, PGresult *, PQfn, (PGconn *conn, int fnid, int *result_buf, int *result_len, int result_is_int, const PQArgBlock *args, int nargs), (conn, fnid, result_buf, result_len, result_is_int, args, nargs)) \
	FN(res, ExecStatusType, PQresultStatus, (const PGresult *res), (res)) \
	FN(NULL, char *, PQresStatus, (ExecStatusType status), (status)) \
	FN(res, char *, PQresultErrorMessage, (const PGresult *res), (res)) \
	FN(res, char *, PQresultVerboseErrorMessage, (const PGresult *res, PGVerbosity verbosity, PGContextVisibility show_context), (res, verbosity, show_context)) \
	FN(res, char *, PQresultErrorField, (const PGresult *res, int fieldcode), (res, fieldcode)) \
	FN(res, int, PQntuples, (const PGresult *res), (res)) \
	FN(res, int, PQnfields, (const PGresult *res), (res)) \
	FN(res, int, PQbinaryTuples, (const PGresult *res), (res)) \
	FN(res, char *, PQfname, (const PGresult *res, int field_num), (res, field_num)) \
	FN(res, int, PQfnumber, (const PGresult *res, const char *field_name), (res, field_name)) \
	FN(res, Oid, PQftable, (const PGresult *res, int field_num), (res, field_num)) \
	FN(res, int, PQftablecol, (const PGresult *res, int field_num), (res, field_num)) \
	FN(res, int, PQfformat, (const PGresult *res, int field_num), (res, field_num)) \
	FN(res, Oid, PQftype, (const PGresult *res, int field_num), (res, field_num)) \
	FN(res, int, PQfsize, (const PGresult *res, int field_num), (res, field_num)) \
	FN(res, int, PQfmod, (const PGresult *res, int field_num), (res, field_num)) \
	FN(res, char *, PQcmdStatus, (PGresult *res), (res)) \
	FN(res, char *, PQoidStatus, (const PGresult *res), (res)) \
	FN(res, Oid, PQoidValue, (const PGresult *res), (res)) \
	FN(res, char *, PQcmdTuples, (PGresult *res), (res)) \
	FN(res, char *, PQgetvalue, (const PGresult *res, int tup_num, int field_num), (res, tup_num, field_num)) \
	FN(res, int, PQgetlength, (const PGresult *res, int tup_num, int field_num), (res, tup_num, field_num)) \
	FN(res, int, PQgetisnull, (const PGresult *res, int tup_num, int field_num), (res, tup_num, field_num)) \
	FN(res, int, PQnparams, (const PGresult *res), (res)) \
	FN(res, Oid, PQparamtype, (const PGresult *res, int param_num), (res, param_num)) \
	FN(conn, PGresult *, PQdescribePrepared, (PGconn *conn, const char *stmt), (conn, stmt)) \
	FN(conn, PGresult *, PQdescribePortal, (PGconn *conn, const char *portal), (conn, portal)) \
	FN(conn, int, PQsendDescribePrepared, (PGconn *conn, const char *stmt), (conn, stmt)) \
	FN(conn, int, PQsendDescribePortal, (PGconn *conn, const char *portal), (conn, portal)) \
	FV(res, PQclear, (PGresult *res), (res)) \
	FV(NULL, PQfreemem, (void *ptr), (ptr)) \
	FN(conn, PGresult *, PQmakeEmptyPGresult, (PGconn *conn, ExecStatusType status), (conn, status)) \
	FN(src, PGresult *, PQcopyResult, (const PGresult *src, int flags), (src, flags)) \
	FN(res, int, PQsetResultAttrs, (PGresult *res, int numAttributes, PGresAttDesc *attDescs), (res, numAttributes, attDescs)) \
	FN(res, void *, PQresultAlloc, (PGresult *res, size_t nBytes), (res, nBytes)) \
	FN(res, size_t, PQresultMemorySize, (const PGresult *res), (res)) \
	FN(res, int, PQsetvalue, (PGresult *res, int tup_num, int field_num, char *value, int len), (res, tup_num, field_num, value, len)) \
	FN(conn, size_t, PQescapeStringConn, (PGconn *conn, char *to, const char *from, size_t length, int *error), (conn, to, from, length, error)) \
	FN(conn, char *, PQescapeLiteral, (PGconn *conn, const char *str, size_t len), (conn, str, len)) \
	FN(conn, char *, PQescapeIdentifier, (PGconn *conn, const char *str, size_t len), (conn, str, len)) \
	FN(conn, unsigned char *, PQescapeByteaConn, (PGconn *conn, const unsigned char *from, size_t from_length, size_t *to_length), (conn, from, from_length, to_length)) \
	FN(NULL, unsigned char *, PQunescapeBytea, (const unsigned char *strtext, size_t *retbuflen), (strtext, retbuflen)) \
	FN(NULL, size_t, PQescapeString, (char *to, const char *from, size_t length), (to, from, length)) \
	FN(NULL, unsigned char *, PQescapeBytea, (const unsigned char *from, size_t from_length, size_t *to_length), (from, from_length, to_length)) \
	FV(res, PQprint, (FILE *fout, const PGresult *res, const PQprintOpt *ps), (fout, res, ps)) \
	FV(res, PQdisplayTuples, (const PGresult *res, FILE *fp, int fillAlign, const char *fieldSep, int printHeader, int quiet), (res, fp, fillAlign, fieldSep, printHeader, quiet)) \
	FV(res, PQprintTuples, (const PGresult *res, FILE *fout, int PrintAttNames, int TerseOutput, int colWidth), (res, fout, PrintAttNames, TerseOutput, colWidth)) \
	FN(conn, int, lo_open, (PGconn *conn, Oid lobjId, int mode), (conn, lobjId, mode)) \
	FN(conn, int, lo_close, (PGconn *conn, int fd), (conn, fd)) \
	FN(conn, int, lo_read, (PGconn *conn, int fd, char *buf, size_t len), (conn, fd, buf, len)) \
	FN(conn, int, lo_write, (PGconn *conn, int fd, const char *buf, size_t len), (conn, fd, buf, len)) \
	FN(conn, int, lo_lseek, (PGconn *conn, int fd, int offset, int whence), (conn, fd, offset, whence)) \
	FN(conn, pg_int64, lo_lseek64, (PGconn *conn, int fd, pg_int64 offset, int whence), (conn, fd, offset, whence)) \
	FN(conn, Oid, lo_creat, (PGconn *conn, int mode), (conn, mode)) \
	FN(conn, Oid, lo_create, (PGconn *conn, Oid lobjId), (conn, lobjId)) \
	FN(conn, int, lo_tell, (PGconn *conn, int fd), (conn, fd)) \
	FN(conn, pg_int64, lo_tell64, (PGconn *conn, int fd), (conn, fd)) \
	FN(conn, int, lo_truncate, (PGconn *conn, int fd, size_t len), (conn, fd, len)) \
	FN(conn, int, lo_truncate64, (PGconn *conn, int fd, pg_int64 len), (conn, fd, len)) \
	FN(conn, int, lo_unlink, (PGconn *conn, Oid lobjId), (conn, lobjId)) \
	FN(conn, Oid, lo_import, (PGconn *conn, const char *filename), (conn, filename)) \
	FN(conn, Oid, lo_import_with_oid, (PGconn *conn, const char *filename, Oid lobjId), (conn, filename, lobjId)) \
	FN(conn, int, lo_export, (PGconn *conn, Oid lobjId, const char *filename), (conn, lobjId, filename)) \
	FN(NULL, int, PQlibVersion, (void), ()) \
	FN(NULL, char *, PQencryptPassword, (const char *passwd, const char *user), (passwd, user)) \
	FN(conn, char *, PQencryptPasswordConn, (PGconn *conn, const char *passwd, const char *user, const char *algorithm), (conn, passwd, user, algorithm)) \
	FN(NULL, PQsslKeyPassHook_OpenSSL_type, PQgetSSLKeyPassHook_OpenSSL, (void), ()) \
	FV(NULL, PQsetSSLKeyPassHook_OpenSSL, (PQsslKeyPassHook_OpenSSL_type hook), (hook)) \
	FN(NULL, int, PQdefaultSSLKeyPassHook_OpenSSL, (char *buf, int size, PGconn *conn), (buf, size, conn)) \
	FN(conn, int, PQregisterEventProc, (PGconn *conn, PGEventProc proc, const char *name, void *passThrough), (conn, proc, name, passThrough)) \
	FN(conn, int, PQsetInstanceData, (PGconn *conn, PGEventProc proc, void *data), (conn, proc, data)) \
	FN(conn, void *, PQinstanceData, (const PGconn *conn, PGEventProc proc), (conn, proc)) \
	FN(result, int, PQresultSetInstanceData, (PGresult *result, PGEventProc proc, void *data), (result, proc, data)) \
	FN(result, void *, PQresultInstanceData, (const PGresult *result, PGEventProc proc), (result, proc)) \
	FN(conn, int, PQfireResultCreateEvents, (PGconn *conn, PGresult *res), (conn, res)) \
	FV(NULL, PQfreeNotify, (PGnotify *notify), (notify))

#define CPQ_FACE_17(FN, FV) \
	FN(conn, int, PQconnectionUsedGSSAPI, (const PGconn *conn), (conn)) \
	FN(conn, PGresult *, PQclosePrepared, (PGconn *conn, const char *stmt), (conn, stmt)) \
	FN(conn, PGresult *, PQclosePortal, (PGconn *conn, const char *portal), (conn, portal)) \
	FN(conn, int, PQsendClosePrepared, (PGconn *conn, const char *stmt), (conn, stmt)) \
	FN(conn, int, PQsendClosePortal, (PGconn *conn, const char *portal), (conn, portal)) \
	FN(conn, PGresult *, PQchangePassword, (PGconn *conn, const char *user, const char *passwd), (conn, user, passwd)) \
	FN(conn, int, PQsendPipelineSync, (PGconn *conn), (conn)) \
	FN(cancel_conn, int, PQcancelBlocking, (PGcancelConn *cancel_conn), (cancel_conn)) \
	FN(conn, PGcancelConn *, PQcancelCreate, (PGconn *conn), (conn)) \
	FN(cancel_conn, int, PQcancelStart, (PGcancelConn *cancel_conn), (cancel_conn)) \
	FN(cancel_conn, ConnStatusType, PQcancelStatus, (const PGcancelConn *cancel_conn), (cancel_conn)) \
	FN(cancel_conn, PostgresPollingStatusType, PQcancelPoll, (PGcancelConn *cancel_conn), (cancel_conn)) \
	FN(cancel_conn, int, PQcancelSocket, (const PGcancelConn *cancel_conn), (cancel_conn)) \
	FN(cancel_conn, char *, PQcancelErrorMessage, (const PGcancelConn *cancel_conn), (cancel_conn)) \
	FV(cancel_conn, PQcancelReset, (PGcancelConn *cancel_conn), (cancel_conn)) \
	FV(cancel_conn, PQcancelFinish, (PGcancelConn *cancel_conn), (cancel_conn)) \
	FN(conn, int, PQsetChunkedRowsMode, (PGconn *conn, int chunk_size), (conn, chunk_size)) \
	FN(NULL, cpq_usec, PQgetCurrentTimeUSec, (void), ()) \
	FN(NULL, int, PQsocketPoll, (int sock, int for_read, int for_write, cpq_usec end_time), (sock, for_read, for_write, end_time))

#define CPQ_FACE_18(FN, FV) \
	FV(NULL, PQsetAuthDataHook, (cpq_auth_hook hook), (hook)) \
	FN(NULL, cpq_auth_hook, PQgetAuthDataHook, (void), ()) \
	FN(NULL, int, PQdefaultAuthDataHook, (int type, PGconn *conn, void *data), (type, conn, data)) \
	FN(conn, int, PQfullProtocolVersion, (const PGconn *conn), (conn))

/* clang-format on */

#endif
