--TEST--
Quoted bytes are the same bytes, whatever PostgreSQL takes for an escape
--EXTENSIONS--
pdo_cenote
--SKIPIF--
<?php
require __DIR__ . "/skipif.inc";
if (getenv('CENOTE_TEST_BACKEND') !== 'postgresql') die('skip of PostgreSQL only');
?>
--FILE--
<?php
require __DIR__ . "/cenote.inc";
$db = connect();
foreach (['on', 'off'] as $conforming) {
	$db->exec("set standard_conforming_strings = $conforming");
	$back = $db->query('select ' . $db->quote("AB'\\\0\xff", PDO::PARAM_LOB))->fetchColumn();
	echo bin2hex($back), "\n";
}
?>
--EXPECT--
4142275c00ff
4142275c00ff
