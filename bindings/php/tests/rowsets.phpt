--TEST--
Several rowsets, and an error behind the first
--EXTENSIONS--
pdo_cenote
--SKIPIF--
<?php require __DIR__ . "/skipif.inc";  ?>
--FILE--
<?php
require __DIR__ . "/cenote.inc";
foreach ([0, 1] as $prefetch) {
	$db = connect([PDO::ATTR_PREFETCH => $prefetch]);
	$all = $db->query("select 1 as a union select 5 order by 1; select 2 as b, 3 as c; select 4 as d");
	do {
		echo json_encode([$all->columnCount(), $all->fetchAll(PDO::FETCH_ASSOC)]), "\n";
	} while ($all->nextRowset());
	$skips = $db->query("select 1 as a union select 5; select 2 as b");
	outcome(fn() => [$skips->nextRowset(), $skips->fetchColumn(), $skips->nextRowset(), $skips->fetch()]);
	$fails = $db->query('select 1; select nonsense');
	outcome(fn() => $fails->fetchColumn());
	try {
		$fails->nextRowset();
	} catch (PDOException $e) {
		echo 'thrown ', $e->getCode() === $e->errorInfo[0] ? 'with its SQLSTATE' : '', "\n";
	}
	outcome(fn() => $db->query('select 7')->fetchColumn());
}
?>
--EXPECT--
[1,[{"a":1},{"a":5}]]
[2,[{"b":2,"c":3}]]
[1,[{"d":4}]]
[true,2,false,false]
1
thrown with its SQLSTATE
7
[1,[{"a":1},{"a":5}]]
[2,[{"b":2,"c":3}]]
[1,[{"d":4}]]
[true,2,false,false]
1
thrown with its SQLSTATE
7
