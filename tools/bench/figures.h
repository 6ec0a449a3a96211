/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNB_FIGURES_H
#define CNB_FIGURES_H

#include <stddef.h>
#include <stdio.h>

#include "bench.h"

/*
 * What `cenote-bench report` measured: a list of figures, one for each target at each point. It is
 * written as JSON and CSV, and read again to draw and to compare.
 *
 * A number that is unknown is NAN: null in JSON, empty in CSV.
 */

/* Texts: the set of measurements, the kind of database, the way to it, what was done, the target that
 * the ratios refer to, and what limited the figure or why it is missing. */
#define CNB_FIGURE_TEXTS(X)                                                              \
	X(set, 16)                                                                       \
	X(server, 16)                                                                    \
	X(target, 36)                                                                    \
	X(workload, 16)                                                                  \
	X(base, 16)                                                                      \
	X(note, 160)

/* Numbers. `x` is what varies in the set: queries per connection, clients, or the depth of a pipeline.
 * Times are microseconds; those of wall and CPU are per query, those of p50 to p999 per operation. A
 * ratio compares with the base in the same round. */
#define CNB_FIGURE_NUMBERS(X)                                                            \
	X(x)                                                                             \
	X(clients)                                                                       \
	X(sessions)                                                                      \
	X(refused)                                                                       \
	X(rounds)                                                                        \
	X(queries_per_s)                                                                 \
	X(wall_us)                                                                       \
	X(wall_us_p25)                                                                   \
	X(wall_us_p75)                                                                   \
	X(p50_us)                                                                        \
	X(p90_us)                                                                        \
	X(p99_us)                                                                        \
	X(p999_us)                                                                       \
	X(cpu_us)                                                                        \
	X(cpu_us_p25)                                                                    \
	X(cpu_us_p75)                                                                    \
	X(client_cpu_us)                                                                 \
	X(cenoted_cpu_us)                                                                \
	X(pgbouncer_cpu_us)                                                              \
	X(server_cpu_us)                                                                 \
	X(cpus_busy)                                                                     \
	X(memory_kib)                                                                    \
	X(wall_ratio)                                                                    \
	X(wall_ratio_p25)                                                                \
	X(wall_ratio_p75)                                                                \
	X(cpu_ratio)                                                                     \
	X(cpu_ratio_p25)                                                                 \
	X(cpu_ratio_p75)

struct cnb_figure {
#define CNB_FIGURE_TEXT(name, size) char name[size];
#define CNB_FIGURE_NUMBER(name)     double name;
	CNB_FIGURE_TEXTS(CNB_FIGURE_TEXT)
	CNB_FIGURE_NUMBERS(CNB_FIGURE_NUMBER)
};

struct cnb_figures {
	struct cnb_figure *list;
	size_t n;
};

/* The head of a report: the version of Cenote, when the report started (UTC), the machine, and the
 * versions of the servers. */
#define CNB_REPORT_TEXTS(X)                                                              \
	X(version, 24)                                                                   \
	X(started, 32)                                                                   \
	X(cpu, 128)                                                                      \
	X(kernel, 128)                                                                   \
	X(servers, 256)

/* `load` is that of the machine at the start. `is_complete` is 0 if the report was interrupted, or if
 * something failed. */
#define CNB_REPORT_NUMBERS(X)                                                            \
	X(n_cpus)                                                                        \
	X(load)                                                                          \
	X(is_quick)                                                                      \
	X(is_complete)

struct cnb_report {
	CNB_REPORT_TEXTS(CNB_FIGURE_TEXT)
	CNB_REPORT_NUMBERS(CNB_FIGURE_NUMBER)
	struct cnb_figures figures;
};

/* All texts are empty, and all numbers are unknown. */
void cnb_figure_init(struct cnb_figure *ret_figure);
/* Find a number or a text by its name. NULL: there is none with this name. */
double *cnb_figure_number(struct cnb_figure *figure, const char *name);
char *cnb_figure_text(struct cnb_figure *figure, const char *name, size_t *ret_size);
/* The value of a number by its name. NAN: it is unknown, or there is none with this name. */
double cnb_figure_value(const struct cnb_figure *figure, const char *name);

/* 0, or -1: out of memory. */
int cnb_figures_add(struct cnb_figures *figures, const struct cnb_figure *figure);
void cnb_figures_finish(struct cnb_figures *figures);

/* Write a text with its quotes. */
void cnb_json_put_text(const char *text, FILE *f);
void cnb_report_put_json(const struct cnb_report *report, FILE *f);
void cnb_report_put_csv(const struct cnb_report *report, FILE *f);

/* Read a report from JSON. The text need not end with a zero. 0; -1 with the error set. */
int cnb_report_parse(const char *text, size_t len, struct cnb_report *ret_report,
	struct cnb_error *ret_error);
int cnb_report_read(
	const char *path, struct cnb_report *ret_report, struct cnb_error *ret_error);

/* ------------------------------------------------------------------ compare ----- */

struct cnb_change {
	const struct cnb_figure *before, *after;
	const char *what; /* the name of the number that changed */
	double ratio; /* after / before */
};

struct cnb_changes {
	struct cnb_change *list; /* what is more than noise; the worst first */
	size_t n, n_slower;
	size_t n_compared;
	size_t n_missing; /* figures of `before` that `after` lacks */
};

/* Find what changed by more than `share` (0.05: 5 %) and by more than the noise. 0, or -1: out of
 * memory. */
int cnb_compare(const struct cnb_report *before, const struct cnb_report *after,
	double share, struct cnb_changes *ret_changes);
/* Be the command compare. Returns the exit status: 0: no figure is worse; 3: some are worse; 1: an error,
 * which was reported. */
int cnb_compare_files(const char *before, const char *after, double share);

/* -------------------------------------------------------------------- write ----- */

/* Write report.json, figures.csv, report.html and, with `has_plots`, the pictures. 0; -1 with the error
 * set. */
int cnb_report_write(const struct cnb_report *report, const char *dir, int has_plots,
	struct cnb_error *ret_error);
/* Write report.json and figures.csv only. */
int cnb_report_save(
	const struct cnb_report *report, const char *dir, struct cnb_error *ret_error);

/* A picture of the report: its file is NAME.svg and NAME.png. */
struct cnb_picture {
	char name[48];
	char title[96];
	const char *text; /* what it shows */
};

/* Draw each picture for which there are figures. 0; -1 with the error set. */
int cnb_plot(const struct cnb_report *report, const char *gnuplot, const char *dir,
	struct cnb_picture **ret_pictures, size_t *ret_n, struct cnb_error *ret_error);
/* Write the page. 0, or -1: the file has an error. */
int cnb_html_write(const struct cnb_report *report, const char *dir,
	const struct cnb_picture *pictures, size_t n_pictures, FILE *f);

#endif
