<?php
# SPDX-License-Identifier: BSD-2-Clause
# Texts that are quoted for a server behind an ODBC driver come back as they were.
require __DIR__ . '/cenote.inc';
$db = connect();
$failed = 0;
foreach (['', "it's", 'back\\slash', "\\' or 1 -- ", '"both"', 'grün', "line\nbreak"] as $text) {
	$quoted = $db->quote($text);
	$back = $db->query("select $quoted")->fetchColumn();
	if ($back === $text)
		continue;
	echo "$quoted is ", var_export($back, true), "\n";
	$failed = 1;
}
exit($failed);
