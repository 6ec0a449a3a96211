<?php
// SPDX-License-Identifier: BSD-2-Clause
// PHP's PDO_ODBC on the table "things": see tests/suites/odbc_clients.

function check(string $name, $got, $wanted): void
{
	if ($got === $wanted)
		echo "ok $name\n";
	else
		echo "not ok $name: got ", json_encode($got), ", wanted ", json_encode($wanted), "\n";
}

$fish = "Grüße \u{1F41F}";
$pdo = new PDO('odbc:' . $argv[1], '', '', [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);
check('driver', $pdo->getAttribute(PDO::ATTR_DRIVER_NAME), 'odbc');

$all = 'select id, name, price, made, made_at from things order by id';
$rows = $pdo->query($all)->fetchAll(PDO::FETCH_NUM);
check('rows', $rows[0], ['1', $fish, '1.25', '2024-02-29', '2024-02-29 12:34:56']);
check('nulls', $rows[1], ['2', null, null, null, null]);
check('how many', count($rows), 3);

// Each parameter is data at execution.
$insert = $pdo->prepare('insert into things (id, name, price, note) values (:id, :name, :price, :note)');
$long = str_repeat('0123456789', 30000);
check('insert', $insert->execute(['id' => 10, 'name' => $fish, 'price' => '-3.75', 'note' => $long]), true);
check('count', $insert->rowCount(), 1);
$select = $pdo->prepare('select name, price, note from things where id = ?');
$select->execute([10]);
check('read back', $select->fetch(PDO::FETCH_NUM) === [$fish, '-3.75', $long], true);
$select->closeCursor();
$insert->execute(['id' => 11, 'name' => null, 'price' => null, 'note' => '']);
$select->execute([11]);
check('null and empty', $select->fetch(PDO::FETCH_NUM), [null, null, '']);
$select->closeCursor();

$stream = fopen('php://memory', 'w+');
fwrite($stream, "\0\1\2\377");
rewind($stream);
$update = $pdo->prepare('update things set data = ? where id = 10');
$update->bindParam(1, $stream, PDO::PARAM_LOB);
check('stream', [$update->execute(), $update->rowCount()], [true, 1]);

$pdo->beginTransaction();
$pdo->exec('delete from things');
$pdo->rollBack();
check('rollback', (int)$pdo->query('select count(*) from things')->fetchColumn(), 5);
$pdo->beginTransaction();
check('exec', $pdo->exec('delete from things where id in (10, 11)'), 2);
$pdo->commit();
check('commit', (int)$pdo->query('select count(*) from things')->fetchColumn(), 3);

$scroll = $pdo->prepare('select id from things order by id', [PDO::ATTR_CURSOR => PDO::CURSOR_SCROLL]);
$scroll->execute();
check('last', (int)$scroll->fetch(PDO::FETCH_NUM, PDO::FETCH_ORI_LAST)[0], 3);
check('prior', (int)$scroll->fetch(PDO::FETCH_NUM, PDO::FETCH_ORI_PRIOR)[0], 2);
check('absolute', (int)$scroll->fetch(PDO::FETCH_NUM, PDO::FETCH_ORI_ABS, 1)[0], 1);

try {
	$pdo->query('select x from nowhere');
	check('error', 'none', '42S02');
} catch (PDOException $e) {
	check('error', substr($e->getCode(), 0, 3), '42S');
}

$both = $pdo->query('select id, name as called from things where id = 3')->fetch(PDO::FETCH_ASSOC);
check('names', array_keys($both), ['id', 'called']);
echo "ok to its end\n";
