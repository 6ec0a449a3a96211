/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CN_OPTIONS_H
#define CN_OPTIONS_H

#include "core/diag.h"
#include "core/mem.h"

/* The options of a connection: each as text, and many also as a number. */
/* When may the library attach again? The values of CN_OPTION_REATTACH. */
enum cn_reattach_when {
	CN_REATTACH_NO,
	CN_REATTACH_YES,
	/* only if the pool took the session back; a loss is reported */
	CN_REATTACH_PLANNED
};

/* The values of CN_OPTION_BORROW. */
enum cn_borrow {
	CN_BORROW_AUTO,
	CN_BORROW_NO
};

enum cn_option {
	CN_OPTION_POOL,
	CN_OPTION_HOST,
	CN_OPTION_PORT,
	CN_OPTION_HOSTS,
	CN_OPTION_RUN_DIR,
	CN_OPTION_USER,
	CN_OPTION_PASSWORD,
	CN_OPTION_DATABASE,
	CN_OPTION_PROGRAM,
	CN_OPTION_APPLICATION_NAME,
	CN_OPTION_TRACEPARENT,
	CN_OPTION_CONNECT_TIMEOUT,
	CN_OPTION_QUERY_TIMEOUT,
	CN_OPTION_REATTACH_TIMEOUT,
	CN_OPTION_REATTACH, /* enum cn_reattach_when */
	CN_OPTION_MAX_FRAME,
	CN_OPTION_ALLOW_FILES,
	CN_OPTION_TLS,
	CN_OPTION_CA,
	CN_OPTION_CA_PATH,
	CN_OPTION_CERT,
	CN_OPTION_KEY,
	CN_OPTION_CRL,
	CN_OPTION_TLS_MIN,
	CN_OPTION_CIPHERS,
	CN_OPTION_GROUPS,
	CN_OPTION_SNI,
	CN_OPTION_BORROW, /* enum cn_borrow */
	CN_OPTION_CACHE, /* a directory; empty: no cache */
	CN_OPTION_CACHE_TTL,
	CN_OPTION_COUNT
};

/* Longest value of an option. */
#define CN_OPTION_VALUE_MAX 4096u

enum cn_hosts {
	CN_HOSTS_ORDERED,
	CN_HOSTS_RANDOM
};

enum cn_tls_mode {
	CN_TLS_AUTO, /* as DISABLE on a unix socket, as ALLOW over TCP */
	CN_TLS_DISABLE,
	CN_TLS_ALLOW,
	CN_TLS_REQUIRE,
	CN_TLS_VERIFY_CA,
	CN_TLS_VERIFY_FULL
};

struct cn_options {
	const struct cenote_allocator *mem;
	char *text[CN_OPTION_COUNT]; /* NULL: the default */
	uint64_t number[CN_OPTION_COUNT]; /* milliseconds, bytes, port, choice */
};

void cn_options_init(struct cn_options *o, const struct cenote_allocator *mem);
void cn_options_finish(struct cn_options *o);
/* Copy all options; `to` must be finished or new. CENOTE_OK, or CENOTE_ERR_NOMEM (`to`
 * is finished). */
int cn_options_copy(struct cn_options *to, const struct cn_options *from);
/* Find an option by name. -1: there is no such option. */
int cn_option_find(const char *name, size_t len);
const char *cn_option_name(int option);
/* Set an option; value NULL: the default. CENOTE_OK, CENOTE_ERR_ARG, CENOTE_ERR_NOMEM. On failure
 * nothing changes, and `diag` has the reason. */
int cn_options_set(
	struct cn_options *o, int option, const char *value, struct cnc_diag *diag);
int cn_options_set_named(struct cn_options *o, const char *name, size_t name_len,
	const char *value, struct cnc_diag *diag);
/* The current value, which may be the default; never NULL. */
const char *cn_options_get(const struct cn_options *o, int option);

/* Apply a URI or a pool's name. On failure some of it may be set. Returns as
 * cn_options_set(). */
int cn_uri_apply(struct cn_options *o, const char *uri, struct cnc_diag *diag);

#endif
