--TEST--
Transactions
--EXTENSIONS--
pdo_cenote
--SKIPIF--
<?php require __DIR__ . "/skipif.inc";  ?>
--FILE--
<?php
require __DIR__ . "/cenote.inc";
$db = connect();
make_table($db, 'php_tx');
fill_table($db, 'php_tx', 3);
$count = fn() => $db->query('select count(*) from php_tx')->fetchColumn();
outcome(fn() => [$db->beginTransaction(), $db->inTransaction(), $db->exec('delete from php_tx'), $count(), $db->rollBack(), $count(), $db->inTransaction()]);
outcome(fn() => [$db->beginTransaction(), $db->exec('delete from php_tx where n = 0'), $db->commit(), $count()]);
outcome(fn() => $db->beginTransaction() && $db->beginTransaction());
$db->rollBack();
outcome(fn() => $db->commit());
outcome(fn() => [$db->setAttribute(PDO::ATTR_AUTOCOMMIT, 0), $db->exec('delete from php_tx'), $db->inTransaction(), $db->rollBack(), $db->setAttribute(PDO::ATTR_AUTOCOMMIT, 1), $count()]);
$off = connect([PDO::ATTR_AUTOCOMMIT => false]);
$off->exec('delete from php_tx');
unset($off);
outcome($count);
?>
--EXPECT--
[true,true,3,0,true,3,false]
[true,1,true,2]
PDOException -: There is already an active transaction
PDOException -: There is no active transaction
[true,2,true,true,true,2]
2
