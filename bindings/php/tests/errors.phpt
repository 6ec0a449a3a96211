--TEST--
Errors carry SQLSTATE, the server's number and words, and its detail
--EXTENSIONS--
pdo_cenote
--SKIPIF--
<?php require __DIR__ . "/skipif.inc";  ?>
--FILE--
<?php
require __DIR__ . "/cenote.inc";
$db = connect([PDO::ATTR_ERRMODE => PDO::ERRMODE_SILENT]);
make_table($db, 'php_errors');
fill_table($db, 'php_errors', 1);
var_dump($db->exec('insert into php_errors (id) values (1)'));
[$state, $number, $text] = $db->errorInfo();
echo $state, ' ', is_int($number) ? 'number' : gettype($number), ' ', $text, "\n";
$bad = $db->prepare('select * from php_nowhere where a = ?');
var_dump($bad->execute([1]), $bad->errorCode() === $bad->errorInfo()[0], $db->errorCode());
echo $bad->errorInfo()[2], "\n";
$good = $db->query('select 1');
var_dump($good->errorInfo(), $db->errorInfo());
?>
--EXPECTREGEX--
bool\(false\)
23\d\d\d number (duplicate key .*\nDETAIL:  Key \(id\)=\(1\) already exists\.|Duplicate entry .*|UNIQUE constraint failed: php_errors\.id)
bool\(false\)
bool\(true\)
string\(5\) "00000"
.*php_nowhere.*
array\(3\) \{\s+\[0\]=>\s+string\(5\) "00000"\s+\[1\]=>\s+NULL\s+\[2\]=>\s+NULL\s+\}
array\(3\) \{\s+\[0\]=>\s+string\(5\) "00000"\s+\[1\]=>\s+NULL\s+\[2\]=>\s+NULL\s+\}
