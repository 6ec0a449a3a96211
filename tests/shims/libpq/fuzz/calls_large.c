/* SPDX-License-Identifier: BSD-2-Clause */
#include "driver.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Large objects, and functions called by their ids. */

#define LO_WRITE 0x20000
#define LO_READ  0x40000

static const int modes[] = { LO_READ | LO_WRITE, LO_READ, LO_WRITE, 0, -1 };

static void
gave_object(struct fz *z, Oid oid)
{
	fz_say(z, " -> ");
	fz_say_oid(z, oid);
	fz_say(z, "\n");
	if (oid != InvalidOid)
		z->lo = oid;
}

void
fz_lo_make(struct fz *z, const uint32_t n[4])
{
	switch (n[1] % 4) {
	case 0:
		gave_object(z, z->pq.f.lo_create(z->at->conn, 4000000000u));
		return;
	case 1:
		gave_object(z, z->pq.f.lo_create(z->at->conn, 0));
		return;
	default:
		gave_object(z, z->pq.f.lo_creat(z->at->conn, modes[n[2] % 5]));
	}
}

void
fz_lo_open(struct fz *z, const uint32_t n[4])
{
	int fd = z->pq.f.lo_open(z->at->conn, n[1] % 8 ? z->lo : 1, modes[n[2] % 7 % 5]);

	if (fd >= 0)
		z->lo_fd = fd;
	fz_gave_int(z, fd);
}

static int
some_fd(const struct fz *z, uint32_t number)
{
	return number % 8 ? z->lo_fd : (int)(number / 8 % 3) - 1;
}

void
fz_lo_read(struct fz *z, const uint32_t n[4])
{
	static const size_t sizes[] = { 0, 1, 5, 64, (size_t)INT32_MAX + 1 };
	char bytes[64];
	int r = z->pq.f.lo_read(z->at->conn, some_fd(z, n[1]), bytes, sizes[n[2] % 5]);

	fz_say(z, " %d ", r);
	fz_say_bytes(z, bytes, r > 0 ? (size_t)r : 0);
	fz_say(z, "\n");
}

void
fz_lo_write(struct fz *z, const uint32_t n[4])
{
	const char *text = FZ_PICK(texts, n[2]);
	size_t len = n[3] % 20 ? strlen(text) : (size_t)INT32_MAX + 1;

	fz_gave_int(z, z->pq.f.lo_write(z->at->conn, some_fd(z, n[1]), text, len));
}

void
fz_lo_seek(struct fz *z, const uint32_t n[4])
{
	static const int offsets[] = { 0, 0, 3, -2, 5000, -100000 };
	int fd = some_fd(z, n[1]);
	int offset = offsets[n[2] % 6];
	int whence = (int)(n[2] / 6 % 4);
	PGconn *conn = z->at->conn;

	switch (n[3] % 4) {
	case 0:
		fz_gave_int(z, z->pq.f.lo_tell(conn, fd));
		return;
	case 1:
		fz_gave_int(z, z->pq.f.lo_tell64(conn, fd));
		return;
	case 2:
		fz_gave_int(z, z->pq.f.lo_lseek(conn, fd, offset, whence));
		return;
	default:
		fz_gave_int(z, z->pq.f.lo_lseek64(conn, fd,
				       n[2] % 5 ? offset : INT64_C(5000000000), whence));
	}
}

void
fz_lo_truncate(struct fz *z, const uint32_t n[4])
{
	int fd = some_fd(z, n[1]);

	if (n[2] % 2)
		fz_gave_int(z, z->pq.f.lo_truncate(z->at->conn, fd,
				       n[3] % 9 ? n[3] % 7 : (size_t)INT32_MAX + 1));
	else
		fz_gave_int(z,
			z->pq.f.lo_truncate64(z->at->conn, fd, (pg_int64)(n[3] % 7) - 1));
}

void
fz_lo_end(struct fz *z, const uint32_t n[4])
{
	if (n[2] % 2) {
		fz_gave_int(z, z->pq.f.lo_close(z->at->conn, some_fd(z, n[1])));
		return;
	}
	fz_gave_int(z, z->pq.f.lo_unlink(z->at->conn, n[1] % 6 ? z->lo : 1));
}

/* Export the large object to a file, and print what the file contains. */
static void
export_and_look(struct fz *z, const char *path)
{
	char bytes[64];
	int r = z->pq.f.lo_export(z->at->conn, z->lo, path);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd >= 0 ? read(fd, bytes, sizeof(bytes)) : -1;

	fz_say(z, " %d ", r);
	fz_say_bytes(z, bytes, len > 0 ? (size_t)len : 0);
	fz_say(z, "\n");
	if (fd >= 0)
		close(fd);
}

void
fz_lo_files(struct fz *z, const uint32_t n[4])
{
	char path[] = "/tmp/cenote-fuzz-XXXXXX";
	int fd;

	if (n[1] % 5 == 0) {
		gave_object(z, z->pq.f.lo_import(z->at->conn, "/nowhere/at/all"));
		fz_gave_int(z, z->pq.f.lo_export(z->at->conn, z->lo, "/nowhere/at/all"));
		return;
	}
	fd = mkstemp(path);
	if (fd < 0 || write(fd, "in a file", 9) != 9)
		abort();
	close(fd);
	if (n[1] % 5 == 1)
		gave_object(z, z->pq.f.lo_import(z->at->conn, path));
	else if (n[1] % 5 == 2)
		gave_object(
			z, z->pq.f.lo_import_with_oid(z->at->conn, path, 4000000001u));
	else
		export_and_look(z, path);
	unlink(path);
}

/* ---- functions ---- */

enum {
	FN_INT4_PLUS = 177,
	FN_INT2_ABS = 1398,
	FN_MD5 = 2311,
	FN_INT8_PLUS = 463,
	FN_NOWHERE = 1,
	FN_UPPER = 871
};

void
fz_function(struct fz *z, const uint32_t n[4])
{
	static const int functions[] = { FN_INT4_PLUS, FN_INT2_ABS, FN_MD5, FN_INT8_PLUS,
		FN_NOWHERE, FN_UPPER };
	PQArgBlock args[2] = { { .len = 4, .isint = 1 }, { .len = 4, .isint = 1 } };
	int buffer[32];
	int len = 77;
	int fn = functions[n[1] % 6];
	int n_args = fn == FN_INT4_PLUS || fn == FN_INT8_PLUS ? 2 : 1;
	int is_int = n[3] % 3 > 0;

	memset(buffer, 0, sizeof(buffer));
	args[0].u.integer = (int)(n[2] % 1000) - 500;
	args[1].u.integer = 7;
	if (fn == FN_INT2_ABS)
		args[0].len = 2;
	if (fn == FN_MD5 || fn == FN_UPPER || n[2] % 11 == 0)
		args[0] = (PQArgBlock){
			.len = 5, .isint = 0, .u.ptr = (int *)(uintptr_t) "hello"
		};
	if (n[2] % 13 == 0)
		args[0].len = -1;
	if (n[2] % 17 == 0)
		n_args = (int)(n[2] / 17 % 3);
	/* libpq accepts integer results of at most four bytes */
	if (fn == FN_MD5 || fn == FN_UPPER || fn == FN_INT8_PLUS)
		is_int = 0;
	fz_say(z, " %d of %d", fn, n_args);
	fz_keep_result(
		z, z->pq.f.PQfn(z->at->conn, fn, buffer, &len, is_int, args, n_args));
	fz_say(z, "    length %d ", len);
	if (is_int)
		fz_say(z, "%d\n", buffer[0]);
	else
		fz_say_bytes(z, (const char *)buffer, len > 0 ? (size_t)len : 0);
	fz_say(z, "\n");
}
