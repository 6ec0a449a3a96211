# SPDX-License-Identifier: BSD-2-Clause
# What the Perl programs of tests/suites/mixed do in each round, and the answers that they must get: as mixed.py.
package Mixed;
use strict;
use warnings;
use utf8;

binmode STDERR, ':utf8';

sub new
{
	my ($class) = @_;
	my ($tenant, $rounds, $kind) = @ARGV;
	my $self = { tenant => $tenant, rounds => $rounds, simple => ($kind // '') eq 'simple', name => "mixed-$tenant" };
	return bless $self, $class;
}

sub same
{
	my ($what, $got, $wanted) = @_;
	my ($g, $w) = map { join ' / ', map { join '|', map { $_ // 'undef' } @$_ } @$_ } $got, $wanted;
	die "$what: got $g, wanted $w\n" if $g ne $w;
}

sub ask
{
	my ($self, $sql, @values) = @_;
	my $statement = $self->{db}->prepare($sql);
	$statement->execute(@values);
	return $statement->{NUM_OF_FIELDS} ? $statement->fetchall_arrayref : [];
}

sub count
{
	my ($self, $what, $n) = @_;
	same $what, $self->ask('select count(*) from entry where tenant = ?', $self->{tenant}), [[$n]];
}

sub fails
{
	my ($self, $sql, $state) = @_;
	die "$sql: no error\n" if eval { $self->ask($sql); 1 };
	same $sql, [[$self->{db}->state]], [[$state]];
}

sub delete
{
	my ($self) = @_;
	$self->ask('delete from entry where tenant = ?', $self->{tenant});
	$self->count('delete', 0);
}

sub transactions
{
	my ($self, $n) = @_;
	my ($db, $tenant) = @$self{qw(db tenant)};
	$db->begin_work;
	$self->ask('update account set n = n + 1 where tenant = ?', $tenant);
	$self->ask('insert into entry values (?, ?)', $tenant, $n);
	$db->commit;
	same 'commit', $self->ask('select n from account where tenant = ?', $tenant), [[$n]];

	$db->begin_work;
	$self->delete;
	$db->rollback;
	$self->count('rollback', $n);

	$db->begin_work;
	$self->ask('insert into entry values (?, ?)', $tenant, -$n);
	$db->do('savepoint s');
	$self->delete;
	$db->do('rollback to savepoint s');
	$self->count('savepoint', $n + 1);
	$self->ask('delete from entry where tenant = ? and n < 0', $tenant);
	$db->do('release savepoint s');
	$db->commit;
	$self->count('savepoint released', $n);

	$db->begin_work;
	$self->delete;
	$self->error;
	$db->rollback;
	$self->count('error', $n);
}

sub prepared
{
	my ($self) = @_;
	my ($db, $tenant) = @$self{qw(db tenant)};
	my $statement = $db->prepare("select cast(? as int) * 100 + $tenant from account where tenant = $tenant");
	for my $i (0 .. 9) {
		$statement->execute($i);
		same 'prepared', $statement->fetchall_arrayref, [[$i * 100 + $tenant]];
	}
}

sub temporary
{
	my ($self) = @_;
	$self->{db}->do('create temporary table scratch (g int)');
	$self->ask('insert into scratch values (?), (15)', $self->{tenant});
	same 'temporary table', $self->ask('select sum(g) from scratch'), [[15 + $self->{tenant}]];
	$self->{db}->do('drop table scratch');
}

# Without the lock, the programs would overwrite each other's numbers.
sub locked
{
	my ($self) = @_;
	$self->lock;
	my $n = $self->ask('select n from shared')->[0][0];
	$self->ask('update shared set n = ?', $n + 1);
	same 'unlock', $self->unlock, [[1]];
}

sub run
{
	my ($self) = @_;
	$self->set_own unless $self->{simple};
	for my $n (1 .. $self->{rounds}) {
		$self->plain($n);
		$self->transactions($n);
		$self->in_transaction;
		next if $self->{simple};
		$self->own;
		$self->prepared;
		$self->temporary;
		$self->locked;
		$self->own;
	}
	print "$self->{rounds} rounds\n";
}

1;
