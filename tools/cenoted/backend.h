/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_BACKEND_H
#define CND_BACKEND_H

#include "core/batch.h"
#include "core/diag.h"
#include "core/value.h"
#include "protocol/columns.h"
#include "protocol/msg.h"

/*
 * What a backend is: a module, libexec-style, named cenoted-BACKEND.so, that cenoted loads with
 * dlopen() when a pool asks for it, and that exports one function, cnd_backend_get(). A worker
 * has one session of it and calls it from one thread; a backend keeps no state outside its session.
 *
 * Errors: CENOTE_ERR_SERVER with the diagnostics filled: the statement failed, the session
 * lives. CENOTE_ERR_CONN with the diagnostics filled: the session to the server is lost; the
 * worker logs out and in again. CENOTE_ERR_UNSUPPORTED: the worker names the feature.
 * CENOTE_ERR_NOMEM. What a sink or the host returned as negative is passed on as it is.
 */
#define CND_BACKEND_ABI 1u

struct cnd_session; /* each backend's own */

/* One key=value of a `server` line, in the backend's own terms. */
struct cnd_option {
	const char *key;
	const char *value;
};

struct cnd_server_spec {
	const struct cnd_option *options;
	size_t n_options;
};

/* Services of the worker. Valid as long as the session. */
struct cnd_host {
	const struct cenote_allocator *mem;
	void *user;
	/* To be asked often (every few hundred microseconds of work, and while waiting): CENOTE_OK, or
	 * why to stop: CENOTE_ERR_SERVER with the diagnostics filled (cancelled, time limit), or
	 * CENOTE_ERR_CONN (the client went away). The answer stays the same for the rest of the
	 * request. */
	int (*interrupted)(const struct cnd_host *host, struct cnc_diag *ret_diag);
	/* Log a line; never a secret, a statement or a value. level: syslog's. */
	void (*log)(const struct cnd_host *host, int level, const char *format, ...)
		__attribute__((format(printf, 3, 4)));
};

/*
 * Where one request's answer goes. The order: for each result columns() and rows, or nothing; then
 * done(). params() first for a description. Rows are written straight into the outgoing
 * batch: cnc_batch_row(), cnc_batch_put() for each column …, cnc_batch_row_done(), then row_done().
 */
struct cnd_sink;

struct cnd_sink_ops {
	int (*params)(struct cnd_sink *sink, const struct cnp_param *params, uint32_t n);
	/* Begin a result with rows. `known`: the client has these columns; they are not sent. */
	int (*columns)(struct cnd_sink *sink, const struct cnp_column *columns,
		uint32_t n, int known);
	/* A row was written. CENOTE_OK: go on. CENOTE_AGAIN: batch_rows is reached: keep the portal
	 * and call done() with CNP_DONE_MORE_ROWS. CENOTE_DONE: max_rows is reached: stop, call
	 * done() with CNP_DONE_LIMITED. Negative: stop and return it. */
	int (*row_done)(struct cnd_sink *sink);
	/* The end of one result. */
	int (*done)(struct cnd_sink *sink, const struct cnp_done *done);
	int (*notice)(struct cnd_sink *sink, const struct cnc_diag *notice);
};

struct cnd_sink {
	const struct cnd_sink_ops *ops;
	struct cnc_batch *batch; /* the current one; may change in each ops call */
	struct cnc_diag *diag; /* where the backend says why it failed */
};

/* How to run a statement. */
struct cnd_exec {
	uint32_t portal; /* number to keep the rest under when batch_rows is reached */
	uint8_t format; /* enum cenote_format */
	uint8_t columns_known; /* execute only */
	uint32_t batch_rows; /* 0: all */
	const struct cnc_value *params;
	uint32_t n_params;
};

/* What READY tells, and what decides whether a session may be yielded. */
struct cnd_state {
	uint8_t tx; /* enum cenote_tx */
	uint32_t pins; /* bits of enum cenote_pin */
	struct cnp_str
		carry; /* to be given to attach() on another session; borrowed until the
				 next call */
};

/* Facts for ATTACHED; borrowed until logout. */
struct cnd_info {
	const char *server; /* which server this is, as the pool names it; no secrets */
	const char *server_version;
	const char *database;
	const struct cnd_option *parameters; /* reported under their own names */
	size_t n_parameters;
};

struct cnd_backend {
	uint32_t abi; /* CND_BACKEND_ABI */
	const char *name; /* as in the configuration */
	uint64_t features; /* bits of enum cnp_feature */
	const char *reset_verb; /* what reset() does, for documentation and status */

	/* Check a server line without connecting: CENOTE_OK, or CENOTE_ERR_ARG and the diagnostics
	 * name the key and what is allowed. */
	int (*check)(const struct cnd_server_spec *spec, struct cnc_diag *ret_diag);

	/* Log in. CENOTE_ERR_CONN: with the server's own words. */
	int (*login)(const struct cnd_host *host, const struct cnd_server_spec *spec,
		struct cnd_session **ret_session, struct cnc_diag *ret_diag);
	void (*logout)(struct cnd_session *s); /* NULL is allowed */
	void (*info)(const struct cnd_session *s, struct cnd_info *ret_info);
	int (*ping)(struct cnd_session *s, struct cnc_diag *ret_diag);

	/* A client comes: `carry` is "" or what state() once gave for its former session. */
	int (*attach)(struct cnd_session *s, const struct cnp_str *carry,
		struct cnc_diag *ret_diag);
	/* It went. Roll back and make the session as a new login (promise 1). Any failure: the worker
	 * logs out and in again. */
	int (*reset)(struct cnd_session *s, struct cnc_diag *ret_diag);
	void (*state)(const struct cnd_session *s, struct cnd_state *ret_state);

	int (*query)(struct cnd_session *s, const char *sql, size_t len,
		const struct cnd_exec *exec, struct cnd_sink *sink);
	/* `statement` is the client's number. Answers with params(), columns() (when it gives rows) and
	 * done(). An existing number is replaced. */
	int (*prepare)(struct cnd_session *s, uint32_t statement, const char *sql,
		size_t len, struct cnd_sink *sink);
	int (*describe)(struct cnd_session *s, uint32_t statement, struct cnd_sink *sink);
	int (*execute)(struct cnd_session *s, uint32_t statement,
		const struct cnd_exec *exec, struct cnd_sink *sink);
	/* Unknown numbers are ignored. */
	void (*close)(struct cnd_session *s, uint32_t statement);
	/* Go on with a portal. `send_columns`: call columns() with known 0 first, else 1. */
	int (*fetch)(struct cnd_session *s, uint32_t portal, uint32_t batch_rows,
		int send_columns, struct cnd_sink *sink);
	void (*close_portal)(struct cnd_session *s, uint32_t portal);

	/* Each answers with done(). */
	int (*begin)(struct cnd_session *s, uint8_t isolation, uint32_t flags,
		struct cnd_sink *sink);
	int (*commit)(struct cnd_session *s, struct cnd_sink *sink);
	int (*rollback)(struct cnd_session *s, struct cnd_sink *sink);
	/* action: 0 set, 1 release, 2 roll back to. */
	int (*savepoint)(struct cnd_session *s, uint8_t action, const char *name,
		size_t len, struct cnd_sink *sink);
	int (*autocommit)(struct cnd_session *s, int on, struct cnd_sink *sink);

	int (*catalog)(struct cnd_session *s, const struct cnp_catalog *filter,
		struct cnd_sink *sink);
};

/* The one exported symbol of a module. NULL: this host's ABI is not served. */
const struct cnd_backend *cnd_backend_get(uint32_t host_abi);

#endif
