#!/usr/bin/php
<?php
// SPDX-License-Identifier: BSD-2-Clause
// PDO mysql, with statements that the server prepares: see mixed.php.
require __DIR__ . '/mixed_pdo.php';

class PdoMysql extends MixedMariaDB
{
	use MixedPdo;

	public function connect(): void
	{
		$this->db = new PDO('mysql:dbname=mixed;charset=utf8mb4;unix_socket=' . getenv('MIXED_SOCKET'), 'test', 'test',
			[PDO::ATTR_EMULATE_PREPARES => false]);
	}

	public function ask(string $sql, array $values = []): array
	{
		$statement = $values ? $this->db->prepare($sql) : $this->db->query($sql);
		if ($values)
			$statement->execute($values);
		return $statement->columnCount() > 0 ? $statement->fetchAll(PDO::FETCH_NUM) : [];
	}
}

$program = new PdoMysql($argv);
$program->connect();
$program->run();
