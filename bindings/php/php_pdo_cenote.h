/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PHP_PDO_CENOTE_H
#define PHP_PDO_CENOTE_H

#include <cenote/cenote.h>
#include <php.h>

#define PHP_PDO_CENOTE_VERSION "0.1.0"

extern zend_module_entry pdo_cenote_module_entry;
#define phpext_pdo_cenote_ptr &pdo_cenote_module_entry

#endif
