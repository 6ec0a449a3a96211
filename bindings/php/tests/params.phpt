--TEST--
Parameters: named, repeated, positional, streams, and wrong numbers of them
--EXTENSIONS--
pdo_cenote
--SKIPIF--
<?php require __DIR__ . "/skipif.inc";  ?>
--FILE--
<?php
require __DIR__ . "/cenote.inc";
foreach ([false, true] as $emulates) {
	$db = connect([PDO::ATTR_EMULATE_PREPARES => $emulates]);
	make_table($db, 'php_params');
	fill_table($db, 'php_params', 3);
	$named = $db->prepare('select word from php_params where n = :n or n = :m or (n = 1 and :n <> 0) order by n');
	outcome(fn() => [$named->execute(['n' => 2, 'm' => 0]), $named->fetchAll(PDO::FETCH_COLUMN)]);
	outcome(fn() => [$named->execute([':m' => 7, ':n' => 1]), $named->fetchAll(PDO::FETCH_COLUMN)]);
	$positional = $db->prepare("select word, '?' as q from php_params where n in (?, ?) order by n");
	outcome(fn() => [$positional->execute([0, 2]), $positional->fetchAll(PDO::FETCH_NUM)]);
	$truth = $db->prepare('select count(*) from php_params where (n > 0) = ?');
	$truth->bindValue(1, true, PDO::PARAM_BOOL);
	outcome(fn() => [$truth->execute(), $truth->fetchColumn()]);
	$stream = fopen('php://memory', 'w+');
	fwrite($stream, "\0stream\xff");
	rewind($stream);
	$update = $db->prepare('update php_params set bytes = ?, word = ? where n = 1');
	$update->bindValue(1, $stream, PDO::PARAM_LOB);
	$update->bindValue(2, null, PDO::PARAM_NULL);
	outcome(fn() => [$update->execute(), $update->rowCount()]);
	$read = $db->query('select bytes, word from php_params where n = 1');
	$read->bindColumn(1, $bytes, PDO::PARAM_LOB);
	$read->bindColumn(2, $word);
	$read->fetch(PDO::FETCH_BOUND);
	echo json_encode([bin2hex(stream_get_contents($bytes)), $word]), "\n";
	outcome(fn() => $positional->execute([1]));
	$positional->closeCursor();
}
$db = connect();
outcome(fn() => $db->prepare('select :a')->bindValue(':b', 1));
outcome(fn() => $db->prepare('select ?')->bindValue(2, 1));
outcome(fn() => $db->prepare('select 1')->execute([1]));
outcome(fn() => $db->prepare('select ? where 1 = :a'));
outcome(fn() => $db->query('select 1 as one')->fetchAll(PDO::FETCH_ASSOC));
?>
--EXPECT--
[true,["row 0","row 1","row 2"]]
[true,["row 1"]]
[true,[["row 0","?"],["row 2","?"]]]
[true,2]
[true,1]
["0073747265616dff",null]
PDOException HY093: Invalid parameter number: number of bound variables does not match number of tokens
[true,["row 0","row 1","row 2"]]
[true,["row 1"]]
[true,[["row 0","?"],["row 2","?"]]]
[true,2]
[true,1]
["0073747265616dff",null]
PDOException HY093: Invalid parameter number: number of bound variables does not match number of tokens
PDOException HY093: Invalid parameter number: parameter was not defined
PDOException HY093: Invalid parameter number: parameter was not defined
PDOException HY093: Invalid parameter number: number of bound variables does not match number of tokens
PDOException HY093: Invalid parameter number: mixed named and positional parameters
[{"one":1}]
