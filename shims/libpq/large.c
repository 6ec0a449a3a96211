/* SPDX-License-Identifier: BSD-2-Clause */
#include "pq.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Large objects: each call is a function of the server, called by its id (fastpath.c). These ids
 * are the same in every version of PostgreSQL; the 64-bit functions came with 9.3.
 */
enum function {
	FN_LO_OPEN = 952,
	FN_LO_CLOSE = 953,
	FN_LO_READ = 954,
	FN_LO_WRITE = 955,
	FN_LO_LSEEK = 956,
	FN_LO_CREAT = 957,
	FN_LO_TELL = 958,
	FN_LO_UNLINK = 964,
	FN_LO_CREATE = 715,
	FN_LO_TRUNCATE = 1004,
	FN_LO_LSEEK64 = 3170,
	FN_LO_TELL64 = 3171,
	FN_LO_TRUNCATE64 = 3172
};

/* As the server's INV_WRITE and INV_READ (libpq-fs.h). */
#define MODE_WRITE 0x20000
#define MODE_READ  0x40000

#define PIECE 8192

static PQArgBlock
int_arg(int value)
{
	PQArgBlock a = { .len = 4, .isint = 1 };

	a.u.integer = value;
	return a;
}

/* PQfn() has no 64-bit integers, so pass eight bytes in network order. */
static PQArgBlock
int64_arg(pg_int64 value, unsigned char room[8])
{
	PQArgBlock a = { .len = 8, .isint = 0 };
	uint64_t v = (uint64_t)value;

	for (int i = 7; i >= 0; i--) {
		room[i] = (unsigned char)v;
		v >>= 8;
	}
	a.u.ptr = (int *)(void *)room;
	return a;
}

static pg_int64
int64_of(const unsigned char bytes[8])
{
	uint64_t v = 0;

	for (int i = 0; i < 8; i++)
		v = v << 8 | bytes[i];
	return (pg_int64)v;
}

/*
 * The shim knows the ids. But libpq's first call asks the server for them, which drops the results
 * of a running request and may fail. So the shim asks as well.
 */
static const char functions_sql[] =
	"select proname, oid from pg_catalog.pg_proc "
	"where proname in ("
	"'lo_open', 'lo_close', 'lo_creat', 'lo_create', 'lo_unlink', 'lo_lseek', "
	"'lo_lseek64', 'lo_tell', 'lo_tell64', 'lo_truncate', 'lo_truncate64', "
	"'loread', 'lowrite') "
	"and pronamespace = (select oid from pg_catalog.pg_namespace "
	"where nspname = 'pg_catalog')";

static int
refuse(PGconn *conn)
{
	if (cpq_exec_begin(conn))
		cpq_say(conn, "the server of this pool is %s, which has no large objects",
			cpq_dialect_title(conn->inherited.dialect));
	return 0;
}

/* Begin a call of this file. 1; 0, and the reason in the error text. */
static int
begin(PGconn *conn)
{
	PGresult *res;

	if (conn == NULL)
		return 0;
	resetPQExpBuffer(&conn->error);
	if (conn->has_large_objects)
		return 1;
	if (conn->inherited.dialect != NULL)
		return refuse(conn);
	res = cpq_PQexec(conn, functions_sql);
	conn->has_large_objects = cpq_PQresultStatus(res) == PGRES_TUPLES_OK;
	if (res != NULL && !conn->has_large_objects)
		cpq_say(conn, "query to initialize large object functions did not "
			      "return data");
	cpq_PQclear(res);
	return conn->has_large_objects;
}

/* Call the server's function. 0 or -1. */
static int
call(PGconn *conn, enum function function, const struct cpq_function_value *ret_value,
	const PQArgBlock *args, int n)
{
	PGresult *res = cpq_function(conn, function, ret_value, args, n);
	int is_well;

	is_well = cpq_PQresultStatus(res) == PGRES_COMMAND_OK;
	cpq_PQclear(res);
	return is_well ? 0 : -1;
}

static int
call_int(PGconn *conn, enum function function, const PQArgBlock *args, int n, int failed)
{
	int value = failed;
	int len = 0;
	const struct cpq_function_value to = {
		.to = &value, .room = sizeof(value), .len = &len, .is_int = 1
	};

	return call(conn, function, &to, args, n) == 0 ? value : failed;
}

static pg_int64
call_int64(PGconn *conn, enum function function, const PQArgBlock *args, int n)
{
	unsigned char bytes[8] = { 0 };
	int len = 0;
	const struct cpq_function_value to = {
		.to = bytes, .room = sizeof(bytes), .len = &len
	};

	if (call(conn, function, &to, args, n) < 0 || len != 8)
		return -1;
	return int64_of(bytes);
}

static int
has_64_bits(PGconn *conn, const char *function)
{
	if (conn->server_version >= 90300)
		return 1;
	cpq_say(conn, "cannot determine OID of function %s", function);
	return 0;
}

int
cpq_lo_open(PGconn *conn, Oid lobjId, int mode)
{
	const PQArgBlock args[] = { int_arg((int)lobjId), int_arg(mode) };

	return begin(conn) ? call_int(conn, FN_LO_OPEN, args, 2, -1) : -1;
}

int
cpq_lo_close(PGconn *conn, int fd)
{
	const PQArgBlock args[] = { int_arg(fd) };

	return begin(conn) ? call_int(conn, FN_LO_CLOSE, args, 1, -1) : -1;
}

int
cpq_lo_truncate(PGconn *conn, int fd, size_t len)
{
	const PQArgBlock args[] = { int_arg(fd), int_arg((int)len) };

	if (!begin(conn))
		return -1;
	/* The server's parameter is a signed number. */
	if (len > (size_t)INT32_MAX) {
		cpq_say(conn, "argument of lo_truncate exceeds integer range");
		return -1;
	}
	return call_int(conn, FN_LO_TRUNCATE, args, 2, -1);
}

int
cpq_lo_truncate64(PGconn *conn, int fd, pg_int64 len)
{
	unsigned char room[8];
	const PQArgBlock args[] = { int_arg(fd), int64_arg(len, room) };

	if (!begin(conn) || !has_64_bits(conn, "lo_truncate64"))
		return -1;
	return call_int(conn, FN_LO_TRUNCATE64, args, 2, -1);
}

static int
is_length(PGconn *conn, const char *function, size_t len)
{
	if (len <= (size_t)INT32_MAX)
		return 1;
	cpq_say(conn, "argument of %s exceeds integer range", function);
	return 0;
}

int
cpq_lo_read(PGconn *conn, int fd, char *buf, size_t len)
{
	const PQArgBlock args[] = { int_arg(fd), int_arg((int)len) };
	int n = 0;
	const struct cpq_function_value to = { .to = buf, .room = len, .len = &n };

	if (!begin(conn) || !is_length(conn, "lo_read", len))
		return -1;
	return call(conn, FN_LO_READ, &to, args, 2) == 0 ? n : -1;
}

int
cpq_lo_write(PGconn *conn, int fd, const char *buf, size_t len)
{
	PQArgBlock args[] = { int_arg(fd), { .len = (int)len, .isint = 0 } };

	if (!begin(conn) || !is_length(conn, "lo_write", len))
		return -1;
	args[1].u.ptr = (int *)(uintptr_t)buf;
	return call_int(conn, FN_LO_WRITE, args, 2, -1);
}

int
cpq_lo_lseek(PGconn *conn, int fd, int offset, int whence)
{
	const PQArgBlock args[] = { int_arg(fd), int_arg(offset), int_arg(whence) };

	return begin(conn) ? call_int(conn, FN_LO_LSEEK, args, 3, -1) : -1;
}

pg_int64
cpq_lo_lseek64(PGconn *conn, int fd, pg_int64 offset, int whence)
{
	unsigned char room[8];
	const PQArgBlock args[] = { int_arg(fd), int64_arg(offset, room),
		int_arg(whence) };

	if (!begin(conn) || !has_64_bits(conn, "lo_lseek64"))
		return -1;
	return call_int64(conn, FN_LO_LSEEK64, args, 3);
}

Oid
cpq_lo_creat(PGconn *conn, int mode)
{
	const PQArgBlock args[] = { int_arg(mode) };

	return begin(conn) ? (Oid)call_int(conn, FN_LO_CREAT, args, 1, (int)InvalidOid)
			   : InvalidOid;
}

Oid
cpq_lo_create(PGconn *conn, Oid lobjId)
{
	const PQArgBlock args[] = { int_arg((int)lobjId) };

	return begin(conn) ? (Oid)call_int(conn, FN_LO_CREATE, args, 1, (int)InvalidOid)
			   : InvalidOid;
}

int
cpq_lo_tell(PGconn *conn, int fd)
{
	const PQArgBlock args[] = { int_arg(fd) };

	return begin(conn) ? call_int(conn, FN_LO_TELL, args, 1, -1) : -1;
}

pg_int64
cpq_lo_tell64(PGconn *conn, int fd)
{
	const PQArgBlock args[] = { int_arg(fd) };

	if (!begin(conn) || !has_64_bits(conn, "lo_tell64"))
		return -1;
	return call_int64(conn, FN_LO_TELL64, args, 1);
}

int
cpq_lo_unlink(PGconn *conn, Oid lobjId)
{
	const PQArgBlock args[] = { int_arg((int)lobjId) };

	return begin(conn) ? call_int(conn, FN_LO_UNLINK, args, 1, -1) : -1;
}

static void
say_file(PGconn *conn, const char *what, const char *filename, int error)
{
	char text[128];

	resetPQExpBuffer(&conn->error);
	cpq_say(conn, "could not %s file \"%s\": %s", what, filename,
		strerror_r(error, text, sizeof(text)));
}

/* Write the whole file into the open object: 0; -1 and the reason. */
static int
import_all(PGconn *conn, int file, int fd, const char *filename)
{
	char piece[PIECE];
	ssize_t n;

	while ((n = read(file, piece, sizeof(piece))) > 0) {
		if (cpq_lo_write(conn, fd, piece, (size_t)n) != n)
			return -1;
	}
	if (n == 0)
		return 0;
	say_file(conn, "read from", filename, errno);
	return -1;
}

static Oid
import(PGconn *conn, const char *filename, Oid wanted)
{
	int file, fd;
	Oid id;

	if (conn == NULL)
		return InvalidOid;
	resetPQExpBuffer(&conn->error);
	file = open(filename, O_RDONLY | O_CLOEXEC);
	if (file < 0) {
		say_file(conn, "open", filename, errno);
		return InvalidOid;
	}
	id = wanted == InvalidOid ? cpq_lo_creat(conn, MODE_READ | MODE_WRITE)
				  : cpq_lo_create(conn, wanted);
	fd = id != InvalidOid ? cpq_lo_open(conn, id, MODE_WRITE) : -1;
	if (fd < 0 || import_all(conn, file, fd, filename) < 0 ||
		cpq_lo_close(conn, fd) != 0)
		id = InvalidOid;
	close(file);
	return id;
}

Oid
cpq_lo_import(PGconn *conn, const char *filename)
{
	return import(conn, filename, InvalidOid);
}

Oid
cpq_lo_import_with_oid(PGconn *conn, const char *filename, Oid lobjId)
{
	return import(conn, filename, lobjId);
}

/* Write all bytes, even if write() writes only a part. 0; -1 with errno. */
static int
write_all(int file, const char *bytes, size_t len)
{
	while (len > 0) {
		ssize_t n = write(file, bytes, len);

		if (n < 0 && errno != EINTR)
			return -1;
		if (n > 0) {
			bytes += n;
			len -= (size_t)n;
		}
	}
	return 0;
}

static int
export_all(PGconn *conn, int fd, int file, const char *filename)
{
	char piece[PIECE];
	int n;

	while ((n = cpq_lo_read(conn, fd, piece, sizeof(piece))) > 0) {
		if (write_all(file, piece, (size_t)n) < 0) {
			int error = errno;

			(void)cpq_lo_close(conn, fd);
			say_file(conn, "write to", filename, error);
			return -1;
		}
	}
	/* After a failure send nothing more to the server, so that the error text stays. */
	return n == 0 && cpq_lo_close(conn, fd) == 0 ? 0 : -1;
}

int
cpq_lo_export(PGconn *conn, Oid lobjId, const char *filename)
{
	int result = -1;
	int fd, file;

	if (conn == NULL)
		return -1;
	fd = cpq_lo_open(conn, lobjId, MODE_READ);
	if (fd < 0)
		return -1;
	file = open(filename, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0666);
	if (file < 0) {
		int error = errno;

		(void)cpq_lo_close(conn, fd);
		say_file(conn, "open", filename, error);
		return -1;
	}
	result = export_all(conn, fd, file, filename) == 0 ? 1 : -1;
	if (close(file) != 0 && result == 1) {
		say_file(conn, "write to", filename, errno);
		result = -1;
	}
	return result;
}
