/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_IPC_H
#define CND_IPC_H

#include <stddef.h>
#include <stdint.h>

#include "auth/peer.h"

/*
 * Messages between cenoted's own processes, over SOCK_SEQPACKET. Each has a fixed header, up to
 * CND_IPC_BYTES_MAX bytes that a client has sent so far (PARTING: bytes to send to it), and up to
 * three descriptors. Each worker has its own connection with the door, so no worker can speak for
 * another; a shared worker has one for each of its sessions, and one with the master. A process that receives nonsense logs and drops it, and has the sender replaced.
 */
#define CND_IPC_BYTES_MAX 1024u
#define CND_IPC_FDS_MAX   3u

enum cnd_ipc_kind {
	CND_IPC_CLIENT =
		1, /* door → worker: a client and its ticket (through the queue) */
	CND_IPC_RESUME =
		2, /* worker → door → worker: a client that wants a suspended session */
	CND_IPC_SILENT = 3, /* worker → door: a client that has sent nothing yet */
	CND_IPC_WAITING = 4, /* door → master: clients of this pool wait */
	CND_IPC_POOL =
		5, /* master → door: a new pool; socket, queue, wake_fd; bytes as in NETWORKS */
	CND_IPC_POOL_GONE = 6, /* master → door: this pool was removed */
	CND_IPC_INBOX =
		7, /* master → door: the inbox of the worker in this slot; serial: pool */
	CND_IPC_PARTING =
		8, /* worker → door: the last message for a client whose login failed; index: its pool */
	CND_IPC_LISTENER =
		9, /* master → door: a TCP socket; serial: a proxy sends a header first */
	CND_IPC_LISTENER_GONE = 10, /* master → door: stop accepting on this TCP socket */
	CND_IPC_NETWORKS = 11, /* master → door: where a pool's clients may come from */
	CND_IPC_HELP =
		12, /* door → master: a client that needs a helper; serial: its place */
	CND_IPC_HELPED =
		/* master → door: the helper's place is free again; serial: the helper worked in
		 * vain */
		13,
	CND_IPC_ROUTED =
		14, /* worker → door → worker: a client whose session the other worker has */
	CND_IPC_CANCEL =
		15, /* worker, helper → door: serial: session; bytes: struct cnd_ipc_cancel */
	CND_IPC_NUDGE =
		16, /* door → master: workers to wake; bytes: their slots, 16 bits each */
	CND_IPC_BAD = 17, /* door → master: workers that sent nonsense; bytes: the same */
	CND_IPC_SEAT =
		18, /* master → shared worker: begin a session in this slot; its inbox */
	CND_IPC_SEAT_ENDED =
		19, /* shared worker → master: the session in this slot has ended */
	CND_IPC_GROW =
		20 /* shared worker → master: serial: how many of its clients wait */
};

/* A client's cancel request. The door checks that the client may cancel. */
struct cnd_ipc_cancel {
	uint64_t key;
	uint32_t request;
};

_Static_assert(sizeof(struct cnd_networks) <= CND_IPC_BYTES_MAX, "a message holds them");

struct cnd_ipc {
	uint32_t kind; /* enum cnd_ipc_kind */
	uint32_t index; /* pool, slot or ticket */
	uint64_t serial; /* CLIENT: the ticket's; RESUME, CANCEL: the session; HELP: a
			  * place; INBOX: a pool; GROW: clients */
	uint32_t n_bytes;
	uint32_t n_fds;
	struct cnd_peer
		peer; /* CLIENT, RESUME, ROUTED, SILENT, PARTING, HELP, CANCEL: where the client came from */
	uint8_t bytes[CND_IPC_BYTES_MAX];
	int fds[CND_IPC_FDS_MAX]; /* when received: close-on-exec, for the caller to close */
};

/* Make a connected pair, close-on-exec and non-blocking. 0 or -errno. */
int cnd_ipc_pair(int ret_fds[2]);
/* Send a message. 0; -EAGAIN: no space now; -errno. Never waits. The caller keeps its descriptors. */
int cnd_ipc_send(int fd, const struct cnd_ipc *m);
/* Receive a message. 1: a message; 0: none now; -EPIPE: the other side is gone; -EBADMSG: nonsense;
 * -EMFILE: there was no room for the message's descriptors, which are closed now; -errno. */
int cnd_ipc_receive(int fd, struct cnd_ipc *ret_m);
/* Close the message's descriptors. */
void cnd_ipc_drop(struct cnd_ipc *m);

/* Descriptors that a process holds in reserve, and closes when a message needs them. All zero: it
 * holds none. */
struct cnd_ipc_spares {
	int fds[CND_IPC_FDS_MAX];
};

/* Hold as many copies of `fd` as a message may have descriptors. 0; or -errno if there is no room. */
int cnd_ipc_spares_take(struct cnd_ipc_spares *s, int fd);
void cnd_ipc_spares_give_up(struct cnd_ipc_spares *s);

#endif
