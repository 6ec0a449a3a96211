--TEST--
Scrolling
--EXTENSIONS--
pdo_cenote
--SKIPIF--
<?php require __DIR__ . "/skipif.inc";  ?>
--FILE--
<?php
require __DIR__ . "/cenote.inc";
$db = connect();
make_table($db, 'php_scroll');
fill_table($db, 'php_scroll', 5);
$rows = $db->prepare('select n from php_scroll order by n', [PDO::ATTR_CURSOR => PDO::CURSOR_SCROLL]);
$rows->execute();
foreach ([['LAST', 0], ['PRIOR', 0], ['FIRST', 0], ['PRIOR', 0], ['NEXT', 0], ['ABS', 3], ['REL', 2], ['REL', 2], ['ABS', -2],
	['ABS', 0], ['NEXT', 0], ['LAST', 0], ['NEXT', 0], ['NEXT', 0], ['PRIOR', 0]] as [$to, $offset])
	echo "$to $offset: ", json_encode($rows->fetch(PDO::FETCH_COLUMN, constant("PDO::FETCH_ORI_$to"), $offset)), "\n";
?>
--EXPECT--
LAST 0: 4
PRIOR 0: 3
FIRST 0: 0
PRIOR 0: false
NEXT 0: 0
ABS 3: 2
REL 2: 4
REL 2: false
ABS -2: 3
ABS 0: false
NEXT 0: 0
LAST 0: 4
NEXT 0: false
NEXT 0: false
PRIOR 0: 4
