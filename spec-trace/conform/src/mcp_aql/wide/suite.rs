//! The steps that a run of the model is: its calls, with slots as tokens counted back from the latest.

use countersign_model::facade::reading_of;
use countersign_model::judged::CallTold as _;
use countersign_model::mcp_aql::McpAqlProtocol;
use countersign_model::mcp_aql::judge::TokenJudge;
use countersign_model::mcp_aql::judge::words::Query;
use countersign_model::mcp_aql::message::{Call as Shows, Carried};
use countersign_model::mcp_aql::output::Output;
use countersign_model::mcp_aql::readings::PLACES;
use countersign_model::mcp_aql::state::Setup;
use countersign_model::mcp_aql::told::Asked;
use countersign_model::mcp_aql::words::{
    Danger, Lifetime, List, Oracle, Parameters as Which, Purpose, Request as Asks, Scope, Slot,
    Trigger,
};
use countersign_model::time::Scale;
use countersign_protocol::mcp_aql::McpAql;
use countersign_protocol::{Greeting, Kind};

use super::Driver;
use super::driven::{DEFAULT, with_leeway};
use super::step::{PARAMETERS, Parameters, Passing, Request, Shown, Step, What};
use crate::driven;
use crate::suite::{OfModel, Suited, Taken};

/// What a run of the model has named so far.
#[derive(Clone, Default)]
pub struct Names {
    /// The time of the last call, in milliseconds since the start.
    now: i64,
    /// What each token is of and how dangerous that is, in the order of issue.
    issued: Vec<(Slot, Danger)>,
    /// How dangerous what is asked for is.
    asked: Option<Danger>,
}

/// A tick, in seconds.
const TICK: u64 = 60;
pub(super) const SCALE: Scale = Scale::of(60_000);

impl Suited for Driver {
    const COMMITTED: [&'static str; 2] = [
        include_str!("../suite.json"),
        include_str!("../clauses.json"),
    ];

    fn readings_where(
        greeting: &Greeting<McpAql>,
        settled: &[(&str, &str)],
    ) -> Vec<driven::Taken<TokenJudge>> {
        // What the driver protocol settles is not open.
        let open = driven::open(&PLACES, settled);
        let open = open.filter(|it| it.name != "restarted-session");
        let log = greeting.shows(Kind::Audit);
        let default = reading_of::<McpAqlProtocol>(DEFAULT, settled.iter().copied());
        let mut all = driven::readings(open, default, |reading| TokenJudge::new(reading, log));
        // Who takes the setting has it.
        all.retain(|taken| !taken.choices.contains(&("oracle", "codes")));
        with_leeway(all)
    }

    fn ends(_: &[Step]) -> Vec<Step> {
        let step = |millis, what| Step {
            after: Passing::Millis(millis),
            what,
        };
        vec![
            step(0, What::Status(Shown::Issued(0))),
            step(3_600_000, What::Tick),
            step(0, What::Restart { lost: 0 }),
        ]
    }
}

impl OfModel for Driver {
    type Model = McpAqlProtocol;
    type Names = Names;

    fn steps_of(names: &mut Names, taken: &Taken<'_, McpAqlProtocol>) -> Vec<Step> {
        let at = SCALE.millis(taken.told.now);
        let whats = names.whats(taken.told.call);
        let steps = whats.into_iter().map(|what| {
            let after = Passing::Millis(at - std::mem::replace(&mut names.now, at));
            Step { after, what }
        });
        let steps = steps.collect();
        for output in taken.told.outputs() {
            if let Output::ConfirmationRequired(slot) = output {
                let danger = names.asked.unwrap_or(Danger::Destructive);
                names.issued.push((*slot, danger));
            }
        }
        steps
    }
}

impl Names {
    fn whats(&mut self, call: Asked) -> Vec<What> {
        match call {
            Asked::SetUp { tolerance, oracle } => {
                let configured = |adapter| configured(adapter, Setup { tolerance, oracle }, None);
                [0, 1].map(configured).to_vec()
            }
            Asked::Request(request) => {
                self.asked = Some(request.danger);
                vec![What::Call(asked(&request))]
            }
            Asked::Deliver(call) => vec![What::Call(self.delivered(call))],
            Asked::Introspect(Query::Revoke, carried) => vec![What::Revoke(self.shown(carried))],
            Asked::Introspect(Query::Status, carried) => vec![What::Status(self.shown(carried))],
            Asked::Trigger(Trigger::SessionEnd(session)) => vec![What::EndSession(session as u8)],
            Asked::Trigger(Trigger::Logout(session)) => {
                vec![What::Logout(session.map(|it| it as u8))]
            }
            Asked::Trigger(Trigger::Security) => vec![What::Security],
            // Configurations are told as such.
            Asked::Trigger(Trigger::Configuration(_)) | Asked::Nothing => Vec::new(),
            Asked::Configure {
                adapter,
                setup,
                lists,
                otherwise,
            } => {
                let adapter = adapter as u8;
                let other = What::Configure {
                    adapter,
                    tolerance_seconds: None,
                    uniform: Some(setup.oracle == Oracle::Codes),
                    critical: None,
                };
                let as_it_is = configured(adapter, setup, critical(lists, setup.oracle));
                otherwise
                    .then_some(other)
                    .into_iter()
                    .chain([as_it_is])
                    .collect()
            }
            Asked::Relist { lists, oracle } => vec![What::Configure {
                adapter: 0,
                tolerance_seconds: None,
                uniform: None,
                critical: critical(lists, oracle),
            }],
            Asked::Tick => vec![What::Tick],
            Asked::Restart => vec![What::Restart { lost: 0 }],
        }
    }

    fn place(&self, slot: Slot) -> Option<usize> {
        self.issued.iter().rposition(|(known, _)| *known == slot)
    }

    fn shown(&self, carried: Carried) -> Shown {
        let Carried::Token(slot) = carried else {
            return Shown::Unknown(0);
        };
        self.place(slot).map_or(Shown::Unknown(1), |place| {
            let back = self.issued.len() - 1 - place;
            Shown::Issued(u8::try_from(back).unwrap_or(u8::MAX))
        })
    }

    /// A call with a token. What it is for is as dangerous as it was when its token was issued, where it needs one.
    fn delivered(&self, call: Shows) -> Request {
        let confirmed = match call.token {
            Carried::Token(slot) => self.place(slot).map(|place| self.issued[place].1),
            Carried::Guessed => None,
        };
        let confirmed = confirmed.filter(|it| *it != Danger::Safe);
        let (purpose, danger) = match (call.gated, call.scope.purpose) {
            (false, _) => (Purpose::Confirmation, Danger::Safe),
            (true, Purpose::QuotaContinue) => (Purpose::QuotaContinue, Danger::Safe),
            (true, Purpose::Confirmation) => (
                Purpose::Confirmation,
                confirmed.unwrap_or(Danger::Destructive),
            ),
        };
        Request {
            shown: Some(self.shown(call.token)),
            ..called(
                Scope {
                    purpose,
                    ..call.scope
                },
                danger,
            )
        }
    }
}

/// A call without a token.
fn asked(request: &Asks) -> Request {
    Request {
        max_uses: request.max_uses.into(),
        ttl_seconds: match request.lifetime {
            Lifetime::Default => None,
            Lifetime::Ticks(ticks) => Some(u64::from(ticks) * TICK),
        },
        ..called(request.scope, request.danger)
    }
}

/// A call of the one use that is the default.
fn called(scope: Scope, danger: Danger) -> Request {
    let mut values = [None; PARAMETERS as usize];
    values[0] = Some(u8::from(scope.parameters == Which::Second));
    values[1] = Some(u8::from(scope.parameters == Which::Third));
    Request {
        adapter: scope.adapter as u8,
        operation: scope.operation as u8,
        parameters: Parameters {
            values,
            spelling: 0,
            broken: None,
        },
        level: match danger {
            Danger::Safe => 0,
            Danger::Destructive => 2,
            Danger::Forbidden => 4,
        },
        quota: scope.purpose == Purpose::QuotaContinue,
        session: scope.session.map(|session| session as u8),
        max_uses: 1,
        ttl_seconds: None,
        shown: None,
    }
}

/// An adapter that works like this.
fn configured(adapter: u8, setup: Setup, critical: Option<Vec<(u8, u8)>>) -> What {
    What::Configure {
        adapter,
        tolerance_seconds: Some(u64::from(setup.tolerance) * TICK),
        uniform: Some(setup.oracle == Oracle::Uniform),
        critical,
    }
}

/// Which parameters count, by operation: each list that was ever set.
fn critical(lists: [List; 2], oracle: Oracle) -> Option<Vec<(u8, u8)>> {
    let bits = |(operation, list): (u8, List)| match list {
        List::Unset => None,
        List::Narrow => Some((operation, 0b0001)),
        List::Wide if list.names_nothing(oracle) => Some((operation, 0b1000)),
        List::Wide => Some((operation, 0b0011)),
    };
    let critical: Vec<_> = (0..).zip(lists).filter_map(bits).collect();
    (!critical.is_empty()).then_some(critical)
}
