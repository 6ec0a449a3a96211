/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef OPEN_METRICS_H
#define OPEN_METRICS_H

/* A checker for the text format of OpenMetrics 1.0, as far as cenoted uses it. */

/* Fail the test unless the text is well-formed. */
void om_check(const char *text);
/* The value of a sample, such as "a_total{pool=\"main\"}"; the test fails if there is none. */
long long om_value(const char *text, const char *sample);

#endif
