/* SPDX-License-Identifier: BSD-2-Clause */
/* The PHP module: register the driver with PDO. It has no state. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "php_pdo_cenote_int.h"

#include <ext/standard/info.h>

static PHP_MINIT_FUNCTION(pdo_cenote)
{
	(void)type;
	(void)module_number;
	return php_pdo_register_driver(&pdo_cenote_driver);
}

static PHP_MSHUTDOWN_FUNCTION(pdo_cenote)
{
	(void)type;
	(void)module_number;
	php_pdo_unregister_driver(&pdo_cenote_driver);
	return SUCCESS;
}

static PHP_MINFO_FUNCTION(pdo_cenote)
{
	uint32_t version = cenote_version();
	char text[32];

	(void)zend_module;
	snprintf(text, sizeof(text), "%u.%u.%u", version / 10000, version / 100 % 100,
		version % 100);
	php_info_print_table_start();
	php_info_print_table_header(2, "PDO Driver for Cenote", "enabled");
	php_info_print_table_row(2, "libcenote", text);
	php_info_print_table_end();
}

static const zend_module_dep pdo_cenote_deps[] = { ZEND_MOD_REQUIRED("pdo")
		ZEND_MOD_END };

zend_module_entry pdo_cenote_module_entry = {
	STANDARD_MODULE_HEADER_EX,
	NULL,
	pdo_cenote_deps,
	"pdo_cenote",
	NULL,
	PHP_MINIT(pdo_cenote),
	PHP_MSHUTDOWN(pdo_cenote),
	NULL,
	NULL,
	PHP_MINFO(pdo_cenote),
	PHP_PDO_CENOTE_VERSION,
	STANDARD_MODULE_PROPERTIES,
};

#ifdef COMPILE_DL_PDO_CENOTE
ZEND_GET_MODULE(pdo_cenote)
#endif
