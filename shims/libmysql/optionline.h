/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMY_OPTIONLINE_H
#define CMY_OPTIONLINE_H

/* Reading an option file line by line. What is called gives 0, or else reading ends with that. */
struct cmy_option_reader {
	const char *const *groups; /* those that count, ended by NULL */
	int (*on_option)(void *user, char *key, const char *value); /* value NULL: none */
	int (*on_include)(void *user, const char *kind, const char *path);
	void *user;
	int has_group; /* zero at the beginning */
	int is_ours;
};

/* One line, which is changed. 0; -1: the file is not well formed from here on. */
int cmy_option_line(struct cmy_option_reader *reader, char *line);

#endif
