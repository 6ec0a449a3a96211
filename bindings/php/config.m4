dnl SPDX-License-Identifier: BSD-2-Clause
PHP_ARG_WITH([pdo-cenote],
  [for Cenote support for PDO],
  [AS_HELP_STRING([--with-pdo-cenote], [PDO: Cenote support; libcenote is found by pkg-config])],
  [yes])

if test "$PHP_PDO_CENOTE" != "no"; then
  PKG_CHECK_MODULES([CENOTE], [cenote >= 0.1])
  PHP_EVAL_INCLINE($CENOTE_CFLAGS)
  PHP_EVAL_LIBLINE($CENOTE_LIBS, PDO_CENOTE_SHARED_LIBADD)
  PHP_SUBST(PDO_CENOTE_SHARED_LIBADD)
  PHP_CHECK_PDO_INCLUDES
  PHP_NEW_EXTENSION(pdo_cenote,
    pdo_cenote.c cenote_dialect.c cenote_driver.c cenote_dsn.c cenote_statement.c cenote_value.c,
    $ext_shared,, -I$pdo_cv_inc_path -D_GNU_SOURCE)
  PHP_ADD_EXTENSION_DEP(pdo_cenote, pdo)
fi
