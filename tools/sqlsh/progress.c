/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A line on the terminal that shows the progress of \copy, cenote-export and cenote-import. The
 * state is struct progress.
 */
#include "progress.h"

#include <stdio.h>
#include <unistd.h>

#define PROGRESS_EVERY_MS 100.0
#define PROGRESS_WIDTH    20u

static void
add_bytes(struct text *t, double bytes)
{
	static const char *const units[] = { "B", "kB", "MB", "GB", "TB" };
	size_t i = 0;

	while (bytes >= 1000 && i + 1 < sizeof(units) / sizeof(units[0])) {
		bytes /= 1000;
		i++;
	}
	text_addf(t, i > 0 ? "%.1f %s" : "%.0f %s", bytes, units[i]);
}

static void
add_grouped(struct text *t, uint64_t n)
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)n), i;

	for (i = 0; i < len; i++) {
		if (i > 0 && (len - i) % 3 == 0)
			text_add_char(t, ',');
		text_add_char(t, digits[i]);
	}
}

static void
add_bar(struct text *t, double part, double seconds)
{
	size_t filled = (size_t)(part * PROGRESS_WIDTH);
	double left = part > 0 ? seconds / part - seconds : 0;
	unsigned long eta = left < 360000 ? (unsigned long)(left + 0.5) : 360000;

	text_addf(t, "  %3.0f %% [", part * 100);
	text_add_repeat(t, '#', filled);
	text_add_repeat(t, ' ', PROGRESS_WIDTH - filled);
	text_addf(t, "] ETA %lu:%02lu", eta / 60, eta % 60);
}

void
progress_format(struct text *t, uint64_t n_rows, uint64_t n_bytes, uint64_t total_bytes,
	double seconds)
{
	double part = total_bytes > 0 ? (double)n_bytes / (double)total_bytes : 0;

	add_grouped(t, n_rows);
	text_add_str(t, n_rows == 1 ? " row, " : " rows, ");
	add_bytes(t, (double)n_bytes);
	if (seconds > 0) {
		text_add_str(t, ", ");
		add_bytes(t, (double)n_bytes / seconds);
		text_add_str(t, "/s");
	}
	if (total_bytes > 0)
		add_bar(t, part < 1 ? part : 1, seconds);
}

void
progress_begin(struct progress *p, int is_wanted, uint64_t total_bytes, double now_ms)
{
	*p = (struct progress){ .begin_ms = now_ms, .total_bytes = total_bytes };
	p->is_shown = is_wanted && isatty(STDERR_FILENO);
}

void
progress_update(struct progress *p, uint64_t n_rows, uint64_t n_bytes, double now_ms)
{
	struct text t = { 0 };

	if (!p->is_shown || now_ms - p->begin_ms < PROGRESS_EVERY_MS ||
		now_ms - p->shown_ms < PROGRESS_EVERY_MS)
		return;
	p->shown_ms = now_ms;
	text_add_char(&t, '\r');
	progress_format(
		&t, n_rows, n_bytes, p->total_bytes, (now_ms - p->begin_ms) / 1000);
	text_add_str(&t, "\033[K");
	(void)fwrite(t.data, 1, t.len, stderr);
	text_finish(&t);
}

void
progress_end(struct progress *p)
{
	if (p->shown_ms > 0)
		(void)fputs("\r\033[K", stderr);
	*p = (struct progress){ 0 };
}
