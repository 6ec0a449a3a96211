/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The helper: a process without a session, which answers one client and ends. The master forks it
 * (master_children.c) when the door asks for it. It uses the worker's code for openings, TLS and
 * logins.
 */
#include "helper.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "shared/log.h"
#include "shared/priv.h"
#include "shared/sandbox.h"
#include "shared/tls.h"
#include "worker.h"

#define OUTPUT_MAX (256u * 1024u)

/* The kernel ends this process after twice auth_timeout, so that a client that does not read its
 * answer keeps nothing. */
static void
limit_life(const struct cnd_pool_config *c)
{
	alarm((unsigned)(c->auth_timeout_ms / 500 + 1));
}

static void
set_signals(struct cnd_worker *w)
{
	static const int numbers[] = { SIGTERM, SIGALRM };
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct sigaction end = { .sa_handler = SIG_DFL };
	sigset_t none;

	/* SIGINT goes to every process of a terminal, and SIGHUP means a reload: neither ends an
	 * answer */
	sigaction(SIGINT, &ignore, NULL);
	sigaction(SIGHUP, &ignore, NULL);
	sigaction(SIGPIPE, &ignore, NULL);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		sigaction(numbers[i], &end, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	w->waiting_mask = none;
}

/* Keep the TLS keys and users of this pool, and no other secret. */
static void
forget_secrets(const struct cnd_child *child, struct cnd_worker *w)
{
	cnd_pool_configs_forget(child->config, w->config);
	cnd_pool_config_forget_servers(w->config);
	w->tls = cnd_tls_server(w->config, child->tickets);
	cnd_tls_forget(&w->config->tls);
}

/* The helper keeps three rights: to answer this client, to pass a cancel to the door, and to report a
 * failed login there. */
static void
give_up_rights(const struct cnd_child *child, const struct cnd_worker *w)
{
	const struct cnd_config *c = child->config;
	const struct cnd_account who = cnd_pool_config_account(c, w->config);

	cnd_priv_give_up(who.uid, who.gid, who.user, child->master, NULL);
	cnd_auth_prepare(&w->client);
	if (cnd_sandbox_enter(CND_SANDBOX_DOOR, c) < 0)
		exit(1);
}

void
cnd_helper_run(const struct cnd_child *child, const struct cnd_pool *pool,
	const struct cnd_ipc *m)
{
	static struct cnd_slot nobodys;
	static struct cnd_worker helper;
	struct cnd_worker *w = &helper;
	int r;

	cnd_log_set_role("helper", pool->name);
	prctl(PR_SET_NAME, "cenoted-helper");
	set_signals(w);
	limit_life(pool->config);
	w->child = child;
	w->config = pool->config;
	w->board = child->board;
	w->pool = cnd_pool_record(child->board, pool->index);
	w->pool_index = pool->index;
	w->inbox_fd = child->helper_inbox[0];
	w->slot = &nobodys;
	w->client.fd = m->fds[0];
	w->client.is_handed_over = true;
	w->client.peer = m->peer;
	cnc_sm_init(&w->sm, cnd_slot_states, CND_SLOT_STATES, CND_SLOT_STARTING);
	cnp_server_init(&w->client.server, &cnc_mem_default, (size_t)w->config->max_frame,
		OUTPUT_MAX);
	forget_secrets(child, w);
	give_up_rights(child, w);
	r = cnd_attach_answer(w);
	cnd_client_part(w, r);
	cnd_client_close(w);
	cnp_server_finish(&w->client.server);
	exit(r == CENOTE_DONE ? 0 : CND_HELPER_IN_VAIN);
}
