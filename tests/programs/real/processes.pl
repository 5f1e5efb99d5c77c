# Interpreter threads, fork, pipes, signals and sorting; prints what came of it and ends with status 6.
#
#   processes.pl ROUNDS
use strict;
use warnings;
use threads;
use Digest::MD5 qw(md5_hex);

my $rounds = shift;

sub work {
    my ($seed) = @_;
    my %table = map { ($_ * $seed) => "v$_" } 1 .. 5000 * $rounds;
    return md5_hex(join ',', map { "$_=$table{$_}" } sort keys %table);
}

my @threads = map { threads->create(\&work, $_) } 1 .. 3;
print "thread $_\n" for map { $_->join } @threads;

for my $child (1 .. 3) {
    pipe my $in, my $out or die;
    my $pid = fork;
    if ($pid == 0) {
        close $in;
        print $out work($child);
        close $out;
        exit $child;
    }
    close $out;
    print 'child ', <$in>, "\n";
    waitpid $pid, 0;
    print 'status ', $? >> 8, "\n";
}

my $waiting = fork;
if ($waiting == 0) { sleep 30; exit 0 }
kill TERM => $waiting;
waitpid $waiting, 0;
print 'signal ', $? & 127, "\n";

my $text = `echo from a shell; exit 5`;
print $text, $? >> 8, "\n";
my $alarmed = 0;
local $SIG{ALRM} = sub { $alarmed = 1 };
alarm 1;
select undef, undef, undef, 5;
print "alarmed $alarmed\n";
exit 6;
