/* SPDX-License-Identifier: BSD-2-Clause */
#include "pq.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

/*
 * PQencryptPassword() and PQchangePassword(): make the hash that a server stores, so that the
 * password itself is not sent. Both MD5 and SCRAM-SHA-256 (RFC 5803 in PostgreSQL's form) are
 * supported.
 */

#define ITERATIONS 4096
#define SALT_LEN   16
#define KEY_LEN    32

static char *
encrypt_md5(const char *password, const char *user)
{
	size_t n_password = strlen(password), n_user = strlen(user);
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned n_digest = 0;
	char *both = malloc(n_password + n_user + 1);
	char *out = malloc(3 + 32 + 1);
	int is_well = 0;

	if (both != NULL && out != NULL) {
		snprintf(both, n_password + n_user + 1, "%s%s", password, user);
		is_well = EVP_Digest(both, n_password + n_user, digest, &n_digest,
				  EVP_md5(), NULL) == 1;
		OPENSSL_cleanse(both, n_password);
	}
	free(both);
	if (!is_well) {
		free(out);
		return NULL;
	}
	memcpy(out, "md5", sizeof("md5"));
	for (unsigned i = 0; i < 16; i++)
		snprintf(out + 3 + 2 * i, 3, "%02x", digest[i]);
	return out;
}

/* The password as SCRAM uses it: normalised (NFKC, the core of RFC 4013) if it is UTF-8; else the
 * bytes as they are. malloc()ed. */
static char *
prepare(const char *password)
{
	utf8proc_uint8_t *normal = NULL;

	if (utf8proc_map((const utf8proc_uint8_t *)password, 0, &normal,
		    UTF8PROC_NULLTERM | UTF8PROC_STABLE | UTF8PROC_COMPAT |
			    UTF8PROC_COMPOSE | UTF8PROC_IGNORE) >= 0 &&
		*normal != '\0')
		return (char *)normal;
	free(normal);
	return strdup(password);
}

static int
hmac(const unsigned char key[KEY_LEN], const char *text, unsigned char out[KEY_LEN])
{
	unsigned n = 0;

	return HMAC(EVP_sha256(), key, KEY_LEN, (const unsigned char *)text, strlen(text),
		       out, &n) != NULL &&
	       n == KEY_LEN;
}

static char *
encrypt_scram(const char *password)
{
	unsigned char salt[SALT_LEN], salted[KEY_LEN], client[KEY_LEN], server[KEY_LEN];
	unsigned char stored[EVP_MAX_MD_SIZE];
	unsigned char salt64[32], stored64[64], server64[64];
	char *plain = prepare(password);
	char *out = malloc(192);
	unsigned n = 0;
	int is_well = plain != NULL && out != NULL;

	is_well = is_well && RAND_bytes(salt, sizeof(salt)) == 1 &&
		  PKCS5_PBKDF2_HMAC(plain, (int)strlen(plain), salt, sizeof(salt),
			  ITERATIONS, EVP_sha256(), KEY_LEN, salted) == 1 &&
		  hmac(salted, "Client Key", client) &&
		  hmac(salted, "Server Key", server) &&
		  EVP_Digest(client, KEY_LEN, stored, &n, EVP_sha256(), NULL) == 1;
	if (is_well) {
		EVP_EncodeBlock(salt64, salt, sizeof(salt));
		EVP_EncodeBlock(stored64, stored, KEY_LEN);
		EVP_EncodeBlock(server64, server, KEY_LEN);
		snprintf(out, 192, "SCRAM-SHA-256$%d:%s$%s:%s", ITERATIONS,
			(char *)salt64, (char *)stored64, (char *)server64);
	} else {
		free(out);
		out = NULL;
	}
	OPENSSL_cleanse(salted, sizeof(salted));
	OPENSSL_cleanse(client, sizeof(client));
	if (plain != NULL)
		OPENSSL_cleanse(plain, strlen(plain));
	free(plain);
	return out;
}

char *
cpq_PQencryptPassword(const char *passwd, const char *user)
{
	return encrypt_md5(passwd, user);
}

/* Ask the server for its password_encryption; "" if that fails, and the reason in the error text. */
static int
ask_algorithm(PGconn *conn, char *out, size_t size)
{
	PGresult *res = cpq_PQexec(conn, "show password_encryption");
	int is_well = cpq_PQresultStatus(res) == PGRES_TUPLES_OK;

	if (is_well && (cpq_PQntuples(res) != 1 || cpq_PQnfields(res) != 1)) {
		cpq_say(conn, "unexpected shape of result set returned for SHOW");
		is_well = 0;
	}
	if (is_well && (size_t)cpq_PQgetlength(res, 0, 0) >= size) {
		cpq_say(conn, "\"password_encryption\" value too long");
		is_well = 0;
	}
	if (is_well)
		snprintf(out, size, "%s", cpq_PQgetvalue(res, 0, 0));
	cpq_PQclear(res);
	return is_well;
}

char *
cpq_PQencryptPasswordConn(
	PGconn *conn, const char *passwd, const char *user, const char *algorithm)
{
	char asked[51];
	char *out = NULL;

	if (conn == NULL)
		return NULL;
	resetPQExpBuffer(&conn->error);
	if (algorithm == NULL) {
		if (!ask_algorithm(conn, asked, sizeof(asked)))
			return NULL;
		algorithm = asked;
	}
	/* Servers before 10 only say whether they encrypt. They use MD5. */
	if (strcmp(algorithm, "on") == 0 || strcmp(algorithm, "off") == 0)
		algorithm = "md5";
	if (strcmp(algorithm, "scram-sha-256") == 0) {
		out = encrypt_scram(passwd);
	} else if (strcmp(algorithm, "md5") == 0) {
		out = encrypt_md5(passwd, user);
	} else {
		cpq_say(conn, "unrecognized password encryption algorithm \"%s\"",
			algorithm);
		return NULL;
	}
	if (out == NULL)
		cpq_say(conn, "out of memory");
	return out;
}

PGresult *
cpq_PQchangePassword(PGconn *conn, const char *user, const char *passwd)
{
	char *encrypted = cpq_PQencryptPasswordConn(conn, passwd, user, NULL);
	char *literal = NULL, *name = NULL;
	PGresult *res = NULL;
	PQExpBufferData sql;

	if (encrypted == NULL)
		return NULL;
	literal = cpq_PQescapeLiteral(conn, encrypted, strlen(encrypted));
	name = literal != NULL ? cpq_PQescapeIdentifier(conn, user, strlen(user)) : NULL;
	if (name != NULL) {
		initPQExpBuffer(&sql);
		appendPQExpBuffer(&sql, "ALTER USER %s PASSWORD %s", name, literal);
		if (sql.maxlen > 0)
			res = cpq_PQexec(conn, sql.data);
		else
			cpq_say(conn, "out of memory");
		termPQExpBuffer(&sql);
	}
	free(encrypted);
	free(literal);
	free(name);
	return res;
}
