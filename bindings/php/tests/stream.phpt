--TEST--
Rows in batches, with other statements in between
--EXTENSIONS--
pdo_cenote
--SKIPIF--
<?php require __DIR__ . "/skipif.inc";  ?>
--FILE--
<?php
require __DIR__ . "/cenote.inc";
$db = connect();
make_table($db, 'php_stream');
fill_table($db, 'php_stream', 5);
$numbers = $db->prepare('select n from php_stream order by n', [PDO::ATTR_PREFETCH => 2]);
$words = $db->prepare('select word from php_stream where n >= ? order by n', [PDO::ATTR_PREFETCH => 1]);
outcome(fn() => $numbers->getAttribute(PDO::ATTR_PREFETCH));
$numbers->execute();
$words->execute([2]);
for ($i = 0; $i < 6; $i++)
	echo json_encode([$numbers->fetchColumn(), $words->fetchColumn(), $db->query("select max(n) from php_stream where n <= $i")->fetchColumn()]), "\n";
$numbers->execute();
outcome(fn() => [$numbers->fetchColumn(), $numbers->closeCursor(), $db->query('select 7')->fetchColumn()]);
outcome(fn() => [$numbers->execute(), $numbers->fetchAll(PDO::FETCH_COLUMN)]);
$numbers->execute();
unset($numbers);
outcome(fn() => $db->query('select count(*) from php_stream')->fetchColumn());
$last = $db->prepare('select n from php_stream', [PDO::ATTR_PREFETCH => 1]);
$last->execute();
unset($db);
outcome(fn() => count($last->fetchAll()));
?>
--EXPECT--
2
[0,"row 2",0]
[1,"row 3",1]
[2,"row 4",2]
[3,false,3]
[4,false,4]
[false,false,4]
[0,true,7]
[true,[0,1,2,3,4]]
5
5
