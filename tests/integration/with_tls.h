/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WITH_TLS_H
#define WITH_TLS_H

#include "with_pool.h"

/* What the tests of TLS and logins share: certificates, made once for a group of tests, and pools
 * with TLS. */

#define WT_POOL(lines)                                                                   \
	"sessions = 2\ntls_cert = @DIR@/certs/pool.crt\ntls_key = "                      \
	"@DIR@/certs/server.key\n" lines
#define WT_CLIENTS                                                                       \
	"tls_client_cert = require\ntls_ca = @DIR@/certs/ca.crt\ntls_crl = "             \
	"@DIR@/certs/ca.crl\n"

/* Setup and teardown of a group of tests. */
int wt_make_certs(void **state);
int wt_remove_certs(void **state);

/* The path of one of the running daemon's certificates; valid for 15 more calls. */
const char *wt_file(const char *name);
void wt_copy(const char *from, const char *to);
/* Give the pool this certificate, from its next start or reload on. */
void wt_use_certificate(const char *name);

/* Create a daemon whose pool has the certificate of this name; wt_start() also runs it. */
void wt_create(const char *config, const char *certificate);
void wt_start(const char *config, const char *certificate);
/* Start a pool with a port of its own, these lines, and the user joe with the password "secret".
 * Returns the port. */
int wt_start_with_users(const char *lines);
/* The same, but the pool knows these users. */
int wt_start_for(const char *lines, const char *users);
/* The verifier of "secret"; made with cenoted --user. */
#define WT_SECRET                                                                        \
	"SCRAM-SHA-256$4096:+7kaPtsQmIfbnS5O6pzWW"                                       \
	"w==$pyJUZwriiGqf0XCdoSnMWjPBV/8Qy/suCrXkmkuO34A=:G2AxH/vfiFQ9Vf/"               \
	"wmDIsUkevAOTkK4dlmRsiV2drdEU="

void wt_set(cenote_conn *conn, const char *name, const char *value);
/* A handle for joe over TCP, not connected. `password` NULL: none. */
cenote_conn *wt_joe(int port, const char *password, const char *tls);

#endif
