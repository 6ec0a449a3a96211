/* SPDX-License-Identifier: BSD-2-Clause */
#include "conn.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "crypto_load.h"
#include "protocol/plain.h"

/*
 * The login that HELLO asks for. With a password it is SCRAM. Without one it is EXTERNAL: TLS or
 * the kernel tells the pool who the client is. A SCRAM login ends only when the pool has proved
 * that it knows the password as well.
 *
 * PLAIN sends the password itself. It is used only for a pool that accepts nothing else, and only
 * if nobody but that pool can read the password. attach.c calls this file; conn->login is its
 * state.
 */

struct cn_login {
	struct cnp_scram_client scram;
	struct cnp_scram_keys keys;
	uint8_t has_keys;
};

void
cn_login_end(cenote_conn *conn)
{
	if (!conn->login)
		return;
	cnp_scram_client_finish(&conn->login->scram);
	cnc_wipe(conn->login, sizeof(*conn->login));
	cnc_free(&conn->mem, conn->login);
	conn->login = NULL;
}

/* cenote_info() reports the mechanism once the session is attached. */
static const char *
log_in_by(cenote_conn *conn, const char *mechanism)
{
	conn->info.login = mechanism;
	return mechanism;
}

static int
fail(cenote_conn *conn, int status, const char *sqlstate, const char *what)
{
	char target[CN_TARGET_TEXT_MAX];

	cn_target_text(&conn->attach.targets.list[conn->attach.at], target);
	cnc_diag_set(&conn->diag.d, sqlstate, "%s: pool \"%s\": %s", target,
		cn_options_get(&conn->options, CN_OPTION_POOL), what);
	return cn_attach_fail(conn, status);
}

/* The messages of a login cannot be repeated, so without memory the attach fails. */
static int
no_memory(cenote_conn *conn)
{
	return cn_attach_fail(conn, cn_nomem(conn));
}

static int
send_data(cenote_conn *conn, const void *data, size_t n)
{
	struct cnp_msg m = { .code = CNP_MSG_AUTH };
	int r;

	m.as.auth.data = (struct cnp_str){ data, n };
	r = cnp_client_request(&conn->session, &m, 0, 0, NULL);
	if (r == CENOTE_ERR_NOMEM)
		return no_memory(conn);
	/* Set-up requests were sent already, and the pool closes because of that. The next try
	 * knows that there is a login. */
	return r < 0 ? cn_attach_lost(conn, ECONNRESET) : CENOTE_OK;
}

/* Send the first AUTH frame. */
static int
send_mechanism(cenote_conn *conn, const char *mechanism, const struct cnp_str *message)
{
	struct cnc_buf data;
	int r;

	cnc_buf_init(&data, &conn->mem, CNP_FRAME_MAX_AUTH);
	r = cnc_buf_str(&data, mechanism, strlen(mechanism));
	if (r == CENOTE_OK)
		r = cnc_buf_str(&data, message->p, message->n);
	r = r < 0 ? no_memory(conn)
		  : send_data(conn, cnc_buf_head(&data), cnc_buf_len(&data));
	cnc_wipe(cnc_buf_head(&data), cnc_buf_len(&data));
	cnc_buf_finish(&data);
	return r;
}

static int
begin_scram(cenote_conn *conn, const char *mechanisms)
{
	uint8_t exported[CNP_SCRAM_BINDING_LEN];
	int can_bind = cn_transport_binding(&conn->transport, exported);
	enum cnp_scram_binding binding;
	const char *mechanism = cnp_scram_choose(mechanisms, can_bind, &binding);
	struct cnp_str message;
	char what[160];
	int r;

	if (!mechanism) {
		(void)snprintf(what, sizeof(what),
			"it asks for a login by %.80s, which this version of libcenote "
			"does not have",
			mechanisms);
		return fail(
			conn, CENOTE_ERR_UNSUPPORTED, CNC_SQLSTATE(UNSUPPORTED), what);
	}
	conn->login = cnc_calloc(&conn->mem, 1, sizeof(*conn->login));
	if (!conn->login)
		return no_memory(conn);
	r = cnp_scram_client_begin(&conn->login->scram, conn->crypto->hash,
		cn_options_get(&conn->options, CN_OPTION_USER), binding,
		can_bind ? exported : NULL, NULL, &message);
	if (r == CENOTE_ERR_LIMIT)
		return fail(conn, CENOTE_ERR_AUTH, CNC_SQLSTATE(BAD_LOGIN),
			"the option user is longer than 255 bytes");
	if (r < 0)
		return no_memory(conn);
	return send_mechanism(conn, log_in_by(conn, mechanism), &message);
}

/* May the password be sent? Only if nobody else can read it or pretend to be the pool. */
static int
may_send_password(const cenote_conn *conn)
{
	const struct cn_attach *a = &conn->attach;

	return a->targets.list[a->at].addr.ss_family == AF_UNIX ||
	       cn_attach_knows_pool(conn);
}

static int
begin_plain(cenote_conn *conn)
{
	const char *user = cn_options_get(&conn->options, CN_OPTION_USER);
	const char *password = cn_options_get(&conn->options, CN_OPTION_PASSWORD);
	struct cnc_buf message;
	struct cnp_str text;
	int r;

	if (*user == '\0')
		return fail(conn, CENOTE_ERR_AUTH, CNC_SQLSTATE(BAD_PASSWORD),
			"it logs in to its server with user and password of the program: "
			"set the option user");
	if (!may_send_password(conn))
		return fail(conn, CENOTE_ERR_AUTH, CNC_SQLSTATE(BAD_LOGIN),
			"it asks for the password itself, which is only sent by a unix "
			"socket, or through TLS that verifies the pool: set "
			"tls=verify-full");
	cnc_buf_init(&message, &conn->mem, CNP_FRAME_MAX_AUTH);
	r = cnp_plain_put(&message, user, password);
	text.p = (const char *)cnc_buf_head(&message);
	text.n = cnc_buf_len(&message);
	r = r < 0 ? no_memory(conn)
		  : send_mechanism(conn, log_in_by(conn, CNP_PLAIN), &text);
	if (text.n > 0)
		cnc_wipe(cnc_buf_head(&message), text.n);
	cnc_buf_finish(&message);
	return r;
}

static int
is_plain_only(const char *mechanisms)
{
	return cnp_mechanisms_have(mechanisms, CNP_PLAIN) &&
	       !cnp_mechanisms_have(mechanisms, CNP_SCRAM_PLAIN);
}

int
cn_login_begin(cenote_conn *conn, const char *mechanisms)
{
	const char *password = cn_options_get(&conn->options, CN_OPTION_PASSWORD);
	int r = CENOTE_OK;

	cn_login_end(conn);
	conn->session.may_log_in = 1;
	if (*password == '\0' && cnp_mechanisms_have(mechanisms, CNP_EXTERNAL))
		return send_mechanism(conn, log_in_by(conn, CNP_EXTERNAL), &CNP_STR_NONE);
	if (*password == '\0')
		return fail(conn, CENOTE_ERR_AUTH, CNC_SQLSTATE(BAD_PASSWORD),
			"it asks for a password, and there is none: set the options user "
			"and password, or write cenote://user:password@…");
	if (is_plain_only(mechanisms))
		return begin_plain(conn);
	if (!conn->crypto)
		r = cn_crypto_load(&conn->crypto, &conn->diag.d);
	return r < 0 ? cn_attach_fail(conn, r) : begin_scram(conn, mechanisms);
}

static int
on_challenge(cenote_conn *conn, const struct cnp_str *data)
{
	struct cn_login *l = conn->login;
	struct cnp_str message = CNP_STR_NONE;
	char what[120];
	int r = cnp_scram_client_challenge(&l->scram, data->p, data->n);

	if (r == CENOTE_ERR_UNSUPPORTED) {
		(void)snprintf(what, sizeof(what),
			"it wants %u iterations of the password's hash; %u to %u are "
			"accepted",
			(unsigned)l->scram.iterations, CNP_SCRAM_ITERATIONS_MIN,
			CNP_SCRAM_ITERATIONS_MAX);
		return fail(conn, r, CNC_SQLSTATE(UNSUPPORTED), what);
	}
	if (r < 0)
		return fail(conn, CENOTE_ERR_PROTOCOL, CNC_SQLSTATE(PROTOCOL),
			"its answer is not part of a login by SCRAM");
	r = conn->crypto->keys->derive(cn_options_get(&conn->options, CN_OPTION_PASSWORD),
		l->scram.salt, l->scram.salt_len, l->scram.iterations, &l->keys);
	if (r == CENOTE_OK)
		r = cnp_scram_client_prove(&l->scram, &l->keys, &message);
	if (r < 0)
		return no_memory(conn);
	l->has_keys = 1;
	return send_data(conn, message.p, message.n);
}

int
cn_login_data(cenote_conn *conn, const struct cnp_str *data)
{
	struct cn_login *l = conn->login;

	if (l && l->scram.state == CNP_SCRAM_CLIENT_BEGUN)
		return on_challenge(conn, data);
	if (l && l->scram.state == CNP_SCRAM_CLIENT_PROVED) {
		if (cnp_scram_client_verify(&l->scram, data->p, data->n) == CENOTE_OK)
			return CENOTE_OK;
		return fail(conn, CENOTE_ERR_AUTH, CNC_SQLSTATE(BAD_LOGIN),
			"it has not proved that it knows the password; is this the pool "
			"that is meant?");
	}
	return fail(conn, CENOTE_ERR_PROTOCOL, CNC_SQLSTATE(PROTOCOL),
		"it goes on with a login that is over");
}

int
cn_login_accepted(cenote_conn *conn)
{
	if (conn->login && conn->login->scram.state != CNP_SCRAM_CLIENT_DONE)
		return fail(conn, CENOTE_ERR_AUTH, CNC_SQLSTATE(BAD_LOGIN),
			"it let us in without proving that it knows the password");
	cn_login_end(conn);
	return CENOTE_OK;
}

void
cn_login_refused(cenote_conn *conn)
{
	if (conn->login && conn->login->has_keys)
		conn->crypto->keys->forget(&conn->login->keys);
}
