//! Confirmation tokens on the form: eight clauses in one account.
#![expect(
    clippy::cast_possible_wrap,
    clippy::match_overlapping_arm,
    clippy::struct_excessive_bools,
    reason = "tables, and numbers that are small"
)]

use countersign_model::clauses;
use countersign_model::engine::clause::{Clauses, Entry};
use countersign_model::engine::fact::{Fact, Interval};
use countersign_model::engine::protocol::{Protocol, Step};

use super::{Book, Name, as_in_the_book, explained, lifted, millis};

clauses! { pub const CLAUSES;
    C1_3_1 "AQL-1.3-1" Must; C1_3_2 "AQL-1.3-2" Must; C2_2_1 "AQL-2.2-1" Must; C2_2_2 "AQL-2.2-2" Must;
    C2_2_3 "AQL-2.2-3" Must; C3_1_1 "AQL-3.1-1" Must; C3_1_2 "AQL-3.1-2" Should; C3_1_3 "AQL-3.1-3" Must;
    C3_2_1 "AQL-3.2-1" Must; C4_1_1 "AQL-4.1-1" Must; C4_1_2 "AQL-4.1-2" Must; C4_1_3 "AQL-4.1-3" Must;
    C4_1_4 "AQL-4.1-4" Must; C4_1_5 "AQL-4.1-5" Must; C4_2_1 "AQL-4.2-1" Must; C5_1_3 "AQL-5.1-3" Must;
    C5_1_4 "AQL-5.1-4" May; C5_3_1 "AQL-5.3-1" May; C5_3_2 "AQL-5.3-2" May; C5_4_2 "AQL-5.4-2" Must;
    C5_4_4 "AQL-5.4-4" May; C5_5_2 "AQL-5.5-2" Should; C5_5_3 "AQL-5.5-3" Should; C6_1_1 "AQL-6.1-1" Must;
    C6_3_2 "AQL-6.3-2" Should; C6_4_1 "AQL-6.4-1" Must; C6_5_1 "AQL-6.5-1" Should; C7_1_1 "AQL-7.1-1" Must;
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Aql;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Call {
    at: i64,
    link: Name,
    what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum What {
    Ask {
        op: Name,
        token: Option<Name>,
    },
    End(Name),
    Cut(Name),
    Logout(Name),
    /// A change of configuration, or a security event.
    Config,
    Revoke(Name),
    Introspect(Name),
    Tick,
    Restart,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Code {
    Invalid,
    Expired,
    Used,
    Scope,
    Limited,
    Full,
    Other,
}
use Code::{Expired, Full, Invalid, Limited, Other, Scope, Used};

/// So many characters of an identifier, and what they look like: `hex`, `uuid`, `counted`, or so many that vary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Looks(i64, Name);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Output {
    Issue(Name, Looks),
    Exec(Name, bool),
    /// A refusal, with its message and details as they came.
    Refused(Code, Name),
    Audit(Name, Name),
    Status(Name),
}
use Output::{Audit, Exec, Issue, Refused, Status};

const HOLE_TOKEN: u8 = 1;
const HOLE_FAILED: u8 = 2;
const HOLE_CODE: u8 = 4;
const HOLE_TEXT: u8 = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binding {
    Issued { op: Name, link: Name },
    Ran { place: usize },
    Worded { token: Name },
    Revoked { place: usize },
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Token {
    name: Name,
    op: Name,
    link: Name,
    expires: Interval,
    max: Interval,
    used: i64,
    session: Fact,
    is_cut: bool,
    revoked: bool,
    /// Purged or lost, with all that was known of it.
    gone: bool,
    /// It was seen to be expired.
    was_expired: bool,
    /// It was seen to be kept beyond its hour.
    is_kept: bool,
    /// It was there before the last restart.
    is_old: bool,
}

/// Attempts of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Limit {
    number: Interval,
    times: Vec<i64>,
    /// The attempt that was refused last, and since when all are.
    stopped: Option<(i64, Name, Name, i64)>,
    /// It was passed in this window.
    is_passed: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Account {
    now: i64,
    tolerance: Interval,
    tokens: Vec<Token>,
    shapes: Vec<String>,
    limits: [Limit; 3],
    declared: Option<(i64, i64)>,
    is_durable: bool,
    lost: Fact,
    signed: Fact,
    uses: Interval,
    session: Fact,
    has_fraction: bool,
    declares_uuid: bool,
    hexes: u8,
    /// Whose logout this call is.
    logout: Option<Name>,
}

const ISSUING: usize = 0;
const FAILING: usize = 1;
const REVOKING: usize = 2;
const HOUR: i64 = 3_600_000;
const NAMES: [Name; 6] = ["x", "y", "z", "w", "v", "u"];

/// A refusal: by which clauses, by which code, and whether anything else will do as well.
struct Refusal(Clauses, Code, bool);

type S<'v> = Step<'v, Aql>;

fn reads(step: &S<'_>, word: Name) -> bool {
    step.variant.reading == word
}

/// A check of the text. Without its first clause any answer but a run will do, also where it holds; without all of them
/// it is not made.
fn check(step: &mut S<'_>, clauses: Clauses, code: Code, fails: bool) -> Option<Refusal> {
    let (is_first_out, is_out) = (
        !step.enforces(clauses[0]),
        step.variant.left_out.contains_all(clauses),
    );
    if (fails && !is_out) || (is_first_out && step.choose(2) == 1) {
        return Some(Refusal(clauses, code, fails && is_first_out));
    }
    None
}

/// Whether the time of a token is over, and the tolerance with it.
fn is_expired(step: &mut S<'_>, place: usize) -> bool {
    let (now, expires) = (step.account.now, step.account.tokens[place].expires);
    if step.account.tokens[place].was_expired && !reads(step, "clock") {
        return true;
    }
    let is_zero = step.account.tolerance.high == 0 && reads(step, "zero_is_30");
    let is_over = if is_zero {
        now > expires.low + 30_000
    } else if expires.low == expires.high {
        step.is_at_most(|it| &mut it.tolerance, now - expires.low - 1, true)
    } else {
        let bound = now - step.account.tolerance.low - 1;
        step.is_at_most(|it| &mut it.tokens[place].expires, bound, true)
    };
    step.account.tokens[place].was_expired |= is_over;
    is_over
}

/// Whether the token is not found, and by which clause: revoked, its connection ended, purged, lost.
fn missing(step: &mut S<'_>, place: usize) -> Option<Refusal> {
    let it = step.account.tokens[place].clone();
    if it.gone {
        return check(step, &[C4_1_1], Invalid, true);
    }
    if it.revoked {
        let any = if reads(step, "any_code") {
            Other
        } else {
            Invalid
        };
        return check(step, &[C4_1_1, C5_3_2, C7_1_1], any, true);
    }
    if it.session == Fact::Perhaps && it.used > 1 && reads(step, "session") {
        step.account.tokens[place].session = Fact::Yes;
    }
    if it.is_cut && step.decide(|it| &mut it.tokens[place].session, false) {
        let code = if step.choose(2) == 0 { Invalid } else { Scope };
        let refusal = check(step, &[C5_4_2], code, true);
        if refusal.is_none() {
            // It survived: that is one fault, however often it is used.
            step.account.tokens[place].session = Fact::No;
        }
        return refusal;
    }
    // AQL-5.3-1: it may be revoked at any time; AQL-6.4-1: that is logged.
    let may_come_late = !reads(step, "log_at_once") || !step.enforces(C6_4_1);
    if !it.was_expired && may_come_late && step.choose(2) == 1 {
        step.account.tokens[place].revoked = true;
        step.owe(&[C6_4_1], Audit("REVOKED", it.name));
        return Some(Refusal(&[C4_1_1, C5_3_2, C7_1_1], Invalid, false));
    }
    let (now, tolerance) = (step.account.now, step.account.tolerance.high);
    let is_past = now > it.expires.low + step.account.tolerance.low
        || now > it.expires.low && reads(step, "expired_is_told");
    if !is_past || step.account.signed == Fact::Yes {
        return None;
    }
    // AQL-5.5-2: within the hour it may be gone, afterwards it should.
    let allowed = if reads(step, "expired_is_told") {
        HOUR
    } else {
        HOUR + tolerance
    };
    let is_due = now > it.expires.high + allowed && !it.is_kept;
    if is_due && !step.decide(|it| &mut it.signed, false) {
        step.account.tokens[place].is_kept = !step.enforces(C5_5_2);
        if step.enforces(C5_5_2) || step.choose(2) == 1 {
            step.account.tokens[place].gone = true;
            return Some(Refusal(&[C5_5_2, C4_1_1], Invalid, false));
        }
    } else if !is_due
        && step.choose(2) == 1
        && (reads(step, "expired_is_told") || is_expired(step, place))
    {
        step.account.tokens[place].gone = true;
        return Some(Refusal(&[C4_1_1], Invalid, false));
    }
    None
}

/// The checks of a token that is found, in the order that is read.
fn failing(step: &mut S<'_>, place: usize, op: Name) -> Option<Refusal> {
    let order = match step.variant.reading {
        "sample" => [2, 3, 0, 1],
        "any_order" => {
            [[0, 1, 2, 3], [1, 0, 2, 3], [2, 0, 1, 3], [3, 0, 1, 2]][usize::from(step.choose(4))]
        }
        _ => [0, 1, 2, 3],
    };
    order.into_iter().find_map(|number| {
        let it = &step.account.tokens[place];
        let (used, of) = (it.used, it.op);
        let name = |op: Name| op.split('(').next();
        match number {
            0 => {
                let is_over = is_expired(step, place);
                let is_told = step.account.now > step.account.tokens[place].expires.high + 30_000;
                let clauses: Clauses = if step.account.tolerance.high > 30_000 && is_told {
                    &[C4_1_2, C5_1_4]
                } else {
                    &[C4_1_2, C5_1_3]
                };
                let clamped =
                    is_told && step.account.tolerance.high > 30_000 && !reads(step, "up_to_300");
                check(step, clauses, Expired, is_over || clamped)
            }
            1 => {
                let is_used = step.is_at_most(|it| &mut it.tokens[place].max, used, true);
                check(step, &[C4_1_3, C6_1_1], Used, is_used)
            }
            2 => check(step, &[C4_1_4], Scope, name(op) != name(of)),
            _ => check(step, &[C4_1_5], Scope, name(op) == name(of) && op != of),
        }
    })
}

/// Whether an attempt is turned away for their number (AQL-6.5-1).
fn is_limited(step: &mut S<'_>, kind: usize, link: Name, op: Name) -> bool {
    let now = step.account.now;
    if let Some((number, window)) = step.account.declared {
        let is_sliding = reads(step, "sliding");
        let it = &mut step.account.limits[kind];
        let is_over = it.times.first().is_some_and(|first| now - first >= window);
        it.times.retain(|time| {
            if is_sliding {
                now - time < window
            } else {
                !is_over
            }
        });
        it.is_passed &= !is_over;
        if it.is_passed {
            return step.choose(2) == 1;
        }
        let is_reached = it.times.len() as i64 >= number;
        it.is_passed = is_reached && !step.variant.enforces(C6_5_1);
        return is_reached && step.enforces(C6_5_1);
    }
    let count = step.account.limits[kind].times.len() as i64;
    let mut is_over = false;
    let mut since = now;
    let mut is_limited = match step.account.limits[kind].stopped {
        Some((time, of, by, _)) if time == now && (of, by) == (link, op) => true,
        Some((time, .., first)) => {
            since = first;
            is_over = step.choose(2) == 0 || now - first >= 24 * HOUR && reads(step, "resets");
            !is_over || time == now && count == 0
        }
        None => step.is_at_most(|it| &mut it.limits[kind].number, count, false),
    };
    if is_limited && !step.enforces(C6_5_1) && step.choose(2) == 1 {
        is_limited = false;
    }
    let it = &mut step.account.limits[kind];
    if is_over {
        (it.times, it.stopped) = (Vec::new(), None);
        if step.variant.reading != "one_limit" {
            it.number = Interval {
                low: 1,
                high: i64::MAX,
            };
        }
    }
    if is_limited {
        it.stopped = Some((now, link, op, since));
    }
    is_limited
}

fn refuse(
    step: &mut S<'_>,
    Refusal(clauses, code, is_any): Refusal,
    token: Name,
    op: Name,
    link: Name,
) {
    let text = step
        .account
        .shapes
        .first()
        .map_or("", |shape| shape.replace("<token>", token).leak());
    let is_uniform = code == Invalid || reads(step, "all_alike");
    let holes = if is_any || code == Other {
        HOLE_CODE | HOLE_TEXT
    } else {
        HOLE_TEXT
    };
    let output = Refused(code, if is_uniform { text } else { "" });
    let it = if is_any {
        step.allow(clauses, output)
    } else {
        step.owe(clauses, output)
    };
    it.any(holes);
    if is_uniform {
        it.bind(Binding::Worded { token });
    }
    if is_any {
        step.allow(&[C1_3_1], Issue("x", Looks(43, "")))
            .any(HOLE_TOKEN)
            .bind(Binding::Issued { op, link });
    }
    step.owe(&[C6_4_1], Audit("REJECTED", token));
}

/// A token comes back with a call.
fn redeem(step: &mut S<'_>, op: Name, token: Name, link: Name) {
    let find = |step: &S<'_>, is: &dyn Fn(Name) -> bool| {
        step.account.tokens.iter().rposition(|it| is(it.name))
    };
    let other_case = || find(step, &|it| it.eq_ignore_ascii_case(token));
    let exact = find(step, &|it| it == token);
    let place = exact.or_else(|| other_case().filter(|_| !step.enforces(C2_2_3)));
    let refusal = match place {
        None => check(step, &[C4_1_1], Invalid, true),
        Some(place) => missing(step, place)
            .or_else(|| failing(step, place, op))
            .or_else(|| {
                let it = &step.account.tokens[place];
                let is_elsewhere = reads(step, "bound")
                    && it.session == Fact::Yes
                    && it.link != link
                    && !it.is_cut;
                check(step, &[C5_4_4], Scope, is_elsewhere)
            }),
    };
    let is_counted = refusal.is_some() || !reads(step, "only_failing");
    if is_counted && is_limited(step, FAILING, link, token) {
        step.owe(&[C6_5_1, C1_3_2], Refused(Limited, ""));
        return;
    }
    let Some(place) = place.filter(|_| refusal.is_none()) else {
        let (now, is_unknown) = (step.account.now, Refusal(&[C4_1_1], Invalid, true));
        step.account.limits[FAILING].times.push(now);
        refuse(step, refusal.unwrap_or(is_unknown), token, op, link);
        return;
    };
    let name = step.account.tokens[place].name;
    step.owe(&[C1_3_2], Exec(op, false))
        .any(HOLE_FAILED)
        .bind(Binding::Ran { place });
    if !step.enforces(C1_3_2) {
        step.allow(&[C1_3_2], Refused(Limited, ""));
    }
    step.owe(&[C6_4_1], Audit("VALIDATED", name));
}

/// A call without a token.
fn ask(step: &mut S<'_>, op: Name, link: Name) {
    if op.starts_with("get") {
        step.owe(&[C1_3_2], Exec(op, false)).any(HOLE_FAILED);
        return;
    }
    if !step.enforces(C1_3_1) && step.choose(2) == 1 {
        for output in [Exec(op, false), Refused(Invalid, ""), Refused(Limited, "")] {
            step.allow(&[C1_3_1], output).any(HOLE_TEXT | HOLE_FAILED);
        }
        return;
    }
    if is_limited(step, ISSUING, link, op) {
        step.owe(&[C6_5_1, C1_3_1], Refused(Limited, ""));
        return;
    }
    let is_full = step
        .account
        .tokens
        .iter()
        .filter(|it| !it.gone && !it.was_expired)
        .count()
        >= 1000;
    if (is_full || !step.enforces(C5_5_3)) && step.choose(2) == 1 {
        step.owe(&[C5_5_3, C1_3_1], Refused(Full, ""));
        return;
    }
    let fresh = NAMES.get(step.account.tokens.len()).unwrap_or(&"more");
    step.owe(&[C1_3_1], Issue(fresh, Looks(43, "")))
        .any(HOLE_TOKEN)
        .bind(Binding::Issued { op, link });
}

/// A token was issued: what its text tells, and whether it was there before.
fn issued(
    step: &mut S<'_>,
    name: Name,
    Looks(chars, how): Looks,
    op: Name,
    link: Name,
) -> Result<(), Clauses> {
    let now = step.account.now;
    step.account.limits[ISSUING].times.push(now);
    step.owe(&[C6_4_1], Audit("ISSUED", name));
    let before = step.account.tokens.iter().rposition(|it| it.name == name);
    let before = before.map(|place| {
        (
            step.account.tokens[place].op != op,
            step.account.tokens.remove(place).used > 0,
        )
    });
    if let Some((false, false)) = before {
        // The living token once more.
    } else if before.is_some() && step.enforces(C3_1_1) {
        let is_other = before.is_some_and(|(is_other, _)| is_other);
        return Err(if is_other {
            &[C3_1_1, C3_2_1]
        } else {
            &[C3_1_1, C6_1_1]
        });
    }
    let is_rounded = step.account.has_fraction && reads(step, "rounded");
    let high = now + if is_rounded { 300_999 } else { 300_000 };
    let (session, max) = (step.account.session, step.account.uses);
    step.account.tokens.push(Token {
        name,
        op,
        link,
        expires: Interval {
            low: now + 300_000,
            high,
        },
        max,
        used: 0,
        session,
        is_cut: false,
        revoked: false,
        gone: false,
        was_expired: false,
        is_kept: false,
        is_old: false,
    });
    step.account.hexes += u8::from(how == "hex");
    let bits = match how {
        "counted" => return Err(&[C3_1_3]),
        "uuid" if step.account.declares_uuid && !reads(step, "listed") => 122,
        "uuid" => 128,
        "hex" if step.account.hexes > 2 && reads(step, "varying") => 4 * chars,
        _ if reads(step, "varying") => 6 * how.parse().unwrap_or(chars),
        _ => 6 * chars,
    };
    match bits {
        0 => Err(&[C2_2_1, C2_2_2, C3_1_1]),
        ..128 => Err(&[C3_1_1]),
        ..256 => Err(&[C3_1_2]),
        _ => Ok(()),
    }
}

/// A name that no other token has.
fn another() -> Name {
    static COUNT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    format!(
        "another{}",
        COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
    )
    .leak()
}

/// A message and the names of its details, without the token that it repeats.
fn shape(text: Name, token: Name) -> String {
    let (message, details) = text.split_once('{').unwrap_or((text, ""));
    let mut names: Vec<&str> = details
        .trim_end_matches('}')
        .split(',')
        .filter_map(|it| it.split(':').next())
        .collect();
    names.sort_unstable();
    // A blank token leaves no trace in a message.
    let message = if token.is_empty() {
        message.to_owned()
    } else {
        message.replace(token, "<token>")
    };
    format!("{message}{{{}}}", names.join(","))
}

impl Protocol for Aql {
    type Call = Call;
    type Output = Output;
    type Account = Account;
    type Holes = u8;
    type Binding = Binding;
    type Closing = ();
    type Thing = Name;
    type Reading = Name;
    const CLAUSES: &'static [Entry] = CLAUSES;

    fn call(step: &mut S<'_>, call: &Call) {
        step.account.now = call.at;
        step.account.logout = None;
        // What a crash took it took as a whole.
        if !matches!(call.what, What::Restart | What::Tick) && step.decide(|it| &mut it.lost, false)
        {
            step.account.lost = Fact::No;
            step.account
                .limits
                .iter_mut()
                .for_each(|it| (it.times, it.stopped) = (Vec::new(), None));
            step.account
                .tokens
                .iter_mut()
                .filter(|it| it.is_old)
                .for_each(|it| it.gone = true);
        }
        match call.what {
            What::Ask { op, token: None } => ask(step, op, call.link),
            What::Ask {
                op,
                token: Some(""),
            } if !reads(step, "blank_is_malformed") => ask(step, op, call.link),
            What::Ask {
                op,
                token: Some(token),
            } => redeem(step, op, token, call.link),
            What::End(link) => step
                .account
                .tokens
                .iter_mut()
                .for_each(|it| it.is_cut |= it.link == link),
            What::Cut(link) if reads(step, "at_once") => {
                step.account
                    .tokens
                    .iter_mut()
                    .for_each(|it| it.is_cut |= it.link == link);
            }
            What::Logout(user) => step.account.logout = Some(user),
            What::Config if reads(step, "bound_anew") => step.account.shapes.clear(),
            What::Revoke(token) => {
                match step.account.tokens.iter().rposition(|it| it.name == token) {
                    Some(place) => {
                        step.allow(&[C5_3_1], Audit("REVOKED", token))
                            .bind(Binding::Revoked { place });
                        step.account.tokens[place].revoked = true;
                    }
                    None if is_limited(step, REVOKING, call.link, token) => {
                        step.owe(&[C6_5_1, C4_1_1], Refused(Limited, ""));
                    }
                    None => {
                        step.account.limits[REVOKING].times.push(call.at);
                        step.owe(&[C4_1_1], Refused(Invalid, ""))
                            .any(HOLE_TEXT)
                            .bind(Binding::Worded { token });
                    }
                }
            }
            What::Introspect(token) => {
                if let Some(place) = step.account.tokens.iter().rposition(|it| it.name == token)
                    && missing(step, place).is_none()
                {
                    step.allow(&[C5_5_2], Status(token));
                }
            }
            What::Restart => {
                step.account.lost = if step.account.is_durable {
                    Fact::No
                } else {
                    Fact::Perhaps
                };
                step.account
                    .tokens
                    .iter_mut()
                    .for_each(|it| (it.is_cut, it.is_old) = (true, true));
            }
            What::Config | What::Cut(_) | What::Tick => {}
        }
    }

    fn fill(expected: &mut Output, output: &Output, holes: u8) {
        match (expected, output) {
            (Issue(name, looks), Issue(other, others)) if holes & HOLE_TOKEN > 0 => {
                (*name, *looks) = (*other, *others);
            }
            (Exec(_, failed), Exec(_, other)) if holes & HOLE_FAILED > 0 => *failed = *other,
            (Refused(code, text), Refused(other, words)) => {
                *code = if holes & HOLE_CODE > 0 { *other } else { *code };
                *text = if holes & HOLE_TEXT > 0 { *words } else { *text };
            }
            _ => {}
        }
    }

    fn bind(step: &mut S<'_>, binding: Binding, output: &Output) -> Result<(), Clauses> {
        match (binding, output) {
            (Binding::Issued { op, link }, Issue(name, looks)) => {
                return issued(step, name, *looks, op, link);
            }
            (Binding::Ran { place }, Exec(_, failed)) => {
                step.account.tokens[place].used +=
                    i64::from(!(*failed && reads(step, "successful")));
            }
            (Binding::Revoked { place }, _) => step.account.tokens[place].revoked = true,
            (Binding::Worded { token }, Refused(Invalid | Used | Expired | Scope, text)) => {
                let shape = shape(text, token);
                if !step.account.shapes.contains(&shape) {
                    step.account.shapes.push(shape);
                    if step.account.shapes.len() > 1 {
                        return Err(&[C6_3_2]);
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn unowed(step: &mut S<'_>, output: &Output) -> Result<(), Clauses> {
        match *output {
            // No clause forbids it by itself: without which one it may come is said where it is owed.
            Issue(..) => Err(&[]),
            Exec(..) => Err(&[C1_3_1]),
            Refused(code, _) => Err(match code {
                Invalid | Other => &[C4_1_1],
                Expired => &[C4_1_2],
                Used => &[C4_1_3],
                Scope => &[C4_1_4],
                Limited => &[C6_5_1],
                Full => &[C5_5_3],
            }),
            Audit("REVOKED", name)
                if step
                    .account
                    .tokens
                    .iter()
                    .any(|it| it.name == name && !it.revoked && !it.gone) =>
            {
                step.account
                    .tokens
                    .iter_mut()
                    .filter(|it| it.name == name)
                    .for_each(|it| it.revoked = true);
                let is_foreign = reads(step, "own_logout")
                    && step.account.logout.is_some_and(|user| user != "u1");
                if is_foreign { Err(&[C5_3_2]) } else { Ok(()) }
            }
            Audit(..) => Err(&[C6_4_1]),
            Status(_) => Err(&[C5_5_2]),
        }
    }

    fn thing(output: &Output) -> Option<Name> {
        match *output {
            Issue(name, _) | Exec(name, _) | Audit(_, name) | Status(name) => Some(name),
            Refused(..) => None,
        }
    }

    fn kind(output: &Output) -> u8 {
        match output {
            Issue(..) => 0,
            Exec(..) => 1,
            Refused(Limited, _) => 2,
            Refused(..) => 3,
            Audit(..) => 4,
            Status(_) => 5,
        }
    }

    fn gravity(output: &Output) -> u8 {
        u8::from(!matches!(output, Exec(..)))
    }
}

impl Book for Aql {
    const TABLE: Name = include_str!("mcp_aql.txt");
    const READINGS: &'static [Name] = &[
        "table",
        "sample",
        "any_order",
        "clock",
        "expired_is_told",
        "session",
        "any_code",
        "log_at_once",
        "own_logout",
        "up_to_300",
        "sliding",
        "one_limit",
        "resets",
        "only_failing",
        "all_alike",
        "bound_anew",
        "blank_is_malformed",
        "bound",
        "at_once",
        "successful",
        "varying",
        "listed",
        "zero_is_30",
        "rounded",
        "default",
    ];

    fn start(_: Name, options: &[Name]) -> (Account, u32) {
        let exactly = |prefix: Name, otherwise: i64| {
            let told = options.iter().find_map(|it| it.strip_prefix(prefix));
            Interval::exactly(told.map_or(otherwise, |it| it.parse().unwrap()))
        };
        let is = |word: Name| options.contains(&word);
        let seconds = exactly("tol=", 30);
        let limit = Limit {
            number: Interval {
                low: 1,
                high: i64::MAX,
            },
            times: Vec::new(),
            stopped: None,
            is_passed: false,
        };
        let declared = options
            .iter()
            .find_map(|it| it.strip_prefix("limit="))
            .and_then(|it| it.split_once('/'));
        let account = Account {
            now: 0,
            tolerance: if is("~tol") {
                Interval {
                    low: 0,
                    high: 30_000,
                }
            } else {
                Interval::exactly(seconds.low * 1000)
            },
            tokens: Vec::new(),
            shapes: Vec::new(),
            limits: [limit.clone(), limit.clone(), limit],
            declared: declared.map(|(number, window)| (number.parse().unwrap(), millis(window))),
            is_durable: !is("~durable"),
            lost: Fact::No,
            signed: if is("~signed") {
                Fact::Perhaps
            } else {
                is("signed").into()
            },
            uses: if is("~max") {
                Interval {
                    low: 1,
                    high: i64::MAX,
                }
            } else {
                exactly("max=", 1)
            },
            session: if is("~kind") {
                Fact::Perhaps
            } else {
                is("session").into()
            },
            has_fraction: is("~fraction"),
            declares_uuid: is("uuid"),
            hexes: 0,
            logout: None,
        };
        let hidden = u32::from(!is("+audit")) << 4 | u32::from(is("-limited")) << 2;
        (account, hidden)
    }

    fn setup_also(options: &[Name], output: Name) -> Option<Name> {
        let name = output
            .strip_prefix("issue ")
            .filter(|_| options.contains(&"+audit"))?;
        Some(format!("audit ISSUED {name}").leak())
    }

    fn call_of(at: i64, words: Name) -> Call {
        let (link, words) = match words
            .strip_prefix('[')
            .and_then(|words| words.split_once("] "))
        {
            Some((link, words)) => (link, words),
            None => ("k1", words),
        };
        let (verb, rest) = words.split_once(' ').unwrap_or((words, ""));
        let what = match verb {
            "call" => match rest.split_once(" +") {
                Some((op, token)) => What::Ask {
                    op,
                    token: Some(token.trim_matches('"')),
                },
                None => What::Ask {
                    op: rest,
                    token: None,
                },
            },
            "end" => What::End(rest),
            "cut" => What::Cut(rest),
            "logout" => What::Logout(rest),
            "config" | "security" => What::Config,
            "revoke" => What::Revoke(rest),
            "introspect" => What::Introspect(rest),
            "tick" => What::Tick,
            "restart" => What::Restart,
            _ => panic!("no call: {words}"),
        };
        Call { at, link, what }
    }

    fn output_of(words: Name, _: Name) -> Output {
        let (verb, rest) = words.split_once(' ').unwrap_or((words, ""));
        let (first, text) = rest.split_once(' ').unwrap_or((rest, ""));
        match verb {
            "issue" => {
                let (name, looks) = rest.split_once('=').unwrap_or((rest, ""));
                let name = if name == "(another)" { another() } else { name };
                let mut looks = looks.split(['[', ']', ' ']).skip(1);
                let chars = looks.next().map_or(43, |it| it.parse().expect(words));
                Issue(name, Looks(chars, looks.next().unwrap_or("")))
            }
            "exec" => Exec(first, text == "failed"),
            "err" => {
                let codes = [
                    ("INVALID", Invalid),
                    ("EXPIRED", Expired),
                    ("USED", Used),
                    ("SCOPE", Scope),
                ];
                Refused(
                    codes
                        .into_iter()
                        .find(|it| it.0 == first)
                        .map_or(Other, |it| it.1),
                    text,
                )
            }
            "limited" => Refused(Limited, ""),
            "full" => Refused(Full, ""),
            "audit" => Audit(first, text),
            "status" => Status(first),
            _ => panic!("no output: {words}"),
        }
    }
}

#[test]
fn whatever_a_conforming_party_does_is_explained() {
    let runs: [&[(i64, Name)]; 5] = [
        &[
            (0, "call del(1)"),
            (1, "call wipe(1) +x"),
            (1, "call del(1) +x"),
            (2, "call del(1) +x"),
        ],
        &[
            (0, "call del(1)"),
            (331_000, "call del(1) +x"),
            (331_000, "restart"),
            (4_000_000, "call del(1) +x"),
        ],
        &[
            (0, "call del(1)"),
            (0, "config"),
            (1, "end k1"),
            (2, "[k2] call del(1) +x"),
            (2, "call del(1) +u"),
        ],
        &[
            (0, "call del(1)"),
            (0, "call del(1)"),
            (0, "call del(1)"),
            (9, "call get(1)"),
            (9, "introspect x"),
        ],
        &[
            (0, "call del(1) +u1"),
            (0, "call del(1) +u2"),
            (0, "revoke u1"),
            (1, "revoke u1"),
            (2, "call del(1) +"),
        ],
    ];
    let options: [&[Name]; 4] = [
        &[],
        &["+audit", "~tol", "~durable"],
        &["session", "max=2", "~signed"],
        &["limit=1/60", "+audit", "~max"],
    ];
    for (number, (calls, options)) in runs
        .iter()
        .flat_map(|calls| options.map(|options| (calls, options)))
        .enumerate()
    {
        let reading = ["default", "sample", "any_order"][number % 3];
        assert!(explained::<Aql>(Aql::start("", options), calls, reading) >= calls.len());
    }
}

#[test]
fn the_scenarios_are_judged_as_in_the_book() {
    as_in_the_book::<Aql>();
}

#[test]
fn without_its_clause_no_fault_is_found() {
    lifted::<Aql>();
}
