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
# nothing is left of what was set, or told
$emulates = PDO::ATTR_EMULATE_PREPARES;
$third->setAttribute($emulates, true);
$third->setAttribute(PDO::ATTR_PREFETCH, 7);
$third->setAttribute(PDO::ATTR_AUTOCOMMIT, false);
make_table($third, 'php_persistent');
fill_table($third, 'php_persistent', 3);
outcome(fn() => $third->query('no such statement'));
unset($third);
$fourth = connect([PDO::ATTR_PERSISTENT => true]);
outcome(fn() => [$fourth->getAttribute($emulates), $fourth->getAttribute(PDO::ATTR_PREFETCH),
	$fourth->getAttribute(PDO::ATTR_AUTOCOMMIT), (string)$fourth->errorCode(), $fourth->errorInfo()[2] ?? null]);
# nor of how the session read texts
if (getenv('CENOTE_TEST_BACKEND') === 'mysql')
	$fourth->exec("set sql_mode = 'NO_BACKSLASH_ESCAPES'");
unset($fourth);
$fifth = connect([PDO::ATTR_PERSISTENT => true]);
outcome(fn() => getenv('CENOTE_TEST_BACKEND') === 'mysql' ? $fifth->lastInsertId() : '0');
$quoted = $fifth->quote("\\' or 1 -- ");
outcome(fn() => $fifth->query("select $quoted")->fetchColumn());
?>
--EXPECTF--
1
[false,2]
PDOException %s
[false,0,true,"00000",null]
"0"
"\\' or 1 -- "
