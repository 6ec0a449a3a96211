--TEST--
A persistent handle gives its session back between requests, and is used again
--EXTENSIONS--
pdo_cenote
--SKIPIF--
<?php require __DIR__ . "/skipif.inc";  ?>
--FILE--
<?php
require __DIR__ . "/cenote.inc";
$first = connect([PDO::ATTR_PERSISTENT => true]);
outcome(fn() => $first->query('select 1')->fetchColumn());
unset($first);
$second = connect([PDO::ATTR_PERSISTENT => true]);
$second->beginTransaction();
make_table($second, 'php_persistent');
unset($second);
$third = connect([PDO::ATTR_PERSISTENT => true]);
outcome(fn() => [$third->inTransaction(), $third->query('select 2')->fetchColumn()]);
?>
--EXPECT--
1
[false,2]
