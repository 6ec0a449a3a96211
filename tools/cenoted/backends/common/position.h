/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_POSITION_H
#define CND_POSITION_H

/*
 * Positions in the stream of changes of a server (cnd_backend.position()), as texts. `have` is what a server has, as the
 * backend reported it; NULL: only check the form of `wanted`. `wanted` comes from a client, so it may be anything.
 *
 * 1: the server has all that is before `wanted`; 0: not yet. CENOTE_ERR_ARG: `wanted` is no position, or can never be
 * compared with `have`; *ret_why says so.
 */

/* PostgreSQL: SYSTEM/TIMELINE/HIGH/LOW. The first is the identifier of the cluster, the last two are the LSN as pg_lsn prints
 * it. */
int cnd_lsn_covers(const char *have, const char *wanted, const char **ret_why);

/* MariaDB: GTIDs, DOMAIN-SERVER-NUMBER, one for each domain, separated by commas; "": none. */
int cnd_gtid_covers(const char *have, const char *wanted, const char **ret_why);

#endif
