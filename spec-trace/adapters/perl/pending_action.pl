#!/usr/bin/perl
# A ledger of pending actions (Agents API) that speaks the driver protocol, version 1, in Perl 5 alone.
#
#   Text     reads JSON and keeps the source text, which JSON::PP does not; says when two texts mean the same
#   Clock    RFC 3339 to milliseconds and back
#   Journal  an append-only file: all that outlives the process
#   Ledger   the rules of the contract; its state is what the journal comes to, line by line
#   main     the plumbing: a request to a call of the ledger, what came of it to a response
#
# FAULT=name (or several, with commas between) breaks one rule, to see who notices.
use strict;
use warnings;
no warnings 'recursion';
use utf8;

my %FAULT = map { $_ => 1 } split /,/, $ENV{FAULT} // '';
sub fault { return $FAULT{ $_[0] } }

# ------------------------------------------------------------------------------------------------------------------
package Text;
use JSON::PP ();

my $quoter = JSON::PP->new->utf8(0)->allow_nonref;
sub quote { return $quoter->encode("$_[0]") }

my $NUMBER = qr/-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/;
sub blanks { ${ $_[0] } =~ /\G[ \t\r\n]*/gc; return }

# Behind the opening quote: moves behind the closing one.
sub skip_string {
    my ($s) = @_;
    while (1) {
        next if $$s =~ /\G[^"\\\x00-\x1f]+/gc;
        next if $$s =~ m{\G\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})}gc;
        return if $$s =~ /\G"/gc;
        die "not JSON: a string is broken at byte " . (pos($$s) // 0) . "\n";
    }
}

# Moves behind one value, however deep, without recursion, and gives its bytes as they were written.
sub skip_value {
    my ($s) = @_;
    blanks($s);
    my $from = pos($$s) // 0;
    my ($open, $want) = ('', 'value');    # $open: the brackets that are open
    while (1) {
        blanks($s);
        if ($want eq 'key' or $want eq 'first key') {
            if ($want eq 'first key' and $$s =~ /\G\}/gc) { chop $open; $want = 'next' }
            else {
                $$s =~ /\G"/gc or die "not JSON: a key is expected\n";
                skip_string($s);
                $$s =~ /\G[ \t\r\n]*:/gc or die "not JSON: a colon is expected\n";
                $want = 'value';
                next;
            }
        }
        elsif ($want eq 'value' or $want eq 'first value') {
            if    ($$s =~ /\G\{/gc) { $open .= '}'; $want = 'first key';   next }
            elsif ($$s =~ /\G\[/gc) { $open .= ']'; $want = 'first value'; next }
            elsif ($want eq 'first value' and $$s =~ /\G\]/gc) { chop $open }
            elsif ($$s =~ /\G"/gc)  { skip_string($s) }
            elsif ($$s =~ /\G(?:true|false|null|$NUMBER)/gc) { }
            else { die "not JSON: a value is expected at byte " . (pos($$s) // 0) . "\n" }
            $want = 'next';
        }
        while ($want eq 'next') {    # behind a value
            return substr $$s, $from, pos($$s) - $from if $open eq '';
            blanks($s);
            my $closing = substr $open, -1;
            if    ($$s =~ /\G,/gc)             { $want = $closing eq '}' ? 'key' : 'value' }
            elsif ($$s =~ /\G\Q$closing\E/gc) { chop $open }
            else                               { die "not JSON: a comma or a bracket is expected\n" }
        }
    }
}

my %ESCAPE = (b => "\b", f => "\f", n => "\n", r => "\r", t => "\t");

# The characters of a string, from its bytes with the quotes; undef where half of a surrogate pair is in it.
sub unquote {
    my ($bytes) = @_;
    my $s = substr $bytes, 1, -1;
    utf8::decode($s);
    my $bad = 0;
    $s =~ s{\\(?:u[dD]([89abAB][0-9a-fA-F]{2})\\u[dD]([c-fC-F][0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|(.))}{
        defined $1 ? chr(0x10000 + ((hex("D$1") - 0xD800) << 10) + hex("D$2") - 0xDC00)
      : defined $3 ? (hex($3) >= 0xD800 && hex($3) <= 0xDFFF ? do { $bad = 1; '' } : chr hex $3)
      : ($ESCAPE{$4} // $4) }ge;
    return $bad ? undef : $s;
}

# One object as [key, bytes of the value] in order; nothing may stand behind it.
sub members {
    my ($line) = @_;
    my @members;
    $line =~ /\G[ \t\r\n]*\{/gc or die "expected a JSON object\n";
    my $first = 1;
    while (1) {
        blanks(\$line);
        last if $first and $line =~ /\G\}/gc;
        $first = 0;
        my $from = pos $line;
        $line =~ /\G"/gc or die "not JSON: a key is expected\n";
        skip_string(\$line);
        my $key = unquote(substr $line, $from, pos($line) - $from) // die "not JSON: half of a surrogate pair\n";
        $line =~ /\G[ \t\r\n]*:/gc or die "not JSON: a colon is expected\n";
        push @members, [$key, skip_value(\$line)];
        blanks(\$line);
        next if $line =~ /\G,/gc;
        last if $line =~ /\G\}/gc;
        die "not JSON: a comma or a bracket is expected\n";
    }
    $line =~ /\G[ \t\r\n]*\z/gc or die "not JSON: something stands behind the object\n";
    return @members;
}

# A text that is the same for all texts that mean the same. Dies where it has no one meaning, or nests too deep.
# $$lossy is set where a number is in it that no double carries.
sub meaning {
    my ($text, $lossy) = @_;
    my $s = $text;
    utf8::encode($s);
    die "longer than 1 MiB\n" if length $s > 1 << 20;
    pos($s) = 0;
    my $meaning = meant(\$s, 0, $lossy);
    $s =~ /\G[ \t\r\n]*\z/gc or die "not JSON: something stands behind the value\n";
    return $meaning;
}

sub meant {
    my ($s, $depth, $lossy) = @_;
    blanks($s);
    if ($$s =~ /\G([\[{])/gc) {
        my $kind = $1;
        my $end  = $kind eq '[' ? qr/\G[ \t\r\n]*\]/ : qr/\G[ \t\r\n]*\}/;
        die "deeper than 64\n" if $depth == 64;
        my (@items, %seen);
        until ($$s =~ /$end/gc) {
            if (@items) { $$s =~ /\G[ \t\r\n]*,/gc or die "not JSON: a comma is expected\n" }
            my $key = '';
            if ($kind eq '{') {
                blanks($s);
                my $from = pos $$s;
                $$s =~ /\G"/gc or die "not JSON: a key is expected\n";
                skip_string($s);
                $key = unquote(substr $$s, $from, pos($$s) - $from) // die "half of a surrogate pair\n";
                die "a key twice\n" if $seen{$key}++;
                $$s =~ /\G[ \t\r\n]*:/gc or die "not JSON: a colon is expected\n";
            }
            push @items, [$key, meant($s, $depth + 1, $lossy)];
        }
        return '[' . join(',', map { $_->[1] } @items) . ']' if $kind eq '[';
        return '{' . join(',', map { quote($_->[0]) . ":$_->[1]" } sort { $a->[0] cmp $b->[0] } @items) . '}';
    }
    my $from = pos $$s;
    if ($$s =~ /\G"/gc) {
        skip_string($s);
        return quote(unquote(substr $$s, $from, pos($$s) - $from) // die "half of a surrogate pair\n");
    }
    return $1 if $$s =~ /\G(true|false|null)/gc;
    $$s =~ /\G($NUMBER)/gc or die "not JSON: a value is expected\n";
    my $n = $1;
    if ($n =~ /^-?[0-9]+\z/) {
        return sprintf '%.0f', $n if main::fault('doubles') and $n != 0;
        return $n eq '-0' ? '0' : $n;    # whole: to the digit
    }
    my $double = $n + 0;
    if ($double == 0) { $$lossy = 1 if $n =~ /^-?[0.]*[1-9]/; return '0' }
    if (abs $double == 9**9**9) { $$lossy = 1; return $n }
    return $double == int $double ? sprintf('%.0f', $double) : sprintf('%.17g', $double);
}

# ------------------------------------------------------------------------------------------------------------------
package Clock;
use Time::Local qw(timegm_modern);

use constant { FIRST => -62_167_219_200_000, LAST => 253_402_300_799_999 };    # the years 0000 to 9999

sub read_time {
    my ($text) = @_;
    my ($y, $mo, $d, $h, $mi, $s, $f, $sign, $oh, $om) = $text =~
        /^([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]+))?(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))\z/
        or return undef;
    return undef if $h > 23 or $mi > 59 or $s > 60 or ($oh // 0) > 23 or ($om // 0) > 59;
    my $minute = eval { timegm_modern(0, $mi, $h, $d, $mo - 1, $y) } // return undef;
    my $offset = defined $sign ? ($oh * 3600 + $om * 60) * ($sign eq '-' ? -1 : 1) : 0;
    $minute -= $offset;
    return undef if $s == 60 and $minute % 86_400 != 86_340;    # a leap second: only at the end of a day of UTC
    my $ms = ($minute + $s) * 1000 + substr(($f // '') . '000', 0, 3);
    return $ms < FIRST ? FIRST : $ms > LAST ? LAST : $ms;
}

sub write_time {
    my ($ms) = @_;
    my $rest = $ms % 1000;
    my ($s, $mi, $h, $d, $mo, $y) = gmtime(($ms - $rest) / 1000);
    return sprintf '%04d-%02d-%02dT%02d:%02d:%02d.%03dZ', $y + 1900, $mo + 1, $d, $h, $mi, $s, $rest;
}

# ------------------------------------------------------------------------------------------------------------------
package Journal;
use File::Temp ();
use Digest::SHA ();
use JSON::PP ();
use Time::HiRes ();

my $coder = JSON::PP->new->utf8->canonical;

# A new one, empty but for what makes its ids its own.
sub new {
    my ($class) = @_;
    my $self = bless { file => File::Temp->new }, $class;
    $self->{file}->autoflush(1);
    $self->append({ seed => Digest::SHA::sha256_hex(join ' ', Time::HiRes::time(), $$, rand, {}) });
    return $self;
}

sub append { my ($self, $record) = @_; print { $self->{file} } $coder->encode($record), "\n" or die $!; return }

sub lines {
    my ($self) = @_;
    open my $in, '<', $self->{file}->filename or die $!;
    my @lines = <$in>;
    return @lines;
}

sub records { my ($self) = @_; return map { $coder->decode($_) } $self->lines }

# The name of the state that the first so many records come to.
sub name { my ($self, $count) = @_; my @l = $self->lines; return "$count." . Digest::SHA::sha256_hex(@l[0 .. $count - 1]) }

sub knows {
    my ($self, $name) = @_;
    my ($count) = $name =~ /^([1-9][0-9]{0,8})\./ or return 0;
    return $count <= $self->lines && $self->name($count) eq $name;
}

sub cut {
    my ($self, $count) = @_;
    my @l = $self->lines;
    truncate $self->{file}, 0; seek $self->{file}, 0, 0;
    print { $self->{file} } @l[0 .. $count - 1];
    return;
}

# ------------------------------------------------------------------------------------------------------------------
package Ledger;
use Digest::SHA ();
use JSON::PP ();

my $BLANK = qr/[\s\p{Cc}\x{AD}\x{200B}-\x{200F}\x{202A}-\x{202E}\x{2060}-\x{206F}\x{FEFF}]/;
my $BREAK = qr/[\n\x0b\x0c\r\x85\x{2028}\x{2029}]/;

sub is_text { my ($text, $most) = @_; return $text !~ /^$BLANK*\z/ && length $text <= $most }

# The ledger as its journal has it.
sub open {
    my ($class, $journal) = @_;
    my $self = bless { journal => $journal, now => Clock::FIRST, count => 0, last => [],
        actions => {}, order => [], ended => {}, restarts => 0 }, $class;
    $self->take_in($_) for $journal->records;
    $self->{ended} = {} if main::fault('forgets_ended') and $self->{restarts} >= 1;
    return $self;
}

# One record of the journal: the state is what all of them come to.
sub take_in {
    my ($self, $record) = @_;
    $self->{count}++;
    if (defined $record->{seed}) { $self->{seed} = $record->{seed}; return }
    $self->{now}  = $record->{now};
    $self->{last} = $record->{outputs};
    for my $fact (@{ $record->{facts} }) {
        if (my $action = $fact->{created}) {
            $self->{actions}{ $action->{id} } = { %$action, state => 'pending' };
            push @{ $self->{order} }, $action->{id};
        }
        elsif (defined $fact->{ended})   { $self->{ended}{ $fact->{ended} } = 1 }
        elsif (defined $fact->{restart}) { $self->{restarts}++ }
        else                             { $self->{actions}{ $fact->{id} }{state} = $fact->{state} }
    }
    return;
}

# Does one op: what is due, then what is asked, and all of it into the journal before anything comes out.
sub carry_out {
    my ($self, $now, $what) = @_;
    $now = $self->{now} if $now < $self->{now} and not (main::fault('clock_back') and $self->{restarts});
    $self->{step} = { now => $now, facts => [], outputs => [], made => 0 };
    my @lost = $what->{lost} ? @{ $what->{lost} } : ();
    push @{ $self->{step}{outputs} }, @lost;
    $self->expire_due;
    my $refused = eval { $what->{do}->() if $what->{do}; 1 } ? undef : $@;
    die $refused if defined $refused and not ref $refused;
    $self->put(refused => $refused) if $refused;
    my $step = delete $self->{step};
    my $record = { now => $step->{now}, facts => $step->{facts}, outputs => $step->{outputs} };
    $self->{journal}->append($record);
    $self->take_in($record);
    return $step->{outputs};
}

sub put    { my ($self, $kind, $body) = @_; push @{ $self->{step}{outputs} }, { $kind => $body }; return }
sub refuse { my ($clause, $reason) = @_; die { ($clause ? (clause => $clause) : ()), reason => $reason } }
sub at     { my ($self) = @_; return Clock::write_time($self->{step}{now}) }

# Within a step the state changes at once for what follows in it; the record is taken in again, to the same effect.
sub becomes {
    my ($self, $action, $state) = @_;
    $action->{state} = $state;
    push @{ $self->{step}{facts} }, { id => $action->{id}, state => $state };
    return;
}

sub make_id {
    my ($self, $kind) = @_;
    return $kind . '_' . substr Digest::SHA::sha256_hex(join ':', $self->{seed}, $self->{count}, ++$self->{step}{made}), 0, 24;
}

sub append {
    my ($self, $action, $type, %more) = @_;
    $self->put(append => { message_id => $self->make_id('m'), type => $type,
        ($action ? (session_id => $action->{session_id}) : ()),
        ($action && $type ne 'confirmation_request' ? (tool_call_id => $action->{id}, tool => $action->{tool}) : ()), %more });
    return;
}

sub event {
    my ($self, $action, $type, %more) = @_;
    $self->put(event => { event_id => "$type.$action->{id}", action_id => $action->{id}, at => $self->at, type => $type, %more });
    return;
}

sub pending { my ($self) = @_; return grep { $_->{state} eq 'pending' } map { $self->{actions}{$_} } @{ $self->{order} } }
sub released { my ($self) = @_; return grep { $_->{state} eq 'released' } map { $self->{actions}{$_} } @{ $self->{order} } }

sub expire_due {
    my ($self) = @_;
    my $now = $self->{step}{now};
    my @pending = $self->pending;
    $now -= 500 if main::fault('half_second');
    pop @pending if main::fault('third_never_expires') and @pending >= 3;
    my @due = sort { $a->{expires} <=> $b->{expires} } grep { defined $_->{expires} && $_->{expires} <= $now } @pending;
    for my $action (@due) {
        $self->becomes($action, 'expired');
        $self->append($action, 'expired_result');
        $self->event($action, 'expired');
    }
    return;
}

sub propose {
    my ($self, $p) = @_;
    for my $name (qw(agent_id session_id run_id tool)) {
        refuse('PA-1', "$name must be a name of 1 to 256 characters") if not is_text($p->{$name}, 256);
    }
    refuse('PA-1', 'effect is not among those known') if $p->{effect} !~ /^(?:read|write|destructive|external)\z/;
    refuse('PA-1', 'summary must be 1 to 4096 characters') if not is_text($p->{summary}, 4096);
    refuse('PA-9', 'label must be 1 to 80 characters on one line') if not is_text($p->{label}, main::fault('long_label') ? 90 : 80) or $p->{label} =~ $BREAK;
    if (my $deciders = $p->{deciders}) {
        my %seen;
        refuse('PA-2', 'deciders must be different names') if not @$deciders or grep { not is_text($_, 256) or $seen{$_}++ } @$deciders;
    }
    refuse('PA-3', 'arguments are half a surrogate pair') if not defined $p->{arguments};
    my $lossy = 0;
    my $meaning = eval { Text::meaning($p->{arguments}, \$lossy) } // refuse('PA-3', "arguments: $@");
    my $expires;
    if (defined $p->{expires_at}) {
        $expires = Clock::read_time($p->{expires_at}) // refuse('PA-7', 'expires_at is no time');
        refuse('PA-7', 'expires_at must lie in the future') if $expires <= $self->{step}{now};
    }
    refuse('PA-5', 'the session has ended') if $self->{ended}{ $p->{session_id} };

    my $action = { id => $self->make_id('a'), nonce => $self->make_id('n'), expires => $expires, meaning => $lossy ? undef : $meaning,
        map { $_ => $p->{$_} } qw(agent_id session_id run_id tool arguments deciders) };
    push @{ $self->{step}{facts} }, { created => $action };
    $self->append($action, 'confirmation_request', text => main::fault('tells_id') && $self->pending >= 2 ? "$p->{summary} ($action->{id})" : $p->{summary}, label => $p->{label});
    $self->event($action, 'created', nonce => $action->{nonce}, (map { $_ => $p->{$_} } qw(agent_id session_id run_id tool arguments effect summary label)),
        expires_at => defined $expires ? Clock::write_time($expires) : undef,
        ($p->{deciders} ? (deciders => $p->{deciders}) : ()), idempotent => $p->{idempotent} ? JSON::PP::true : JSON::PP::false);
    return;
}

sub may_decide {
    my ($self, $action, $by) = @_;
    return 0 if $by =~ /^$BLANK*\z/;
    return 1 if main::fault('decider_case') and $action->{deciders} and grep { lc substr($_, 0, 1) eq lc substr($by, 0, 1) } @{ $action->{deciders} };
    return $action->{deciders} ? scalar grep { $_ eq $by } @{ $action->{deciders} } : $by ne $action->{agent_id};
}

# Why a decision does not count: clause and reason; nothing where it counts.
sub objection {
    my ($self, $d, $action) = @_;
    return ('PA-1', 'no such action') if not $action;
    if (defined $d->{nonce} and $d->{nonce} ne $action->{nonce}) {
        return ('PA-1', 'the nonce is another') if not (main::fault('nonce_after_restart') and $self->{restarts});
    }
    return ('PA-2', 'this one may not decide') if not $self->may_decide($action, $d->{by});
    return ('PA-7', 'it has expired')          if $action->{state} eq 'expired';
    return ('PA-8', "it is $action->{state}")  if $action->{state} ne 'pending' and not (main::fault('cancelled_after_restart') and $action->{state} eq 'cancelled' and $self->{restarts});
    return if not exists $d->{arguments} or $d->{decision} eq 'deny' and not main::fault('deny_needs_arguments');
    my $approved = $d->{arguments};
    return if defined $approved and $approved eq $action->{arguments};
    my $lossy = 0;
    my $meaning = defined $approved && defined $action->{meaning} ? eval { Text::meaning($approved, \$lossy) } : undef;
    return ('PA-3', 'the arguments are not the proposed ones') if not defined $meaning or $lossy or $meaning ne $action->{meaning};
    return;
}

sub decide {
    my ($self, $d) = @_;
    refuse(undef, 'decision is allow or deny') if $d->{decision} !~ /^(?:allow|deny)\z/;
    refuse('PA-2', 'by has at most 256 characters') if length $d->{by} > 256;
    my $action = $self->{actions}{ $d->{action_id} };
    my ($clause, $reason) = $self->objection($d, $action);
    if ($clause) {
        $self->put(audit => { clause => $clause, reason => $reason, action_id => $d->{action_id}, by => $d->{by}, at => $self->at });
        return;
    }
    $self->event($action, 'decided', decision => $d->{decision}, by => $d->{by});
    if ($d->{decision} eq 'deny') {
        $self->becomes($action, 'denied');
        $self->append($action, 'denied_result', by => $d->{by});
        $self->event($action, 'denied', by => $d->{by});
        return;
    }
    my $arguments = $action->{arguments};
    $arguments = $action->{meaning} // $arguments if main::fault('second_rewritten') and $self->released or main::fault('rewritten');
    $arguments = '["wrong"]' if main::fault('second_wrong') and $self->released;

    $self->becomes($action, 'released');
    $self->append($action, 'tool_call', arguments => $action->{arguments});
    $self->put(perform => { action_id => $action->{id}, tool => $action->{tool}, arguments => $arguments });
    return;
}

sub say { my ($self, $s) = @_; $self->append(undef, 'user_message', by => $s->{by}, text => $s->{text}); return }

sub finish_tool {
    my ($self, $f) = @_;
    refuse(undef, 'status is success, error or not_run') if $f->{status} !~ /^(?:success|error|not_run)\z/;
    my $action = $self->{actions}{ $f->{action_id} } // refuse('PA-1', 'no such action');
    my $twice = main::fault('finish_twice_restart') && $action->{state} eq 'finished' && $self->{restarts};
    refuse('PA-8', "the action is $action->{state}") if $action->{state} ne 'released' and not $twice;
    $self->becomes($action, main::fault('error_retries') && $f->{status} eq 'error' ? 'released' : 'finished');
    $self->append($action, 'tool_result', status => $f->{status}, result => $f->{result} // '');
    if ($f->{status} eq 'not_run') { $self->event($action, 'not_run') }
    else                           { $self->event($action, 'executed', status => $f->{status}) }
    return;
}

sub withdraw {
    my ($self, $action, $reason) = @_;
    $self->becomes($action, 'cancelled');
    $self->append($action, 'cancelled_result', reason => $reason);
    $self->event($action, 'cancelled', reason => $reason);
    return;
}

sub cancel {
    my ($self, $c) = @_;
    my $action = $self->{actions}{ $c->{action_id} } // refuse('PA-1', 'no such action');
    refuse('PA-8', "the action is $action->{state}") if $action->{state} ne 'pending';
    $self->withdraw($action, 'requested');
    splice @{ $self->{step}{outputs} }, -2 if main::fault('third_cancel_silent') and 3 == grep { $_->{state} eq 'cancelled' } values %{ $self->{actions} };
    return;
}

sub end_session {
    my ($self, $e) = @_;
    my $session = $e->{session_id};
    refuse('PA-1', 'session_id must be a name of 1 to 256 characters') if not is_text($session, 256);
    refuse('PA-5', 'the session has ended') if $self->{ended}{$session};
    push @{ $self->{step}{facts} }, { ended => $session };
    my @mine = grep { $_->{session_id} eq $session } $self->pending;
    splice @mine, 2 if main::fault('ends_two');
    $self->withdraw($_, 'session_ended') for @mine;
    for my $action (grep { $_->{session_id} eq $session } $self->released) {
        $self->put(audit => { clause => 'PA-5', reason => 'its session ended before it was done', action_id => $action->{id}, at => $self->at });
    }
    return;
}

sub snapshot { my ($self) = @_; $self->put(snapshot => $self->{journal}->name($self->{count})); return }

# The journal is newer than any snapshot of it, so that there is nothing to take back.
sub rollback {
    my ($self, $r) = @_;
    my $name = $r->{snapshot};
    refuse('PA-8', 'this snapshot is not of this journal') if not defined $name or not $self->{journal}->knows($name);
    return;
}

# Behind the crash. The answer to `lost` is known before anything dies.
sub has_put_out { my ($self) = @_; return scalar @{ $self->{last} } }

sub recover {
    my ($self, $now, $lost) = @_;
    my @last  = @{ $self->{last} };
    my @again = grep { $_->{append} or $_->{event} or main::fault('audit_again') && $_->{audit} } $lost ? @last[-$lost .. -1] : ();
    if (main::fault('new_message_id')) {
        $_ = $_->{append} && $_->{append}{type} eq 'denied_result' ? { append => { %{ $_->{append} }, message_id => 'x' . $self->{count} } } : $_ for @again;
    }
    return $self->carry_out($now, { lost => \@again, do => sub {
        push @{ $self->{step}{facts} }, { restart => 1 };
        for my $action ($self->released) {
            next if main::fault('doubt_once') and $self->{restarts} >= 2;
            $self->put(in_doubt => { action_id => $action->{id} });
            $self->put(perform => { map { ($_ eq 'id' ? 'action_id' : $_) => $action->{$_} } qw(id tool arguments) })
                if main::fault('second_restart_performs') and $self->{restarts};
        }
    } });
}

# ------------------------------------------------------------------------------------------------------------------
package main;
use JSON::PP ();

my $out = JSON::PP->new->utf8->canonical;
my $MOST = 16 << 20;

# The ops: each field with its type; `?` where it may be absent.
my %OPS = (
    hello => { driver => 'whole', protocol => 'text' }, reset => {}, tick => {}, snapshot => {},
    restart => { lost => 'whole?' }, say => { by => 'text', text => 'text' },
    propose => { (map { $_ => 'text' } qw(agent_id session_id run_id tool effect summary label)), arguments => 'json',
        expires_at => 'text?', deciders => 'texts?', idempotent => 'truth?' },
    decide => { action_id => 'text', nonce => 'text?', decision => 'text', by => 'text', arguments => 'json?' },
    finish_tool => { action_id => 'text', status => 'text', result => 'result?' },
    cancel => { action_id => 'text' }, end_session => { session_id => 'text' }, rollback => { snapshot => 'json' },
);

sub chars { my ($bytes) = @_; utf8::decode($bytes); return $bytes }

# The value of a field from its bytes, or death where it is of another type.
sub typed {
    my ($name, $type, $bytes) = @_;
    my $wrong = "`$name` is of another type\n";
    if ($type eq 'json' or $type eq 'result') {    # the text of it: undef where there can be none
        return chars($bytes) if $bytes !~ /^"/;
        return Text::unquote($bytes) // ($type eq 'result' ? chars($bytes) : undef);
    }
    if ($type eq 'text')  { $bytes =~ /^"/ or die $wrong; return Text::unquote($bytes) // die $wrong }
    if ($type eq 'truth') { $bytes =~ /^(?:true|false)\z/ or die $wrong; return $bytes eq 'true' }
    if ($type eq 'whole') { $bytes =~ /^-?(?:0|[1-9][0-9]*)\z/ && fits($bytes) or die $wrong; return $bytes }
    $bytes =~ /^\[/ or die $wrong;
    my @items;
    pos($bytes) = 1;
    until ($bytes =~ /\G[ \t\r\n]*\]/gc) {
        $bytes =~ /\G[ \t\r\n]*,/gc;
        push @items, typed($name, 'text', Text::skip_value(\$bytes));
    }
    return \@items;
}

sub fits { my ($n) = @_; (my $d = $n) =~ s/^-//; return length $d < 20 || length $d == 20 && $n !~ /^-/ && $d le '18446744073709551615' }

my ($journal, $ledger);

# What a request comes to: the members of the response but its id. Dies where it was not understood.
sub answer {
    my ($r) = @_;
    my $op = $r->{op} // die "`op` is missing\n";
    $op = typed('op', 'text', $op);
    my $fields = $OPS{$op} // die "`op` is unknown\n";
    my %f;
    for my $name (keys %$r) {
        next if $name eq 'id' or $name eq 'op';
        my $type = $name eq 'now' ? 'text' : $fields->{$name} // die "unknown field `$name`\n";
        my $any = $type =~ /^json|^result/;
        die "`$name` is null\n" if $r->{$name} eq 'null' and not $any;
        $f{$name} = typed($name, $type =~ s/\?\z//r, $r->{$name});
    }
    for my $name (keys %$fields) { die "`$name` is missing\n" if $fields->{$name} !~ /\?\z/ and not exists $f{$name} }
    die "`now` is missing\n" if not exists $f{now} and $op ne 'hello';
    my $now = exists $f{now} ? Clock::read_time($f{now}) // die("`now` is no time\n") : undef;

    if ($op eq 'hello') {
        die "`driver` is $f{driver}: expected 1\n" if $f{driver} ne '1';
        die "`protocol` is none spoken here\n" if $f{protocol} ne 'pending-action';
        return (name => 'perl-ledger 1.0', supports => [qw(cancel restart snapshot say idempotent)]);
    }
    if ($op eq 'reset') {
        $journal = Journal->new;
        $ledger = Ledger->open($journal);
        return (outputs => $ledger->carry_out(fault('reset_time') ? Clock::FIRST : $now, {}));
    }
    die "`reset` comes first\n" if not $ledger;
    if ($op eq 'restart') {
        my ($lost, $had) = ($f{lost} // 0, $ledger->has_put_out);
        if ($lost < 0 or $lost > $had) {
            return (outputs => $ledger->carry_out($now, { do => sub { Ledger::refuse(undef, "lost is at most $had") } }));
        }
        $ledger = Ledger->open($journal);    # all that was not in the journal is gone
        return (outputs => $ledger->recover($now, $lost));
    }
    my $do = $op eq 'tick' ? undef : sub { $ledger->$op(\%f) };
    my $outputs = $ledger->carry_out($now, { do => $do });
    if ($op eq 'rollback' and fault('rollback_revives') and not grep { $_->{refused} } @$outputs) {
        $f{snapshot} =~ /^([0-9]+)/;
        $journal->cut($1);
        $ledger = Ledger->open($journal);
    }
    return (outputs => $outputs);
}

$| = 1;
while (defined(my $line = <STDIN>)) {
    my $id;
    my %answer = eval {
        die "longer than 16 MiB\n" if length $line > $MOST + 1;
        my $copy = $line;
        utf8::decode($copy) or die "not UTF-8\n";
        my (%request, $twice);
        for (Text::members($line)) {
            $twice = $_->[0] if exists $request{ $_->[0] };
            $request{ $_->[0] } = $_->[1] if not exists $request{ $_->[0] };
        }
        die "`id` appears twice\n" if defined $twice and $twice eq 'id';
        my $given = $request{id} // die "`id` is missing\n";
        die "`id` is no whole number\n" if $given !~ /^(?:0|[1-9][0-9]*)\z/ or not fits($given);
        $id = $given;
        die "`$twice` appears twice\n" if defined $twice;
        answer(\%request);
    };
    if (not %answer) {
        %answer = (error => $@ || 'something broke');
        $ledger = Ledger->open($journal) if $ledger and $ledger->{step};    # it broke half way: back to the journal
    }
    my $body = $out->encode(\%answer);
    print '{"id":', $id // 'null', ',', substr($body, 1), "\n";
}
