/* SPDX-License-Identifier: BSD-2-Clause */
/* The JSON of cenote-bench's reports. A report that was read is written and read again, and must be the same. */
#include "fuzz.h"

#include <string.h>

#include "figures.h"

static char *
write_json(const struct cnb_report *report, size_t *ret_len)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, ret_len);

	FUZZ_CHECK(f != NULL);
	cnb_report_put_json(report, f);
	FUZZ_CHECK(fclose(f) == 0);
	return text;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cnb_report report, again;
	struct cnb_error error;
	char *text = malloc(size > 0 ? size : 1), *json, *json_again;
	size_t len, len_again;

	FUZZ_CHECK(text != NULL);
	/* memory that ends with the text */
	memcpy(text, data, size);
	if (cnb_report_parse(text, size, &report, &error) == 0) {
		json = write_json(&report, &len);
		FUZZ_CHECK(cnb_report_parse(json, len, &again, &error) == 0);
		json_again = write_json(&again, &len_again);
		FUZZ_CHECK(len == len_again && memcmp(json, json_again, len) == 0);
		cnb_figures_finish(&report.figures);
		cnb_figures_finish(&again.figures);
		free(json);
		free(json_again);
	}
	free(text);
	return 0;
}
