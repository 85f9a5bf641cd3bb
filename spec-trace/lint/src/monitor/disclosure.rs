//! AAEP-6.3.4-9: the sender of a reply that failed a check is not told which.
//!
//! Told is who reads the reason in the body of the answer, or which field is at fault, or could learn it from a body or a
//! status of its own. Who reads several
//! reasons, of which one may be meant, learns nothing: a producer may give that answer to all. That a duplicate came too
//! late may be said (AAEP-6.3.5-2, AAEP-6.7.1-2), and that a transport turns strangers away, or is not up to its work, is
//! its own business.

use super::Notes;
use super::checks::{Check, refused_by_transport};
use crate::finding::Finding;
use crate::memory::Memory;
use crate::reply::{CLARIFICATION, CONFIRMATION, NOT_JSON, Reply};
use crate::rules;

/// How many answers are kept that seem to tell, until it shows whether they are given to all.
const KEPT: usize = 64;

/// What the senders of failed replies were told.
#[derive(Debug, Default, Clone)]
pub struct Disclosure {
    /// The first check of which a status is known, that status, and the line.
    first: Option<(&'static str, u64, u64)>,
    told: bool,
    /// The first body that each check was answered with.
    bodies: Vec<Body>,
    /// What each body was given for: the checks, as far as it shows.
    given: Vec<(u64, Vec<&'static str>)>,
    /// What is wrong with a body, if it is not given for another check too.
    telling: Vec<(u64, Finding)>,
    /// Two checks whose bodies differ.
    differing: Option<([&'static str; 2], Finding)>,
}

/// The first body that a check was answered with.
#[derive(Debug, Clone, Hash)]
struct Body {
    check: &'static str,
    hash: u64,
    line: u64,
    /// Whether it gives a reason, or another was given since.
    is_own: bool,
}

impl Disclosure {
    pub(crate) fn remember(&self, memory: &mut Memory) {
        let Self {
            first,
            told,
            bodies,
            given,
            telling,
            differing,
        } = self;
        // The line is for the message.
        memory.value(&(first.map(|(name, status, _)| (name, status)), told));
        let bodies: Vec<_> = bodies
            .iter()
            .map(|it| (it.check, it.hash, it.is_own))
            .collect();
        memory.value(&(bodies, given, differing.as_ref().map(|it| it.0)));
        memory.each(telling.iter(), |memory, (body, finding)| {
            memory.line(finding.line);
            memory.value(&(body, finding.weight == rules::Weight::Violation));
        });
    }

    /// Forgets what was told to senders whose replies failed that check.
    pub fn forget(&mut self, check: Check) {
        let forgotten = name(check);
        self.first = self.first.filter(|(other, ..)| *other != forgotten);
        self.bodies.retain(|it| it.check != forgotten);
        let differing = self.differing.take();
        self.differing = differing.filter(|(checks, _)| !checks.contains(&forgotten));
    }

    /// Judges the answer to a reply that failed a check.
    pub fn failed(
        &mut self,
        reply: &Reply,
        check: Check,
        session: Option<&str>,
        notes: &mut Notes,
    ) {
        if let Some(body) = reply.body {
            self.give(body, name(check));
        }
        if reply.http_status.is_some_and(is_of_the_transport) {
            // What stumbles over a text is answered so, too, where nobody catches that: the words count then, not the status.
            if reply.http_status == Some(500) {
                self.broken(reply, check, session, notes);
            }
            return;
        }
        let name = name(check);
        // Whom the transport turns away learns that, whatever else is wrong with the reply.
        let turned_away = refused_by_transport(reply);
        let may_be_told = matches!(check, Check::Unused | Check::Standing) || turned_away;
        let said = said(reply);
        let of_one = of_one_check(check, &said).filter(|_| !turned_away);
        let reason = given_away(check, &said)
            .or(of_one)
            .map(str::to_owned)
            .or_else(|| numbered(check, &said))
            .or_else(|| at_fault(check, reply));
        if let Some(body) = reply.body.filter(|_| !may_be_told) {
            self.compare(reply, (name, body, reason.is_some()), session);
        }
        if let Some(word) = reason {
            let message = format!(
                "the reply failed a check ({name}), and the answer tells its sender so: it says {word:?}"
            );
            let finding = Finding::new(&rules::TELLS_CHECK, reply.place, session, message);
            self.tell(reply, finding, notes);
            return;
        }
        self.broken(reply, check, session, notes);
        let Some(status) = reply.http_status else {
            return;
        };
        if may_be_told || self.told || self.differing.is_some() {
            return;
        }
        let (other, expected, line) = *self.first.get_or_insert((name, status, reply.place.line));
        if other != name && expected != status {
            self.told = true;
            let message = format!(
                "the answer to a reply that failed a check ({name}) has status {status}, that on line {line} ({other}) has {expected}: a sender can tell the two apart"
            );
            notes.add(Finding::new(
                &rules::STATUS_TELLS_CHECK,
                reply.place,
                session,
                message,
            ));
        }
    }

    /// Judges the answer to what is no JSON, and may be no reply.
    pub fn no_json(&mut self, reply: &Reply, notes: &mut Notes) {
        let check = Check::Schema(NOT_JSON);
        if let Some(body) = reply.body {
            self.give(body, name(check));
        }
        if !reply.http_status.is_some_and(is_of_the_transport) || reply.http_status == Some(500) {
            self.broken(reply, check, None, notes);
        }
    }

    /// Tells of an answer that says of what is no JSON that it is none.
    fn broken(&mut self, reply: &Reply, check: Check, session: Option<&str>, notes: &mut Notes) {
        if let Some(word) = says_broken(check, &said(reply)) {
            let message = format!(
                "what was sent is no JSON, and the answer tells its sender so: it says {word:?}; if it is a reply, that is the check it failed"
            );
            let finding = Finding::new(&rules::TELLS_BROKEN, reply.place, session, message);
            self.tell(reply, finding, notes);
        }
    }

    /// Tells of an answer, once it shows that it is not given to all.
    fn tell(&mut self, reply: &Reply, finding: Finding, notes: &mut Notes) {
        match reply.body.filter(|_| self.telling.len() < KEPT) {
            Some(body) => self.telling.push((body, finding)),
            None => notes.add(finding),
        }
    }

    /// What is left when all replies are known: an answer that all get tells nobody anything.
    pub fn finish(&mut self, notes: &mut Notes) {
        for (body, finding) in std::mem::take(&mut self.telling) {
            let mut given = self.given.iter();
            let uniform = given.any(|(other, checks)| *other == body && checks.len() > 1);
            if !uniform {
                notes.add(finding);
            }
        }
        if let Some((checks, finding)) = self.differing.take() {
            let varies = |it: &Body| it.is_own && checks.contains(&it.check);
            if !self.bodies.iter().any(varies) {
                notes.add(finding);
            }
        }
    }

    fn give(&mut self, body: u64, check: &'static str) {
        let known = self.given.iter().position(|(other, _)| *other == body);
        if let Some(index) = known {
            let checks = &mut self.given[index].1;
            if !checks.contains(&check) {
                checks.push(check);
            }
        } else if self.given.len() < KEPT {
            self.given.push((body, vec![check]));
        }
    }

    /// Compares the body with those of other checks. A check that gets several is told by none of them.
    fn compare(
        &mut self,
        reply: &Reply,
        (check, body, tells): (&'static str, u64, bool),
        session: Option<&str>,
    ) {
        if let Some(own) = self.bodies.iter_mut().find(|it| it.check == check) {
            own.is_own |= own.hash != body;
            return;
        }
        let line = reply.place.line;
        let other = self.bodies.iter().find(|it| it.hash != body && !it.is_own);
        if let Some(other) = other.filter(|_| !tells && self.differing.is_none()) {
            let message = format!(
                "the answer to a reply that failed a check ({check}) is another than that on line {} ({}): a sender can tell the two apart",
                other.line, other.check
            );
            let finding = Finding::new(&rules::TELLS_CHECK, reply.place, session, message);
            self.differing = Some(([check, other.check], finding));
        }
        self.bodies.push(Body {
            check,
            hash: body,
            line,
            is_own: tells,
        });
    }
}

/// What an answer says, codes in words.
fn said(reply: &Reply) -> String {
    [&*reply.answer, "\n", &*reply.codes].concat()
}

/// What the answer says of the field for which the reply failed the check: its name, where it names no other, or what stands
/// there. The token is left out: an answer may repeat whom it answers.
fn at_fault(check: Check, reply: &Reply) -> Option<String> {
    const QUOTED: usize = 6;
    let (field, value) = match check {
        Check::Schema(_) => reply.at_fault.clone()?,
        Check::InTime => (
            "timestamp".to_owned(),
            reply.timestamp.map(str::to_lowercase),
        ),
        Check::Allowed => ("decision".to_owned(), None),
        Check::ResponseType | Check::Choice => ("response".to_owned(), None),
        Check::Kind | Check::Issued | Check::Unused | Check::Standing | Check::Sender => {
            return None;
        }
    };
    // A property may have no name at all, and an answer no words.
    if field.is_empty() {
        return None;
    }
    let words = |text: &str| -> Vec<String> {
        let is_part = |it: char| it.is_alphanumeric() || it == '_';
        let words = text.split(|it| !is_part(it));
        words.map(str::to_owned).collect()
    };
    let said = words(&reply.answer);
    let names = |name: &str| said.iter().any(|word| word == &name.to_lowercase());
    let fields = CONFIRMATION.into_iter().chain(CLARIFICATION);
    let mut others = fields.filter(|name| *name != "type" && *name != field);
    let others = others.any(names);
    if names(&field) && !others {
        return Some(field);
    }
    let value = value.filter(|it| it.len() >= QUOTED && !it.starts_with("rpl_"))?;
    reply.answer.contains(&value).then_some(value)
}

/// Whether a transport answers so, whatever the message: it is too busy, or broken.
fn is_of_the_transport(status: u64) -> bool {
    matches!(status, 408 | 429 | 500..)
}

/// The word of an answer that gives the check away, if none gives another reason.
fn given_away(check: Check, answer: &str) -> Option<&'static str> {
    let said = |words: &[&'static str]| words.iter().copied().find(|word| answer.contains(word));
    let own = words(check);
    let others = REASONS.iter().chain(&[MANY_REASONS]);
    let other = others
        .flat_map(|words| words.iter())
        .any(|word| !own.contains(word) && answer.contains(word));
    said(own).filter(|_| !other)
}

/// The word of an answer that says of a token that it fits no question, or of a reply that is JSON and keeps to no schema that it is
/// none, if no word gives another reason. Of a sender that was turned away it may be about another token.
fn of_one_check(check: Check, answer: &str) -> Option<&'static str> {
    let own = match check {
        Check::Issued => UNMATCHED,
        Check::Schema(what) if what != NOT_JSON => NO_JSON,
        Check::Schema(_)
        | Check::Kind
        | Check::Unused
        | Check::Standing
        | Check::InTime
        | Check::Sender
        | Check::Allowed
        | Check::ResponseType
        | Check::Choice => return None,
    };
    let word = own.iter().copied().find(|it| answer.contains(it))?;
    let others = REASONS.iter().chain(&[MANY_REASONS]);
    let mut others = others.flat_map(|words| words.iter());
    (!others.any(|word| answer.contains(word))).then_some(word)
}

/// The number that the check has among those of chapter 6.3.4, where the answer names it and no other.
fn numbered(check: Check, answer: &str) -> Option<String> {
    let own = match check {
        Check::Schema(_) => 1,
        Check::Issued => 2,
        Check::InTime => 4,
        Check::Allowed => 6,
        Check::Kind
        | Check::Unused
        | Check::Standing
        | Check::Sender
        | Check::ResponseType
        | Check::Choice => return None,
    };
    let words: Vec<&str> = answer.split(|it: char| !it.is_alphanumeric()).collect();
    let pairs = words.windows(2);
    let named = pairs.filter(|pair| pair[0] == "check" || pair[0] == "step");
    let mut numbers = named.filter_map(|pair| pair[1].parse::<u8>().ok());
    let first = numbers.next()?;
    (first == own && numbers.all(|it| it == own)).then(|| format!("check {own}"))
}

/// The word of an answer that says of a reply that is no JSON that it is none, if none gives another reason.
fn says_broken(check: Check, answer: &str) -> Option<&'static str> {
    if check != Check::Schema(NOT_JSON) {
        return None;
    }
    let word = BROKEN.iter().copied().find(|word| answer.contains(word))?;
    let rest = answer.replace(word, "");
    let others = REASONS.iter().chain(&[MANY_REASONS]);
    let mut others = others.flat_map(|words| words.iter());
    (!others.any(|word| rest.contains(word))).then_some(word)
}

/// The check in words.
fn name(check: Check) -> &'static str {
    match check {
        Check::Schema(_) => "schema",
        Check::Kind => "kind of reply",
        Check::Issued => "unknown token",
        Check::Unused => "used token",
        Check::Standing => "withdrawn question",
        Check::InTime => "time of the decision",
        Check::Sender => "sender",
        Check::Allowed => "allowed replies",
        Check::ResponseType => "type of the response",
        Check::Choice => "choices",
    }
}

/// Words that give the check away. Those that fit an answer to any failed reply are not among them.
fn words(check: Check) -> &'static [&'static str] {
    match check {
        Check::Schema(_) => SCHEMA,
        Check::Kind => KIND,
        Check::Issued => ISSUED,
        Check::InTime => IN_TIME,
        Check::Allowed => ALLOWED,
        Check::ResponseType => RESPONSE_TYPE,
        Check::Choice => CHOICE,
        Check::Unused | Check::Standing | Check::Sender => &[],
    }
}

/// The words for each reason, those included that may be told.
const REASONS: [&[&str]; 8] = [
    SCHEMA,
    KIND,
    ISSUED,
    IN_TIME,
    ALLOWED,
    RESPONSE_TYPE,
    CHOICE,
    OVER,
];

const SCHEMA: &[&str] = &[
    "schema",
    "malformed",
    "missing field",
    "missing propert",
    "is missing",
    "is required",
    "additional propert",
    "unknown propert",
];
/// That a reply is no JSON, in words of one's own or those of the usual parsers, the longer ones first. A message that is none may be
/// no reply at all, so that this is a warning.
const BROKEN: &[&str] = &[
    "json parse error: unrecognized token",
    "invalid json",
    "not json",
    "no json",
    "not valid json",
    "json syntax",
    "json_invalid",
    "jsondecodeerror",
    "json decode error",
    "in json at position",
    "after json at position",
    "unexpected end of json",
    "as json",
    "parse json",
    "parsing json",
    "could not be parsed",
    "parse error",
    "parse failed",
    "parse.failed",
    "syntax error",
    "syntaxerror",
    "unexpected token",
    "unexpected character",
    "unexpected end of input",
    "unexpected end-of-input",
    "unexpected eof",
    "eof while parsing",
    "invalid character",
    "expecting value",
    "expecting property name",
    "expected value",
    "delimiter: line",
    "extra data",
    "trailing characters",
    "start of a value",
    "malformed",
    "bytepositioninline",
    ": line 1 column",
    " at line 1 column",
];
const KIND: &[&str] = &[
    "wrong type",
    "wrong kind",
    "not a confirmation",
    "not a clarification",
];
const ISSUED: &[&str] = &[
    "unknown reply",
    "unknown token",
    "unknown confirmation",
    "token unknown",
    "token is unknown",
    "token not found",
    "token was not found",
    "no such token",
    "no such confirmation",
    "does not exist",
    "unrecognized",
    "unrecognised",
    "not recognized",
    "not recognised",
    "token is not known",
    "token not known",
    "not issued",
];
/// That a reply is no JSON, said of one that is.
const NO_JSON: &[&str] = &["invalid json", "json invalid", "not valid json", "not json"];
/// That a token fits none of the questions, which may be said of a used one as well.
const UNMATCHED: &[&str] = &[
    "not match",
    "no match",
    "not outstanding",
    "no outstanding",
    "not pending",
    "no pending",
    "invalid token",
    "invalid reply_token",
    "token invalid",
    "token is invalid",
    "wrong token",
];
const IN_TIME: &[&str] = &["expire", "deadline", "timed out", "too late", "timeout"];
const ALLOWED: &[&str] = &[
    "allowed_replies",
    "allowed replies",
    "decision not allowed",
    "invalid decision",
    "decision is not",
    "decision was not",
];
const RESPONSE_TYPE: &[&str] = &[
    "wrong type",
    "wrong kind",
    "response type",
    "response kind",
    "type of the response",
    "kind of response",
];
const CHOICE: &[&str] = &["choice"];

/// That a question is over may be told.
const OVER: &[&str] = &[
    "already",
    " used",
    "duplicate",
    "consumed",
    "resolved",
    "answered",
    "cancel",
    "withdrawn",
];

/// What says that there is more than one reason.
const MANY_REASONS: &[&str] = &["invalid or ", "invalid, ", " or invalid"];

#[cfg(test)]
mod tests {
    use super::*;

    /// AAEP-6.3.4-9: an answer that gives one reason tells; one that would fit any failed check does not.
    #[test]
    fn an_answer_tells_where_it_gives_one_reason_alone() {
        for (check, answer, tells) in [
            (Check::InTime, "the reply expired and was refused", true),
            (Check::InTime, "the reply was not accepted", false),
            (Check::InTime, "unknown token, expired or used", false),
            (Check::Issued, "unknown token, expired or used", false),
            (Check::InTime, "invalid or expired token", false),
            (Check::InTime, "too late: resolved by somebody else", false),
            (Check::Issued, "unknown token", true),
            (Check::Issued, "not found", false),
            (Check::Issued, "the reply expired", false),
            (Check::Schema(("", "")), "the timestamp is missing", true),
            (Check::Kind, "the confirmation was not changed", false),
            (Check::Kind, "wrong type of reply", true),
            (Check::Choice, "that is none of the choices", true),
        ] {
            let given = given_away(check, answer).is_some();
            assert_eq!(given, tells, "{check:?}: {answer}");
        }
    }

    /// AAEP-6.3.4-9: the number of a check tells it, where it is that of the check that failed.
    #[test]
    fn an_answer_tells_where_it_gives_the_number_of_the_check_alone() {
        for (check, answer, tells) in [
            (Check::Issued, "failed check 2", true),
            (Check::Issued, "check: 2, check 2", true),
            (Check::Issued, "failed check 1", false),
            (Check::Issued, "failed checks 2", false),
            (Check::Issued, "check 2 or check 4", false),
            (Check::Issued, "check 22", false),
            (Check::Unused, "check 3", false),
            (Check::InTime, "step 4", true),
            (Check::Schema(("", "")), "check 1", true),
            (Check::Allowed, "check 6", true),
        ] {
            assert_eq!(
                numbered(check, answer).is_some(),
                tells,
                "{check:?}: {answer}"
            );
        }
    }

    /// AAEP-6.3.4-9, AAEP-6.3.4-1: that a reply is no JSON is told by an answer that says so and gives no other reason.
    #[test]
    fn an_answer_tells_that_a_reply_is_no_json() {
        for (check, answer, tells) in [
            (Check::Schema(NOT_JSON), "invalid json", true),
            (Check::Schema(NOT_JSON), "the reply was refused", false),
            (
                Check::Schema(NOT_JSON),
                "invalid json or unknown token",
                false,
            ),
            (
                Check::Schema(NOT_JSON),
                "unexpected token, already used",
                false,
            ),
            (
                Check::Schema(NOT_JSON),
                "the reply has an unexpected form",
                false,
            ),
            (
                Check::Schema(("AAEP-REPLY-1", "decision")),
                "invalid json",
                false,
            ),
            (Check::Issued, "invalid json", false),
        ] {
            let said = says_broken(check, answer).is_some();
            assert_eq!(said, tells, "{check:?}: {answer}");
        }
    }

    /// AAEP-6.3.4-9: the words of the usual parsers say so, each by itself, and of no other check.
    #[test]
    fn the_words_of_a_parser_tell_that_a_reply_is_no_json() {
        for answer in [
            "unexpected token } in json at position 29",
            "unexpected token '}', \"{\"type\":}\" is not valid json",
            "unexpected token",
            "malformed json",
            "unexpected end of json input",
            "expected double-quoted property name in json at position 29",
            "expecting value: line 1 column 1",
            "expecting ',' delimiter: line 1 column 30 (char 29)",
            "extra data",
            "json_invalid\nbody\njson decode error\nexpecting value",
            "failed to parse json",
            "failed to parse the request body as json: eof while parsing an object at line 1 column 29",
            "invalid character '}' looking for beginning of object key string",
            "unexpected character ('}' (code 125)): was expecting double-quote to start field name",
            "json parse error: unrecognized token 'hello': was expecting (json string, number)",
            "expected value at line 1 column 1",
            "key must be a string at line 1 column 29",
            "'h' is an invalid start of a value. linenumber: 0 | bytepositioninline: 0.",
        ] {
            assert!(
                says_broken(Check::Schema(NOT_JSON), answer).is_some(),
                "{answer}"
            );
            for other in [
                Check::Schema(("AAEP-REPLY-1", "decision")),
                Check::Issued,
                Check::InTime,
            ] {
                assert_eq!(says_broken(other, answer), None, "{answer}");
            }
        }
    }

    #[test]
    fn a_transport_that_is_busy_or_broken_says_nothing_of_the_reply() {
        for (status, of_transport) in [(400, false), (429, true), (499, false), (500, true)] {
            assert_eq!(is_of_the_transport(status), of_transport, "{status}");
        }
    }
}
