/* SPDX-License-Identifier: BSD-2-Clause */
#include "pq.h"

#include <string.h>

/*
 * TLS and GSS, as the program asks for them. The answers are about the program's own hop,
 * which ends at cenoted; attributes that begin with "server_" are about the pool's hop to
 * the server.
 */

static const char *
fact(PGconn *conn, int hop, const char *name)
{
	return conn != NULL && conn->session != NULL
		       ? cenote_tls_info(conn->session, hop, name)
		       : NULL;
}

int
cpq_PQsslInUse(PGconn *conn)
{
	return fact(conn, CENOTE_HOP_POOL, "version") != NULL;
}

const char *const *
cpq_PQsslAttributeNames(PGconn *conn)
{
	static const char *const names[] = { "library", "key_bits", "cipher",
		"compression", "protocol", NULL };
	static const char *const none[] = { NULL };

	/* libpq up to 15 returns the names for any connection. */
	return conn == NULL || cpq_release() < 16 || cpq_PQsslInUse(conn) ? names : none;
}

const char *
cpq_PQsslAttribute(PGconn *conn, const char *attribute_name)
{
	static const struct {
		const char *attribute;
		int hop;
		const char *fact;
	} facts[] = { { "protocol", CENOTE_HOP_POOL, "version" },
		{ "cipher", CENOTE_HOP_POOL, "cipher" },
		{ "key_bits", CENOTE_HOP_POOL, "bits" },
		{ "server_protocol", CENOTE_HOP_SERVER, "version" },
		{ "server_cipher", CENOTE_HOP_SERVER, "cipher" } };

	/* The TLS library's name is known even without a connection. */
	if (strcmp(attribute_name, "library") == 0)
		return conn == NULL || cpq_PQsslInUse(conn) ? "OpenSSL" : NULL;
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		if (strcmp(attribute_name, facts[i].attribute) == 0)
			return fact(conn, facts[i].hop, facts[i].fact);
	}
	if (strcmp(attribute_name, "compression") == 0 && cpq_PQsslInUse(conn))
		return "off";
	return NULL;
}

/* The SSL object is libcenote's own, so the program does not get it. */
void *
cpq_PQsslStruct(PGconn *conn, const char *struct_name)
{
	(void)conn;
	(void)struct_name;
	return NULL;
}

void *
cpq_PQgetssl(PGconn *conn)
{
	(void)conn;
	return NULL;
}

/* Nothing to do: OpenSSL has initialised itself since 1.1. */
void
cpq_PQinitSSL(int do_init)
{
	(void)do_init;
}

void
cpq_PQinitOpenSSL(int do_ssl, int do_crypto)
{
	(void)do_ssl;
	(void)do_crypto;
}

int
cpq_PQgssEncInUse(PGconn *conn)
{
	(void)conn;
	return 0;
}

void *
cpq_PQgetgssctx(PGconn *conn)
{
	(void)conn;
	return NULL;
}

int
cpq_PQdefaultSSLKeyPassHook_OpenSSL(char *buf, int size, PGconn *conn)
{
	const char *password =
		conn != NULL ? cpq_conninfo_get(&conn->info, CPQ_KEY_SSLPASSWORD) : "";
	size_t n = strlen(password);

	if (size <= 0)
		return 0;
	if (n >= (size_t)size)
		n = (size_t)size - 1;
	memcpy(buf, password, n);
	buf[n] = '\0';
	return (int)n;
}

static PQsslKeyPassHook_OpenSSL_type key_hook;
static cpq_auth_hook auth_hook;

PQsslKeyPassHook_OpenSSL_type
cpq_PQgetSSLKeyPassHook_OpenSSL(void)
{
	return key_hook;
}

void
cpq_PQsetSSLKeyPassHook_OpenSSL(PQsslKeyPassHook_OpenSSL_type hook)
{
	const struct cpq_original *original = cpq_original(NULL);

	key_hook = hook;
	if (original != NULL && original->PQsetSSLKeyPassHook_OpenSSL != NULL)
		original->PQsetSSLKeyPassHook_OpenSSL(hook);
}

int
cpq_PQdefaultAuthDataHook(int type, PGconn *conn, void *data)
{
	(void)type;
	(void)conn;
	(void)data;
	return 0;
}

cpq_auth_hook
cpq_PQgetAuthDataHook(void)
{
	return auth_hook != NULL ? auth_hook : cpq_PQdefaultAuthDataHook;
}

void
cpq_PQsetAuthDataHook(cpq_auth_hook hook)
{
	const struct cpq_original *original = cpq_original(NULL);

	auth_hook = hook;
	if (original != NULL && original->PQsetAuthDataHook != NULL)
		original->PQsetAuthDataHook(hook);
}
