/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes the files of a report. Each file is written under another name and then renamed, so a full disk
 * leaves the former file. report.c calls it. It owns no state.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "figures.h"
#include "programs.h"

struct page {
	const struct cnb_report *report;
	const char *dir;
	const struct cnb_picture *pictures;
	size_t n_pictures;
};

static void
put_json(const struct page *page, FILE *f)
{
	cnb_report_put_json(page->report, f);
}

static void
put_csv(const struct page *page, FILE *f)
{
	cnb_report_put_csv(page->report, f);
}

static void
put_html(const struct page *page, FILE *f)
{
	(void)cnb_html_write(
		page->report, page->dir, page->pictures, page->n_pictures, f);
}

static int
write_file(const struct page *page, const char *name,
	void (*put)(const struct page *page, FILE *f), struct cnb_error *ret_error)
{
	char path[4096], new_path[4096];
	int failed;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", page->dir, name);
	snprintf(new_path, sizeof(new_path), "%s/.%s.new", page->dir, name);
	f = fopen(new_path, "we");
	if (f != NULL) {
		put(page, f);
		failed = fflush(f) != 0 || ferror(f);
		if (fclose(f) == 0 && !failed && rename(new_path, path) == 0)
			return 0;
	}
	snprintf(ret_error->text, sizeof(ret_error->text), "%.400s: %s", path,
		strerror(errno));
	(void)remove(new_path);
	return -1;
}

int
cnb_report_save(
	const struct cnb_report *report, const char *dir, struct cnb_error *ret_error)
{
	struct page page = { report, dir, NULL, 0 };

	if (write_file(&page, "report.json", put_json, ret_error) < 0)
		return -1;
	return write_file(&page, "figures.csv", put_csv, ret_error);
}

int
cnb_report_write(const struct cnb_report *report, const char *dir, int has_plots,
	struct cnb_error *ret_error)
{
	struct cnb_picture *pictures = NULL;
	struct page page = { report, dir, NULL, 0 };
	char gnuplot[256];
	int r, plotted = 0;

	if (cnb_report_save(report, dir, ret_error) < 0)
		return -1;
	if (has_plots) {
		cnb_program_find("gnuplot", gnuplot, sizeof(gnuplot));
		plotted = cnb_plot(
			report, gnuplot, dir, &pictures, &page.n_pictures, ret_error);
	}
	/* Without the pictures, the page still has the tables. */
	page.pictures = pictures;
	r = write_file(&page, "report.html", put_html, ret_error);
	free(pictures);
	return plotted < 0 ? plotted : r;
}
