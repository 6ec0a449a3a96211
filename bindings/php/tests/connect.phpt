--TEST--
Data source names, and what a connection tells
--EXTENSIONS--
pdo_cenote
--SKIPIF--
<?php require __DIR__ . "/skipif.inc";  ?>
--FILE--
<?php
require __DIR__ . "/cenote.inc";
preg_match('!^cenote:///(\w+)\?run_dir=(.*)$!', getenv('CENOTE_TEST_URI'), $found);
[, $pool, $where] = $found;
putenv("CENOTE_SERVER=unix:$where");
foreach (["cenote:$pool", "cenote:pool=$pool", "cenote:pool=$pool;program=php; run_dir=$where;",
	"cenote:cenote:///$pool?run_dir=$where"] as $dsn)
	outcome(fn() => (new PDO($dsn))->getAttribute(PDO::ATTR_CONNECTION_STATUS));
outcome(fn() => new PDO("cenote:pool=$pool;databse=x"));
outcome(fn() => new PDO("cenote:pool=$pool;nonsense"));
outcome(fn() => new PDO('cenote:'));
try {
	new PDO('cenote:nowhere');
} catch (PDOException $e) {
	echo $e->errorInfo[0], ' ', str_contains($e->getMessage(), 'there is no pool "nowhere": cenoted runs in ') ? 'told' : 'not told', "\n";
}
$db = connect([PDO::ATTR_TIMEOUT => 5]);
outcome(fn() => $db->getAttribute(PDO::ATTR_DRIVER_NAME));
outcome(fn() => preg_match('/^\d+\.\d+/', $db->getAttribute(PDO::ATTR_SERVER_VERSION)));
outcome(fn() => preg_match('/^\d+\.\d+\.\d+$/', $db->getAttribute(PDO::ATTR_CLIENT_VERSION)));
outcome(fn() => str_starts_with($db->getAttribute(PDO::ATTR_SERVER_INFO), "Pool: $pool; Backend: " . getenv('CENOTE_TEST_BACKEND') . '; Server: '));
outcome(fn() => [$db->getAttribute(PDO::ATTR_AUTOCOMMIT), $db->getAttribute(PDO::ATTR_EMULATE_PREPARES), $db->getAttribute(PDO::ATTR_PREFETCH)]);
?>
--EXPECT--
"Attached."
"Attached."
"Attached."
"Attached."
PDOException 22023: there is no option "databse"; is database meant?
PDOException 22023: there is no option "nonsense"
PDOException 22023: no pool is named: set the option pool, or a URI such as "cenote:///POOL"
08001 told
"cenote"
1
1
true
[true,false,0]
