/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WITH_PROBE_H
#define WITH_PROBE_H

#include "support/cnt_raw.h"
#include "with_pool.h"

/* A pool with one worker whose backend (probe.c) does what the statements say. The test plays its server, and a client that
 * writes its own frames. */

#define SYNC        CNP_FRAME_SYNC
#define POOL(lines) POOL_AT("", lines)
#define POOL_AT(more, lines)                                                             \
	"[cenoted]\n"                                                                    \
	"user = @USER@\n"                                                                \
	"run_dir = @DIR@/run\n"                                                          \
	"backend_dir = @BACKENDS@:" CNT_PROBE_DIR "\n"                                   \
	"log = stderr\n"                                                                 \
	"\n[pool main]\n"                                                                \
	"backend = probe\n"                                                              \
	"server = path=@DIR@/server password=geheim" more "\nsessions = 1\n" lines
#define EXPECT(list)     assert_int_equal(cnt_raw_expect(&probe_client, list), 0)
#define FIELD(letter)    cnt_raw_field(&probe_client, letter)
#define QUERY(n, f, sql) cnt_raw_query(&probe_client, n, f, sql)

/* ---- the server ---- */

extern int probe_listener;
extern int probe_server; /* the session of the only worker */

void probe_listen_as(const char *name);
int probe_is_readable(int fd, int ms);
void probe_say(const char *text);
/* Accept a connection of the worker, in place of the one before. Answer its login with "ok", unless
 * `is_silent`. */
void probe_accept_login(int is_silent);
/* Check that the worker sends this text, and nothing else. */
void probe_hear(const char *text);
void probe_hang_up(void);
/* Check that the worker ends the session without another word. */
void probe_expect_logout(void);
void probe_start(const char *config);

/* ---- the client ---- */

extern struct cnt_raw probe_client;

void probe_attach(void);
/* Start cenoted, log its session in, and attach. */
void probe_begin(const char *config);
/* Let the client go. The worker then resets the session. */
void probe_leave(void);
int probe_teardown(void **state);
void probe_send_code(uint32_t request, uint8_t flags, uint8_t code);
/* The first value of a ROWS frame that was just taken. */
const char *probe_row_text(void);
/* Run a query of one row. Returns the row's first value. */
const char *probe_ask(uint32_t request, const char *sql);

#endif
