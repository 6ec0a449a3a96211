/* SPDX-License-Identifier: BSD-2-Clause */
#include "conn.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "crypto_load.h"

/*
 * TLS while attaching: what the opening asks for, and the handshake after HELLO. attach.c
 * and io.c call this file.
 *
 * HELLO itself is handled after the handshake. So nothing that came in the clear has an effect
 * afterwards.
 */

static int
is_unix(const cenote_conn *conn)
{
	const struct cn_targets *t = &conn->attach.targets;

	return t->n == 0 || t->list[0].addr.ss_family == AF_UNIX;
}

static enum cn_tls_mode
mode_of(const cenote_conn *conn)
{
	enum cn_tls_mode mode = (enum cn_tls_mode)conn->options.number[CN_OPTION_TLS];

	if (mode != CN_TLS_AUTO)
		return mode;
	return is_unix(conn) ? CN_TLS_DISABLE : CN_TLS_ALLOW;
}

int
cn_attach_check_tls(cenote_conn *conn)
{
	if (mode_of(conn) < CN_TLS_REQUIRE || conn->crypto)
		return CENOTE_OK;
	return cn_crypto_load(&conn->crypto, &conn->diag.d);
}

uint8_t
cn_attach_wanted_tls(const cenote_conn *conn)
{
	enum cn_tls_mode mode = mode_of(conn);

	if (mode >= CN_TLS_REQUIRE)
		return CNP_TLS_REQUIRE;
	/* Do not load OpenSSL for ATTACH over a pool that has no TLS: loading takes
	 * long. */
	if (mode == CN_TLS_ALLOW && (conn->crypto || cn_crypto_is_there()))
		return CNP_TLS_ALLOW;
	return CNP_TLS_NONE;
}

/* Verify the chain if an authority is given, even if the mode does not require that. */
static enum cn_tls_verify
what_to_verify(const cenote_conn *conn)
{
	enum cn_tls_mode mode = mode_of(conn);

	if (mode == CN_TLS_VERIFY_FULL)
		return CN_TLS_VERIFY_NAME;
	return mode == CN_TLS_VERIFY_CA ||
			       *cn_options_get(&conn->options, CN_OPTION_CA) ||
			       *cn_options_get(&conn->options, CN_OPTION_CA_PATH)
		       ? CN_TLS_VERIFY_CHAIN
		       : CN_TLS_VERIFY_NONE;
}

int
cn_attach_knows_pool(const cenote_conn *conn)
{
	return conn->transport.tls && what_to_verify(conn) == CN_TLS_VERIFY_NAME;
}

static void
fill_options(const cenote_conn *conn, struct cn_tls_client_options *ret)
{
	const struct cn_options *o = &conn->options;
	const char *host = conn->attach.targets.list[conn->attach.at].host;
	const char *sni = cn_options_get(o, CN_OPTION_SNI);

	*ret = (struct cn_tls_client_options){
		.verify = what_to_verify(conn),
		.host = *host ? host : sni,
		.port = cn_options_get(o, CN_OPTION_PORT),
		.user = cn_options_get(o, CN_OPTION_USER),
		.sni = *sni ? sni : host,
		.ca = cn_options_get(o, CN_OPTION_CA),
		.ca_path = cn_options_get(o, CN_OPTION_CA_PATH),
		.cert = cn_options_get(o, CN_OPTION_CERT),
		.key = cn_options_get(o, CN_OPTION_KEY),
		.crl = cn_options_get(o, CN_OPTION_CRL),
		.min_version = cn_options_get(o, CN_OPTION_TLS_MIN),
		.ciphers = cn_options_get(o, CN_OPTION_CIPHERS),
		.groups = cn_options_get(o, CN_OPTION_GROUPS),
	};
}

static void
say_why(cenote_conn *conn, const char *sqlstate, const char *why)
{
	char target[CN_TARGET_TEXT_MAX];

	cn_target_text(&conn->attach.targets.list[conn->attach.at], target);
	cnc_diag_set(&conn->diag.d, sqlstate, "%s: TLS: %s", target, why);
}

int
cn_attach_begin_tls(cenote_conn *conn)
{
	struct cn_tls_client_options o;
	struct cn_tls_error error;
	int r = CENOTE_OK;

	if (!conn->crypto)
		r = cn_crypto_load(&conn->crypto, &conn->diag.d);
	if (r < 0)
		return cn_attach_fail(conn, r);
	fill_options(conn, &o);
	r = cn_secure_begin(&conn->transport, conn->crypto->tls, &o, &error);
	if (r == CENOTE_ERR_NOMEM)
		return cn_attach_fail(conn, cn_nomem(conn));
	if (r == CENOTE_OK)
		return r;
	say_why(conn, CNC_SQLSTATE(BAD_PARAMETER), error.text);
	return cn_attach_fail(conn, r);
}

int
cn_attach_insecure(cenote_conn *conn, int status)
{
	const struct cn_transport *t = &conn->transport;

	say_why(conn,
		status == CENOTE_ERR_PROTOCOL ? CNC_SQLSTATE(PROTOCOL)
					      : CNC_SQLSTATE(BAD_LOGIN),
		t->tls_ops->error(t->tls));
	return cn_attach_fail(conn, status);
}

int
cn_attach_handshake(cenote_conn *conn)
{
	int r = cn_secure_handshake(&conn->transport);

	if (r == CENOTE_AGAIN)
		return r;
	if (r == CENOTE_ERR_CONN)
		return cn_attach_lost(
			conn, conn->transport.error ? conn->transport.error : ECONNRESET);
	if (r < 0)
		return cn_attach_insecure(conn, r);
	r = cnp_client_tls_done(&conn->session);
	if (r == CENOTE_OK)
		return r;
	say_why(conn, CNC_SQLSTATE(PROTOCOL), conn->session.diag.message);
	return cn_attach_fail(conn, CENOTE_ERR_PROTOCOL);
}
