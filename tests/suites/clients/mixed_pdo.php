<?php
// SPDX-License-Identifier: BSD-2-Clause
// The part of a program with PDO that is the same for each database. The class that uses it sets $db.
require __DIR__ . '/mixed.php';

trait MixedPdo
{
	private PDO $db;
	private ?PDOStatement $ten = null;

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

	// The statement is prepared once, for all rounds.
	public function prepared(string $sql, array $values): array
	{
		$this->ten ??= $this->db->prepare($sql);
		return array_map(function ($value) {
			$this->ten->execute([$value]);
			return $this->ten->fetchAll(PDO::FETCH_NUM)[0];
		}, $values);
	}
}
