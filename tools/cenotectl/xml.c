/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads an XML document with expat into a list of elements. It follows no reference to another file, and refuses documents that
 * declare entities: a configuration needs none, and they could make a short text very long. sqlrelay.c calls it.
 */
#include "xml.h"

#include <expat.h>
#include <stdlib.h>
#include <string.h>

#define ELEMENTS_MAX 100000u

struct reader {
	struct xml *xml;
	XML_Parser parser;
	size_t current; /* the element that is open; XML_NONE: none */
	const char *fault; /* why a handler stopped expat; NULL: none did */
};

static void
stop(struct reader *r, const char *fault)
{
	r->fault = fault;
	(void)XML_StopParser(r->parser, XML_FALSE);
}

static void
begin_element(void *user, const char *name, const char **attributes)
{
	struct reader *r = user;
	struct xml *x = r->xml;
	struct xml_element *e;

	if (x->n == ELEMENTS_MAX) {
		stop(r, "it has too many elements");
		return;
	}
	x->list = mem_resize(x->list, x->n + 1, sizeof(*x->list));
	e = &x->list[x->n];
	*e = (struct xml_element){ .name = mem_dup(name, strlen(name)),
		.parent = r->current,
		.line = (unsigned)XML_GetCurrentLineNumber(r->parser) };
	for (; attributes[0] != NULL; attributes += 2) {
		e->attributes = mem_resize(
			e->attributes, e->n_attributes + 1, sizeof(*e->attributes));
		e->attributes[e->n_attributes++] = (struct xml_attribute){
			mem_dup(attributes[0], strlen(attributes[0])),
			mem_dup(attributes[1], strlen(attributes[1]))
		};
	}
	r->current = x->n++;
}

static void
end_element(void *user, const char *name)
{
	struct reader *r = user;

	(void)name;
	r->current = r->xml->list[r->current].parent;
}

static void
add_content(void *user, const char *text, int len)
{
	struct reader *r = user;

	if (r->current != XML_NONE)
		text_add(&r->xml->list[r->current].content, text, (size_t)len);
}

/* NOLINTBEGIN(readability-function-size): the parameters are expat's */
static void
refuse_entity(void *user, const char *name, int is_parameter, const char *value, int len,
	const char *base, const char *system, const char *public, const char *notation)
{
	(void)name;
	(void)is_parameter;
	(void)value;
	(void)len;
	(void)base;
	(void)system;
	(void)public;
	(void)notation;
	stop(user, "it declares an entity, which is not read here");
}
/* NOLINTEND(readability-function-size) */

int
xml_read(struct xml *x, struct draft *d, const char *file, const char *text, size_t len)
{
	struct reader r = {
		.xml = x, .parser = XML_ParserCreate(NULL), .current = XML_NONE
	};
	struct origin at = { .file = file };
	int result = 0;

	if (r.parser == NULL)
		abort();
	XML_SetUserData(r.parser, &r);
	XML_SetElementHandler(r.parser, begin_element, end_element);
	XML_SetCharacterDataHandler(r.parser, add_content);
	XML_SetEntityDeclHandler(r.parser, refuse_entity);
	if (XML_Parse(r.parser, text, (int)len, XML_TRUE) != XML_STATUS_OK) {
		at.line = (unsigned)XML_GetCurrentLineNumber(r.parser);
		draft_note(d, &at, NULL, "the XML cannot be read: %s",
			r.fault != NULL ? r.fault
					: XML_ErrorString(XML_GetErrorCode(r.parser)));
		result = -1;
	}
	XML_ParserFree(r.parser);
	return result;
}

void
xml_finish(struct xml *x)
{
	for (size_t i = 0; i < x->n; i++) {
		struct xml_element *e = &x->list[i];

		for (size_t k = 0; k < e->n_attributes; k++) {
			free(e->attributes[k].name);
			free(e->attributes[k].value);
		}
		free(e->attributes);
		free(e->name);
		text_finish(&e->content);
	}
	free(x->list);
}
