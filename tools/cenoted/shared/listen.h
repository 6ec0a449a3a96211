/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_LISTEN_H
#define CND_LISTEN_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* The TCP door's addresses: `listen` lines of the configuration, and the sockets they become. */
#define CND_LISTENERS_MAX  32u
#define CND_LISTEN_WHY_MAX 256u

/* An address to listen on. */
struct cnd_listen {
	struct sockaddr_storage addr;
	socklen_t len;
	uint8_t has_proxy; /* every client comes with a header of the PROXY protocol, version 2 */
};

struct cnd_listens {
	struct cnd_listen list[CND_LISTENERS_MAX];
	size_t n;
};

/*
 * Add what "HOST:PORT [proxy=v2]" says: HOST is an address, [an IPv6 one], a name, which may have
 * several, or * for every address of the machine. 0, or -1 with the reason in `why`.
 */
int cnd_listen_add(struct cnd_listens *l, const char *text, char why[CND_LISTEN_WHY_MAX]);
int cnd_listen_is_equal(const struct cnd_listen *a, const struct cnd_listen *b);
/* A listening socket: its number, or -1 with errno. */
int cnd_listen_open(const struct cnd_listen *a);

/* The sockets, by the slot that the door knows them by. */
struct cnd_listeners {
	struct cnd_listener {
		int fd; /* -1: unused */
		struct cnd_listen at;
	} list[CND_LISTENERS_MAX];
};

/* Called while another process still has the address `what`. 1: try again; 0: give up. */
typedef int cnd_await_address(const char *what);

void cnd_listeners_init(struct cnd_listeners *l);
void cnd_listeners_close(struct cnd_listeners *l);
/* Open what is wanted and not there yet, or take it from the service manager. 0, or -1, logged: nothing is
 * left open then. `await` NULL: an address that is in use is not waited for. */
int cnd_listeners_prepare(const struct cnd_listeners *now,
	const struct cnd_listens *wanted, cnd_await_address *await,
	struct cnd_listeners *ret_new);
/* Close what is not wanted any more, and add the new ones. The door is told of both (control_fd -1: there is
 * none yet). */
void cnd_listeners_adopt(struct cnd_listeners *now, const struct cnd_listens *wanted,
	const struct cnd_listeners *new, int control_fd);

/* "127.0.0.1:9432", "[::]:9432". */
#define CND_LISTEN_TEXT_MAX 64u
const char *cnd_listen_text(const struct cnd_listen *a, char out[CND_LISTEN_TEXT_MAX]);

#endif
