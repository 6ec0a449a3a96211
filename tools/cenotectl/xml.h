/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CTL_XML_H
#define CTL_XML_H

#include "convert.h"

/* An XML document as a list of elements. Where there is no expat, xml_absent.c takes the place of xml.c. */

struct xml_attribute {
	char *name;
	char *value;
};

struct xml_element {
	char *name;
	struct xml_attribute *attributes;
	size_t n_attributes;
	struct text content; /* the text in it, without that of inner elements */
	size_t parent; /* its index; XML_NONE: this is the root */
	unsigned line;
};

#define XML_NONE ((size_t)-1)

/* All zero is the empty document. */
struct xml {
	struct xml_element *list; /* in the order of the document */
	size_t n;
};

/* 0; or -1, and a note says why. */
int xml_read(
	struct xml *x, struct draft *d, const char *file, const char *text, size_t len);
void xml_finish(struct xml *x);

#endif
