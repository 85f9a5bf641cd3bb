//! Steps of a random run, drawn from bytes. The reference takes each beside, so that most steps are about what is open, and most times
//! that pass end beside a limit.

mod reply;

use std::collections::BTreeSet;

use arbitrary::{Error, Result, Unstructured};
use countersign_model::aaep::Aaep as Spec;
use countersign_model::aaep::alphabet::{CallId, Output, SessionId, Token, What};
use countersign_protocol::aaep::{
    Aaep, Action, Capabilities, Choice, Decision, Deliver, Op as Own, ResponseKind, RiskLevel,
    Sender, SessionOutcome, TargetKind, ToolAction, ToolStatus,
};
use countersign_protocol::{Common, Op};

use super::executor::{Reference, Settings};
use super::spoken::{CALL, SESSION, TOKEN, named};
use crate::driven::{Asked, Step, placed};
use crate::near::{self, seed};
use crate::spoken::{self, Driver, Host as _, START, Spoken as _};

/// So many bytes are a step.
pub(super) const BYTES: usize = 32;

/// The end of the calendar: no question is asked whose timeout elapses after it.
const LAST: i64 = 253_402_300_799_999;
/// A run that comes near it begins a day and a minute before.
const LATE_START: i64 = LAST - 86_460_000;
/// As many messages are kept to be sent again.
const MESSAGES: usize = 16;
/// The actions of confirmations are numbered below this, those of tools that need none mostly from here on.
const ACTIONS: u8 = 32;

/// A run that is being drawn, with the reference beside.
pub struct Drawn {
    driver: Driver<Spec>,
    reference: Reference,
    now: i64,
    latest: i64,
    /// How many sessions, and how many subscriptions, there are at a time: where there are few, more happens to each.
    places: usize,
    /// Half of the replies name their session besides (AAEP-REPLY-11).
    names_session: bool,
    sessions: Vec<Session>,
    subscriptions: Vec<Subscription>,
    /// The questions, in the order of their tokens.
    asked: Vec<Question>,
    running: Vec<Running>,
    /// The latest messages.
    messages: Vec<Vec<u8>>,
}

struct Session {
    number: SessionId,
    text: String,
    is_live: bool,
}

struct Subscription {
    text: String,
    is_open: bool,
}

/// A question, as its event asked it.
#[derive(Clone, Copy, Default)]
struct Question {
    takes_words: bool,
    at: i64,
    timeout: i64,
}

/// A call of a tool that is not known to be back.
struct Running {
    session: String,
    action: String,
    call: CallId,
    /// Which of those that were to run.
    number: usize,
}

fn below(u: &mut Unstructured<'_>, n: u8) -> Result<u8> {
    u.int_in_range(0..=n.saturating_sub(1))
}

fn one_in(u: &mut Unstructured<'_>, n: u8) -> Result<bool> {
    Ok(below(u, n)? + 1 == n)
}

fn maybe<T>(
    u: &mut Unstructured<'_>,
    n: u8,
    some: impl FnOnce(&mut Unstructured<'_>) -> Result<T>,
) -> Result<Option<T>> {
    one_in(u, n)?.then(|| some(u)).transpose()
}

/// One of so many, the last the likeliest.
fn newest(u: &mut Unstructured<'_>, count: usize) -> Result<usize> {
    let among = (*u.choose(&[1, 2, 6, 40])?).min(count);
    let back = u.int_in_range(1..=among.max(1))?;
    count.checked_sub(back).ok_or(Error::EmptyChoose)
}

impl spoken::Drawn<Spec> for Drawn {
    fn begin(bytes: &[u8]) -> Self {
        let u = &mut Unstructured::new(bytes);
        let start = if one_in(u, 16).unwrap_or_default() {
            LATE_START
        } else {
            START
        };
        Self {
            driver: Driver::of_all(),
            reference: Reference::new(Settings::default()),
            now: start,
            latest: start,
            places: u.choose(&[1, 2, 3, 8]).copied().unwrap_or(1),
            names_session: one_in(u, 8).unwrap_or_default(),
            sessions: Vec::new(),
            subscriptions: Vec::new(),
            asked: Vec::new(),
            running: Vec::new(),
            messages: Vec::new(),
        }
    }

    fn next(&mut self, u: &mut Unstructured<'_>) -> Result<Step<Aaep>> {
        self.pass(u)?;
        let op = self.op(u)?;
        Ok(Step::new(self.now, op))
    }

    fn take(&mut self, step: &Step<Aaep>) {
        let Some(Asked { op, call, .. }) = self.driver.ask(step) else {
            return;
        };
        let asked = step.ask.op().unwrap_or(&op);
        let outputs = self.reference.answer(&call);
        let known = self.driver.codec.performed().len();
        self.driver.is_answered(&outputs);
        for output in &outputs {
            self.see(output, asked, known);
        }
        if outputs.contains(&Output::Refused) {
            return;
        }
        match asked {
            Op::Own(Own::Subscribe {
                subscription_id, ..
            }) => self.subscriptions.push(Subscription {
                text: subscription_id.clone(),
                is_open: true,
            }),
            Op::Own(Own::Unsubscribe { subscription_id }) => {
                let mut all = self.subscriptions.iter_mut();
                all.find(|it| it.text == *subscription_id)
                    .into_iter()
                    .for_each(|it| it.is_open = false);
            }
            Op::Own(Own::Extend {
                reply_token,
                timeout_seconds,
            }) => {
                let number = match placed(Spec::NAMED[TOKEN], reply_token) {
                    Some((number, None)) => Some(number),
                    Some((_, Some(_))) | None => None,
                };
                if let Some(question) = number.and_then(|it| self.asked.get_mut(it)) {
                    question.timeout = timeout_seconds.saturating_mul(1_000);
                }
            }
            Op::Own(_) | Op::Common(_) => {}
        }
    }
}

impl Drawn {
    fn see(&mut self, output: &Output, op: &Op<Aaep>, known: usize) {
        if let Output::Perform(run) = output {
            let session = self.sessions.iter().find(|it| it.number == run.session);
            let action = self.driver.codec.text_numbered(run.action);
            let again = self.running.iter().filter(|it| it.number >= known).count();
            if let (Some(session), Some(action)) = (session, action) {
                self.running.push(Running {
                    session: session.text.clone(),
                    action: action.to_owned(),
                    call: run.call,
                    number: known + again,
                });
            }
        }
        let Some((session, what)) = output.told() else {
            return;
        };
        let (token, question) = match what {
            What::Started => {
                let text = if let Op::Own(Own::StartSession {
                    session_id: Some(it),
                }) = op
                {
                    it.clone()
                } else {
                    named(SESSION, self.driver.codec.made_up().len().saturating_sub(1))
                };
                if self.sessions.iter().all(|it| it.number != session) {
                    self.sessions.push(Session {
                        number: session,
                        text,
                        is_live: true,
                    });
                }
                return;
            }
            What::Ended(_) => {
                let mut all = self.sessions.iter_mut();
                all.find(|it| it.number == session)
                    .into_iter()
                    .for_each(|it| it.is_live = false);
                return;
            }
            What::Completed { call, .. } => {
                // Some come back twice.
                self.running
                    .retain(|it| Some(it.call) != *call || it.action.ends_with('7'));
                return;
            }
            What::Asked(it) => (
                it.token,
                Question {
                    takes_words: false,
                    at: it.at,
                    timeout: it.timeout,
                },
            ),
            What::Queried(it) => (
                it.token,
                Question {
                    takes_words: true,
                    at: it.at,
                    timeout: it.timeout,
                },
            ),
            What::Changed { .. }
            | What::Invoked { .. }
            | What::Chunk(_)
            | What::HandedOff { .. }
            | What::Progress { .. }
            | What::Other(_) => return,
        };
        let place = usize::from(token);
        self.asked
            .resize(self.asked.len().max(place + 1), Question::default());
        self.asked[place] = question;
    }

    /// Time passes, is set back, or comes to the moment at which something is due.
    fn pass(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let amount = |u: &mut Unstructured<'_>| u.arbitrary::<u8>().map(i64::from);
        let to = match u.arbitrary()? {
            0..110_u8 => self.now,
            110..150 => self.now + i64::from(below(u, 4)?),
            150..175 => self.now + amount(u)? * 37,
            175..190 => self.now + amount(u)? * 1_000,
            190..194 => self.now + amount(u)? * 60_000,
            194..206 => self.now - amount(u)?.pow(2) * 50,
            206.. => {
                let waiting = self.reference.waiting().into_iter();
                let waiting = waiting.filter_map(|it| self.asked.get(usize::from(it)));
                let moments = waiting.flat_map(|it| [2, 10, 1].map(|part| (it, part)));
                let moments = moments.map(|(it, part)| {
                    it.at + it.timeout - if part == 1 { 0 } else { it.timeout / part }
                });
                let to_come: BTreeSet<i64> = moments.filter(|it| *it >= self.latest).collect();
                let (place, beside) = (below(u, 4)?, u.int_in_range(-1..=1)?);
                to_come
                    .iter()
                    .nth(place.into())
                    .map_or(self.now, |it| it + beside)
            }
        };
        self.now = to.clamp(0, LAST);
        self.latest = self.latest.max(self.now);
        Ok(())
    }

    fn op(&mut self, u: &mut Unstructured<'_>) -> Result<Op<Aaep>> {
        let live = self.sessions.iter().filter(|it| it.is_live).count();
        let open = self.subscriptions.iter().filter(|it| it.is_open).count();
        Ok(Op::Own(match u.arbitrary()? {
            0..11_u8 => self.start_session(u)?,
            11..22 => self.subscribe(u)?,
            // Too few of them, and there is nothing to be asked, and nobody to reply.
            _ if live == 0 || live < self.places && one_in(u, 16)? => self.start_session(u)?,
            _ if open < self.places && one_in(u, 16)? => self.subscribe(u)?,
            22..27 => Own::Unsubscribe {
                subscription_id: self.subscription(u)?,
            },
            27..67 => self.confirm(u)?,
            67..97 => self.clarify(u)?,
            97..135 => self.deliver(u, false)?,
            135..167 => self.deliver(u, true)?,
            167..176 => {
                let message = self.messages[newest(u, self.messages.len())?].clone();
                Own::Deliver(Deliver {
                    sender: self.sender(u)?,
                    message,
                })
            }
            176..183 => Own::Cancel {
                reply_token: self.token(u, None)?.0,
            },
            183..191 => {
                let (reply_token, question) = self.token(u, None)?;
                let waits = question.timeout / 1_000;
                let timeout_seconds = match below(u, 5)? {
                    0 | 1 => waits + 1 + i64::from(below(u, 4)?),
                    2 => waits + i64::from(u.arbitrary::<u8>()?),
                    3 => waits - i64::from(below(u, 3)?),
                    _ => seconds(u)?,
                };
                Own::Extend {
                    reply_token,
                    timeout_seconds,
                }
            }
            191..210 => self.finish_tool(u)?,
            210..223 => self.tool(u)?,
            223..238 => self.output(u)?,
            238..241 => self.handoff(u)?,
            241..245 => Own::EndSession {
                session_id: self.session(u)?,
                outcome: *u.choose(&[
                    SessionOutcome::Completed,
                    SessionOutcome::Errored,
                    SessionOutcome::Cancelled,
                ])?,
            },
            245..250 => {
                let lost = Some(below(u, 8)?.into());
                return Ok(Op::Common(Common::Restart { lost }));
            }
            250.. => return Ok(Op::Common(Common::Tick {})),
        }))
    }

    /// The name of a session begins with that of one before it.
    fn start_session(&self, u: &mut Unstructured<'_>) -> Result<Own> {
        let next = self.sessions.len();
        let number = next.saturating_sub(usize::from(one_in(u, 8)?));
        let given = format!("sess_{}{}", number / 4, "x".repeat(number % 4));
        let session_id = (!one_in(u, 12)?).then_some(given);
        Ok(Own::StartSession { session_id })
    }

    /// Now and then one that there was before.
    fn subscribe(&self, u: &mut Unstructured<'_>) -> Result<Own> {
        let number = self
            .subscriptions
            .len()
            .saturating_sub(usize::from(one_in(u, 8)?));
        Ok(Own::Subscribe {
            subscription_id: format!("sub_{}{}", number / 4, "x".repeat(number % 4)),
            capabilities: Capabilities {
                supports_confirmation_reply: !one_in(u, 3)?,
            },
        })
    }

    /// Mostly one of the last that go on.
    fn session(&self, u: &mut Unstructured<'_>) -> Result<String> {
        let is_live = !one_in(u, 24)?;
        let of = self.sessions.iter().filter(|it| it.is_live == is_live);
        let of: Vec<_> = of.map(|it| &it.text).collect();
        if of.is_empty() {
            return Ok("sess_unknown".to_owned());
        }
        Ok(of[newest(u, of.len().min(self.places))?].clone())
    }

    /// The same.
    fn subscription(&self, u: &mut Unstructured<'_>) -> Result<String> {
        let is_open = !one_in(u, 16)?;
        let of = self.subscriptions.iter().filter(|it| it.is_open == is_open);
        let of: Vec<_> = of.map(|it| &it.text).collect();
        if of.is_empty() {
            return Ok("sub_unknown".to_owned());
        }
        Ok(of[newest(u, of.len())?].clone())
    }

    fn sender(&self, u: &mut Unstructured<'_>) -> Result<Sender> {
        Ok(Sender {
            subscription_id: if one_in(u, 20)? {
                None
            } else {
                Some(self.subscription(u)?)
            },
            authenticated: !one_in(u, 10)?,
        })
    }

    /// The token of a question, mostly of one that waits and is of that kind; and the question.
    fn token(
        &self,
        u: &mut Unstructured<'_>,
        takes_words: Option<bool>,
    ) -> Result<(String, Question)> {
        let is_of = |token: &Token, is_of_kind: bool| {
            let question = self.asked.get(usize::from(*token));
            let of_kind = |it: &Question| takes_words.is_none_or(|kind| it.takes_words == kind);
            question.is_some_and(|it| of_kind(it) == is_of_kind)
        };
        let waiting = |is_of_kind| {
            let all = self.reference.waiting().into_iter();
            all.filter(|it| is_of(it, is_of_kind))
                .map(usize::from)
                .collect::<Vec<_>>()
        };
        let place = match u.arbitrary()? {
            drawn @ 0..184_u8 => {
                let of = waiting(drawn < 160);
                newest(u, of.len()).ok().map(|it| of[it])
            }
            184..250 => newest(u, self.asked.len()).ok(),
            250.. => None,
        };
        let never = Question {
            at: self.now,
            ..Question::default()
        };
        Ok(place.map_or(("rpl_guessed".to_owned(), never), |it| {
            (named(TOKEN, it), self.asked[it])
        }))
    }

    fn confirm(&self, u: &mut Unstructured<'_>) -> Result<Own> {
        let session_id = self.session(u)?;
        let words: u8 = u.arbitrary()?;
        // Half of them are of few actions, each of which is asked about in the same words again (AAEP-6.1-6, AAEP-6.2.2-3).
        let is_again = words < 120;
        let action = below(u, if is_again { 8 } else { ACTIONS })?;
        let class = if is_again {
            (action + 6) % 12
        } else {
            below(u, 12)?
        };
        let (tool, said) = if is_again {
            (action % 5, 0)
        } else {
            (below(u, 5)?, words % 8)
        };
        let action = Action {
            id: format!("a{action}"),
            tool: format!("tool{tool}"),
            description: format!("do {action} {said}"),
            consequence: said.to_string(),
            risk_level: risk(class),
            irreversible: class / 3 % 2 == 1,
        };
        Ok(Own::Confirm {
            session_id,
            action,
            timeout_seconds: seconds(u)?,
            default_decision: if class / 6 == 0 {
                Decision::Accept
            } else {
                Decision::Reject
            },
            allowed_replies: maybe(u, 4, replies)?,
        })
    }

    fn clarify(&self, u: &mut Unstructured<'_>) -> Result<Own> {
        Ok(Own::Clarify {
            session_id: self.session(u)?,
            // The text of each begins with that of the one before it.
            question: format!("which{}", "x".repeat(below(u, 8)?.into())),
            accepted_response_kinds: if one_in(u, 8)? { None } else { Some(kinds(u)?) },
            choices: if one_in(u, 5)? {
                None
            } else {
                Some(choices(u)?)
            },
            timeout_seconds: seconds(u)?,
            default_response: maybe(u, 2, |u| below(u, 16).map(reply::text))?,
        })
    }

    /// A reply to a question, which decides, or answers.
    fn deliver(&mut self, u: &mut Unstructured<'_>, answers: bool) -> Result<Own> {
        let (token, question) = self.token(u, Some(answers))?;
        let sender = self.sender(u)?;
        let amount = |u: &mut Unstructured<'_>| u.arbitrary::<u8>().map(i64::from);
        let claims = match u.arbitrary()? {
            0..140_u8 => self.now - amount(u)?,
            140..200 => question.at + question.timeout + u.int_in_range(-1..=1)?,
            200..220 => self.now + amount(u)? * 1_000,
            220..240 => self.now - amount(u)? * 60_000,
            240.. => self.now + amount(u)? * 600_000,
        };
        let own = sender.subscription_id.clone();
        let subscription = if one_in(u, 10)? { None } else { own };
        let subscription = match subscription {
            Some(own) => own,
            None => self.subscription(u)?,
        };
        let mut said = reply::right(u, &token, &subscription, claims.clamp(0, LAST), answers)?;
        let is_spoilt = one_in(u, 5)?;
        if self.names_session && !answers && u.arbitrary()? {
            said.insert("session_id", "\"sess_0\"".to_owned());
        }
        let message = reply::object(&said);
        let mut message = if is_spoilt {
            near::json(seed(u)?, &message).into_bytes()
        } else {
            message.into_bytes()
        };
        // What is not UTF-8 is no reply.
        message.extend(maybe(u, 64, |_| Ok(0xff))?);
        if self.messages.len() == MESSAGES {
            self.messages.remove(0);
        }
        self.messages.push(message.clone());
        Ok(Own::Deliver(Deliver { sender, message }))
    }

    fn finish_tool(&self, u: &mut Unstructured<'_>) -> Result<Own> {
        let running = &self.running[newest(u, self.running.len())?];
        Ok(Own::FinishTool {
            session_id: running.session.clone(),
            action: running.action.clone(),
            tool_call_id: u.arbitrary::<bool>()?.then(|| named(CALL, running.number)),
            status: *u.choose(&[ToolStatus::Success, ToolStatus::Error, ToolStatus::Timeout])?,
        })
    }

    fn tool(&self, u: &mut Unstructured<'_>) -> Result<Own> {
        let session_id = self.session(u)?;
        // Most were never asked about, or most would be refused.
        let action = if one_in(u, 3)? {
            below(u, ACTIONS)?
        } else {
            ACTIONS + below(u, 8)?
        };
        let is_irreversible = one_in(u, 10)?;
        let words: u8 = u.arbitrary()?;
        Ok(Own::Tool {
            session_id,
            action: ToolAction {
                id: format!("a{action}"),
                tool: format!("tool{}", words % 5),
                args_summary: (!words.is_multiple_of(3)).then(|| format!("with {words}")),
                risk_level: maybe(u, 2, |u| below(u, 3).map(risk))?,
                irreversible: maybe(u, 2, |_| Ok(is_irreversible))?,
            },
            // Some are such as a producer might make by itself.
            tool_call_id: maybe(u, 3, |u| {
                let long = "\u{fc}".repeat(64);
                let all = [
                    "t1", "t2", "t3", "call_1", "call_2", "run_0", "run_1", &long, " ",
                ];
                u.choose(&all).copied().map(str::to_owned)
            })?,
        })
    }

    fn output(&self, u: &mut Unstructured<'_>) -> Result<Own> {
        Ok(Own::Output {
            session_id: self.session(u)?,
            output_id: format!("o{}", below(u, 4)?),
            chunk: match below(u, 60)? {
                drawn @ 0..24 => "x".repeat(usize::from(drawn % 8)),
                drawn @ 24..48 => "\u{fc}\u{1f4b6}".repeat(usize::from(drawn % 8)),
                48..54 => "e\u{301}\r\n\0".to_owned(),
                _ => "y".to_owned(),
            },
            complete: one_in(u, 4)?,
        })
    }

    fn handoff(&self, u: &mut Unstructured<'_>) -> Result<Own> {
        Ok(Own::Handoff {
            session_id: self.session(u)?,
            reason: "beyond me".to_owned(),
            target_kind: *u.choose(&[
                TargetKind::Human,
                TargetKind::SpecialistAgent,
                TargetKind::EscalationQueue,
            ])?,
            target_uri: maybe(u, 2, |_| Ok("tel:1".to_owned()))?,
        })
    }
}

const fn risk(class: u8) -> RiskLevel {
    match class % 3 {
        0 => RiskLevel::Low,
        1 => RiskLevel::Medium,
        _ => RiskLevel::High,
    }
}

/// The greatest that there may be, around a minute, and many that are short.
fn seconds(u: &mut Unstructured<'_>) -> Result<i64> {
    let by: u8 = u.arbitrary()?;
    let by_eight = i64::from(by % 8);
    Ok(match by {
        0..100 => 1 + by_eight,
        100..140 => 58 + by_eight,
        140..200 => by.into(),
        200..230 => i64::from(by) * 97,
        230.. => 86_400,
    })
}

/// What may be decided stands behind everything else.
fn replies(u: &mut Unstructured<'_>) -> Result<Vec<String>> {
    let many = |count| {
        let others: Vec<_> = (0..count).map(|it| format!("r{it}")).collect();
        format!("{} accept reject", others.join(" "))
    };
    let words = match below(u, 7)? {
        0 => "accept reject".to_owned(),
        1 => "accept".to_owned(),
        2 => "reject".to_owned(),
        3 => "reject later".to_owned(),
        4 => "later".to_owned(),
        5 => many(30),
        _ => many(31),
    };
    Ok(words.split_whitespace().map(str::to_owned).collect())
}

/// Each set of the four, in either order.
fn kinds(u: &mut Unstructured<'_>) -> Result<Vec<ResponseKind>> {
    let all = [
        ResponseKind::Freetext,
        ResponseKind::YesNo,
        ResponseKind::MultipleChoice,
        ResponseKind::Numeric,
    ];
    let bits = 1 + below(u, 15)?;
    let mut set: Vec<_> = (0..4)
        .filter(|it| bits >> it & 1 == 1)
        .map(|it| all[it])
        .collect();
    if u.arbitrary()? {
        set.reverse();
    }
    Ok(set)
}

/// Some that can be chosen from, and lists of as many as there may be, and more.
fn choices(u: &mut Unstructured<'_>) -> Result<Vec<Choice>> {
    let choice = |value: &str, label: &str| Choice {
        value: value.to_owned(),
        label: label.to_owned(),
    };
    let numbered = |count: u8| {
        (0..count)
            .map(|it| choice(&format!("v{it}"), "one"))
            .collect::<Vec<_>>()
    };
    Ok(match below(u, 26)? {
        0..8 => numbered(2),
        8..16 => numbered(3),
        16 => numbered(32),
        17..21 => vec![choice("true", "yes"), choice("1", "one")],
        21..25 => vec![choice("\u{fc}\u{1f4b6}", "no"), choice("\u{fffd}", "half")],
        _ => numbered(33),
    })
}
