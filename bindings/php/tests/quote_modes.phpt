--TEST--
Quoting follows what MySQL takes for an escape, from the login on and behind errors
--EXTENSIONS--
pdo_cenote
--SKIPIF--
<?php
require __DIR__ . "/skipif.inc";
if (getenv('CENOTE_TEST_BACKEND') !== 'mysql') die('skip of MySQL only');
?>
--FILE--
<?php
require __DIR__ . "/cenote.inc";
function tell(PDO $db): void
{
	$text = "\\' it's \\";
	$back = $db->query('select ' . $db->quote($text))->fetchColumn();
	echo $db->quote("\\"), $back === $text ? ' same' : ' other', "\n";
}
# As the server's superuser, who asks by its socket.
function set_for_all(PDO $db, string $mode): void
{
	$socket = $db->query('select @@socket')->fetchColumn();
	$sql = "set global sql_mode = $mode";
	exec('mariadb --no-defaults -u root -S ' . escapeshellarg($socket) . ' -e ' . escapeshellarg($sql));
}
$db = connect();
$db->exec("set sql_mode = 'NO_BACKSLASH_ESCAPES'");
try {
	$db->exec('do 1; do nothing');
} catch (PDOException $e) {
	echo $e->errorInfo[0], "\n";
}
echo $db->quote("\\"), "\n";
tell($db);
$db->exec("set sql_mode = ''");
tell($db);
# A character may end in a backslash, and a first byte alone takes the one behind it.
$db->exec('set names gbk');
foreach (["\xd5\x5c'", "\xbf' or 1 = 1 -- "] as $text) {
	try {
		$back = $db->query('select ' . $db->quote($text))->fetchColumn();
		echo $back === $text ? 'same' : 'other', "\n";
	} catch (PDOException $e) {
		echo $e->errorInfo[1], "\n";
	}
}
$db->exec('set names utf8mb4');
set_for_all($db, "'NO_BACKSLASH_ESCAPES'");
# A session that was logged in before refuses, and makes room for one of now.
for ($i = 0, $quoted = ''; $i < 100 && $quoted !== "'\\'"; $i++) {
	$other = connect();
	$quoted = $other->quote("\\");
	try {
		$other->query("select $quoted");
	} catch (PDOException $e) {
	}
}
echo $quoted, "\n";
tell($other);
set_for_all($db, 'default');
# All of the pool's sessions are as before when they come back.
$all = [$db, $other];
while (count($all) < 8)
	$all[] = connect();
foreach ($all as $one)
	$one->exec('do 1');
?>
--EXPECT--
42S22
'\'
'\' same
'\\' same
same
1300
'\'
'\' same
