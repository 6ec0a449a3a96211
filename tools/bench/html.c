/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The page of a report: one file with everything in it, for bright and dark screens. report_files.c
 * calls it. It owns no state.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "figures.h"

static const char style[] =
	":root{color-scheme:light "
	"dark;--ink:#1a1a1a;--paper:#fff;--line:#ccc;--weak:#555}\n"
	"@media(prefers-color-scheme:dark){:root{--ink:#e8e8e8;--paper:#161616;--line:#"
	"444;"
	"--weak:#aaa}}\n"
	"body{font:16px/1.5 sans-serif;color:var(--ink);background:var(--paper);"
	"max-width:60rem;margin:2rem auto;padding:0 1rem}\n"
	"h1{font-size:1.6rem}h2{font-size:1.2rem;margin-top:2.5rem}\n"
	"table{border-collapse:collapse;font-size:.85rem;font-variant-numeric:tabular-"
	"nums}\n"
	"th,td{border-bottom:1px solid var(--line);padding:.2rem .6rem;text-align:right;"
	"white-space:nowrap}\n"
	"th:nth-child(-n+3),td:nth-child(-n+3),td.note{text-align:left}td.note{"
	"white-space:normal;"
	"min-width:14rem}\n"
	"p.weak{color:var(--weak)}div.wide{overflow-x:auto}\n"
	/* gnuplot draws text and axes in black on white. */
	"figure{margin:1rem 0}figure svg{width:100%;height:auto;color:var(--ink)}\n"
	"figure svg rect[fill='#ffffff']{fill:none}\n"
	"figure svg text{fill:var(--ink)}figure svg g[fill='black']{fill:var(--ink)}\n"
	"figure svg g[color='black']{color:var(--ink)}\n"
	"figure svg [stroke='black']{stroke:var(--ink)}\n";

static void
put_escaped(const char *text, FILE *f)
{
	for (; *text != '\0'; text++) {
		switch (*text) {
		case '<':
			fputs("&lt;", f);
			break;
		case '>':
			fputs("&gt;", f);
			break;
		case '&':
			fputs("&amp;", f);
			break;
		case '"':
			fputs("&quot;", f);
			break;
		default:
			putc(*text, f);
		}
	}
}

/* ------------------------------------------------------------- the head -- */

static void
put_fact(const char *name, const char *value, FILE *f)
{
	if (value[0] == '\0')
		return;
	fprintf(f, "<tr><td>%s</td><td>", name);
	put_escaped(value, f);
	fputs("</td></tr>\n", f);
}

static void
put_head(const struct cnb_report *report, FILE *f)
{
	char cpus[64];

	fprintf(f,
		"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
		"<meta name=\"viewport\" content=\"width=device-width\"/>\n"
		"<title>Cenote: what a pool costs and "
		"gains</title>\n<style>\n%s</style>\n"
		"</head>\n<body>\n<h1>What a pool costs and gains</h1>\n",
		style);
	if (report->is_complete == 0)
		fputs("<p><strong>This report is not complete:</strong> it was "
		      "interrupted, or something failed. What was measured is "
		      "here.</p>\n",
			f);
	if (report->is_quick != 0)
		fputs("<p><strong>A quick run:</strong> the figures are rough.</p>\n", f);
	fputs("<table>\n", f);
	snprintf(cpus, sizeof(cpus), "%.0f; load of the machine at the start: %.1f",
		report->n_cpus, report->load);
	put_fact("started (UTC)", report->started, f);
	put_fact("Cenote", report->version, f);
	put_fact("servers", report->servers, f);
	put_fact("CPU", report->cpu, f);
	put_fact("CPUs", cpus, f);
	put_fact("kernel", report->kernel, f);
	fputs("</table>\n<p class=\"weak\">Figures are medians of rounds in which the "
	      "targets take turns. pooled is a program on libcenote; shim and mysql-shim "
	      "are "
	      "programs of libpq and libmariadb on a pool of Cenote; direct, postgresql "
	      "and mariadb are without a pool.</p>\n",
		f);
}

/* --------------------------------------------------------- the summary -- */

/* Write each point of the set queries where the pool is slower than the server itself. */
static void
put_points_below(const struct cnb_figures *figures, FILE *f)
{
	size_t i, n = 0, n_below = 0;

	for (i = 0; i < figures->n; i++) {
		const struct cnb_figure *g = &figures->list[i];

		if (strcmp(g->set, "queries") != 0 || strcmp(g->target, "pooled") != 0 ||
			!isfinite(g->wall_ratio))
			continue;
		n++;
		n_below += g->wall_ratio > 1;
	}
	if (n == 0)
		return;
	fprintf(f,
		"<h2>Is the pool at least as fast?</h2>\n<p>Of %zu points of queries per "
		"connection, "
		"pooled is slower than the server itself at %zu.</p>\n",
		n, n_below);
	if (n_below == 0)
		return;
	fputs("<table>\n<tr><th>server</th><th>queries per connection</th><th>time / "
	      "direct</th></tr>\n",
		f);
	for (i = 0; i < figures->n; i++) {
		const struct cnb_figure *g = &figures->list[i];

		if (strcmp(g->set, "queries") == 0 && strcmp(g->target, "pooled") == 0 &&
			g->wall_ratio > 1)
			fprintf(f,
				"<tr><td>%s</td><td>%.0f</td><td>%.2f "
				"[%.2f..%.2f]</td></tr>\n",
				g->server, g->x, g->wall_ratio, g->wall_ratio_p25,
				g->wall_ratio_p75);
	}
	fputs("</table>\n", f);
}

/* ------------------------------------------------------------ pictures -- */

/* Names of elements stand behind these in gnuplot's SVG. */
static const char *const before_names[] = { "id=\"", "id='", "href='#", "href=\"#",
	"url(#" };

/* Copy a line, and put the picture's name before each name in it. So no two elements of the page have the
 * same name. */
static void
put_svg_line(const char *line, const char *picture, FILE *f)
{
	size_t i;

	while (*line != '\0') {
		for (i = 0; i < sizeof(before_names) / sizeof(before_names[0]); i++) {
			size_t n = strlen(before_names[i]);

			if (strncmp(line, before_names[i], n) != 0)
				continue;
			fprintf(f, "%s%s-", before_names[i], picture);
			line += n;
			break;
		}
		if (i == sizeof(before_names) / sizeof(before_names[0]))
			putc(*line++, f);
	}
}

/* Copy an SVG into the page, without the declarations at the start of the file. */
static void
put_svg(const char *dir, const struct cnb_picture *picture, FILE *f)
{
	char path[4096], line[4096];
	int is_inside = 0;
	FILE *svg;

	snprintf(path, sizeof(path), "%s/%s.svg", dir, picture->name);
	svg = fopen(path, "re");
	if (svg == NULL)
		return;
	while (fgets(line, sizeof(line), svg) != NULL) {
		is_inside |= strncmp(line, "<svg", 4) == 0;
		if (is_inside)
			put_svg_line(line, picture->name, f);
	}
	fclose(svg);
}

static void
put_picture(const char *dir, const struct cnb_picture *picture, FILE *f)
{
	fputs("<h2>", f);
	put_escaped(picture->title, f);
	fputs("</h2>\n<p>", f);
	put_escaped(picture->text, f);
	fprintf(f, "</p>\n<figure id=\"%s\">\n", picture->name);
	put_svg(dir, picture, f);
	fputs("</figure>\n", f);
}

/* -------------------------------------------------------------- tables -- */

static void
put_cell(double v, FILE *f)
{
	if (!isfinite(v))
		fputs("<td></td>", f);
	else if (fabs(v) >= 100)
		fprintf(f, "<td>%.0f</td>", v);
	else
		fprintf(f, "<td>%.*f</td>", fabs(v) >= 10 ? 1 : 2, v);
}

static void
put_row(const struct cnb_figure *g, FILE *f)
{
	const double cells[] = { g->x, g->clients, g->queries_per_s, g->p50_us, g->p90_us,
		g->p99_us, g->p999_us, g->cpu_us, g->client_cpu_us, g->cenoted_cpu_us,
		g->pgbouncer_cpu_us, g->server_cpu_us, g->memory_kib, g->wall_ratio,
		g->cpu_ratio };
	size_t i;

	fputs("<tr><td>", f);
	put_escaped(g->server, f);
	fputs("</td><td>", f);
	put_escaped(g->workload, f);
	fputs("</td><td>", f);
	put_escaped(g->target, f);
	fputs("</td>", f);
	for (i = 0; i < sizeof(cells) / sizeof(cells[0]); i++)
		put_cell(cells[i], f);
	fputs("<td class=\"note\">", f);
	put_escaped(g->note, f);
	fputs("</td></tr>\n", f);
}

static int
is_first_of_set(const struct cnb_figures *figures, size_t at)
{
	size_t i;

	for (i = 0; i < at; i++) {
		if (strcmp(figures->list[i].set, figures->list[at].set) == 0)
			return 0;
	}
	return 1;
}

static void
put_table(const struct cnb_figures *figures, const char *set, FILE *f)
{
	static const char *const heads[] = { "server", "work", "target", "x", "clients",
		"per s", "p50, µs", "p90", "p99", "p99.9", "CPU, µs", "client", "cenoted",
		"other pool", "server", "memory, KiB", "time / direct", "CPU / direct",
		"note" };
	size_t i;

	fprintf(f, "<details><summary>%s</summary>\n<div class=\"wide\"><table>\n<tr>",
		set);
	for (i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
		fprintf(f, "<th>%s</th>", heads[i]);
	fputs("</tr>\n", f);
	for (i = 0; i < figures->n; i++) {
		if (strcmp(figures->list[i].set, set) == 0)
			put_row(&figures->list[i], f);
	}
	fputs("</table></div></details>\n", f);
}

int
cnb_html_write(const struct cnb_report *report, const char *dir,
	const struct cnb_picture *pictures, size_t n_pictures, FILE *f)
{
	size_t i;

	put_head(report, f);
	put_points_below(&report->figures, f);
	for (i = 0; i < n_pictures; i++)
		put_picture(dir, &pictures[i], f);
	fputs("<h2>All figures</h2>\n<p class=\"weak\">The same as in figures.csv and "
	      "report.json. x is the number of queries per connection, of clients, or "
	      "the "
	      "depth of the pipeline.</p>\n",
		f);
	for (i = 0; i < report->figures.n; i++) {
		if (is_first_of_set(&report->figures, i))
			put_table(&report->figures, report->figures.list[i].set, f);
	}
	fputs("</body>\n</html>\n", f);
	return ferror(f) ? -1 : 0;
}
