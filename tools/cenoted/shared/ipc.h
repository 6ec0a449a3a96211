/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_IPC_H
#define CND_IPC_H

#include <stddef.h>
#include <stdint.h>

#include "auth/peer.h"

/*
 * Messages between cenoted's own processes, over SOCK_SEQPACKET: one fixed header, at most
 * CND_IPC_BYTES_MAX bytes that a client sent so far (PARTING: that it is to be sent), and at most
 * three descriptors. Each worker has a connection of its own with the door, so nobody speaks for another.
 * Whoever receives nonsense logs it, drops it, and has its sender replaced.
 */
#define CND_IPC_BYTES_MAX 1024u
#define CND_IPC_FDS_MAX   3u

enum cnd_ipc_kind {
	CND_IPC_CLIENT = 1, /* door → worker: a client and its ticket (queue) */
	CND_IPC_RESUME =
		2, /* worker → door → worker: a client that wants a suspended session */
	CND_IPC_SILENT = 3, /* worker → door: a client that has not said a word yet */
	CND_IPC_WAITING = 4, /* door → master: clients of this pool wait */
	CND_IPC_POOL =
		5, /* master → door: a new pool; socket, queue, wake_fd; bytes as NETWORKS */
	CND_IPC_POOL_GONE = 6, /* master → door: this pool was removed */
	CND_IPC_INBOX =
		7, /* master → door: the inbox of the worker in this slot; serial: pool */
	CND_IPC_PARTING =
		8, /* worker → door: last words for a client whose login failed; its pool */
	CND_IPC_LISTENER = 9, /* master → door: a socket of TCP; serial: it has a proxy */
	CND_IPC_LISTENER_GONE = 10, /* master → door: no more clients there */
	CND_IPC_NETWORKS = 11, /* master → door: from where a pool's clients may come */
	CND_IPC_HELP = 12, /* door → master: who needs a helper; serial: its place */
	CND_IPC_HELPED =
		13, /* master → door: that place is free again; serial: it was in vain */
	CND_IPC_ROUTED =
		14, /* worker → door → worker: a client whose session that one has */
	CND_IPC_CANCEL =
		15, /* worker, helper → door: serial: session; bytes: struct cnd_ipc_cancel */
	CND_IPC_NUDGE =
		16, /* door → master: workers that should look around; bytes: their
			     * slots, 16 bits each */
	CND_IPC_BAD = 17 /* door → master: workers that sent nonsense; likewise */
};

/* What a client says who cancels. The door sees for itself whether he may. */
struct cnd_ipc_cancel {
	uint64_t key;
	uint32_t request;
};

_Static_assert(sizeof(struct cnd_networks) <= CND_IPC_BYTES_MAX, "a message holds them");

struct cnd_ipc {
	uint32_t kind; /* enum cnd_ipc_kind */
	uint32_t index; /* pool, slot or ticket */
	uint64_t serial; /* CLIENT: the ticket's; RESUME, CANCEL: the session; HELP: a
			  * place; INBOX: a pool */
	uint32_t n_bytes;
	uint32_t n_fds;
	struct cnd_peer
		peer; /* CLIENT, RESUME, ROUTED, SILENT, PARTING, HELP, CANCEL: who it is */
	uint8_t bytes[CND_IPC_BYTES_MAX];
	int fds[CND_IPC_FDS_MAX]; /* received: close-on-exec, the caller's to close */
};

/* A connected pair, close-on-exec, non-blocking. 0 or -errno. */
int cnd_ipc_pair(int ret_fds[2]);
/* 0; -EAGAIN: no room now; -errno. Never waits. The caller keeps its descriptors. */
int cnd_ipc_send(int fd, const struct cnd_ipc *m);
/* 1: a message; 0: none now; -EPIPE: the other side is gone; -EBADMSG: nonsense; -EMFILE: this process had no room for the
 * message's descriptors, and they are closed; -errno. */
int cnd_ipc_receive(int fd, struct cnd_ipc *ret_m);
/* Nobody takes its descriptors. */
void cnd_ipc_drop(struct cnd_ipc *m);

/* Descriptors that a process holds only to close them when a message needs the room. All zero: it holds none. */
struct cnd_ipc_spares {
	int fds[CND_IPC_FDS_MAX];
};

/* Hold as many copies of `fd` as a message may bring descriptors. 0, or -errno if there is no room for them. */
int cnd_ipc_spares_take(struct cnd_ipc_spares *s, int fd);
void cnd_ipc_spares_give_up(struct cnd_ipc_spares *s);

#endif
