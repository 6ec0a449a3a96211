<?php
# SPDX-License-Identifier: BSD-2-Clause
#
# usage: php conformance.php CASES.json [QUIRKS]
#
# Runs the shared conformance cases (tests/conformance/README.md) through PDO, on the pool
# CENOTE_TEST_URI, with the cases as case_json gives them; in TAP. Two ways: the whole result, and
# batches of two rows. What PDO has no call for is skipped, and says so.

# Where php.ini does not say so, an exception keeps its callers' arguments, and with them the connection.
ini_set('zend.exception_ignore_args', '1');

const OPS = ['begin' => 'beginTransaction', 'commit' => 'commit', 'rollback' => 'rollBack'];
const WAYS = ['buffered' => 0, 'batches' => 2];

class Unsupported extends Exception {}
class Mismatch extends Exception {}

function bytes(?string $text): ?string
{
	return $text === null ? null : iconv('UTF-8', 'ISO-8859-1', $text);
}

function expect(string $what, $wanted, $seen): void
{
	if ($wanted !== $seen)
		throw new Mismatch("$what: wanted " . var_export($wanted, true) . ', not ' . var_export($seen, true));
}

# The value as PDO takes it: [value, PDO::PARAM_…].
function bind(array $bind): array
{
	$value = bytes($bind['value'] ?? null);
	return match ($bind['type']) {
		'null' => [null, PDO::PARAM_NULL],
		'bool' => [$value === '1', PDO::PARAM_BOOL],
		'int64' => [(int)$value, PDO::PARAM_INT],
		'uint64' => (string)(int)$value === $value ? [(int)$value, PDO::PARAM_INT] : [$value, PDO::PARAM_STR],
		'bytes' => [$value ?? '', PDO::PARAM_LOB],
		default => [$value ?? '', PDO::PARAM_STR],
	};
}

# Whether a value is what the case says. Values come in their canonical form, also where a case speaks
# of the server's own text.
function is_same(?string $wanted, $seen, string $type): bool
{
	if ($wanted === null || $seen === null)
		return $wanted === $seen;
	if (is_bool($seen))
		return in_array($wanted, $seen ? ['1', 't', 'true'] : ['0', 'f', 'false'], true);
	if (is_float($seen))
		return is_finite($seen) ? (float)$wanted === $seen
			: in_array($wanted, ['INF' => ['Infinity'], '-INF' => ['-Infinity'], 'NAN' => ['NaN']][(string)$seen], true);
	if ($type === 'blob' && str_starts_with($wanted, '\x'))
		return hex2bin(substr($wanted, 2)) === $seen;
	return $wanted === (string)$seen;
}

function check_rows(array $expect, PDOStatement $result): void
{
	$rows = $result->fetchAll(PDO::FETCH_NUM);
	$n_columns = $result->columnCount();
	$blobs = [];
	for ($i = 0; $i < $n_columns; $i++)
		$blobs[] = in_array('blob', $result->getColumnMeta($i)['flags'] ?? [], true) ? 'blob' : '';

	if (isset($expect['columns']))
		expect('columns', array_map(fn($c) => bytes($c['name']), $expect['columns']),
			array_map(fn($i) => $result->getColumnMeta($i)['name'], $n_columns ? range(0, $n_columns - 1) : []));
	if (isset($expect['column_count']))
		expect('number of columns', $expect['column_count'], $n_columns);
	if ($n_columns > 0 && !isset($expect['sqlstate']))
		expect('number of rows', $expect['row_count'] ?? count($expect['rows']), count($rows));
	foreach ($expect['rows'] as $r => $row) {
		expect("values in row $r", count($row), count($rows[$r]));
		foreach ($row as $c => $wanted)
			if (!is_same(bytes($wanted), $rows[$r][$c], $blobs[$c]))
				expect("row $r, column $c", bytes($wanted), $rows[$r][$c]);
	}
}

function check_error(array $expect, PDOException $e): void
{
	[$state, $native, $text] = $e->errorInfo + [1 => null, 2 => $e->getMessage()];
	if (!isset($expect['sqlstate']))
		throw new Mismatch('failed: ' . $e->getMessage());
	# PDO's own word for a wrong number of parameters
	$state = $state === 'HY093' ? '07001' : $state;
	if (!str_starts_with($state, $expect['sqlstate']))
		throw new Mismatch("SQLSTATE: wanted $expect[sqlstate], not $state: $text");
	if (isset($expect['native']))
		expect('native code', $expect['native'], $native);
	if (isset($expect['message']) && !str_contains($text, bytes($expect['message'])))
		expect('message', bytes($expect['message']), $text);
}

function check_state(array $expect, PDO $db): void
{
	if (isset($expect['tx']))
		expect('transaction', $expect['tx'] !== 0, $db->inTransaction());
}

function run_sql(PDO $db, array $step, int $prefetch): void
{
	$i = 0;
	try {
		$statement = $db->prepare(bytes($step['sql']), [PDO::ATTR_PREFETCH => $prefetch]);
		foreach ($step['binds'] as $n => $value)
			$statement->bindValue(':p' . ($n + 1), ...bind($value));
		$statement->execute();
		foreach ($step['expects'] as $i => $expect) {
			if ($i > 0)
				expect('another result', true, $statement->nextRowset());
			if (isset($expect['affected']) && $expect['affected'] >= 0)
				expect('affected rows', $expect['affected'], $statement->rowCount());
			check_rows($expect, $statement);
			if (isset($expect['sqlstate']))
				expect('another result', true, $statement->nextRowset());
		}
		expect('more results', false, $statement->nextRowset());
	} catch (PDOException $e) {
		check_error($step['expects'][$i]['sqlstate'] ?? false ? $step['expects'][$i] : end($step['expects']), $e);
		return;
	}
	if (isset($step['expects'][$i]['sqlstate']))
		throw new Mismatch('it did not fail');
}

function run_op(PDO $db, array $step): void
{
	$expect = $step['expects'][0] ?? [];
	$args = $step['args'] ?? '';
	try {
		match (true) {
			isset(OPS[$step['op']]) && $args === '' => $db->{OPS[$step['op']]}(),
			$step['op'] === 'autocommit' => $db->setAttribute(PDO::ATTR_AUTOCOMMIT, (int)$args),
			default => throw new Unsupported("PDO has no call for $step[op] $args"),
		};
	} catch (PDOException $e) {
		# PDO itself refuses what has no sense, before the server is asked.
		if (!isset($e->errorInfo) && isset($expect['sqlstate']))
			return;
		check_error($expect, $e);
		return;
	}
	if (isset($expect['sqlstate']))
		throw new Mismatch('it did not fail');
}

function needs_more_than_pdo(array $case): ?string
{
	$members = ['n_formats' => 'formats of columns', 'copy_in' => 'copies', 'copy_fail' => 'copies', 'max_rows' => 'a limit of rows'];
	foreach ($case['steps'] as $step) {
		if (($step['format'] ?? 0) === 2)
			return 'binary values';
		if (preg_match('/^copy /i', $step['sql'] ?? ''))
			return 'copies';
		if (isset($step['is_extended']) && !$step['binds'])
			return 'form without parameters but the simple one';
		foreach ($members as $member => $name)
			if (isset($step[$member]))
				return $name;
		foreach ($step['expects'] as $expect)
			if (isset($expect['copy_out']))
				return 'copies';
			elseif (isset($expect['has_output']))
				return 'output values without variables for them';
	}
	return null;
}

function run_case(array $case, int $prefetch): void
{
	$lacking = needs_more_than_pdo($case);
	if ($lacking)
		throw new Unsupported("PDO has no $lacking");
	$db = new PDO('cenote:' . getenv('CENOTE_TEST_URI'), null, null, [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);
	foreach ($case['setup'] as $sql)
		$db->exec(bytes($sql));
	foreach ($case['steps'] as $step) {
		try {
			isset($step['sql']) ? run_sql($db, $step, $prefetch) : run_op($db, $step);
			check_state(end($step['expects']) ?: [], $db);
		} catch (Mismatch $e) {
			throw new Mismatch("line $step[line]: " . $e->getMessage());
		}
	}
}

function read_quirks(?string $file): array
{
	$quirks = [];
	foreach ($file ? file($file, FILE_IGNORE_NEW_LINES | FILE_SKIP_EMPTY_LINES) : [] as $line)
		if ($line[0] !== '#' && preg_match('/^(\S+) (.+?): (.+)$/', $line, $m))
			$quirks["$m[1] $m[2]"] = $m[3];
	return $quirks;
}

$quirks = read_quirks($argv[2] ?? null);
$number = $n_failed = 0;
foreach (json_decode(file_get_contents($argv[1]), true, 512, JSON_THROW_ON_ERROR) as $case) {
	foreach (WAYS as $way => $prefetch) {
		$name = bytes($case['name']);
		$known = $quirks["$way $name"] ?? $quirks["* $name"] ?? null;
		$number++;
		try {
			run_case($case, $prefetch);
			$is_ok = !$known;
			$why = 'passes, but is listed as a quirk';
		} catch (Unsupported $e) {
			echo "ok $number - $name ($way) # SKIP ", $e->getMessage(), "\n";
			continue;
		} catch (Throwable $e) {
			$is_ok = (bool)$known;
			$why = $e->getMessage();
		}
		echo $is_ok ? '' : 'not ', "ok $number - $name ($way)", $known ? " (quirk: $known)" : '', "\n";
		if (!$is_ok) {
			$n_failed++;
			echo '# ', basename($case['file']), ':', $case['line'], ': ', str_replace("\n", "\n# ", $why), "\n";
		}
	}
}
echo "1..$number\n";
exit($n_failed ? 1 : 0);
