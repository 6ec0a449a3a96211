/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sends a notification by HTTP, with libcurl. The library is opened only if a URL is configured, since it loads many other
 * libraries into a process. alerts.c calls this. The body of the answer is discarded, and no redirect is followed.
 */
#include "alerts.h"

#include <curl/curl.h>
#include <dlfcn.h>
#include <stdio.h>

#define LIBRARY   "libcurl.so.4"
#define TIMEOUT_S 10L

#define FUNCTIONS(F)                                                                     \
	F(curl_easy_init)                                                                \
	F(curl_easy_setopt)                                                              \
	F(curl_easy_perform)                                                             \
	F(curl_easy_getinfo)                                                             \
	F(curl_easy_strerror)                                                            \
	F(curl_easy_cleanup)                                                             \
	F(curl_slist_append)                                                             \
	F(curl_slist_free_all)

/* curl.h has macros of these names, which check types. */
#undef curl_easy_setopt
#undef curl_easy_getinfo

#define MEMBER(name) __typeof__(name) *name;
static struct {
	FUNCTIONS(MEMBER)
} http;

const char *
cnd_webhook_lacks(void)
{
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	int is_whole = library != NULL;

#define FIND(name)                                                                       \
	*(void **)&http.name = dlsym(library, #name), is_whole &= http.name != NULL;
	if (is_whole) {
		FUNCTIONS(FIND)
	}
	return is_whole ? NULL : "the library " LIBRARY " is not installed";
}

static size_t
discard(char *bytes, size_t size, size_t n, void *user)
{
	(void)bytes;
	(void)user;
	return size * n;
}

static CURLcode
perform(CURL *curl, const char *url, const char *json, struct curl_slist *headers,
	long *ret_status)
{
	CURLcode r;

	http.curl_easy_setopt(curl, CURLOPT_URL, url);
	http.curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
	http.curl_easy_setopt(curl, CURLOPT_POSTFIELDS, json);
	http.curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
	http.curl_easy_setopt(curl, CURLOPT_USERAGENT, "cenoted/" CND_VERSION);
	http.curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, discard);
	http.curl_easy_setopt(curl, CURLOPT_TIMEOUT, TIMEOUT_S);
	http.curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	r = http.curl_easy_perform(curl);
	if (r == CURLE_OK)
		http.curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, ret_status);
	return r;
}

const char *
cnd_webhook_send(const char *url, const char *json)
{
	static char fault[64];
	struct curl_slist *headers = NULL;
	CURL *curl = http.curl_easy_init();
	long status = 0;
	CURLcode r;

	if (curl == NULL)
		return "libcurl does not start";
	headers = http.curl_slist_append(NULL, "Content-Type: application/json");
	r = perform(curl, url, json, headers, &status);
	http.curl_slist_free_all(headers);
	http.curl_easy_cleanup(curl);
	if (r != CURLE_OK)
		return http.curl_easy_strerror(r);
	if (status >= 200 && status < 300)
		return NULL;
	snprintf(fault, sizeof(fault), "the answer is %ld", status);
	return fault;
}
