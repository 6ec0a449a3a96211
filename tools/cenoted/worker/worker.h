/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_WORKER_H
#define CND_WORKER_H

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/socket.h>

#include "channel.h"
#include "core/base64.h"
#include "core/traceparent.h"
#include "master/pool.h"
#include "serving/serving.h"
#include "shared/child.h"
#include "shared/ipc.h"
#include "shared/scoreboard.h"

/* Why a client's time with the worker ended. */
enum cnd_parting {
	/* the client closed the connection, or got the reason why it cannot stay */
	CND_PARTING_GONE,
	CND_PARTING_SUSPENDED, /* the client will resume */
	CND_PARTING_LOST /* the server's session is lost */
};

#define CND_PASSWORD_MAX 1023u
#define CND_SETTINGS_MAX 1023u
/* How long a failed server line is tried after all others, if the pool does not rebalance. */
#define CND_LINE_DOWN_MS 60000

/*
 * The parts of a worker. Each belongs to one file, which says what its values mean. Other files may read them.
 */

/* login.c: the session's facts, and how it was logged in. */
struct cnd_worker_login {
	uint32_t changes; /* the pool's login_changes at the time of the login */
	struct cnd_info info;
	/* a digest of the facts by which clients escape texts; equal for sessions that read texts alike */
	uint32_t reads_as;
	uint64_t parameters_digest; /* of all facts of the session but backend_pid */
	int server_fd; /* watched while no request runs; -1: none */
	uint32_t n; /* how many logins there were */
	bool is_info_stale; /* a client changed what info() returns */
	int64_t balanced_ms; /* when the worker last looked for a line with fewer sessions */
	unsigned n_failures; /* failed logins in a row */
	int64_t expires_ms; /* when max_lifetime ends; CND_NEVER: it has no limit */
	uint32_t turns; /* line_turns of its line when its server was last asked */
	uint32_t next_turns; /* the same for the session that is about to replace it */
	bool does_not_suit; /* the server has said that it has another role than the pool wants */
	/* the settings of the session, or of the next login */
	char settings[CND_SETTINGS_MAX + 1];
	const char *wanted_settings; /* the settings that the attaching client wants */
};

/* The credentials with which a client logs in to the server, and the names in its certificate ("":
 * none). */
struct cnd_credentials {
	char user[CND_USER_MAX + 1]; /* "": there are no credentials */
	char secret[CND_PASSWORD_MAX + 1]; /* the password, or SCRAM's client key */
	char server_key[CNC_BASE64_LEN(CNP_HASH_LEN) + 1]; /* "": secret is a password */
	char subject[256];
	char issuer[256];
};

/* pass_through.c: only for a pool whose clients log in to the server as themselves. */
struct cnd_worker_pass_through {
	struct cnd_credentials credentials; /* wiped when the attach is over */
	uint8_t proof_key[CNP_HASH_LEN];
	/* keyed hash of the credentials of the session's login */
	uint8_t proof[CNP_HASH_LEN];
	int64_t proved_ms; /* when the server last accepted a login; 0: never */
};

/* staying.c: what is kept of a client that stayed connected without a session, and is back. */
struct cnd_back {
	struct cnp_kept kept;
	struct cnd_identity identity;
	uint32_t reads_as; /* reads_as of its last session */
	uint64_t parameters; /* parameters_digest of that session */
	uint32_t slot; /* and its slot, */
	uint32_t login; /* of which it was the n-th login */
};

/* client.c: the client that has the worker. */
struct cnd_worker_client {
	int fd; /* -1: none */
	struct cnd_seat *seat; /* the worker's */
	struct cnd_channel channel; /* over `fd` */
	struct cnp_server server; /* our end of the protocol */
	struct cnd_peer peer; /* where it came from */
	/* other processes have its socket too: closing it is not enough */
	bool is_handed_over;
	bool is_routed; /* another worker sent it here */
	bool is_again; /* it attached again, to send a request */
	bool restores; /* it prepares its statements with a name again on another session */
	bool is_resumed; /* more clients may come to resume this session */
	bool has_failed; /* its password was wrong */
	bool is_refused; /* by a rule, or because its password was wrong */
	bool is_told; /* since it attached, it was told a new fact of the session */
	bool is_back; /* it stayed without a session, and attaches on the same connection */
	bool is_staying; /* it has got YIELD, and will stay without a session */
	struct cnd_back back; /* if is_back */
	struct cnd_subscriber
		*subscriber; /* set from the first YIELD with channels on (listening.c) */
	uint8_t handed[CND_IPC_BYTES_MAX]; /* bytes that another process read from it */
	size_t n_handed;
	char user[64];
	uid_t uid; /* -1: not known */
	struct cnc_traceparent trace; /* what its ATTACH says of its trace; for the log */
	/* the deadline to attach, or to read the last message; CND_NEVER: the client is attached */
	int64_t login_until_ms;
	int64_t suspended_until_ms;
	int64_t attached_ms;
	int64_t active_ms; /* when it last sent or read something */
	int64_t grace_from_ms; /* when it attached, or its first request last made progress */
	int64_t hours_end_ms; /* when it must go by allow_hours; CND_NEVER: it may stay */
	int64_t query_timeout_ms; /* its user's, or else the pool's; 0: none */
	uint32_t limits_line; /* its user's line in `user_limits`, from 1; 0: none */
};

/* host.c: when the backend must stop waiting. */
struct cnd_worker_stop {
	int64_t until_ms;
	const char *option; /* the configuration key, or the rule, that set until_ms */
	bool is_impatient; /* until_ms was brought forward */
	bool is_cancelled; /* on the client's request */
	int64_t looked_ms; /* when interrupted() last made system calls */
};

/* position.c: how far servers are, for read_own_writes. "": nowhere. */
struct cnd_worker_position {
	char wanted[CND_POSITION_MAX + 1]; /* what the client has written, and must see */
	char reached[CND_POSITION_MAX + 1]; /* what the session's server last said */
	char next[CND_POSITION_MAX +
		  1]; /* the same for the session that is about to replace it */
	bool is_missing; /* the client should go on with a session of another server */
};

/* client.c: when it asked the server what functions have left in the session. */
struct cnd_worker_settle {
	int64_t last_ms; /* the time of the last settle(), since the client attached */
	int64_t asked_ms; /* the same, over all clients */
	int64_t due_ms; /* when settle() may be called again; CND_NEVER: no need */
	uint32_t unmoved_at; /* serving.n_served when LISTEN could not move */
};

#define CND_PIN_SQL_MAX 96u

/* pins.c: the statement that began to pin the session. */
struct cnd_worker_pins {
	char sql[CND_PIN_SQL_MAX]; /* the beginning of the running statement */
	size_t n_sql;
	char words
		[64]; /* of the statement that left the last new pin, without its values */
	bool is_warned; /* the log has this client's pins */
};

/* pace.c: the worker's scheduling policy. */
struct cnd_worker_pace {
	bool may_pace; /* the worker may change the policy */
	bool is_patient; /* the policy is SCHED_BATCH now */
};

/* worker.c: random bytes for keys. */
struct cnd_worker_random {
	unsigned char bytes[512];
	size_t left;
};

/* lend.c: the loan of the server's socket to the client. */
struct cnd_worker_loan {
	struct cnp_loan *page; /* NULL: the session is not lent */
	uint32_t try_at; /* how many requests the client has made when lending is tried */
	uint64_t requests, errors; /* what the page said when it was last read */
	bool has_borrower; /* since the login, the session was lent to clients of this unix user */
	uid_t borrower;
};

/* query.c: messages about the pool's rules. */
struct cnd_worker_query {
	int64_t logged_ms; /* when there was the last message; 0: never */
	uint64_t n_unlogged; /* decisions without a message since then */
	char limit[32]; /* the text of w->stop.option if a rule limits the time */
	/* route.c: a bit for each rule that applies to the statement that cnd_query_passes() looked at */
	uint64_t passed;
};

struct cnd_query_text;
struct cnd_seat;
struct cnd_summary;
struct cnd_shared;
struct cnd_worker_digests;

/* A worker: one session of the backend, in a process of its own or on a seat of a shared one. */
struct cnd_worker {
	struct cnd_seat *seat; /* NULL: the process is its own */
	struct cnd_shared *shared; /* that process; NULL as well */
	/* what the worker serves */
	const struct cnd_child *child;
	struct cnd_pool_config *config;
	struct cnd_scoreboard *board;
	struct cnd_pool_record *pool;
	uint32_t pool_index;
	uint32_t version; /* of the pool's configuration */
	struct cnd_slot *slot;
	uint32_t slot_index;
	struct cn_tls_server *tls; /* NULL: the pool has no TLS */

	/* the worker's life, in worker.c */
	struct cnc_sm sm; /* enum cnd_state_of_slot; only cnd_worker_move() changes it */
	uint64_t key; /* the right to cancel or resume; 0: nobody has it */
	int listen_fd;
	int queue_fd;
	int inbox_fd; /* to and from the door */
	int wake_fd;
	int epoll_fd;
	sigset_t waiting_mask; /* signals are blocked except while it waits */
	int64_t idle_ms; /* when the worker became idle, or last asked to leave */
	int64_t begun_us; /* when the request began, if it is measured (monotonic clock) */
	char failed_state
		[6]; /* the SQLSTATE with which it failed, if it is measured; "": it did not */
	int64_t lent_us; /* when the client got the session; 0: that is not measured */
	bool has_served; /* a client has gone since the worker last waited for a client */
	bool is_listening; /* the session listens for clients that have none (listening.c) */

	struct cnd_serving
		serving; /* the session, and the requests of its client; owner.c makes it */
	struct cnd_worker_login login;
	struct cnd_worker_pass_through pass_through;
	struct cnd_worker_client client;
	struct cnd_worker_stop stop;
	struct cnd_worker_loan loan;
	struct cnd_worker_settle settle;
	struct cnd_worker_position position;
	struct cnd_worker_pins pins;
	struct cnd_worker_pace pace;
	struct cnd_worker_random random;
	struct cnd_worker_query query;
	/* cache.c: no worker of a configuration before this version serves the pool any more; 0: not known */
	uint32_t cache_checked;
	struct cnd_worker_digests *digests; /* NULL: the pool has no `digests` */
};

/* The main function of a process with one session. */
_Noreturn void cnd_worker_run(const struct cnd_child *child, const struct cnd_pool *pool,
	uint32_t slot, int inbox_fd);
/*
 * The main function of a process that several sessions share. It begins a session in one of these slots when the
 * master asks for it through control_fd; shared/ipc.h lists the messages.
 */
_Noreturn void cnd_worker_run_shared(const struct cnd_child *child,
	const struct cnd_pool *pool, const uint32_t *slots, uint32_t n_slots,
	int control_fd);

/* worker.c */
/* Give up all rights that a worker of this pool does not need. Returns its end of TLS; NULL: the pool has none. */
struct cn_tls_server *cnd_worker_enter(
	const struct cnd_child *child, const struct cnd_pool *pool);
/* Begin to be the worker of that slot. All members are zero before. */
void cnd_worker_set_up(struct cnd_worker *w, const struct cnd_child *child,
	const struct cnd_pool *pool, uint32_t slot, int inbox_fd);
/* The whole life of the session; frees what it allocated. */
void cnd_worker_live(struct cnd_worker *w);

/* slot.c */
void cnd_worker_move(struct cnd_worker *w, uint32_t state);
void cnd_worker_wake_door(const struct cnd_worker *w);
/* A random number other than 0. */
uint64_t cnd_worker_random(struct cnd_worker_random *r);
/* Give the session a new key, with which its client may cancel or resume; or take the key away. */
void cnd_worker_make_key(struct cnd_worker *w);
void cnd_worker_drop_key(struct cnd_worker *w);
/* What a client learns of the session that it gets: what differs in each attach, and everything. */
struct cnp_attached cnd_slot_names(const struct cnd_worker *w);
struct cnp_attached cnd_slot_facts(const struct cnd_worker *w);
/* A TCP client has proved its identity, or has gone: the door may let in the next one. */
void cnd_worker_settle_stranger(struct cnd_worker *w);

/* wait.c */
/* Watch a descriptor until cnd_worker_unwatch(): the server's, or the client's on a seat. */
void cnd_worker_watch(struct cnd_worker *w, int fd);
void cnd_worker_unwatch(struct cnd_worker *w, int fd);
/* Block all signals. *ret_waiting_mask: those that stay blocked while waiting. */
void cnd_worker_set_signals(sigset_t *ret_waiting_mask);
/* SIGTERM came: somebody other than the master ends this process. */
bool cnd_worker_is_terminated(void);
/* The master's order: enum cnd_order. */
uint32_t cnd_worker_order(const struct cnd_worker *w);
/* Whether an administrator has ended the session of this client. Such a client does not yield. */
bool cnd_worker_is_killed(const struct cnd_worker *w);
/* Why the order is NOW, for the client. */
const char *cnd_worker_why_now(const struct cnd_worker *w);
/*
 * Wait, and allow signals meanwhile. Returns how many descriptors have events. 0, with no events set:
 * the time is up or a signal came; look around and wait again.
 */
int cnd_worker_poll(struct cnd_worker *w, struct pollfd *fds, nfds_t n, int64_t until_ms);
/* Wait for one descriptor (-1: none). Returns the events. */
int cnd_worker_wait(struct cnd_worker *w, int fd, int events, int64_t until_ms);

/* login.c */
/*
 * Try each server line at most once, with the settings in w->login. Negative: no line accepted the
 * login; w->serving.diag says why, and the settings are cleared, since the next client has not asked for
 * them.
 */
int cnd_login(struct cnd_worker *w);
/* As cnd_login(), for a client that waits: try again for as long as the pool's failover_hold allows. If the client goes
 * meanwhile, w->serving.is_gone is set. */
int cnd_login_for_client(struct cnd_worker *w);
/* Wait until then, until another worker finds a server again, or until an order comes. Negative: the client has gone. */
int cnd_login_pause(struct cnd_worker *w, int64_t until_ms);
/* Log in with other settings or as another user. The present session stays if no server accepts
 * that. */
int cnd_login_replace(struct cnd_worker *w, const char *settings);
/* The same with the settings that the session has. */
int cnd_login_renew(struct cnd_worker *w);
/* Whether a login now would give the same session, with the settings that the client wants. */
int cnd_login_is_as_wanted(const struct cnd_worker *w);
/* Whether the server or the network made a login fail, and not the user. */
int cnd_login_blames_server(const struct cnc_diag *diag);
void cnd_logout(struct cnd_worker *w);
/* Ask the backend again for the facts about the session that clients get. */
void cnd_login_take_info(struct cnd_worker *w);
/* The kind of the server: the backend's name, or that of the server behind a router. */
static inline const char *
cnd_login_kind(const struct cnd_worker *w)
{
	return w->login.info.backend != NULL ? w->login.info.backend
					     : w->serving.backend->name;
}
/* The parameter of a session that says which process or thread of the server it is. */
#define CND_BACKEND_PID   "backend_pid"
#define CND_CONNECTION_ID "connection_id"
/* What the session reports for a parameter; "": nothing. */
const char *cnd_login_parameter(const struct cnd_worker_login *l, const char *name);
/* Whether the session should look for a line with fewer sessions; and try to move it there. */
int cnd_login_is_due(const struct cnd_worker *w);
void cnd_login_rebalance(struct cnd_worker *w);
/* Exchange the session for one of another server that has what the client wants. False: there is none, and the session is as
 * before. */
bool cnd_login_elsewhere(struct cnd_worker *w);
/* How long after a look that found no better line the worker looks again. */
int64_t cnd_login_look_again_ms(const struct cnd_worker *w);

/* login_rate.c */
/* Take a token for a login to that line, and wait until it has come. Negative: the login must not happen; diag says why. */
int cnd_login_rate_await(struct cnd_worker *w, size_t line, struct cnc_diag *diag);
/* Take a token. Returns how long to wait for it, in microseconds; -1: too many others wait, so ask again later. */
int64_t cnd_login_rate_take(
	_Atomic int64_t *bucket, const struct cnd_rate *rate, int64_t now_us);

/* limits.c */
/* Count the client that the worker takes. 0, only if `may_wait`: its unix user has all its sessions, so the client should wait in
 * the door. */
int cnd_limits_come(
	struct cnd_worker *w, int fd, const struct cnd_peer *peer, bool may_wait);
/* Count a session for this user. 0: it has as many as it may have. */
int cnd_limits_take_user(struct cnd_worker *w, const char *user);
/* The client has proved to be w->client.user: count it. Negative: the user has all its sessions, and the client has its error. */
int cnd_limits_attach(struct cnd_worker *w);
/* The worker and the client part. */
void cnd_limits_part(struct cnd_worker *w);

/* roles.c */
/* Whether the pool asks its servers for their role (`target`). */
bool cnd_roles_are_asked(const struct cnd_worker *w);
/* A session of this line has just logged in: ask its server. CENOTE_OK: it suits the pool; negative: the diagnostics say why
 * not. */
int cnd_roles_admit(struct cnd_worker *w, size_t line, struct cnd_session *session,
	struct cnc_diag *diag);
/* Whether another session of the line has got a new answer since this session was asked. */
bool cnd_roles_have_turned(const struct cnd_worker *w);
/* Whether to ask now: another session of the line has got a new answer, or check_interval is over and this worker asks for its
 * line. In that case no other worker does so until check_interval is over again. */
bool cnd_roles_is_due(struct cnd_worker *w);
/* Ask the server. 0: the session suits, or cannot ask now; 1: it does not suit, and does_not_suit is set; negative: it is
 * lost. Leaves w->serving.diag as it is. */
int cnd_roles_check(struct cnd_worker *w);
/* The rank of a line: the lowest is tried first. login.c adds CND_RANK_SLOW if the line has enough sessions for now.
 * CND_RANK_BAD and more: a login would probably fail. */
#define CND_RANK_SLOW 2u
#define CND_RANK_BAD  4u
uint32_t cnd_roles_rank(const struct cnd_worker *w, size_t line);
/* Whether the last session that asked there was told that the line does not suit the pool. */
bool cnd_roles_refused(const struct cnd_worker *w, size_t line);
/* When an idle worker should look at its server's role again, for poll(2); -1: never. */
int cnd_roles_left(const struct cnd_worker *w);

/* position.c */
/* Whether clients of the pool read what they have written (read_own_writes). */
bool cnd_position_is_kept(const struct cnd_worker *w);
/* A client attaches: take what it wants to see from the options of its ATTACH. Negative: w->serving.diag says why not. */
int cnd_position_take(struct cnd_worker *w, struct cnp_str options);
/* A session has just logged in: ask its server for the first time. Negative: the server cannot tell; the diagnostics say why. */
int cnd_position_admit(
	struct cnd_worker *w, struct cnd_session *session, struct cnc_diag *diag);
/* That session becomes the worker's. */
void cnd_position_adopt(struct cnd_worker *w);
/* Whether that session's server has what the client wants. */
bool cnd_position_suits_next(const struct cnd_worker *w);
/* The client is about to get the session: wait until its server has what the client wants, or log in to a server that has it.
 * Negative: as for an attach; w->serving.diag says why. */
int cnd_position_await(struct cnd_worker *w);
/* The client sets what it wants to see. Sets is_missing if another server should serve it. Negative: w->serving.diag says why. */
int cnd_position_set(struct cnd_worker *w, struct cnp_str text);
/* The client may have written: ask the server how far it is, and queue that for the client. Negative: as from
 * cnd_backend.position(). */
int cnd_position_tell(struct cnd_worker *w);

/* owner.c */
/* Make w->serving, for the pool of w->config. */
void cnd_owner_init(struct cnd_worker *w);
/* Measure the requests of the next client, for the statistics or the slow log. */
void cnd_owner_begin_client(struct cnd_worker *w);

/* times.c */
/* Microseconds of the monotonic clock. */
int64_t cnd_times_now_us(void);
void cnd_times_note_request(struct cnd_worker *w, int64_t us);
/* The client has the session from here on; it and the worker part. */
void cnd_times_begin_session(struct cnd_worker *w);
void cnd_times_end_session(struct cnd_worker *w);
/* A login to this server line has succeeded. It began then. */
void cnd_times_note_login(struct cnd_worker *w, size_t line, int64_t begun_us);

/* host.c */
void cnd_host_init(struct cnd_worker *w);
/* Begin work that may be stopped. limit_ms: how long it may take (0: no bound); `limit` names the
 * configuration key of that limit. */
void cnd_host_begin(struct cnd_worker *w, int64_t limit_ms, const char *limit);
/* Begin work that no client asked for. */
void cnd_host_begin_service(struct cnd_worker *w);
/* Where the backend reports what comes during a question of ours. NULL: no client has got READY, so nobody would hear it. */
struct cnd_sink *cnd_host_sink(struct cnd_worker *w);
/* Whether to stop, without a system call; returns the same as cnd_host.interrupted(). */
int cnd_host_look(struct cnd_worker *w, struct cnc_diag *diag);
/* The client has gone. Always returns CENOTE_ERR_CONN. */
int cnd_host_client_gone(struct cnd_worker *w, struct cnc_diag *diag);

/* auth.c */
/* Look up the name of the client's unix user now, while files can be read. */
void cnd_auth_prepare(const struct cnd_worker_client *c);
/*
 * Find out who the client is, as the pool's rules demand. This sends HELLO and exchanges the messages
 * of a login if necessary. CENOTE_OK: w->client.user and uid are known; negative: refused, and the
 * client has its error. `wanted` points into w->client.server and stays valid.
 */
int cnd_auth_log_in(struct cnd_worker *w, struct cnp_str wanted);
/* Like cnd_auth_log_in(), for a client that has shown the key of its suspended session. The key
 * replaces the password. */
int cnd_auth_resume(struct cnd_worker *w, struct cnp_str wanted);
/*
 * Whether the client may ask for the status. By TCP it logs in for that. On a unix socket, root and
 * cenoted's own user may ask, and users that allow_users and a rule admit. Returns the same as
 * cnd_auth_log_in().
 */
int cnd_auth_status(struct cnd_worker *w, struct cnp_str wanted);
/* Send HELLO to a client that wants TLS and waits for it. Its user is not known yet. */
int cnd_auth_hello(struct cnd_worker *w, int tls);

/* pass_through.c */
/* Make sure that the session is logged in with the client's credentials. CENOTE_OK; negative:
 * w->serving.diag says why, and the session is as before. */
int cnd_pass_through(struct cnd_worker *w);
/* Wipe the credentials. */
void cnd_pass_through_forget(struct cnd_worker *w);
/*
 * Before the client has proved to be `user`: send it to an idle worker that has the session of this
 * user, or to one without a session if this one has another user's. CENOTE_OK: it stays here;
 * CENOTE_ERR_CONN: it was sent there.
 */
int cnd_pass_through_route(struct cnd_worker *w, const char *user);
/* After a login: publish whose session this is. */
void cnd_pass_through_publish(struct cnd_worker *w);
/* 1: the worker may take any client until it releases itself or leaves IDLE. 0: another worker has
 * promised it to a client that is on its way. */
int cnd_pass_through_reserve(struct cnd_worker *w);
void cnd_pass_through_release(struct cnd_worker *w);
/* Log out if no client wanted this user's session for idle_ttl: 1. */
int cnd_pass_through_expire(struct cnd_worker *w);

/* attach.c */
/* Lend the session to the client, or answer a request that needs no session. CENOTE_OK: the client is
 * attached. Any other result: the client is done. */
int cnd_attach_open(struct cnd_worker *w);
/* Lend the session to a client that stayed without one and attaches again. Returns the same. */
int cnd_attach_back(struct cnd_worker *w);
/* Only answer a request that needs no session, in a process that has none. CENOTE_DONE, or negative
 * as from cnd_attach_open(). */
int cnd_attach_answer(struct cnd_worker *w);
/* After a failed login: leave the client to the door, which sends the answer when its time has
 * come. 0; or -1: the client is still here, answer at once. */
int cnd_attach_part(struct cnd_worker *w);
/* The door sent a client that claims the suspended session. CENOTE_OK if it is that client's. */
int cnd_attach_resume(struct cnd_worker *w, const struct cnd_ipc *m);

/* attach_tls.c */
/* If the client wants TLS, send HELLO, for which it waits, and shake hands until the time `until`.
 * CENOTE_OK, also without TLS; negative: this client is done. */
int cnd_attach_answer_tls(struct cnd_worker *w, int64_t until);

/* client.c */
/* Serve the client until it and the worker part. */
enum cnd_parting cnd_client_serve(struct cnd_worker *w);
/* Wait for the client that resumes, and serve it. */
enum cnd_parting cnd_client_resume(struct cnd_worker *w);
/* Give the backend its ends_turn(). */
void cnd_client_init(struct cnd_worker *w);
/* The client got no session, and `r` says why: send its last message, or leave that to the door. */
void cnd_client_part(struct cnd_worker *w, int r);
/* Refuse the clients in the inbox: the session that they want to resume has gone. */
void cnd_client_refuse_inbox(struct cnd_worker *w);

/* client_log.c */
/* Log something about the client. `sqlstate` NULL: there is none. The second function says who the client is: its address, or its
 * process. */
void cnd_client_log(const struct cnd_worker *w, int level, const char *sqlstate,
	const char *format, ...) __attribute__((format(printf, 4, 5)));
void cnd_client_log_named(
	const struct cnd_worker *w, int level, const char *sqlstate, const char *what);
/* The client must give up the session, because of a limit or of an administrator. */
void cnd_client_log_parting(
	const struct cnd_worker *w, const char *sqlstate, const char *why);

/* slow.c */
/* Whether the pool has log_min_duration. */
bool cnd_slow_is_on(const struct cnd_worker *w);
/* A request took so long: log it if that is too long. Its text must still be there. */
void cnd_slow_log(const struct cnd_worker *w, const struct cnp_msg *m, int64_t us);

/* lend.c */
/* A client begins: it has not been lent the session yet. */
void cnd_lend_begin(struct cnd_worker *w);
/* Whether to lend now, if the client holds nothing: it is allowed, possible and of use. If the client holds something, this is
 * false until it has made many more requests. */
bool cnd_lend_is_due(struct cnd_worker *w);
/* Lend the session. The client holds nothing. 1: it is lent; 0: it cannot be. */
int cnd_lend_now(struct cnd_worker *w, const struct cnd_state *state);
/* Wait for the end of the loan, and take the session back. Sets serving.is_lost if it cannot be used again. */
void cnd_lend_end(struct cnd_worker *w);
/* Whether a former borrower, who may still have the socket, is another unix user than the client. */
bool cnd_lend_has_stranger(const struct cnd_worker *w);

/* client_io.c */
/* Drop what a client has sent, before its socket is closed. Unread bytes would turn the close into a reset, and the
 * client might never read the last message. The number of reads is bounded, so a client that sends without end does not
 * keep the worker. */
void cnd_client_drop_input(int fd);
void cnd_client_close(struct cnd_worker *w);
/* Take the client that another process sent. */
void cnd_client_take_handed(struct cnd_worker *w, const struct cnd_ipc *m);
/* There is a client: on a seat, have its socket watched. */
void cnd_client_watch(struct cnd_worker *w);
/* Send the client and `bytes` to the door. 0: it has gone there; -1: it is still here. */
int cnd_client_hand_over(struct cnd_worker *w, uint32_t kind, uint32_t index,
	const uint8_t *bytes, size_t n);
/* Send the client to the door, with all bytes that the client has sent so far. */
int cnd_client_send_on(struct cnd_worker *w, uint32_t kind, uint32_t slot);
/* Send all that is queued, and wait for a slow reader. CENOTE_OK, or CENOTE_ERR_CONN: the client has gone. */
int cnd_client_flush(struct cnd_worker *w);
/* Read from the client. 1: bytes came; 0: nothing yet; CENOTE_ERR_CONN at the end. */
int cnd_client_receive(struct cnd_worker *w);
/* Like cnd_worker_poll(). fds[0] is the client's socket; bytes that TLS has already read count as an
 * event. */
int cnd_client_poll(struct cnd_worker *w, struct pollfd *fds, nfds_t n, int64_t until_ms);
/* When the pool's idle_client_timeout ends; and the earliest end of that, idle_transaction_timeout, session_timeout and
 * pin_timeout. CND_NEVER: no such limit. */
int64_t cnd_client_idle_limit(const struct cnd_worker *w);
int64_t cnd_client_limit(const struct cnd_worker *w);
/* Note that the client has sent or read something, if a limit counts from there. */
void cnd_client_note_activity(struct cnd_worker *w);
#define CND_LIMIT_TEXT_MAX 242u
/* The error for a client that has reached one of them. Returns its SQLSTATE. */
const char *cnd_client_limit_text(
	const struct cnd_worker *w, int64_t now, char to[CND_LIMIT_TEXT_MAX]);
/* Whether the client has closed its end. Reads nothing. */
int cnd_client_has_gone(const struct cnd_worker_client *c);

/* pause.c */
/* Whether a client that has a session may begin no transaction now: the pool is paused, in mode = transaction. */
bool cnd_pause_holds(const struct cnd_worker *w);
/* A client is about to get the session: wait while the pool is paused. CENOTE_OK; negative: the client is done. */
int cnd_pause_attach(struct cnd_worker *w);

/* hours.c */
/* The client has logged in as w->client.user. Negative: that user may not be in at this time, and the client has got the
 * error. */
int cnd_hours_attach(struct cnd_worker *w);
/* When the user's time ends (monotonic clock); CND_NEVER: it does not end in the next two weeks. */
int64_t cnd_hours_end_ms(const struct cnd_worker *w);

/* hooks.c */
/* The session is like a new login: run `session_start`. Negative: no client may have it; the diagnostics say why. */
int cnd_hooks_start(
	struct cnd_worker *w, struct cnd_session *session, struct cnc_diag *diag);
/* The client has given the session back: roll back, and run `session_end`. Negative: log out. */
int cnd_hooks_end(struct cnd_worker *w);

/* query.c */
/* Judge a statement by the pool's rules. *sql becomes the text for the server. Negative: the client may not send the
 * statement, and s->diag says why. */
int cnd_query_judge(struct cnd_serving *s, struct cnp_str *sql);
/* A rule limits the time of the running request. */
void cnd_query_limit_time(struct cnd_serving *s, const struct cnd_limit *limit);
/* The client is about to get the error in s->diag: change it if an `on_error` line says so. */
void cnd_query_retell(struct cnd_serving *s);
/* What the rules need to know about a statement of the client. The caller fills it with cnd_query_text_begin(). */
struct cnd_query_text cnd_query_text_of(
	struct cnd_worker *w, struct cnd_summary *summary);
/* Count that the rule of this index applies. After a reload, the scoreboard may have another rule there: then do not count. */
void cnd_query_count(struct cnd_worker *w, size_t i);
/* route.c. The functions passes() and passed() of struct cnd_serving_ops. */
bool cnd_query_passes(struct cnd_serving *s, struct cnp_str sql);
void cnd_query_passed(struct cnd_serving *s);
/* Tell a router where the statement goes. rule: the one that has decided; NULL: none has. */
void cnd_query_route(struct cnd_worker *w, const struct cnd_query_rule *rule,
	const struct cnd_query *q);

/* cache.c */
/* The worker begins: use the memory of the pool's cache, if it has one. */
void cnd_worker_cache_init(struct cnd_worker *w);
/* A statement was judged: find out what it touches, and whether its result is kept. rule: as above. */
void cnd_worker_cache_judge(struct cnd_worker *w, const struct cnd_query *q,
	const struct cnd_query_rule *rule);
/* Append to the key of a result which session it belongs to. Negative: the client must not get results of others. */
int cnd_worker_cache_identify(struct cnd_serving *s, struct cnc_buf *key);

/* replay.c */
/* Whether its text shows that a statement may run a second time. */
bool cnd_replay_allows(struct cnd_serving *s, struct cnp_str sql);

/* pins.c */
/* Another client begins, or one that resumes: it holds nothing yet. */
void cnd_pins_forget(struct cnd_worker *w);
/* The text of the statement that a request runs or prepares, as far as the worker has it. */
struct cnp_str cnd_worker_sql_of(const struct cnd_worker *w, const struct cnp_msg *m);
/* A request is about to run. */
void cnd_pins_begin(struct cnd_worker *w, const struct cnp_msg *m);
/* Publish what the session holds now. */
void cnd_pins_note(struct cnd_worker *w, uint8_t tx, uint32_t pins);
/* Whether LISTEN can move to another session in this pool; and whether the client of this worker holds nothing else, as far as is
 * known. */
bool cnd_pins_may_move_listen(const struct cnd_worker *w);
bool cnd_pins_may_move(const struct cnd_worker *w);
/* When pin_timeout ends, if the client holds nothing but pins; and when pin_warning does. CND_NEVER: no such limit, or it was
 * warned of. */
int64_t cnd_pins_limit(const struct cnd_worker *w);
int64_t cnd_pins_warning(const struct cnd_worker *w);
/* Once pin_warning has passed: say what pins the session, and for how long. false: it has not, or that was said. */
#define CND_PINS_WARNING_MAX 384u
bool cnd_pins_warn(struct cnd_worker *w, char ret_text[CND_PINS_WARNING_MAX]);

/* digests.c */
void cnd_digests_init(struct cnd_worker *w);
void cnd_digests_finish(struct cnd_worker *w);
/* A request is about to run; has failed; has ended after `us` microseconds. */
void cnd_digests_begin(struct cnd_worker *w, const struct cnp_msg *m);
void cnd_digests_failed(struct cnd_worker *w);
void cnd_digests_end(struct cnd_worker *w, const struct cnp_request *req, int64_t us);

/* pace.c */
void cnd_pace_init(struct cnd_worker_pace *p);
/* A large result is on its way: let the server run first until the end of the request. */
void cnd_pace_long_result(struct cnd_worker_pace *p);
void cnd_pace_end(struct cnd_worker_pace *p);

#endif
