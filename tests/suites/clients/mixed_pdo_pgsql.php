#!/usr/bin/php
<?php
// SPDX-License-Identifier: BSD-2-Clause
// PDO pgsql, which prepares each statement that has parameters: see mixed.php.
require __DIR__ . '/mixed.php';

class PdoPgsql extends MixedPostgreSQL
{
	private PDO $db;
	private ?PDOStatement $ten = null;

	public function connect(): void
	{
		$this->db = new PDO("pgsql:application_name={$this->name}");
		// A statement that is executed once has no name on the server, as PDO can be told.
		$this->db->setAttribute(PDO::PGSQL_ATTR_DISABLE_PREPARES, $this->simple);
	}

	public function ask(string $sql, array $values = []): array
	{
		if (!$values)
			return $this->db->query($sql)->fetchAll(PDO::FETCH_NUM);
		$statement = $this->db->prepare($sql);
		$statement->execute($values);
		return $statement->fetchAll(PDO::FETCH_NUM);
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
			return $this->ten->fetch(PDO::FETCH_NUM);
		}, $values);
	}
}

$program = new PdoPgsql($argv);
$program->connect();
$program->run();
