/* SPDX-License-Identifier: BSD-2-Clause */
#include "crypto/tls.h"

#include <openssl/err.h>
#include <stdio.h>
#include <string.h>

/* Explain TLS errors, in words for the person who has to correct them. */

/* `text` is about this end, or about an alert that the other end sent. */
struct reason {
	int reason;
	int status;
	const char *text;
};

#define PEER_REFUSED "the other end refused this one's certificate: "

static const struct reason reasons[] = {
	{ SSL_R_NO_SHARED_CIPHER, CENOTE_ERR_AUTH, "no shared cipher" },
	{ SSL_R_NO_SUITABLE_GROUPS, CENOTE_ERR_AUTH, "no shared group" },
	{ SSL_R_NO_SUITABLE_KEY_SHARE, CENOTE_ERR_AUTH, "no shared group" },
	{ SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM, CENOTE_ERR_AUTH,
		"no shared signature algorithm" },
	{ SSL_R_NO_PROTOCOLS_AVAILABLE, CENOTE_ERR_AUTH,
		"protocol version: none is left by minimum version and ciphers" },
	{ SSL_R_UNSUPPORTED_PROTOCOL, CENOTE_ERR_AUTH,
		"protocol version: the other end speaks none that is allowed here" },
	{ SSL_R_VERSION_TOO_LOW, CENOTE_ERR_AUTH,
		"protocol version: the other end's is older than is allowed here" },
	{ SSL_R_WRONG_SSL_VERSION, CENOTE_ERR_AUTH,
		"protocol version: the other end speaks none that is allowed here" },
	{ SSL_R_INAPPROPRIATE_FALLBACK, CENOTE_ERR_AUTH,
		"protocol version: it was pushed down on the way" },
	{ SSL_R_TLSV1_ALERT_INAPPROPRIATE_FALLBACK, CENOTE_ERR_AUTH,
		"protocol version: it was pushed down on the way" },
	{ SSL_R_TLSV1_ALERT_PROTOCOL_VERSION, CENOTE_ERR_AUTH,
		"protocol version: the other end allows none of those offered" },
	{ SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE, CENOTE_ERR_AUTH,
		"no shared cipher, group or signature algorithm, says the other end" },
	{ SSL_R_TLSV1_ALERT_INSUFFICIENT_SECURITY, CENOTE_ERR_AUTH,
		"no shared cipher that is strong enough, says the other end" },
	{ SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE, CENOTE_ERR_AUTH,
		"the other end shows no certificate, and must" },
	{ SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED, CENOTE_ERR_AUTH,
		"the other end wants a client certificate, and none is configured" },
	{ SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED, CENOTE_ERR_AUTH,
		PEER_REFUSED "expired, or not yet valid" },
	{ SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED, CENOTE_ERR_AUTH,
		PEER_REFUSED "revoked" },
	{ SSL_R_TLSV1_ALERT_UNKNOWN_CA, CENOTE_ERR_AUTH,
		PEER_REFUSED "its issuer is not trusted there" },
	{ SSL_R_SSLV3_ALERT_BAD_CERTIFICATE, CENOTE_ERR_AUTH, PEER_REFUSED "not valid" },
	{ SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE, CENOTE_ERR_AUTH,
		PEER_REFUSED "not for this purpose" },
	{ SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN, CENOTE_ERR_AUTH,
		PEER_REFUSED "unknown" },
	{ SSL_R_TLSV1_ALERT_NO_APPLICATION_PROTOCOL, CENOTE_ERR_AUTH,
		"the other end does not speak cenote/1 (ALPN)" },
	{ SSL_R_NO_APPLICATION_PROTOCOL, CENOTE_ERR_AUTH,
		"the other end does not speak cenote/1 (ALPN)" },
	{ SSL_R_TLSV1_UNRECOGNIZED_NAME, CENOTE_ERR_AUTH,
		"the other end does not know the name that was asked for" },
	{ SSL_R_DECRYPTION_FAILED_OR_BAD_RECORD_MAC, CENOTE_ERR_PROTOCOL,
		"what came was changed on the way" },
	{ SSL_R_SSLV3_ALERT_BAD_RECORD_MAC, CENOTE_ERR_PROTOCOL,
		"what was sent was changed on the way, says the other end" },
	{ SSL_R_UNEXPECTED_EOF_WHILE_READING, CENOTE_ERR_CONN,
		"the connection ended in the middle of the handshake" },
};

static const struct reason *
find(int reason)
{
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		if (reasons[i].reason == reason)
			return &reasons[i];
	}
	return NULL;
}

static void
set_text(struct cn_tls *tls, const char *before, const char *text)
{
	(void)snprintf(tls->error.text, sizeof(tls->error.text), "%s%s", before, text);
}

int
cn_tls_explain(struct cn_tls *tls, int ssl_error)
{
	unsigned long code = ERR_get_error();
	const struct reason *known = find(ERR_GET_REASON(code));
	const char *words = ERR_reason_error_string(code);

	ERR_clear_error();
	if (ssl_error == SSL_ERROR_SYSCALL || tls->is_ended) {
		set_text(tls, "the connection ended", "");
		return CENOTE_ERR_CONN;
	}
	/* An error of a certificate was stored when it was found. */
	if (tls->error.text[0] != '\0')
		return CENOTE_ERR_AUTH;
	if (ERR_GET_LIB(code) == ERR_LIB_SSL && known != NULL) {
		set_text(tls, "", known->text);
		return known->status;
	}
	set_text(tls, "what came is not TLS as it should be: ",
		words != NULL ? words : "no reason given");
	return CENOTE_ERR_PROTOCOL;
}
