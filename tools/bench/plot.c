/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The pictures of a report: a table of them, and a script for gnuplot for each. report_files.c calls
 * it. It owns no state.
 *
 * The colours are those of Okabe and Ito that stand out on white and on black. Colour-blind people can
 * tell them apart. Each line also has its own kind of point.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "figures.h"

#define MAX_LINES 12

enum kind {
	KIND_LINES, /* a line for each target, over x */
	KIND_LATENCY, /* a line for each target, over the share of operations */
	KIND_STACK, /* CPU of client, pool and server for each workload and target */
	KIND_BARS /* a bar for each target, in groups of workloads */
};

static const struct design {
	const char *name;
	const char *set, *workload; /* the figures; NULL: all workloads */
	const char
		*value; /* the number on the y axis; KIND_LATENCY draws all percentiles */
	double scale; /* the number is multiplied by it */
	enum kind kind;
	const char *title; /* followed by the name of the server */
	const char *x_label, *y_label;
	int is_log_x, is_log_y;
	const char *text;
} designs[] = {
	{ "queries", "queries", "rows", "queries_per_s", 1, KIND_LINES,
		"Queries per second, by queries per connection", "queries per connection",
		"queries/s", 1, 0,
		"One client connects, reads 256 rows of 16 columns of 32 bytes n times, "
		"and disconnects. A login costs the server much, so a pool gains most "
		"where connections are short. The lines meet where the login no longer "
		"counts. Higher is better." },
	{ "cpu", "work", NULL, "cpu_us", 1, KIND_STACK, "CPU time per query, by process",
		"", "", 0, 0,
		"CPU of the client, the pool and the server, for one client on one CPU, "
		"as "
		"a share of what the same work takes without a pool. The microseconds "
		"stand beside the names. Bars end at 300 %. Shorter is better." },
	{ "rate", "clients", "transaction", "queries_per_s", 1, KIND_LINES,
		"Transactions per second, by clients", "busy clients", "transactions/s",
		1, 0,
		"Each client does a transaction with a SELECT and an UPDATE of one row, "
		"again and again. The pools have 8 sessions and give one to each "
		"transaction. Directly, each client has its own connection. Higher is "
		"better." },
	{ "p99", "clients", "transaction", "p99_us", 0.001, KIND_LINES,
		"The 99th percentile of a transaction, by clients", "busy clients",
		"milliseconds", 1, 1,
		"Of 100 transactions, 99 took no longer. With more clients than "
		"sessions, "
		"the time to wait for a session is part of it. Lower is better." },
	{ "latency", "clients", "transaction", "p50_us", 0.001, KIND_LATENCY,
		"How long transactions take", "share of transactions", "milliseconds", 0,
		1,
		"The same with 64 clients: how long half of the transactions took, nine "
		"of ten, and so on. Lower is better." },
	{ "pipeline", "pipeline", "pipeline", "queries_per_s", 1, KIND_LINES,
		"Queries per second in a pipeline, by its depth",
		"requests sent before the first answer is read", "queries/s", 1, 0,
		"One client sends n requests and then reads n answers. Depth 1 is a "
		"pipeline in form only. Higher is better." },
	{ "idle", "idle", "idle", "memory_kib", 1 / 1024.0, KIND_LINES,
		"Memory of pool and server, by attached clients", "attached clients",
		"MiB", 1, 0,
		"All clients are connected and one of them works. The memory is that of "
		"all processes of the pool and the server. Lower is better." },
	{ "tls", "tls", NULL, "cpu_us", 1, KIND_BARS, "CPU time with TLS", "",
		"CPU time per query, µs", 0, 1,
		"One client by TCP on an SQLite pool, with each suite of ciphers and in "
		"clear text. Short connections resume a TLS session. Lower is better." },
	{ "retail", "retail", "retail", "queries_per_s", 1, KIND_LINES,
		"Retail: operations per second, by users", "users", "operations/s", 0, 0,
		"Of 1,250 users 850 sell, 200 look at the stock and 200 at the turnover, "
		"with a pause of about a second. Where a line bends, something is used "
		"up: "
		"the table says what. Higher is better." },
	{ "retail-p99", "retail", "retail", "p99_us", 0.001, KIND_LINES,
		"Retail: the 99th percentile of an operation, by users", "users",
		"milliseconds", 0, 1, "The same load. Lower is better." },
};

#define N_DESIGNS (sizeof(designs) / sizeof(designs[0]))

static const char *const servers[] = { "sqlite", "postgresql", "mariadb" };
static const char *const server_titles[] = { "SQLite", "PostgreSQL", "MariaDB" };

#define N_SERVERS    (sizeof(servers) / sizeof(servers[0]))
#define MAX_PICTURES (N_DESIGNS * N_SERVERS)

/* Targets that are not in the list share the last style. */
static const struct {
	const char *target, *colour;
	int point;
} styles[] = {
	{ "pooled", "#0072B2", 7 },
	{ "shim", "#CC79A7", 9 },
	{ "mysql-shim", "#CC79A7", 9 },
	{ "odbc", "#56B4E9", 11 },
	{ "pgbouncer", "#009E73", 5 },
	{ "pgpool", "#E69F00", 6 },
	{ "peer-postgresql", "#000000", 3 },
	{ "peer-mariadb", "#000000", 3 },
	{ "postgresql", "#D55E00", 13 },
	{ "mariadb", "#D55E00", 13 },
	{ "direct", "#D55E00", 13 },
	{ "", "#888888", 1 },
};

static size_t
style_of(const char *target)
{
	size_t i;

	for (i = 0; styles[i].target[0] != '\0'; i++) {
		if (strcmp(styles[i].target, target) == 0)
			break;
	}
	return i;
}

/* ------------------------------------------------------- which figures -- */

struct lines {
	const char *names[MAX_LINES];
	size_t n;
};

static void
add_name(struct lines *lines, const char *name)
{
	size_t i;

	for (i = 0; i < lines->n; i++) {
		if (strcmp(lines->names[i], name) == 0)
			return;
	}
	if (lines->n < MAX_LINES)
		lines->names[lines->n++] = name;
}

static double
value_of(const struct design *d, const struct cnb_figure *figure)
{
	return cnb_figure_value(figure, d->value) * d->scale;
}

static int
belongs(const struct design *d, const char *server, const struct cnb_figure *f)
{
	if (strcmp(f->set, d->set) != 0 || strcmp(f->server, server) != 0 ||
		(d->workload != NULL && strcmp(f->workload, d->workload) != 0))
		return 0;
	if (d->kind == KIND_LATENCY && f->clients != 64)
		return 0;
	return value_of(d, f) > 0;
}

static void
find_lines(const struct design *d, const char *server, const struct cnb_figures *figures,
	struct lines *ret_targets, struct lines *ret_workloads, size_t *ret_n)
{
	size_t i;

	ret_targets->n = ret_workloads->n = *ret_n = 0;
	for (i = 0; i < figures->n; i++) {
		if (!belongs(d, server, &figures->list[i]))
			continue;
		add_name(ret_targets, figures->list[i].target);
		add_name(ret_workloads, figures->list[i].workload);
		++*ret_n;
	}
}

/* ------------------------------------------------------------ the data -- */

/* A picture that is being written. */
struct drawing {
	FILE *f;
	const struct design *design;
	const char *server;
	const struct cnb_figures *figures;
	struct lines targets, workloads;
};

static void
put_line_data(const struct drawing *w, const char *target)
{
	static const struct {
		double share;
		const char *name;
	} shares[] = { { 1, "p50_us" }, { 2, "p90_us" }, { 3, "p99_us" },
		{ 4, "p999_us" } };
	size_t i, k;

	for (i = 0; i < w->figures->n; i++) {
		const struct cnb_figure *f = &w->figures->list[i];

		if (!belongs(w->design, w->server, f) || strcmp(f->target, target) != 0)
			continue;
		if (w->design->kind == KIND_LINES)
			fprintf(w->f, "%.7g %.7g\n", f->x, value_of(w->design, f));
		for (k = 0; w->design->kind == KIND_LATENCY && k < 4; k++)
			fprintf(w->f, "%.0f %.7g\n", shares[k].share,
				cnb_figure_value(f, shares[k].name) * w->design->scale);
	}
}

static const struct cnb_figure *
find_figure(const struct drawing *w, const char *workload, const char *target)
{
	size_t i;

	for (i = 0; i < w->figures->n; i++) {
		const struct cnb_figure *f = &w->figures->list[i];

		if (belongs(w->design, w->server, f) &&
			strcmp(f->workload, workload) == 0 &&
			strcmp(f->target, target) == 0)
			return f;
	}
	return NULL;
}

static double
or_zero(double v)
{
	return isfinite(v) && v > 0 ? v : 0;
}

/* Write a row for each workload and target: the CPU of the client; that of client and pool; that of
 * client, pool and server. The unit is percent of the last column of the last target, which has no
 * pool. */
static void
put_stack_data(const struct drawing *w)
{
	size_t i, k;

	for (i = 0; i < w->workloads.n; i++) {
		const char *workload = w->workloads.names[i];
		const struct cnb_figure *base =
			find_figure(w, workload, w->targets.names[w->targets.n - 1]);

		for (k = 0; base != NULL && k < w->targets.n; k++) {
			const struct cnb_figure *f =
				find_figure(w, workload, w->targets.names[k]);
			double scale = 100 / base->cpu_us, client, pool;

			if (f == NULL)
				continue;
			client = or_zero(f->client_cpu_us);
			pool = client + or_zero(f->cenoted_cpu_us) +
			       or_zero(f->pgbouncer_cpu_us);
			fprintf(w->f, "\"%s, %s: %.*f µs\" %.7g %.7g %.7g\n", workload,
				f->target, f->cpu_us < 100 ? 1 : 0, f->cpu_us,
				client * scale, pool * scale, f->cpu_us * scale);
		}
	}
}

/* Write a row for each target, with a column for each workload. */
static void
put_bar_data(const struct drawing *w)
{
	size_t i, k;

	for (k = 0; k < w->targets.n; k++) {
		fprintf(w->f, "\"%s\"", w->targets.names[k]);
		for (i = 0; i < w->workloads.n; i++) {
			const struct cnb_figure *f = find_figure(
				w, w->workloads.names[i], w->targets.names[k]);

			if (f != NULL)
				fprintf(w->f, " %.7g", value_of(w->design, f));
			else
				fputs(" NaN", w->f);
		}
		putc('\n', w->f);
	}
}

static void
put_data(const struct drawing *w)
{
	size_t i;

	if (w->design->kind == KIND_STACK || w->design->kind == KIND_BARS) {
		fputs("$data << EOD\n", w->f);
		if (w->design->kind == KIND_STACK)
			put_stack_data(w);
		else
			put_bar_data(w);
		fputs("EOD\n", w->f);
		return;
	}
	for (i = 0; i < w->targets.n; i++) {
		fprintf(w->f, "$line%zu << EOD\n", i);
		put_line_data(w, w->targets.names[i]);
		fputs("EOD\n", w->f);
	}
}

/* ---------------------------------------------------------- the script -- */

/* Put labels at the points that were measured, instead of the powers of ten. */
static void
put_tics(const struct drawing *w)
{
	double first = -1, last = -1;
	size_t i;

	fputs("set xtics (", w->f);
	for (i = 0; i < w->figures->n; i++) {
		const struct cnb_figure *f = &w->figures->list[i];

		if (!belongs(w->design, w->server, f) || f->x <= last)
			continue;
		fprintf(w->f, "%s'%.0f' %.0f", last >= 0 ? ", " : "", f->x, f->x);
		last = f->x;
		first = first < 0 ? last : first;
	}
	/* Otherwise the axis would end at a power of ten. */
	fprintf(w->f, ")\nset xrange [%.7g:%.7g]\n", first * 0.95, last * 1.05);
}

static void
put_axes(const struct drawing *w)
{
	const struct design *d = w->design;

	fprintf(w->f,
		"set xlabel '%s'\nset ylabel '%s'\nset grid ytics lc rgb '#888888' lw "
		"0.4\nset border 3\nset tics nomirror\nset format y '%%.10g'\n",
		d->x_label, d->y_label);
	if (d->kind == KIND_LINES || d->kind == KIND_LATENCY)
		fputs("set key outside top center horizontal\n", w->f);
	else
		fputs("set key outside right top vertical noenhanced\n", w->f);
	if (d->is_log_x) {
		fputs("set logscale x\nset format x '%.0f'\n", w->f);
		put_tics(w);
	}
	if (d->is_log_y)
		fputs("set logscale y\n", w->f);
	else
		fputs("set yrange [0:*]\n", w->f);
	if (d->kind == KIND_LATENCY)
		fputs("set xtics ('50 %%' 1, '90 %%' 2, '99 %%' 3, '99.9 %%' 4)\n"
		      "set xrange [0.8:4.2]\n",
			w->f);
}

static void
put_lines(const struct drawing *w)
{
	size_t i;

	fputs("plot", w->f);
	for (i = 0; i < w->targets.n; i++) {
		size_t s = style_of(w->targets.names[i]);

		fprintf(w->f,
			"%s $line%zu using 1:2 with linespoints lc rgb '%s' lw 2 pt %d "
			"ps 0.8 title '%s'",
			i > 0 ? "," : "", i, styles[s].colour, styles[s].point,
			w->targets.names[i]);
	}
	putc('\n', w->f);
}

/* The bars are horizontal, so that their names have room. Each has three parts: client, pool and server. */
static void
put_stack(const struct drawing *w)
{
	fputs("set grid noytics xtics lc rgb '#888888' lw 0.4\n"
	      "set xlabel 'CPU time, % of that without a pool'\nset ylabel ''\n"
	      "set ytics noenhanced\nset yrange [*:*] reverse\nset xrange [0:300]\n"
	      "set format y '%s'\nset offsets 0,0,0.6,0.6\n"
	      "set key outside top center horizontal\n"
	      "plot $data using 2:0:(0):2:($0-0.35):($0+0.35):ytic(1) with boxxyerror "
	      "fs solid 0.9 noborder lc rgb '#0072B2' title 'client', "
	      "'' using 3:0:2:3:($0-0.35):($0+0.35) with boxxyerror fs solid 0.9 "
	      "noborder lc rgb '#009E73' title 'pool', "
	      "'' using 4:0:3:4:($0-0.35):($0+0.35) with boxxyerror fs solid 0.9 "
	      "noborder lc rgb '#D55E00' title 'server'\n",
		w->f);
}

static void
put_bars(const struct drawing *w)
{
	static const char *const colours[] = { "#0072B2", "#D55E00", "#009E73",
		"#CC79A7" };
	size_t i;

	fputs("set style data histogram\nset style histogram clustered gap 1\n"
	      "set style fill solid 0.9\nset xtics rotate by -25 noenhanced\n"
	      "set rmargin 20\nset bmargin 8\n"
	      "set key outside top center horizontal\nplot",
		w->f);
	for (i = 0; i < w->workloads.n && i < 4; i++)
		fprintf(w->f, "%s $data using %zu%s lc rgb '%s' title '%s'",
			i > 0 ? "," : "", i + 2, i == 0 ? ":xtic(1)" : "", colours[i],
			w->workloads.names[i]);
	putc('\n', w->f);
}

/* Write the script that draws a picture as SVG and as PNG. */
static void
put_script(const struct drawing *w, const char *name, const char *title, size_t n)
{
	int height = w->design->kind == KIND_STACK ? 150 + 20 * (int)n : 420;

	put_data(w);
	fprintf(w->f, "set title '%s'\n", title);
	for (int i = 0; i < 2; i++) {
		if (i == 0)
			fprintf(w->f,
				"set terminal svg size 720,%d dynamic font "
				"'sans-serif,13' background rgb 'white'\n",
				height);
		else
			fprintf(w->f,
				"set terminal pngcairo size 720,%d font 'sans-serif,10' "
				"background rgb 'white'\n",
				height);
		fprintf(w->f, "set output '%s.%s'\n", name, i == 0 ? "svg" : "png");
		put_axes(w);
		if (w->design->kind == KIND_STACK)
			put_stack(w);
		else if (w->design->kind == KIND_BARS)
			put_bars(w);
		else
			put_lines(w);
	}
	fputs("unset output\nreset\n", w->f);
}

/* A line needs two points. */
static int
is_worth_it(const struct drawing *w, size_t n)
{
	if (w->design->kind == KIND_LINES)
		return n > w->targets.n;
	return n > 0;
}

static size_t
put_all(const struct cnb_report *report, FILE *f, struct cnb_picture *pictures)
{
	size_t i, k, n = 0, n_figures;

	for (i = 0; i < N_DESIGNS; i++) {
		for (k = 0; k < N_SERVERS; k++) {
			struct drawing w = { f, &designs[i], servers[k], &report->figures,
				{ { NULL }, 0 }, { { NULL }, 0 } };

			find_lines(w.design, w.server, w.figures, &w.targets,
				&w.workloads, &n_figures);
			if (!is_worth_it(&w, n_figures))
				continue;
			snprintf(pictures[n].name, sizeof(pictures[n].name), "%s-%s",
				designs[i].name, servers[k]);
			snprintf(pictures[n].title, sizeof(pictures[n].title), "%s: %s",
				server_titles[k], designs[i].title);
			pictures[n].text = designs[i].text;
			put_script(&w, pictures[n].name, pictures[n].title, n_figures);
			n++;
		}
	}
	return n;
}

/* ------------------------------------------------------------- gnuplot -- */

static int
run_gnuplot(const char *gnuplot, const char *dir)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		if (chdir(dir) == 0)
			execl(gnuplot, gnuplot, "plots.gp", (char *)NULL);
		_exit(127);
	}
	if (pid < 0)
		return -1;
	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return -1;
	}
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}

int
cnb_plot(const struct cnb_report *report, const char *gnuplot, const char *dir,
	struct cnb_picture **ret_pictures, size_t *ret_n, struct cnb_error *ret_error)
{
	struct cnb_picture *pictures = calloc(MAX_PICTURES, sizeof(*pictures));
	char path[4096];
	FILE *f;
	size_t n;
	int is_written;

	snprintf(path, sizeof(path), "%s/plots.gp", dir);
	f = fopen(path, "we");
	if (f == NULL || pictures == NULL) {
		snprintf(ret_error->text, sizeof(ret_error->text), "%.400s: %s", path,
			strerror(errno));
		if (f != NULL)
			fclose(f);
		free(pictures);
		return -1;
	}
	fputs("# Draw the pictures again: gnuplot plots.gp\nset encoding utf8\n", f);
	n = put_all(report, f, pictures);
	is_written = !ferror(f);
	if (fclose(f) != 0 || !is_written || run_gnuplot(gnuplot, dir) < 0) {
		snprintf(ret_error->text, sizeof(ret_error->text),
			"the pictures could not be drawn: try gnuplot %.400s", path);
		free(pictures);
		return -1;
	}
	*ret_pictures = pictures;
	*ret_n = n;
	return 0;
}
