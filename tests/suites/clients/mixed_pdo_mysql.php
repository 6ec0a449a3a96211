#!/usr/bin/php
<?php
// SPDX-License-Identifier: BSD-2-Clause
// PDO mysql, with statements that the server prepares: see mixed.php.
require __DIR__ . '/mixed.php';

class PdoMysql extends MixedMariaDB
{
	private PDO $db;
	private ?PDOStatement $ten = null;

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

	public function begin(): void
	{
		$this->db->beginTransaction();
	}

	public function commit(): void
	{
		$this->db->commit();
	}

	public function rollBack(): void
	{
		$this->db->rollBack();
	}

	public function sqlstate(Exception $e): string
	{
		return $e->getCode();
	}

	// Prepared once, for all rounds.
	public function prepared(string $sql, array $values): array
	{
		$this->ten ??= $this->db->prepare($sql);
		return array_map(function ($value) {
			$this->ten->execute([$value]);
			return $this->ten->fetchAll(PDO::FETCH_NUM)[0];
		}, $values);
	}
}

$program = new PdoMysql($argv);
$program->connect();
$program->run();
