/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_TDS_H
#define CNT_TDS_H

/*
 * A TDS server (SQL Server, Babelfish) that somebody else runs: tests cannot install and start one,
 * as they do with other servers (cnt_server.h). CENOTE_TEST_TDS in the environment says how to log
 * in, in the form of a server line:
 *
 *     host=localhost port=1433 user=test password=secret database=test ca_file=/etc/ssl/test-ca.pem
 *
 * Tests may destroy what is in that database.
 */

/* Call this first in main(). If CENOTE_TEST_TDS is not set, it prints that the test is skipped, and
 * ends the program. */
void cnt_tds_need(void);
/* The server line; NULL if CENOTE_TEST_TDS is not set. */
const char *cnt_tds_line(void);
/* The value of one key of the server line, in a buffer that the next call uses again; NULL if the
 * line does not have the key. */
const char *cnt_tds_option(const char *key);

#endif
