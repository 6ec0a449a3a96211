--TEST--
Parameters that a procedure gives back
--EXTENSIONS--
pdo_cenote
--SKIPIF--
<?php require __DIR__ . "/skipif.inc"; if (getenv('CENOTE_TEST_BACKEND') === 'sqlite') die('skip SQLite has no procedures'); ?>
--FILE--
<?php
require __DIR__ . "/cenote.inc";
$db = connect();
$db->exec('drop procedure if exists php_output');
$db->exec(getenv('CENOTE_TEST_BACKEND') === 'mysql'
	? "create procedure php_output(in a int, inout b int, out c varchar(20)) begin set b = a + b; set c = concat('c', b); end"
	: "create procedure php_output(in a int, inout b int, inout c text) language plpgsql as 'begin b := a + b; c := ''c'' || b; end'");
$call = $db->prepare('call php_output(?, ?, ?)');
$a = 2;
$b = 5;
$c = null;
$call->bindParam(1, $a, PDO::PARAM_INT);
$call->bindParam(2, $b, PDO::PARAM_INT | PDO::PARAM_INPUT_OUTPUT, 10);
$call->bindParam(3, $c, PDO::PARAM_STR | PDO::PARAM_INPUT_OUTPUT, 20);
$call->execute();
echo json_encode([$a, $b, $c]), "\n";
$call->execute();
echo json_encode([$a, $b, $c, $call->columnCount()]), "\n";
$db->exec('drop procedure php_output');
?>
--EXPECT--
[2,7,"c7"]
[2,9,"c9",0]
