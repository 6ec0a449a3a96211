/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMY_OPTIONLINE_H
#define CMY_OPTIONLINE_H

/* Reading an option file line by line. A callback returns 0 to go on, or anything else to stop. */
struct cmy_option_reader {
	const char *const *groups; /* the groups to read, ended by NULL */
	int (*on_option)(void *user, char *key,
		const char *value); /* value NULL: the option has no value */
	int (*on_include)(void *user, const char *kind, const char *path);
	void *user;
	int has_group; /* zero before the first line */
	int is_ours;
};

/* Read one line, and change it. 0; -1: the file is malformed from here on. */
int cmy_option_line(struct cmy_option_reader *reader, char *line);

#endif
