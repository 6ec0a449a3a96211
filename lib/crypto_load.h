/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CN_CRYPTO_LOAD_H
#define CN_CRYPTO_LOAD_H

#include "core/diag.h"
#include "crypto/crypto.h"

/* The module with all that needs OpenSSL: beside the library, else where it was to be installed. */

/* 1: its file is there. Costs a look, not the loading. */
int cn_crypto_is_there(void);
/* It stays loaded to the end of the process, so asking again is cheap. CENOTE_OK; CENOTE_ERR_UNSUPPORTED: the
 * file, and what to install, are named. */
int cn_crypto_load(const struct cn_crypto **ret_crypto, struct cnc_diag *diag);

#endif
