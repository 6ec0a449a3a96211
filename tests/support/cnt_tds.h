/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_TDS_H
#define CNT_TDS_H

/*
 * A TDS server (SQL Server, Babelfish) that somebody runs: there is none that could be installed and started
 * as others are (cnt_server.h). CENOTE_TEST_TDS in the environment is how to log in there, in the words of a
 * server line:
 *
 *     host=localhost port=1433 user=test password=secret database=test ca_file=/etc/ssl/test-ca.pem
 *
 * What is in that database may be lost.
 */

/* Call this first in main(). Without such a server it prints that the test is skipped, and ends the
 * program. */
void cnt_tds_need(void);
/* The line; NULL if there is none. */
const char *cnt_tds_line(void);
/* The value of one of its keys, in a buffer that the next call uses again; NULL if it has none. */
const char *cnt_tds_option(const char *key);

#endif
