--TEST--
A copy is refused by name, and the connection lives on
--EXTENSIONS--
pdo_cenote
--SKIPIF--
<?php require __DIR__ . "/skipif.inc"; if (getenv('CENOTE_TEST_BACKEND') !== 'postgresql') die('skip COPY is PostgreSQL\'s'); ?>
--FILE--
<?php
require __DIR__ . "/cenote.inc";
$db = connect();
make_table($db, 'php_copy');
outcome(fn() => $db->exec('copy php_copy to stdout'));
outcome(fn() => $db->query('copy php_copy from stdin'));
outcome(fn() => $db->query('select 1')->fetchColumn());
?>
--EXPECT--
PDOException 0A000: Feature not supported: PDO has no way to copy data to or from the program
PDOException 0A000: Feature not supported: PDO has no way to copy data to or from the program
1
