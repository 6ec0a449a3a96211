--TEST--
Values come as PHP's own types
--EXTENSIONS--
pdo_cenote
--SKIPIF--
<?php require __DIR__ . "/skipif.inc";  ?>
--FILE--
<?php
require __DIR__ . "/cenote.inc";
$db = connect();
$sql = [
	'postgresql' => "select true, false, 5::int2, 9223372036854775807, 1.50::numeric, 0.1::float8, date '2020-01-02', '{\"a\": 1}'::json, 'x'::text, null, '\\x00ff'::bytea",
	'mysql' => "select 1, 0, 5, 9223372036854775807, 1.50, 1e-1, date '2020-01-02', '{\"a\": 1}', 'x', null, x'00ff'",
	'sqlite' => "select 1, 0, 5, 9223372036854775807, '1.50', 0.1, '2020-01-02', '{\"a\": 1}', 'x', null, x'00ff'",
][getenv('CENOTE_TEST_BACKEND')];
$row = $db->query($sql)->fetch(PDO::FETCH_NUM);
$row[0] = (int)$row[0];
$row[1] = (int)$row[1];
$row[10] = bin2hex($row[10]);
echo json_encode($row), "\n";
make_table($db, 'php_types');
fill_table($db, 'php_types', 2);
echo json_encode($db->query('select id, word, n, x from php_types order by n desc')->fetch()), "\n";
$columns = $db->query('select id, word, bytes, x from php_types');
foreach ([0, 1, 2, 3] as $i) {
	$meta = $columns->getColumnMeta($i);
	echo $meta['name'], ' ', $meta['pdo_type'], ' ', json_encode($meta['flags']), "\n";
}
var_dump($columns->getColumnMeta(4));
$db->setAttribute(PDO::ATTR_STRINGIFY_FETCHES, true);
echo json_encode($db->query('select id, n, x from php_types order by n desc')->fetch(PDO::FETCH_NUM)), "\n";
?>
--EXPECTF--
[1,0,5,9223372036854775807,"1.50",0.1,"2020-01-02","{\"a\": 1}","x",null,"00ff"]
{"id":2,"0":2,"word":"row 1","1":"row 1","n":1,"2":1,"x":0.25,"3":0.25}
id 1 %s
word 2 []
bytes 3 ["blob"]
x 2 []
bool(false)
["2","1","0.25"]
