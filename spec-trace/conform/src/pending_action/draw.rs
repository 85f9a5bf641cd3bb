//! Steps of a random run, drawn from bytes. The reference takes each beside, so that most steps are about what is open.

use arbitrary::{Error, Result, Unstructured};
use countersign_model::pending_action::PendingAction as Spec;
use countersign_model::pending_action::account::{Account, Action, Phase};
use countersign_model::pending_action::alphabet::ActionId;
use countersign_protocol::pending_action::{
    Decision, Effect, Op as Own, PendingAction, Propose, ToolStatus,
};
use countersign_protocol::{Common, Json, Op};
use countersign_reference::pending_action::Settings;
use countersign_reference::time::Timestamp;

use super::executor::Reference;
use super::spoken::{ACTION, NONCE, SNAPSHOT, named};
use crate::driven::{Asked, Step};
use crate::near::{self, seed};
use crate::spoken::{self, Driver, Host as _, START};

/// Spans that matter: the shortest, about a second, a minute, an hour, and days.
const SPANS: [i64; 12] = [
    1, 2, 3, 499, 999, 1_000, 1_001, 30_000, 59_999, 60_000, 3_600_000, 90_000_001,
];

/// Arguments. What differs from them in little is near them.
const ARGUMENTS: [&str; 8] = [
    r#"{"n":1}"#,
    r#"{"n":2}"#,
    "{}",
    r#"{"a":[1,2,{"c":["x",null]}],"b":{"d":{"e":true}}}"#,
    r#"{"n":9007199254740993}"#,
    "[1,1,2]",
    "null",
    LONG,
];
/// What is told from another behind much that is the same.
const LONG: &str = concat!(
    r#"{"a":"................................................................................"#,
    "................................................................................",
    "................................................................................",
    r#"................................................................................","n":1}"#,
);

const EFFECTS: [Effect; 4] = [
    Effect::Read,
    Effect::Write,
    Effect::Destructive,
    Effect::External,
];

/// People, who propose and decide.
const PEOPLE: u8 = 12;

/// `p0` to `p10`, and one of whose name there are two forms.
fn person(number: u8) -> String {
    match number {
        11 => "p\u{e9}".to_owned(),
        _ => format!("p{number}"),
    }
}

/// The reference: what it has named, and what it holds by what it has put out.
struct Beside {
    driver: Driver<Spec>,
    reference: Reference,
    account: Account,
}

impl Default for Beside {
    fn default() -> Self {
        Self {
            driver: Driver::of_all(),
            reference: Reference::new(Settings::default()),
            account: Account::default(),
        }
    }
}

impl Beside {
    fn take(&mut self, step: &Step<PendingAction>) {
        let Some(Asked { call, .. }) = self.driver.ask(step) else {
            return;
        };
        let outputs = self.reference.answer(&call);
        self.driver.is_answered(&outputs);
        for output in &outputs {
            self.account.believe(output);
        }
    }
}

/// So many kinds of runs there are; the first three have more of what is rare among random steps.
const THEMES: u8 = 8;

/// A run that is being drawn.
pub struct Drawn {
    beside: Beside,
    /// How many steps were drawn.
    place: usize,
    now: i64,
    latest: i64,
    /// How often the session at each place was followed by another.
    sessions: [u8; 8],
    theme: u8,
}

impl spoken::Drawn<Spec> for Drawn {
    fn begin(bytes: &[u8]) -> Self {
        Self {
            beside: Beside::default(),
            place: 0,
            now: START,
            latest: START,
            sessions: [0; 8],
            theme: bytes.first().map_or(0, |first| first % THEMES),
        }
    }

    fn next(&mut self, u: &mut Unstructured<'_>) -> Result<Step<PendingAction>> {
        self.place += 1;
        self.pass(u)?;
        let op = self.op(u)?;
        Ok(Step::new(self.now, op))
    }

    fn take(&mut self, step: &Step<PendingAction>) {
        self.beside.take(step);
    }
}

impl Drawn {
    /// Time passes, is set back, or comes to a deadline.
    fn pass(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let by = match u.arbitrary()? {
            0..150_u8 => 0,
            150..190 => *u.choose(&SPANS)?,
            190..245 => {
                let actions = self.beside.account.actions.iter();
                let deadlines = actions.filter_map(|it| it.expires_at);
                let to_come = deadlines.filter(|it| *it > self.latest);
                let mut to_come: Vec<i64> = to_come.collect();
                to_come.sort_unstable();
                let place = u.int_in_range(0..=15_usize)?.saturating_sub(8);
                let beside = u.int_in_range(-1..=1)?;
                to_come.get(place).map_or(0, |it| it - self.now + beside)
            }
            245.. => -*u.choose(&SPANS)?,
        };
        self.now += by;
        self.latest = self.latest.max(self.now);
        Ok(())
    }

    fn op(&mut self, u: &mut Unstructured<'_>) -> Result<Op<PendingAction>> {
        Ok(Op::Own(match u.arbitrary()? {
            0..70_u8 => Own::Propose(self.propose(u)?),
            70..150 => self.decide(u)?,
            150..190 => Own::FinishTool {
                action_id: id(self.action(u, Phase::Released)?),
                status: match u.arbitrary()? {
                    0..64_u8 => ToolStatus::Error,
                    64..208 => ToolStatus::Success,
                    208.. => ToolStatus::NotRun,
                },
                result: u
                    .choose(&[None, Some("v1"), Some("v2")])?
                    .map(Json::holding),
            },
            190..200 => Own::Cancel {
                action_id: id(self.action(u, Phase::Pending)?),
            },
            200..208 => Own::Say {
                by: person(below(u, PEOPLE)?),
                // What a button says, or a word of consent, is no decision either.
                text: match u.arbitrary()? {
                    drawn @ 0..128_u8 => format!("u{drawn}"),
                    drawn @ 128..192 => format!("b{}", drawn % 16),
                    192.. => (*u.choose(&near::WORDS)?).to_owned(),
                },
            },
            208..215 => {
                let (place, followed) = self.session(u)?;
                self.sessions[place] = self.sessions[place].max(followed.saturating_add(1));
                Own::EndSession {
                    session_id: session_id(place, followed),
                }
            }
            215..218 => Own::Snapshot {},
            218..220 => self.rollback(u)?,
            220..230 => return restart(u),
            230.. => match self.theme {
                0 if self.place.is_multiple_of(2) => Own::Snapshot {},
                0 => self.rollback(u)?,
                1 => {
                    self.now -= 60_000;
                    return Ok(Op::Common(Common::Tick {}));
                }
                2 => return restart(u),
                _ => return Ok(Op::Common(Common::Tick {})),
            },
        }))
    }

    fn rollback(&self, u: &mut Unstructured<'_>) -> Result<Own> {
        let snapshots = self.beside.driver.codec.snapshots();
        let newest = snapshots.len().checked_sub(1).ok_or(Error::EmptyChoose)?;
        let snapshot = named(SNAPSHOT, u.int_in_range(0..=newest)?);
        Ok(Own::Rollback {
            snapshot: Json::holding(&snapshot),
        })
    }

    /// The number of an action, mostly of such a phase. None for one that there never was.
    fn action(&self, u: &mut Unstructured<'_>, phase: Phase) -> Result<Option<ActionId>> {
        let account = &self.beside.account;
        let numbers = match u.arbitrary()? {
            0..190_u8 => {
                account.holding(*u.choose(&[phase, phase, Phase::Pending, Phase::Released])?)
            }
            190..252 => (0..account.next_action()).collect(),
            252.. => return Ok(None),
        };
        Ok(Some(*u.choose(&numbers)?))
    }

    /// The place of a session, and how often it was followed: mostly the one that has not ended.
    fn session(&self, u: &mut Unstructured<'_>) -> Result<(usize, u8)> {
        let drawn: u8 = u.arbitrary()?;
        let place = usize::from(drawn) % self.sessions.len();
        let ended = u8::from(drawn >= 240);
        Ok((place, self.sessions[place].saturating_sub(ended)))
    }

    fn propose(&self, u: &mut Unstructured<'_>) -> Result<Propose> {
        let (place, followed) = self.session(u)?;
        let agent = below(u, PEOPLE)?;
        let arguments = *u.choose(&ARGUMENTS)?;
        let arguments = match u.arbitrary()? {
            0..192_u8 => arguments.to_owned(),
            192.. => near::json(seed(u)?, arguments),
        };
        let words = below(u, 16)?;
        let expires_in = match u.arbitrary()? {
            0..64_u8 => None,
            64..248 => Some(*u.choose(&SPANS)?),
            drawn @ 248.. => Some(i64::from(drawn) - 254),
        };
        let expires_at = expires_in.map(|span| Timestamp::from_millis(self.latest + span));
        let bits: u16 = u.arbitrary()?;
        let people = (0..8).filter(|bit| bits & (1 << bit) != 0);
        let people = people.map(|it| person(it + 4 * (words % 2)));
        let deciders = (bits >= 100 << 8).then(|| people.collect());
        Ok(Propose {
            agent_id: person(agent),
            session_id: session_id(place, followed),
            run_id: format!("r{}", agent / 4),
            tool: format!("t{}", u.int_in_range(0..=7)?),
            arguments: Json::holding(&arguments),
            effect: *u.choose(&EFFECTS)?,
            summary: format!("q{words}"),
            label: format!("b{words}"),
            expires_at: expires_at.map(|it| it.to_string()),
            deciders,
            idempotent: Some(u.ratio(1, 3_u8)?),
        })
    }

    fn decide(&self, u: &mut Unstructured<'_>) -> Result<Own> {
        let number = self.action(u, Phase::Pending)?;
        let account = &self.beside.account;
        let action = number.and_then(|it| account.action(it));
        let nonce = |of: Option<&Action>| {
            let nonce = of.and_then(|it| it.nonce).map(usize::from);
            nonce.map_or("nonce_?".to_owned(), |it| named(NONCE, it))
        };
        let nonce = match u.arbitrary()? {
            0..120_u8 => None,
            120..230 => Some(nonce(action)),
            230..245 => Some(nonce(
                number.and_then(|it| account.action(it.saturating_sub(1))),
            )),
            245.. => Some(near::text(seed(u)?, &nonce(action))),
        };
        let decision = match u.arbitrary()? {
            0..160_u8 => Decision::Allow,
            160.. => Decision::Deny,
        };
        let names = &self.beside.driver.codec;
        let person = person(below(u, PEOPLE)?);
        let deciders = action.and_then(|it| it.deciders.as_deref());
        let listed = deciders.and_then(|it| names.text_numbered(*u.choose(it).ok()?));
        let listed = listed.map_or_else(|| person.clone(), str::to_owned);
        let by = match u.arbitrary()? {
            0..200_u8 => listed,
            200..236 => person,
            236.. => near::text(seed(u)?, &listed),
        };
        let proposed = action.and_then(|it| names.written_as(it.arguments));
        let arguments = match u.arbitrary()? {
            0..120_u8 => None,
            120..150 => proposed.map(str::to_owned),
            150..240 => proposed.map(|it| near::json(seed(u).unwrap_or(0), it)),
            240.. => Some((*u.choose(&ARGUMENTS)?).to_owned()),
        };
        Ok(Own::Decide {
            action_id: id(number),
            nonce,
            decision,
            by,
            arguments: arguments.as_deref().map(Json::holding),
        })
    }
}

fn below(u: &mut Unstructured<'_>, n: u8) -> Result<u8> {
    u.int_in_range(0..=n - 1)
}

fn id(action: Option<ActionId>) -> String {
    let known = action.map(|it| named(ACTION, it.into()));
    known.unwrap_or_else(|| "pa_?".to_owned())
}

fn session_id(place: usize, followed: u8) -> String {
    format!("s{}", place + 8 * usize::from(followed))
}

/// The process dies, and nothing, some or all of the last outputs are lost.
fn restart(u: &mut Unstructured<'_>) -> Result<Op<PendingAction>> {
    let lost = match u.arbitrary()? {
        0..64_u8 => 0,
        drawn @ 64..224 => u64::from(drawn) % 6,
        224.. => u64::from(u8::MAX),
    };
    Ok(Op::Common(Common::Restart { lost: Some(lost) }))
}
