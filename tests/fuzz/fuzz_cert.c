/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include <openssl/x509v3.h>
#include <string.h>

#include "crypto/tls.h"

/* The call must not touch the room after the text. */
#define UNTOUCHED 0x7f

/* Check a text that is shown, logged, and split at commas again: it is one line that fits into its
 * room. */
static void
check_text(const char *text, size_t size)
{
	const char *end = memchr(text, '\0', size);

	FUZZ_CHECK(end);
	for (const char *p = text; p < end; p++)
		FUZZ_CHECK((unsigned char)*p >= 0x20 && *p != 0x7f);
}

static size_t
n_parts(const char *text)
{
	size_t n = *text != '\0';

	for (; *text != '\0'; text++)
		n += *text == ',';
	return n;
}

static void
check_alt_names(X509 *x)
{
	GENERAL_NAMES *names = X509_get_ext_d2i(x, NID_subject_alt_name, NULL, NULL);
	int n = names != NULL ? sk_GENERAL_NAME_num(names) : 0;
	char text[512];

	cn_tls_alt_names(x, text, sizeof(text));
	check_text(text, sizeof(text));
	/* a name that holds a comma is not two names */
	FUZZ_CHECK(n_parts(text) <= (size_t)n);
	GENERAL_NAMES_free(names);
}

/* A certificate, DER: its names and dates as text. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const unsigned char *at = data;
	X509 *x = d2i_X509(NULL, &at, (long)size);
	char text[256];
	char common[16];

	if (x == NULL)
		return 0;
	cn_tls_name_text(X509_get_subject_name(x), text, sizeof(text));
	check_text(text, sizeof(text));
	cn_tls_time_text(X509_get0_notAfter(x), text, sizeof(text));
	check_text(text, sizeof(text));
	memset(common, UNTOUCHED, sizeof(common));
	cn_tls_common_name(x, common, sizeof(common));
	check_text(common, sizeof(common));
	FUZZ_CHECK(strchr(common, ',') == NULL);
	check_alt_names(x);
	X509_free(x);
	return 0;
}
