/* SPDX-License-Identifier: BSD-2-Clause */
#include "driver.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* Escaping, encodings, passwords, growing texts, and calls without a handle. */

static const char *
say_word(struct fz *z, uint32_t number)
{
	const char *text = FZ_PICK(texts, number);

	fz_say(z, " ");
	fz_say_text(z, text);
	return text;
}

void
fz_escape_string(struct fz *z, const uint32_t n[4])
{
	const char *text = say_word(z, n[1]);
	size_t len = strlen(text);
	char to[128] = "";
	int error = 7;
	size_t r;

	if (n[2] % 4 == 0)
		len = len / 2;
	if (n[2] % 3)
		r = z->pq.f.PQescapeStringConn(
			z->at->conn, to, text, len, n[3] % 5 ? &error : NULL);
	else
		r = z->pq.f.PQescapeString(to, text, len);
	fz_say(z, " %zu error %d", r, error);
	fz_gave_text(z, to);
}

void
fz_escape_quoted(struct fz *z, const uint32_t n[4])
{
	const char *text = say_word(z, n[1]);
	size_t len = strlen(text) + n[3] % 3;
	char *quoted = n[2] % 2 ? z->pq.f.PQescapeLiteral(z->at->conn, text, len)
				: z->pq.f.PQescapeIdentifier(z->at->conn, text, len);

	fz_gave_text(z, quoted);
	z->pq.f.PQfreemem(quoted);
}

void
fz_escape_bytea(struct fz *z, const uint32_t n[4])
{
	const unsigned char *bytes = (const unsigned char *)say_word(z, n[1]);
	size_t len = strlen((const char *)bytes) + 1;
	size_t to_len = 0;
	unsigned char *to =
		n[2] % 3 ? z->pq.f.PQescapeByteaConn(z->at->conn, bytes, len, &to_len)
			 : z->pq.f.PQescapeBytea(bytes, len, &to_len);

	fz_say(z, " %zu", to_len);
	fz_gave_text(z, (const char *)to);
	z->pq.f.PQfreemem(to);
}

void
fz_unescape_bytea(struct fz *z, const uint32_t n[4])
{
	const char *text = say_word(z, n[1]);
	size_t len = 77;
	unsigned char *bytes = z->pq.f.PQunescapeBytea(
		n[2] % 20 ? (const unsigned char *)text : NULL, &len);

	fz_say(z, " %zu ", bytes != NULL ? len : 0);
	fz_say_bytes(z, (const char *)bytes, bytes != NULL ? len : 0);
	fz_say(z, "\n");
	z->pq.f.PQfreemem(bytes);
}

void
fz_encoding_table(struct fz *z, const uint32_t n[4])
{
	const char *text = say_word(z, n[1]);
	int encoding = (int)(n[2] % 45) - 1;

	if (n[2] % 3 == 0 && z->at->conn != NULL)
		encoding = z->pq.f.PQclientEncoding(z->at->conn);
	fz_say(z, " %d", encoding);
	fz_say(z, " name ");
	fz_say_text(z, z->pq.more.pg_encoding_to_char(encoding));
	fz_say(z, " %d %d", z->pq.more.pg_char_to_encoding(FZ_PICK(encodings, n[3])),
		z->pq.more.pg_valid_server_encoding_id(encoding));
	if (encoding >= 0 && *text != '\0')
		fz_say(z, " %d %d", z->pq.more.PQmblenBounded(text, encoding),
			z->pq.more.PQdsplen("x", encoding));
	fz_say(z, "\n");
}

/* The salt of a SCRAM verifier is random, so compare only the form. */
void
fz_encrypt_password(struct fz *z, const uint32_t n[4])
{
	static const char *const algorithms[] = { "md5", "on", "off", "scram-sha-256",
		"nonsense", NULL };
	const char *algorithm = algorithms[n[1] % 6];
	char *verifier;

	/* if no algorithm is named, libpq asks the server */
	if (algorithm == NULL && z->at->conn != NULL && !fz_await(z, z->at)) {
		fz_say(z, " busy\n");
		return;
	}
	if (n[2] % 4)
		verifier = z->pq.f.PQencryptPasswordConn(
			z->at->conn, "secret", "somebody", algorithm);
	else
		verifier = z->pq.f.PQencryptPassword("secret", "somebody");
	fz_say(z, " %s", algorithm != NULL ? algorithm : "default");
	if (verifier != NULL && strncmp(verifier, "SCRAM", 5) == 0)
		fz_say(z, " -> %.19s %zu\n", verifier, strlen(verifier));
	else
		fz_gave_text(z, verifier);
	z->pq.f.PQfreemem(verifier);
}

/* ---- growing texts ---- */

struct buffer {
	char *data;
	size_t len;
	size_t maxlen;
};

/* Exported functions that libpq-fe.h does not declare. */
struct buffer_functions {
	struct buffer *(*create)(void);
	void (*destroy)(struct buffer *b);
	void (*reset)(struct buffer *b);
	int (*enlarge)(struct buffer *b, size_t needed);
	void (*print)(struct buffer *b, const char *format, ...)
		__attribute__((format(printf, 2, 3)));
	void (*append)(struct buffer *b, const char *format, ...)
		__attribute__((format(printf, 2, 3)));
	void (*append_text)(struct buffer *b, const char *text);
	void (*append_char)(struct buffer *b, char c);
	void (*append_bytes)(struct buffer *b, const char *bytes, size_t len);
};

static void
find(const struct fz *z, const char *name, void *slot)
{
	void *address = dlsym(z->pq.library, name);

	memcpy(slot, &address, sizeof(address));
}

static void
find_buffer_functions(const struct fz *z, struct buffer_functions *f)
{
	find(z, "createPQExpBuffer", &f->create);
	find(z, "destroyPQExpBuffer", &f->destroy);
	find(z, "resetPQExpBuffer", &f->reset);
	find(z, "enlargePQExpBuffer", &f->enlarge);
	find(z, "printfPQExpBuffer", &f->print);
	find(z, "appendPQExpBuffer", &f->append);
	find(z, "appendPQExpBufferStr", &f->append_text);
	find(z, "appendPQExpBufferChar", &f->append_char);
	find(z, "appendBinaryPQExpBuffer", &f->append_bytes);
}

static void
change_buffer(const struct buffer_functions *f, struct buffer *b, uint32_t number)
{
	const char *text = FZ_PICK(texts, number / 8);

	switch (number % 8) {
	case 0:
		f->reset(b);
		break;
	case 1:
		f->print(b, "%s: %u", text, number);
		break;
	case 2:
		f->append(b, "<%*s>", (int)(number % 300), text);
		break;
	case 3:
		f->append_text(b, text);
		break;
	case 4:
		f->append_char(b, (char)('a' + number % 26));
		break;
	case 5:
		f->append_bytes(b, text, strlen(text));
		break;
	case 6:
		(void)f->enlarge(b, number % 3000);
		break;
	default:
		if (number % 64 == 7)
			(void)f->enlarge(b, SIZE_MAX / 2);
	}
}

void
fz_expbuffer(struct fz *z, const uint32_t n[4])
{
	struct buffer_functions f;
	struct buffer *b;

	find_buffer_functions(z, &f);
	b = f.create();
	for (uint32_t i = 0; i < 12; i++) {
		change_buffer(&f, b, n[1 + i % 3] >> i);
		fz_say(z, " %zu/%zu", b->len, b->maxlen);
	}
	fz_gave_text(z, b->data);
	f.destroy(b);
}

/* ---- calls without a handle ---- */

void
fz_null_handles(struct fz *z, const uint32_t n[4])
{
	struct cpq_original *f = &z->pq.f;
	int error = 7;

	(void)n;
	f->PQfinish(NULL);
	f->PQclear(NULL);
	f->PQreset(NULL);
	f->PQfreemem(NULL);
	f->PQfreeCancel(NULL);
	f->PQconninfoFree(NULL);
	fz_say(z, " %d %d %d %d %d %d", f->PQstatus(NULL), f->PQtransactionStatus(NULL),
		f->PQsocket(NULL), f->PQisBusy(NULL), f->PQconsumeInput(NULL),
		f->PQflush(NULL));
	fz_say(z, " %d %d %d %d %d %d", f->PQsetnonblocking(NULL, 1),
		f->PQisnonblocking(NULL), f->PQpipelineStatus(NULL),
		f->PQenterPipelineMode(NULL), f->PQexitPipelineMode(NULL),
		f->PQpipelineSync(NULL));
	fz_say(z, " %d %d %d %d %d", f->PQsendFlushRequest(NULL),
		f->PQputCopyData(NULL, "a", 1), f->PQputCopyEnd(NULL, NULL),
		f->PQendcopy(NULL), f->PQresetStart(NULL));
	fz_say(z, " %d %d %d %d %d", f->PQresetPoll(NULL), f->PQconnectPoll(NULL),
		f->PQrequestCancel(NULL), f->PQsetSingleRowMode(NULL),
		f->PQgetResult(NULL) == NULL);
	fz_say(z, " %d %d %d %zu %d", f->PQexec(NULL, "select 1") == NULL,
		f->PQsendQuery(NULL, "select 1"), f->PQnotifies(NULL) == NULL,
		f->PQescapeStringConn(NULL, (char[8]){ 0 }, "a", 1, &error), error);
	fz_say(z, " %d %d %d %d %d", f->PQresultStatus(NULL), f->PQntuples(NULL),
		f->PQnfields(NULL), f->PQgetCancel(NULL) == NULL,
		f->PQcopyResult(NULL, 0) == NULL);
	fz_say(z, " %d %d %d\n", f->PQsetErrorVerbosity(NULL, PQERRORS_TERSE),
		f->PQsetErrorContextVisibility(NULL, PQSHOW_CONTEXT_NEVER),
		f->PQconninfo(NULL) == NULL);
	fz_say_text(z, f->PQerrorMessage(NULL));
	fz_say_text(z, f->PQresultErrorMessage(NULL));
	fz_say_text(z, f->PQdb(NULL));
	fz_say_text(z, f->PQcmdStatus(NULL));
	fz_say_text(z, f->PQcmdTuples(NULL));
	fz_say_text(z, f->PQoidStatus(NULL));
	fz_say_text(z, f->PQresultErrorField(NULL, 'C'));
	fz_say_text(z, f->PQescapeLiteral(NULL, "a", 1));
	fz_say_text(z, f->PQparameterStatus(NULL, "server_version"));
	fz_say(z, "\n");
}
