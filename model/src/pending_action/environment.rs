//! What can happen to a ledger: any request, by anybody, at any time and any number of times.

use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use crate::engine::model::{Environment, Statement};
use crate::pending_action::PendingAction;
use crate::pending_action::account::Account;
use crate::pending_action::alphabet::{
    ActionId, Arguments, Call, Decide, Decision, Effect, Event, Lost, Name, Nonce, Op, Output,
    Proposal, SnapshotId, Status, Text, Time, Value, What,
};
use crate::pending_action::guarantees::{GUARANTEES, History, WITNESSES};

/// How far a search goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// So many actions are created.
    pub actions: u8,
    /// The clock goes from 0 to this.
    pub ticks: Time,
    /// The clock is set back so often, by one tick.
    pub set_back: u8,
    /// The process dies so often.
    pub crashes: u8,
    /// An older state is handed back so often.
    pub rollbacks: u8,
    /// Every kind of proposal, and every flaw of one.
    pub every_proposal: bool,
    /// Every decider, nonce and version of the arguments.
    pub every_decision: bool,
    /// Sessions end, questions are taken back, somebody talks.
    pub endings: bool,
}

impl Bounds {
    /// One action, and every request about it.
    pub const ONE: Self = Self {
        actions: 1,
        ticks: 2,
        set_back: 1,
        crashes: 1,
        rollbacks: 0,
        every_proposal: true,
        every_decision: true,
        endings: true,
    };
    /// Bounds besides: everything at once, and three actions.
    pub const OTHER_WORLDS: [(&str, Self); 2] = [
        (
            "large",
            Self {
                actions: 2,
                crashes: 2,
                rollbacks: 1,
                ..Self::ONE
            },
        ),
        (
            "three",
            Self {
                actions: 3,
                ticks: 1,
                set_back: 0,
                every_proposal: false,
                every_decision: false,
                ..Self::ONE
            },
        ),
    ];
    /// Small worlds, each for the sake of something that another leaves out.
    pub const WORLDS: [(&str, Self); 4] = [
        ("one", Self::ONE),
        (
            "two",
            Self {
                actions: 2,
                set_back: 0,
                crashes: 0,
                every_proposal: false,
                ..Self::ONE
            },
        ),
        (
            "two-crash",
            Self {
                actions: 2,
                set_back: 0,
                every_proposal: false,
                every_decision: false,
                ..Self::ONE
            },
        ),
        (
            "rollback",
            Self {
                actions: 2,
                ticks: 1,
                set_back: 0,
                crashes: 1,
                rollbacks: 1,
                every_proposal: false,
                every_decision: false,
                ..Self::ONE
            },
        ),
    ];
}

/// What the environment has done, as far as it decides what it can still do.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Surroundings {
    /// The time of the host.
    pub clock: Time,
    set_back: u8,
    crashes: u8,
    rollbacks: u8,
    /// Of each action that was created, its arguments and nonce.
    known: SmallVec<[(Arguments, Option<Nonce>); 2]>,
    snapshots: SnapshotId,
}

/// The agent that proposes.
pub const AGENT: Name = 1;
/// Who may decide.
pub const DECIDER: Name = 2;
/// Somebody else.
pub const STRANGER: Name = 3;

/// Arguments that were proposed.
pub(super) const ARGUMENTS: Arguments = Arguments {
    value: Value {
        bytes: 10,
        meaning: Some(10),
    },
    size: 8,
    levels: 1,
};
/// The same in another spelling.
pub const RESPELT: Value = Value {
    bytes: 11,
    meaning: Some(10),
};
/// Others.
const OTHERS: Value = Value {
    bytes: 12,
    meaning: Some(12),
};

impl Environment for PendingAction {
    type Surroundings = Surroundings;
    type History = History;
    type Bounds = Bounds;

    const GUARANTEES: &'static [Statement<History>] = GUARANTEES;
    const WITNESSES: &'static [Statement<History>] = WITNESSES;

    fn surroundings(bounds: &Bounds) -> Surroundings {
        let &Bounds {
            set_back,
            crashes,
            rollbacks,
            ..
        } = bounds;
        Surroundings {
            clock: 0,
            set_back,
            crashes,
            rollbacks,
            known: smallvec![],
            snapshots: 0,
        }
    }

    fn moves(bounds: &Bounds, around: &Surroundings, each: &mut dyn FnMut(Surroundings)) {
        if around.clock < bounds.ticks {
            each(Surroundings {
                clock: around.clock + 1,
                ..around.clone()
            });
        }
        if around.set_back > 0 && around.clock > 0 {
            each(Surroundings {
                clock: around.clock - 1,
                set_back: around.set_back - 1,
                ..around.clone()
            });
        }
    }

    fn calls(bounds: &Bounds, around: &Surroundings, _: &History, each: &mut dyn FnMut(Call)) {
        let mut happens = |op| {
            each(Call {
                now: around.clock,
                op,
            });
        };
        happens(Op::Tick);
        around.proposals(bounds, &mut happens);
        let created = (0..).zip(around.known.iter().copied().map(Some));
        for (action, known) in created.chain([(ActionId::MAX, None)]) {
            decisions(bounds, action, known, &mut happens);
            let statuses = [Status::Success, Status::Error, Status::NotRun];
            for status in &statuses[..if bounds.every_decision { 3 } else { 1 }] {
                happens(Op::FinishTool {
                    action,
                    status: *status,
                    result: Some(OTHERS),
                });
            }
            if bounds.endings {
                happens(Op::Cancel(action));
            }
        }
        if bounds.endings {
            happens(Op::EndSession(1.into()));
            happens(Op::Say {
                by: DECIDER.into(),
                text: 20.into(),
            });
        }
        if bounds.every_proposal {
            happens(Op::EndSession(Text {
                is_blank: true,
                ..21.into()
            }));
            happens(Op::FinishTool {
                action: 0,
                status: Status::Other(1),
                result: None,
            });
        }
        if around.rollbacks > 0 {
            if around.snapshots == 0 {
                happens(Op::Snapshot);
            }
            // One that was put out, and one that was not.
            (0..=around.snapshots).for_each(|id| happens(Op::Rollback(id)));
        }
        if around.crashes > 0 {
            happens(Op::Restart(Lost::Outputs(smallvec![])));
        }
    }

    fn happened(
        around: &mut Surroundings,
        history: &mut History,
        call: &Call,
        outputs: &[Output],
        lost: usize,
    ) {
        let refused = outputs.contains(&Output::Refused);
        match &call.op {
            Op::Propose(proposal) if !refused => {
                let mut nonce = None;
                for it in outputs {
                    if let Output::Event(Event { what, .. }) = it
                        && let What::Created(record) = what
                    {
                        nonce = record.nonce;
                    }
                }
                around.known.push((proposal.arguments, nonce));
            }
            Op::Snapshot if !refused => around.snapshots += 1,
            Op::Rollback(_) if !refused => {
                around.rollbacks = around.rollbacks.saturating_sub(1);
            }
            Op::Restart(Lost::Outputs(lost)) if lost.is_empty() => {
                around.crashes = around.crashes.saturating_sub(1);
            }
            Op::Propose(_)
            | Op::Decide(_)
            | Op::Say { .. }
            | Op::FinishTool { .. }
            | Op::Cancel(_)
            | Op::EndSession(_)
            | Op::Snapshot
            | Op::Rollback(_)
            | Op::Tick
            | Op::Restart(_) => {}
        }
        if lost > 0 {
            // Who is told to come back, with nothing lost, can die in coming back: none is left to count then.
            around.crashes = around.crashes.saturating_sub(1);
        }
        history.see(call, outputs, lost);
    }

    fn may_crash(around: &Surroundings) -> bool {
        around.crashes > 0
    }

    fn leaves_trace(output: &Output) -> bool {
        match output {
            Output::Append(_) | Output::Event(_) | Output::Perform { .. } => true,
            Output::InDoubt(_)
            | Output::Audit
            | Output::Snapshot(_)
            | Output::Refused
            | Output::Other(_) => false,
        }
    }

    fn restart(around: &Surroundings, lost: &[Output]) -> Call {
        Call {
            now: around.clock,
            op: Op::Restart(Lost::Outputs(lost.iter().cloned().collect())),
        }
    }

    fn forget_dead(_: &mut Account, _: &mut Surroundings, _: &mut History, _: bool) {}
}

impl Surroundings {
    fn proposals(&self, bounds: &Bounds, happens: &mut impl FnMut(Op)) {
        let plain = plain();
        let mut propose = |proposal: Proposal| happens(Op::Propose(Arc::new(proposal)));
        if self.known.len() < usize::from(bounds.actions) {
            propose(plain.clone());
            propose(Proposal {
                expires_at: None,
                deciders: None,
                ..plain.clone()
            });
            propose(Proposal {
                idempotent: true,
                expires_at: None,
                ..plain.clone()
            });
            if bounds.endings {
                propose(Proposal {
                    session: 2.into(),
                    expires_at: Some(2),
                    ..plain.clone()
                });
            }
            if bounds.every_proposal {
                propose(Proposal {
                    deciders: Some(smallvec![AGENT.into(), DECIDER.into()]),
                    ..plain.clone()
                });
                propose(Proposal {
                    effect: Effect::Read,
                    ..plain.clone()
                });
            }
        }
        if bounds.every_proposal {
            flawed(&plain, &mut propose);
        }
    }
}

/// A proposal without a flaw.
fn plain() -> Proposal {
    Proposal {
        agent: AGENT.into(),
        session: 1.into(),
        run: 5.into(),
        tool: 6.into(),
        arguments: ARGUMENTS,
        effect: Effect::Destructive,
        summary: 7.into(),
        label: 8.into(),
        expires_at: Some(1),
        deciders: Some(smallvec![DECIDER.into()]),
        idempotent: false,
    }
}

/// That proposal, each time with one flaw: none is recorded.
fn flawed(plain: &Proposal, propose: &mut impl FnMut(Proposal)) {
    let blank = Text {
        is_blank: true,
        ..9.into()
    };
    let long = |characters| Text {
        characters,
        ..9.into()
    };
    let arguments = |value| Arguments { value, ..ARGUMENTS };
    propose(Proposal {
        agent: blank,
        ..plain.clone()
    });
    propose(Proposal {
        session: long(257),
        ..plain.clone()
    });
    propose(Proposal {
        summary: long(4097),
        ..plain.clone()
    });
    propose(Proposal {
        label: long(81),
        ..plain.clone()
    });
    propose(Proposal {
        label: Text {
            has_line_break: true,
            ..9.into()
        },
        ..plain.clone()
    });
    propose(Proposal {
        arguments: arguments(Value {
            bytes: 13,
            meaning: None,
        }),
        ..plain.clone()
    });
    propose(Proposal {
        arguments: Arguments {
            size: (1 << 20) + 1,
            ..ARGUMENTS
        },
        ..plain.clone()
    });
    propose(Proposal {
        arguments: Arguments {
            size: 200,
            levels: 65,
            ..ARGUMENTS
        },
        ..plain.clone()
    });
    propose(Proposal {
        effect: Effect::Other(1),
        ..plain.clone()
    });
    propose(Proposal {
        deciders: Some(smallvec![]),
        ..plain.clone()
    });
    propose(Proposal {
        deciders: Some(smallvec![DECIDER.into(), DECIDER.into()]),
        ..plain.clone()
    });
}

/// Decisions about that action: by anybody, with any nonce, of any arguments.
fn decisions(
    bounds: &Bounds,
    action: ActionId,
    known: Option<(Arguments, Option<Nonce>)>,
    happens: &mut impl FnMut(Op),
) {
    let nonce = known.and_then(|(_, nonce)| nonce);
    for decision in [Decision::Allow, Decision::Deny] {
        let plain = Decide {
            action,
            nonce: None,
            decision,
            by: DECIDER.into(),
            arguments: None,
        };
        let mut decide = |decide| happens(Op::Decide(decide));
        decide(plain);
        if !bounds.every_decision || known.is_none() {
            continue;
        }
        decide(Decide { nonce, ..plain });
        decide(Decide {
            nonce: Some(Nonce::MAX),
            ..plain
        });
        decide(Decide {
            by: AGENT.into(),
            ..plain
        });
        decide(Decide {
            by: STRANGER.into(),
            ..plain
        });
        decide(Decide {
            by: Text {
                is_blank: true,
                ..4.into()
            },
            ..plain
        });
        decide(Decide {
            arguments: Some(RESPELT),
            ..plain
        });
        decide(Decide {
            arguments: Some(OTHERS),
            ..plain
        });
        decide(Decide {
            arguments: Some(Value {
                bytes: 13,
                meaning: None,
            }),
            ..plain
        });
    }
    if bounds.every_decision {
        let decision = Decision::Other(1);
        happens(Op::Decide(Decide {
            action,
            nonce: None,
            decision,
            by: DECIDER.into(),
            arguments: None,
        }));
    }
}
