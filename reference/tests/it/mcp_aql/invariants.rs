//! What holds after any sequence of inputs whatever.

use std::collections::{BTreeMap, BTreeSet};

use countersign_reference::mcp_aql::{
    Audit, AuditOutcome, Call, Capacity, CheckOrder, ConfirmationToken, DangerLevel, EventKind,
    Gatekeeper, Input, Output, Parameters, Persistence, Purpose, Query, RateLimit, RateLimits,
    Settings, SigningKey, TokenEvent, TokenId,
};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

use crate::mcp_aql::stage::{
    Stage, adapter, call, configure, end_session, event, introspect, issued, operation, session,
};

/// One input, with the time that goes by before it. Names are drawn from few, so that they often meet.
#[derive(Clone, Copy, Debug)]
struct Move {
    /// How much the host's clock moves, in milliseconds. It may run backwards.
    elapsed: i64,
    happening: Happening,
}

#[derive(Clone, Copy, Debug)]
enum Happening {
    Call(Shape),
    /// With the token of that call among those issued, mostly as it was, sometimes not.
    Retry {
        token: u8,
        fault: u8,
        other: Shape,
    },
    Configure(u16),
    Revoke(u8),
    Status(u8),
    Event(EventKind, Option<bool>),
    EndSession(bool),
    Tick,
    Restart,
}

/// What a call is like.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Shape {
    adapter: bool,
    operation: bool,
    params: u8,
    level: u8,
    session: Option<bool>,
    uses: u8,
    ttl: Option<u16>,
    quota: bool,
}

fn shapes() -> impl Strategy<Value = Shape> {
    let session = prop::option::weighted(0.7, any::<bool>());
    let ttl = prop::option::weighted(0.6, 0..12_u16);
    let rest = (session, 1..4_u8, ttl, prop::bool::weighted(0.2));
    (any::<bool>(), any::<bool>(), 0..3_u8, 1..5_u8, rest).prop_map(
        |(adapter, operation, params, level, (session, uses, ttl, quota))| Shape {
            adapter,
            operation,
            params,
            level,
            session,
            uses,
            ttl,
            quota,
        },
    )
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let elapsed = prop_oneof![
        5 => Just(0_i64),
        3 => 0..5_000_i64,
        1 => 0..60_000_i64,
        1 => -9_000..0_i64,
        1 => Just(2_000_000_i64),
    ];
    let kind = prop_oneof![
        2 => Just(EventKind::Logout),
        1 => Just(EventKind::Security),
        1 => Just(EventKind::Configuration),
    ];
    let happening = prop_oneof![
        10 => shapes().prop_map(Happening::Call),
        20 => (any::<u8>(), any::<u8>(), shapes())
            .prop_map(|(token, fault, other)| Happening::Retry { token, fault, other }),
        1 => (0..310_u16).prop_map(Happening::Configure),
        1 => any::<u8>().prop_map(Happening::Revoke),
        2 => any::<u8>().prop_map(Happening::Status),
        1 => (kind, any::<Option<bool>>()).prop_map(|(kind, session)| Happening::Event(kind, session)),
        1 => any::<bool>().prop_map(Happening::EndSession),
        1 => Just(Happening::Tick),
        1 => Just(Happening::Restart),
    ];
    let step = (elapsed, happening).prop_map(|(elapsed, happening)| Move { elapsed, happening });
    prop::collection::vec(step, 0..100)
}

fn settings() -> impl Strategy<Value = Settings> {
    let limit = || prop::option::weighted(0.2, (1..4_u32, 1..9_000_u32));
    let limits = (limit(), limit(), limit());
    (any::<bool>(), any::<bool>(), limits).prop_map(|(sample, in_memory, (one, two, three))| {
        let limit = |limit: Option<(u32, u32)>| {
            limit.map(|(burst, interval)| RateLimit::new(burst, interval).expect("in bounds"))
        };
        Settings {
            check_order: if sample {
                CheckOrder::Sample
            } else {
                CheckOrder::Table
            },
            persistence: if in_memory {
                Persistence::InMemory
            } else {
                Persistence::Persistent
            },
            capacity: Capacity::new(1_000).expect("in bounds"),
            rate_limits: RateLimits {
                issuance: limit(one),
                failed_validation: limit(two),
                revocation: limit(three),
            },
            ..Settings::default()
        }
    })
}

fn session_name(second: bool) -> &'static str {
    if second { "s2" } else { "s1" }
}

fn call_like(shape: Shape) -> Call {
    Call {
        adapter: Some(adapter(if shape.adapter { "github" } else { "gitlab" })),
        operation: operation(if shape.operation {
            "delete_repo"
        } else {
            "delete_org"
        }),
        params: Parameters::new(match shape.params {
            0 => r#"{"a": 1, "b": 2}"#,
            1 => r#"{"b":2.0,"a":1}"#,
            _other => r#"{"a": 2}"#,
        }),
        danger_level: DangerLevel::ALL[usize::from(shape.level)],
        session_id: shape.session.map(|second| session(session_name(second))),
        max_uses: u32::from(shape.uses),
        ttl_seconds: shape.ttl.map(u64::from),
        purpose: if shape.quota {
            Purpose::QuotaContinue
        } else {
            Purpose::Confirmation
        },
        ..call()
    }
}

/// What was asked for when a token was issued, and what has become of it, judged without looking at the gatekeeper.
struct Witnessed {
    token: ConfirmationToken,
    shape: Shape,
    expires_at: i64,
    tolerance: i64,
    uses: u32,
    is_over: bool,
}

/// Everything that has come out so far.
struct Witness {
    tokens: Vec<Witnessed>,
    tolerances: BTreeMap<bool, i64>,
    now: i64,
    ids: BTreeSet<TokenId>,
    /// Tokens are signed, not kept. One that ended with its adapter can then still be given back.
    signs: bool,
}

impl Witness {
    fn input(&self, happening: Happening) -> (Input, Option<usize>) {
        let pick = |token: u8| match self.tokens.len() {
            0 => None,
            count => Some(usize::from(token) % count),
        };
        let text = |index: Option<usize>| {
            index.map_or("conf_guessed".into(), |index| {
                self.tokens[index].token.to_string()
            })
        };
        let input = match happening {
            Happening::Call(shape) => Input::Call(call_like(shape)),
            Happening::Retry {
                token,
                fault,
                other,
            } => {
                let index = pick(token);
                let same = index.map_or(other, |index| self.tokens[index].shape);
                let shape = match fault % 16 {
                    0 => other,
                    1 => Shape {
                        adapter: !same.adapter,
                        ..same
                    },
                    2 => Shape {
                        operation: !same.operation,
                        ..same
                    },
                    3 => Shape {
                        params: (same.params + 1) % 3,
                        ..same
                    },
                    // A quota pauses what is harmless.
                    4 => Shape {
                        quota: !same.quota,
                        level: if same.quota { 2 } else { 0 },
                        ..same
                    },
                    5 => Shape {
                        session: same.session.map(|second| !second),
                        ..same
                    },
                    _same => same,
                };
                let call = Call {
                    confirmation_token: Some(text(index)),
                    ..call_like(shape)
                };
                return (Input::Call(call), index);
            }
            Happening::Configure(tolerance) => configure(Some(tolerance.into())),
            Happening::Revoke(token) => {
                let index = pick(token);
                return (introspect(Query::RevokeToken, &text(index)), index);
            }
            Happening::Status(token) => introspect(Query::TokenStatus, &text(pick(token))),
            Happening::Event(kind, second) => event(kind, second.map(session_name)),
            Happening::EndSession(second) => end_session(session_name(second)),
            Happening::Tick => Input::Tick,
            Happening::Restart => Input::Restart,
        };
        (input, None)
    }

    /// AQL-1.3-2, AQL-5.2-1, AQL-5.4-1, AQL-5.1-3, AQL-4.1-4, AQL-4.1-5, AQL-4.1-6: what runs was confirmed, the very
    /// same, in time, and not more often than it may be.
    fn judge_perform(&mut self, call: &Call, index: Option<usize>) {
        if call.purpose == Purpose::Confirmation && call.danger_level < DangerLevel::Destructive {
            return;
        }
        let token = &mut self.tokens[index.expect("what is dangerous runs only with a token")];
        let asked = call_like(token.shape);
        // AQL-2.1-1: what is dangerous was confirmed, whatever the quota.
        // AQL-5.1-1: and nothing that is rated higher.
        assert!(call.danger_level <= asked.danger_level);
        let is_dangerous = |call: &Call| call.danger_level >= DangerLevel::Destructive;
        if !is_dangerous(call) {
            assert_eq!(call.purpose, asked.purpose);
        }
        assert_eq!(call.operation, asked.operation);
        assert_eq!(call.adapter, asked.adapter);
        let is_other = |params: &Parameters| {
            params.as_bytes().ends_with(b": 2}") && !params.as_bytes().contains(&b'1')
        };
        assert_eq!(is_other(&call.params), is_other(&asked.params));
        if token.shape.uses > 1 {
            assert_eq!(call.session_id, asked.session_id);
        }
        assert!(
            self.now <= token.expires_at + token.tolerance,
            "ran after expiry"
        );
        assert!(!token.is_over, "ran after revocation");
        token.uses += 1;
        assert!(token.uses <= u32::from(token.shape.uses), "ran too often");
    }

    /// AQL-6.4-1: every thing done with a token is in the log, once, and before it is done.
    fn judge_log(outputs: &[Output]) {
        let entry = |output: &Output| match output {
            // AQL-7.3-1: a status is told, and nothing done.
            Output::Audit(Audit::Token(entry)) if entry.operation.as_str() == "introspect" => None,
            Output::Audit(Audit::Token(entry)) => Some((entry.event, entry.outcome)),
            Output::Audit(Audit::Warning(_)) | Output::Respond(_) | Output::Perform(_) => None,
        };
        let count = |event| {
            outputs
                .iter()
                .filter(|output| entry(output) == Some(event))
                .count()
        };
        let performed = outputs
            .iter()
            .filter(|output| matches!(output, Output::Perform(_)))
            .count();
        let gated = count((TokenEvent::TokenValidated, AuditOutcome::Success));
        assert!(gated <= performed && performed <= 1);
        assert_eq!(
            count((TokenEvent::TokenValidated, AuditOutcome::Failure)),
            0
        );
        let issues = usize::from(issued(outputs).is_some());
        assert_eq!(
            count((TokenEvent::TokenIssued, AuditOutcome::Success)),
            issues
        );
        let answers = outputs
            .iter()
            .skip_while(|output| matches!(output, Output::Audit(_)));
        assert!(answers.count() <= 1, "one answer, after the log");
    }

    fn judge(
        &mut self,
        happening: Happening,
        index: Option<usize>,
        input: &Input,
        outputs: &[Output],
    ) {
        Self::judge_log(outputs);
        if let (Some(token), Happening::Call(shape)) = (issued(outputs), happening) {
            assert!(self.ids.insert(token.id()), "issued twice");
            let default = match shape.level {
                4 => 120,
                _ => 300,
            };
            let life = shape.ttl.map_or(default, i64::from);
            self.tokens.push(Witnessed {
                token: token.clone(),
                shape,
                expires_at: self.now + life * 1_000,
                tolerance: self.tolerances[&shape.adapter],
                uses: 0,
                is_over: false,
            });
        }
        for output in outputs {
            match (output, input) {
                (Output::Perform(_), Input::Call(call)) => self.judge_perform(call, index),
                (Output::Perform(_), _) => panic!("ran without a call"),
                (Output::Audit(Audit::Token(entry)), _)
                    if entry.event == TokenEvent::TokenRevoked
                        && entry.outcome == AuditOutcome::Success
                        // One that stands for all that are not known.
                        && (entry.token_id.is_some() || !self.signs) =>
                {
                    let revoked = self
                        .tokens
                        .iter_mut()
                        .find(|token| Some(token.token.id()) == entry.token_id);
                    let revoked = revoked.expect("what is revoked was issued");
                    assert!(self.signs || !revoked.is_over, "revoked twice");
                    revoked.is_over = true;
                }
                (Output::Audit(_) | Output::Respond(_), _) => {}
            }
        }
    }

    /// AQL-5.3-2, AQL-5.4-2: nothing is left live of what had to end.
    fn judge_end(&mut self, happening: Happening, persistence: Persistence) {
        let ends = |token: &Witnessed| match happening {
            Happening::Configure(tolerance) => {
                token.shape.adapter && self.tolerances[&true] != i64::from(tolerance) * 1_000
            }
            Happening::Event(EventKind::Logout, Some(second)) | Happening::EndSession(second) => {
                token.shape.uses > 1 && token.shape.session == Some(second)
            }
            Happening::Event(EventKind::Logout, None)
            | Happening::Event(EventKind::Security | EventKind::Configuration, _) => true,
            Happening::Restart => persistence == Persistence::InMemory,
            Happening::Call(_)
            | Happening::Retry { .. }
            | Happening::Revoke(_)
            | Happening::Status(_)
            | Happening::Tick => false,
        };
        let over: Vec<bool> = self.tokens.iter().map(ends).collect();
        for (token, ends) in self.tokens.iter_mut().zip(over) {
            token.is_over |= ends;
        }
    }
}

fn run(mut stage: Stage, signs: bool, moves: &[Move]) {
    let persistence = stage.gatekeeper.settings().persistence;
    let mut witness = Witness {
        tokens: vec![],
        tolerances: BTreeMap::from([(true, 30_000), (false, 30_000)]),
        now: stage.now,
        ids: BTreeSet::new(),
        signs,
    };
    for &Move { elapsed, happening } in moves {
        stage.now += elapsed;
        witness.now = witness.now.max(stage.now);
        let (input, index) = witness.input(happening);
        let now = countersign_reference::time::Timestamp::from_millis(stage.now);
        let outcome = stage.gatekeeper.handle(now, &mut stage.ids, input.clone());
        if outcome.refused.is_some() {
            assert_eq!(outcome.outputs, []);
            continue;
        }
        witness.judge(happening, index, &input, &outcome.outputs);
        witness.judge_end(happening, persistence);
        if let Happening::Configure(tolerance) = happening {
            witness
                .tolerances
                .insert(true, i64::from(tolerance) * 1_000);
        }
    }
    let written = serde_json::to_string(&stage.gatekeeper).expect("JSON");
    let read: Gatekeeper = serde_json::from_str(&written).expect("written by a gatekeeper");
    assert_eq!(read, stage.gatekeeper);
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 512,
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(
            "proptest-regressions/mcp_aql_invariants.txt",
        ))),
        ..ProptestConfig::default()
    })]

    /// AQL-1.3-2, AQL-5.1-3, AQL-5.2-1, AQL-5.3-1, AQL-5.4-1, AQL-5.4-2, AQL-6.1-1, AQL-6.4-1: whatever happens.
    #[test]
    fn no_sequence_breaks_the_rules(settings in settings(), moves in moves()) {
        run(Stage::with(settings), false, &moves);
    }

    /// AQL-7.3-2, AQL-1.3-2, AQL-5.1-3, AQL-5.2-1, AQL-5.3-1, AQL-6.1-1, AQL-6.4-1: nor where tokens are signed.
    #[test]
    fn no_sequence_breaks_the_rules_for_signed_tokens(settings in settings(), moves in moves()) {
        let gatekeeper = Gatekeeper::signing(settings, SigningKey::from_bits([1, 2]));
        run(Stage { gatekeeper, ..Stage::new() }, true, &moves);
    }
}

/// AQL-1.3-2: the sequences do get somewhere: most kinds of output come out, or the test above would show nothing.
#[test]
fn the_sequences_get_somewhere() {
    use proptest::strategy::ValueTree as _;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut seen = BTreeSet::new();
    for _ in 0..200 {
        let settings = settings()
            .new_tree(&mut runner)
            .expect("settings")
            .current();
        let moves = moves().new_tree(&mut runner).expect("moves").current();
        let mut stage = Stage::with(settings);
        let mut tokens = vec![];
        for Move { elapsed, happening } in moves {
            stage.now += elapsed;
            let witness = Witness {
                tokens: std::mem::take(&mut tokens),
                tolerances: BTreeMap::new(),
                now: 0,
                ids: BTreeSet::new(),
                signs: false,
            };
            let (input, _) = witness.input(happening);
            tokens = witness.tokens;
            let now = countersign_reference::time::Timestamp::from_millis(stage.now);
            let outputs = stage.gatekeeper.handle(now, &mut stage.ids, input).outputs;
            if let (Some(token), Happening::Call(shape)) = (issued(&outputs), happening) {
                tokens.push(Witnessed {
                    token: token.clone(),
                    shape,
                    expires_at: 0,
                    tolerance: 0,
                    uses: 0,
                    is_over: false,
                });
            }
            for output in &outputs {
                seen.insert(crate::mcp_aql::stage::tell(output));
            }
        }
    }
    for kind in [
        "audit TokenIssued",
        "audit TokenIssued failed: RateLimited",
        "audit TokenValidated",
        "audit TokenRejected failed: Revoked",
        "audit TokenRejected failed: Expired",
        "audit TokenRejected failed: AlreadyUsed",
        "audit TokenRejected failed: Unknown",
        "audit TokenRejected failed: OtherPurpose",
        "audit TokenRejected failed: OtherOperation",
        "audit TokenRejected failed: OtherParameters",
        "audit TokenRejected failed: OtherAdapter",
        "audit TokenRejected failed: OtherSession",
        "audit TokenRevoked",
        "warning AQL-5.1-6",
        "respond Live",
    ] {
        assert!(seen.contains(kind), "{kind}: {seen:?}");
    }
}
