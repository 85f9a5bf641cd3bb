//! The steps that a run of the model is: its calls, with slots as places among the questions that were asked.
//!
//! The one thing to know: what the model has one word for is spelled otherwise in each question, so that two actions differ.

use countersign_model::aaep::AaepProtocol;
use countersign_model::aaep::judge::AaepJudge;
use countersign_model::aaep::message::{Message, Shape, Token};
use countersign_model::aaep::output::Output;
use countersign_model::aaep::readings::{PLACES, Reading};
use countersign_model::aaep::told::Asked as Call;
use countersign_model::aaep::words::{
    AllowedReplies, Clarifies, Class, Decision, Piece, Response as Says, Risk, SessionName,
    SessionOutcome, Slot, Subscriber, Takes, Worked,
};
use countersign_model::facade::reading_of;
use countersign_model::judged::CallTold as _;
use countersign_model::time::Scale;
use countersign_protocol::Greeting;
use countersign_protocol::aaep::Aaep;

use super::Driver;
use super::driven::judge;
use super::step::{
    Answered, Asked, Claim, Clarified, Confirmed, Delivered, Extended, HandedOff, Ran, Response,
    Sender, Step, Streamed, Which,
};
use crate::driven;
use crate::suite::{OfModel, Suited, Taken};
use crate::wide::Clock;

/// What a run of the model has named so far.
#[derive(Clone, Default)]
pub struct Names {
    /// The time of the last call, in milliseconds since the start.
    now: i64,
    /// Those that are there.
    sessions: Vec<SessionName>,
    subscribers: Vec<Subscriber>,
    /// The slot of each question, in the order in which they were asked.
    questions: Vec<Slot>,
    /// How many were to be asked of each kind, and the number of the first of each.
    asked: [u8; 2],
    /// The tools that run, in the order in which they began.
    running: Vec<Running>,
}

/// A tool that runs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Running {
    /// That of a question.
    Of(Slot),
    /// That of which nobody was asked in this session.
    Work(SessionName),
}

/// A tick is a second.
const SCALE: Scale = Scale::of(1_000);
/// The place at which nobody ever is.
const NOWHERE: u8 = 7;
/// Words with which an action is as it was drawn.
const WORDS: u8 = 4;
/// The first action that no confirmation is about.
const WORK: u8 = 32;

impl Suited for Driver {
    const COMMITTED: [&'static str; 2] = [
        include_str!("../suite.json"),
        include_str!("../clauses.json"),
    ];

    fn readings_where(
        greeting: &Greeting<Aaep>,
        settled: &[(&str, &str)],
    ) -> Vec<driven::Taken<AaepJudge>> {
        let default = reading_of::<AaepProtocol>(Reading::SPECIFICATION, settled.iter().copied());
        let open = driven::open(&PLACES, settled);
        driven::readings(open, default, |it| judge(greeting, it))
    }

    fn ends(_: &[Step]) -> Vec<Step> {
        let step = |clock, asked| Step { clock, asked };
        vec![
            step(Clock::Ahead(60_000), Asked::Tick),
            step(Clock::Stays, Asked::Restart { lost: 0 }),
        ]
    }
}

impl OfModel for Driver {
    type Model = AaepProtocol;
    type Names = Names;

    fn steps_of(names: &mut Names, taken: &Taken<'_, AaepProtocol>) -> Vec<Step> {
        let at = SCALE.millis(taken.before.clock);
        let asked = names.asked(taken.told.call, at);
        let clock = Clock::by(at - names.now);
        names.now = at;
        for output in taken.told.outputs() {
            names.watch(*output);
        }
        vec![Step { clock, asked }]
    }
}

impl Names {
    /// What is asked, at so many milliseconds since the start.
    fn asked(&mut self, call: Call, at: i64) -> Asked {
        match call {
            Call::Start(session) => Asked::StartSession {
                place: session as u8,
                unnamed: false,
            },
            Call::Open(subscriber) => {
                self.subscribers.push(subscriber);
                Asked::Subscribe {
                    place: subscriber as u8,
                    can_reply: subscriber.is_capable(),
                }
            }
            Call::Confirm {
                session,
                class,
                timeout,
                same_action,
            } => Asked::Confirm(self.confirmed(session, class, timeout, same_action)),
            Call::Clarify {
                session,
                clarifies,
                timeout,
                same_question,
            } => Asked::Clarify(self.clarified(session, clarifies, timeout, same_question)),
            Call::Extend(slot, longer) => Asked::Extend {
                question: self.which(slot),
                to: Extended::By(longer.into()),
            },
            Call::Deliver(message) => self.delivered(message, at),
            Call::Tick => Asked::Tick,
            Call::Cancel(slot) => Asked::Cancel {
                question: self.which(slot),
            },
            Call::End(session, outcome) => Asked::EndSession {
                place: self.session(session),
                outcome: match outcome {
                    SessionOutcome::Completed => 0,
                    SessionOutcome::Errored => 1,
                    SessionOutcome::Cancelled => 2,
                },
            },
            Call::Close(subscriber) => {
                let place = self.subscriber(subscriber);
                self.subscribers.retain(|it| *it != subscriber);
                Asked::Unsubscribe { place }
            }
            Call::Finish(slot) => self.finish(Running::Of(slot)),
            Call::Work(piece) => self.work(piece),
            Call::Restart(lost) => Asked::Restart {
                lost: lost.is_some().into(),
            },
        }
    }

    fn watch(&mut self, output: Output) {
        match output {
            Output::Started(session) => self.sessions.push(session),
            Output::Ended(session, _) => self.sessions.retain(|it| *it != session),
            Output::Asked(slot) | Output::AskedSome(slot) | Output::Clarify(slot)
                if !self.questions.contains(&slot) =>
            {
                self.questions.push(slot);
            }
            Output::Perform(slot) => self.running.push(Running::Of(slot)),
            Output::Work(session, Worked::Perform) => self.running.push(Running::Work(session)),
            Output::Completed(slot) => self.running.retain(|it| *it != Running::Of(slot)),
            Output::Work(session, Worked::Completed) => {
                self.running.retain(|it| *it != Running::Work(session));
            }
            Output::Asked(_)
            | Output::AskedSome(_)
            | Output::Clarify(_)
            | Output::AwaitingInput(_)
            | Output::MoreTime(_)
            | Output::Answer(..)
            | Output::CallingTool(_)
            | Output::CallingToolAgain(_)
            | Output::Invoked(_)
            | Output::FollowUpLeaving(_)
            | Output::FollowUpStaying(_)
            | Output::Thinking(_)
            | Output::Withdraw(_)
            | Output::Work(..)
            | Output::InDoubt(_)
            | Output::Respond
            | Output::Tell(_)
            | Output::Audit(_)
            | Output::Refused(_)
            | Output::Notice => {}
        }
    }

    fn session(&self, session: SessionName) -> u8 {
        if self.sessions.contains(&session) {
            session as u8
        } else {
            NOWHERE
        }
    }

    fn subscriber(&self, subscriber: Subscriber) -> u8 {
        if self.subscribers.contains(&subscriber) {
            subscriber as u8
        } else {
            NOWHERE
        }
    }

    fn which(&self, slot: Slot) -> Which {
        let place = self.questions.iter().rposition(|known| *known == slot);
        place.map_or(Which::Unknown(0), |place| {
            let from_newest = self.questions.len() - 1 - place;
            Which::Any(u8::try_from(from_newest).unwrap_or(u8::MAX))
        })
    }

    /// The number of what is asked about: a new one, or the first.
    fn number(&mut self, kind: usize, same: bool) -> u8 {
        let next = self.asked[kind];
        self.asked[kind] += 1;
        if same { 0 } else { next }
    }

    fn confirmed(
        &mut self,
        session: SessionName,
        class: Class,
        timeout: u8,
        same_action: bool,
    ) -> Confirmed {
        let action = self.number(0, same_action);
        let risk = match class.risk {
            Risk::Low => 0,
            Risk::Medium => 1,
            Risk::High => 2,
        };
        let irreversible = if class.irreversible { 3 } else { 0 };
        let default = match class.default {
            Decision::Accept => 0,
            Decision::Reject => 6,
        };
        Confirmed {
            place: self.session(session),
            action,
            tool: action,
            class: risk + irreversible + default,
            timeout_seconds: timeout.into(),
            allowed: match class.allowed {
                AllowedReplies::Both => 1,
                AllowedReplies::AcceptOnly => 2,
                AllowedReplies::RejectOnly => 3,
                AllowedReplies::RejectOrOwn => 4,
            },
            words: WORDS,
        }
    }

    fn clarified(
        &mut self,
        session: SessionName,
        clarifies: Clarifies,
        timeout: u8,
        same_question: bool,
    ) -> Clarified {
        // Free text; a choice; a boolean or a number.
        let (kinds, choices) = match clarifies.takes {
            Takes::Words => (1, 0),
            Takes::Choice => (4, 1),
            Takes::Several => (10, 0),
            Takes::Unlisted => (0, 0),
            Takes::ChoiceOrWords => (5, 1),
        };
        Clarified {
            place: self.session(session),
            question: self.number(1, same_question),
            kinds,
            choices,
            // The second choice, where there are any.
            default: clarifies.default.into(),
            timeout_seconds: timeout.into(),
            words: WORDS,
        }
    }

    fn delivered(&self, message: Message, at: i64) -> Asked {
        let question = match message.token {
            Token::Of(slot) => self.which(slot),
            Token::Guessed => Which::Unknown(0),
        };
        let claims = Claim::Now(SCALE.millis(message.claimed) - at);
        let place = self.subscriber(message.sender);
        let sender = if message.authenticated {
            Sender::Subscriber(place)
        } else {
            Sender::Unauthenticated(place)
        };
        let names = (message.shape == Shape::Impostor).then_some(Subscriber::Capable as u8);
        let flaw = (message.shape == Shape::Malformed).into();
        let Some(response) = message.response else {
            return Asked::Deliver(Delivered {
                question,
                accepts: message.decision == Decision::Accept,
                claims,
                sender,
                names,
                modified: message.shape == Shape::Modified,
                rated: 0,
                flaw,
                spelling: 0,
            });
        };
        Asked::Answer(Answered {
            question,
            response: match response {
                Says::Choice => Response::Text(0),
                Says::Word => Response::Text(2),
                Says::Number => Response::Number(3),
            },
            claims,
            sender,
            names,
            flaw,
            spelling: 0,
        })
    }

    fn finish(&self, running: Running) -> Asked {
        let place = self.running.iter().rposition(|known| *known == running);
        let from_newest = place.map_or(0, |place| self.running.len() - 1 - place);
        Asked::Finish {
            call: u8::try_from(from_newest).unwrap_or(u8::MAX),
            named: true,
            status: 0,
        }
    }

    fn work(&self, piece: Piece) -> Asked {
        let place = self.session(piece.session());
        match piece {
            Piece::Run {
                session,
                irreversible,
            } => Asked::Tool(Ran {
                place,
                action: WORK + session as u8,
                tool: 0,
                class: if irreversible { 3 } else { 0 },
                call: 0,
                words: 1,
            }),
            Piece::Finish { session } => self.finish(Running::Work(session)),
            Piece::Write { complete, .. } => Asked::Output(Streamed {
                place,
                output: 0,
                text: 2,
                complete,
            }),
            Piece::HandOff { .. } => Asked::Handoff(HandedOff {
                place,
                target: 0,
                words: 1,
            }),
        }
    }
}
