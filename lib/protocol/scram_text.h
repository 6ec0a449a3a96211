/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNP_SCRAM_TEXT_H
#define CNP_SCRAM_TEXT_H

#include "protocol/scram.h"

/* The functions that both ends of SCRAM share: writing and reading messages, and computing keys. */

/* Append to a message. CENOTE_OK; CENOTE_ERR_PROTOCOL: longer than any legal exchange. */
int cnp_scram_put(struct cnp_scram_text *t, const void *bytes, size_t n);
int cnp_scram_puts(struct cnp_scram_text *t, const char *text);
int cnp_scram_put_base64(struct cnp_scram_text *t, const void *bytes, size_t n);

/* The rest of a message that is read attribute by attribute. */
struct cnp_scram_reader {
	const char *p;
	size_t n;
	int is_at_end; /* the last attribute was taken */
};

void cnp_scram_reader_init(struct cnp_scram_reader *r, const char *text, size_t n);
/* Read the next attribute, which must have this letter: CENOTE_OK or CENOTE_ERR_PROTOCOL. */
int cnp_scram_read(struct cnp_scram_reader *r, char letter, struct cnp_str *ret_value);
/* Does the rest consist of extensions only? We support none, and ignore them. */
int cnp_scram_read_end(struct cnp_scram_reader *r);
/* Is the text a nonce of at most `max` characters? */
int cnp_scram_is_nonce(const struct cnp_str *text, size_t max);

/* Make a nonce. */
int cnp_scram_nonce(const struct cnp_hash *hash, char out[CNP_SCRAM_NONCE_LEN + 1]);
int cnp_scram_hmac(const struct cnp_hash *hash, const uint8_t key[CNP_HASH_LEN],
	const void *text, size_t n, uint8_t ret_hash[CNP_HASH_LEN]);
/* Compute ClientSignature from the stored key. With it, turn ClientKey into ClientProof, or ClientProof into
 * ClientKey. */
int cnp_scram_mask(const struct cnp_hash *hash, const uint8_t stored_key[CNP_HASH_LEN],
	const struct cnp_scram_text *said, const uint8_t from[CNP_HASH_LEN],
	uint8_t ret_to[CNP_HASH_LEN]);
/* Append "c=" and its value: the header again, and the channel binding data. */
int cnp_scram_put_binding(
	struct cnp_scram_text *t, const char *header, const uint8_t *binding_data);

#endif
