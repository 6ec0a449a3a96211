--TEST--
The id of the last insert
--EXTENSIONS--
pdo_cenote
--SKIPIF--
<?php require __DIR__ . "/skipif.inc";  ?>
--FILE--
<?php
require __DIR__ . "/cenote.inc";
$db = connect();
make_table($db, 'php_last');
fill_table($db, 'php_last', 3);
outcome(fn() => $db->lastInsertId());
$db->exec("insert into php_last (word) values ('x')");
outcome(fn() => $db->lastInsertId());
if (getenv('CENOTE_TEST_BACKEND') === 'postgresql')
	outcome(fn() => $db->lastInsertId('php_last_id_seq'));
else
	echo "\"4\"\n";
?>
--EXPECT--
"3"
"4"
"4"
