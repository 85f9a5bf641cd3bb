//! Single steps at their boundaries, in threes: one before, at, one after.

use countersign_model::mcp_aql::action::{Action, Fault};
use countersign_model::mcp_aql::bounds::{Bounds, Budgets};
use countersign_model::mcp_aql::judge::TokenJudge;
use countersign_model::mcp_aql::message::Carried;
use countersign_model::mcp_aql::output::{Output, Status};
use countersign_model::mcp_aql::readings::Reading;
use countersign_model::mcp_aql::rules::{Check, Code, Refusal, Rules};
use countersign_model::mcp_aql::state::{Phase, State};
use countersign_model::mcp_aql::step::Step;
use countersign_model::mcp_aql::words::{
    Danger, Lifetime, List, Oracle, Purpose, Request, Scope, SessionName, Slot, Store, Trigger,
    Which,
};
use countersign_model::mcp_aql::{McpAql, McpAqlProtocol};
use countersign_model::specification::Modelled as _;
use countersign_model::time::{name, on};

use crate::common::seen::tell_step;

/// A run of the literal model, step by step.
struct Run {
    model: McpAql,
    state: State,
    judge: TokenJudge,
}

/// A request for one use of a destructive operation.
const PLAIN: Request = Request {
    scope: Scope::PLAIN,
    danger: Danger::Destructive,
    max_uses: 1,
    lifetime: Lifetime::Default,
};

/// A request for two uses in session A.
const IN_SESSION: Request = Request {
    scope: Scope {
        session: Some(SessionName::A),
        ..Scope::PLAIN
    },
    max_uses: 2,
    ..PLAIN
};

/// The reading that takes one place as `name=value` says.
fn taken(assignment: &str) -> Reading {
    McpAql::reading([assignment]).expect("it is a choice")
}

/// Every disturbance is to be had three times.
const FAR: Bounds = Bounds {
    ticks: 40,
    under_way: 4,
    disturbances: Budgets::new([3; 7], 15),
    ..Bounds::DEFAULT
};

impl Run {
    /// A gatekeeper that is configured so, with every disturbance to be had three times.
    fn new(tolerance: u8, oracle: Oracle, reading: Reading) -> Self {
        Self::within(FAR, tolerance, oracle, reading)
    }

    /// The same within these bounds.
    fn within(bounds: Bounds, tolerance: u8, oracle: Oracle, reading: Reading) -> Self {
        let model = McpAql::new(bounds)
            .expect("the bounds are in range")
            .literal()
            .with(Rules::all(), reading);
        let state = model.start();
        let judge = McpAqlProtocol::judge(&model);
        let mut run = Self {
            model,
            state,
            judge,
        };
        run.take(Action::SetUp { tolerance, oracle });
        run
    }

    /// With codes, to the specification.
    fn with_tolerance(tolerance: u8) -> Self {
        Self::new(tolerance, Oracle::Codes, Reading::SPECIFICATION)
    }

    /// Takes a step that is enabled.
    fn take(&mut self, action: Action) -> Step {
        let step = self
            .model
            .step(&self.state, action)
            .expect("the action is enabled");
        tell_step(&self.model, &mut self.judge, &self.state, action);
        self.state = step.next;
        step
    }

    /// Makes a call without a token.
    fn request(&mut self, request: Request) -> Vec<Output> {
        self.take(Action::Request(request))
            .required
            .iter()
            .collect()
    }

    /// Lets time pass until this moment, at which it has to come by.
    fn wait(&mut self, moment: u8) -> &mut Self {
        while self.state.clock < moment {
            self.take(Action::Tick);
        }
        assert_eq!(self.state.clock, moment);
        self
    }

    /// The client sends a call with this fault and the first token, and it arrives.
    fn call(&mut self, fault: Fault) -> Step {
        self.call_at(fault, 0)
    }

    /// The same at a node whose clock is off.
    fn call_at(&mut self, fault: Fault, skew: i8) -> Step {
        let slot = Slot::First;
        self.take(Action::Send { slot, fault });
        self.take(Action::Deliver { index: 0, skew })
    }

    /// What a query for the first token's status is told.
    fn status(&mut self) -> Output {
        let step = self.take(Action::AskStatus(Carried::Token(Slot::First)));
        step.required.as_slice()[0]
    }

    /// Where the first token stands.
    fn first(&self) -> Phase {
        self.state.token(Slot::First).phase
    }
}

/// What comes out when a call is admitted.
const ADMITTED: [Output; 2] = [Output::Validated(Slot::First), Output::Perform(Slot::First)];

/// What comes out when a call is rejected at this check.
const fn rejected(check: Check) -> [Output; 2] {
    [Output::Rejected(check), Output::Fail(check.code())]
}

/// AQL-5.1-7, AQL-5.1-5: at the sum of expiry and tolerance a token is good, and a millisecond after it is not.
#[test]
fn a_token_is_good_until_expiry_and_tolerance_have_passed() {
    for (tolerance, moment, expected) in [
        (0, on(5) - 1, ADMITTED),
        (0, on(5), ADMITTED),
        (0, on(5) + 1, rejected(Check::NotExpired)),
        (5, on(10) - 1, ADMITTED),
        (5, on(10), ADMITTED),
        (5, on(10) + 1, rejected(Check::NotExpired)),
    ] {
        let mut run = Run::with_tolerance(tolerance);
        run.request(PLAIN);
        let step = run.wait(moment).call(Fault::None);
        assert_eq!(
            step.required.as_slice(),
            expected,
            "tolerance {tolerance}, at {}",
            name(moment)
        );
    }
}

/// AQL-5.1-4, AQL-5.1-3: a clock that is ahead by the tolerance costs nothing, and by a millisecond more it does.
#[test]
fn a_clock_that_is_ahead_by_no_more_than_the_tolerance_is_tolerated() {
    let tolerance = on(5).cast_signed();
    for (skew, expected) in [
        (0, ADMITTED),
        (tolerance, ADMITTED),
        (tolerance + 1, rejected(Check::NotExpired)),
    ] {
        let mut run = Run::with_tolerance(5);
        run.request(PLAIN);
        let step = run.wait(on(5)).call_at(Fault::None, skew);
        assert_eq!(step.required.as_slice(), expected, "ahead by {skew}");
    }
}

/// AQL-5.1-3: what has expired once has expired, whatever a clock that is behind says.
#[test]
fn a_clock_that_is_behind_brings_back_no_token_that_was_seen_to_expire() {
    for (seen, expected) in [(false, ADMITTED), (true, rejected(Check::NotExpired))] {
        let mut run = Run::with_tolerance(0);
        run.request(PLAIN);
        run.wait(on(5) + 1);
        if seen {
            run.status();
        }
        let step = run.call_at(Fault::None, -1);
        assert_eq!(step.required.as_slice(), expected);
    }
}

/// AQL-4.1-4, AQL-4.1-5, AQL-4.1-6, AQL-2.1-1, AQL-5.4-4: each fault fails its check, uses nothing, and an honest call
/// passes.
#[test]
fn a_call_with_another_scope_is_rejected_and_the_token_stays() {
    for (fault, check) in [
        (Fault::Purpose, Check::Purpose),
        (Fault::Operation, Check::Operation),
        (Fault::Parameters, Check::Parameters),
        (Fault::Adapter, Check::Adapter),
        (Fault::Session, Check::Session),
        (Fault::Everything, Check::Purpose),
    ] {
        let mut run = Run::with_tolerance(0);
        run.request(IN_SESSION);
        let before = run.state;
        let step = run.call(fault);
        assert_eq!(step.required.as_slice(), rejected(check));
        assert_eq!(run.state.tokens, before.tokens);
        assert_eq!(run.call(Fault::None).required.as_slice(), ADMITTED);
    }
}

/// AQL-4.1-3, AQL-5.2-1, AQL-6.1-1: one use, or as many as were granted, and none more.
#[test]
fn a_token_admits_as_many_calls_as_it_has_uses() {
    for (request, uses) in [(PLAIN, 1), (IN_SESSION, 2)] {
        let mut run = Run::with_tolerance(0);
        run.request(request);
        for _ in 0..uses {
            assert_eq!(run.call(Fault::None).required.as_slice(), ADMITTED);
        }
        let replay = run.call(Fault::None);
        assert_eq!(replay.required.as_slice(), rejected(Check::NotUsed));
        assert_eq!(run.first(), Phase::Consumed);
    }
}

/// AQL-4.1-2, AQL-4.1-3, AQL-4.3-1: a token with two faults gets the code of the check that the reading puts first.
#[test]
fn of_two_faults_the_reading_names_the_first() {
    let sample = taken("check-order=sample");
    for (reading, expected) in [
        (Reading::SPECIFICATION, Check::NotUsed),
        (sample, Check::Operation),
    ] {
        let mut run = Run::new(0, Oracle::Codes, reading);
        run.request(PLAIN);
        for fault in [Fault::Operation, Fault::None] {
            let slot = Slot::First;
            run.take(Action::Send { slot, fault });
        }
        let network = run.state.network;
        let honest = (0..2)
            .find(|&place| {
                network
                    .get(usize::from(place))
                    .is_some_and(|call| call.scope == Scope::PLAIN)
            })
            .expect("the honest call is under way");
        run.take(Action::Deliver {
            index: honest,
            skew: 0,
        });
        let step = run.take(Action::Deliver { index: 0, skew: 0 });
        assert_eq!(step.required.as_slice(), rejected(expected));
    }
}

/// AQL-6.3-2: in the mode without oracle the client sees the same whichever check failed; the audit still names it.
#[test]
fn without_an_oracle_every_failure_looks_alike() {
    for fault in [Fault::Operation, Fault::Parameters, Fault::None] {
        let mut run = Run::new(0, Oracle::Uniform, Reading::SPECIFICATION);
        run.request(PLAIN);
        if fault == Fault::None {
            run.call(Fault::None);
        }
        let step = run.call(fault);
        assert_eq!(step.required.as_slice()[1], Output::Fail(Code::Invalid));
        assert!(matches!(step.required.as_slice()[0], Output::Rejected(_)));
    }
    let mut run = Run::new(0, Oracle::Uniform, Reading::SPECIFICATION);
    run.take(Action::Guess);
    let step = run.take(Action::Deliver { index: 0, skew: 0 });
    assert_eq!(step.required.as_slice(), rejected(Check::Exists));
}

/// AQL-5.1-1, AQL-5.1-2: the longest lifetime of each context is granted, one tick more and none at all are refused.
#[test]
fn a_lifetime_is_granted_up_to_the_longest_of_its_context() {
    let forbidden = Request {
        danger: Danger::Forbidden,
        ..PLAIN
    };
    let quota = Request {
        scope: Scope {
            purpose: Purpose::QuotaContinue,
            ..Scope::PLAIN
        },
        danger: Danger::Safe,
        ..PLAIN
    };
    for (request, longest) in [(PLAIN, 15), (forbidden, 5), (quota, 10)] {
        for (ticks, refusal) in [
            (0, Some(Refusal::NoLifetime)),
            (1, None),
            (longest, None),
            (longest + 1, Some(Refusal::LongLifetime)),
        ] {
            let mut run = Run::with_tolerance(0);
            let before = run.state;
            let outputs = run.request(Request {
                lifetime: Lifetime::Ticks(ticks),
                ..request
            });
            match refusal {
                Some(refusal) => {
                    assert_eq!(outputs, [Output::Refused(refusal)]);
                    assert_eq!(run.state, before);
                }
                None => assert_eq!(run.state.token(Slot::First).expires, ticks),
            }
        }
    }
}

/// AQL-5.1-1: 120 seconds, which are two ticks.
#[test]
fn the_default_lifetime_of_a_forbidden_operation_is_two_minutes() {
    for (moment, expected) in [(on(2), ADMITTED), (on(2) + 1, rejected(Check::NotExpired))] {
        let mut run = Run::with_tolerance(0);
        run.request(Request {
            danger: Danger::Forbidden,
            ..PLAIN
        });
        let step = run.wait(moment).call(Fault::None);
        assert_eq!(step.required.as_slice(), expected);
    }
}

/// AQL-5.4-1: several uses want a session.
#[test]
fn several_uses_outside_of_any_session_are_refused() {
    let mut run = Run::with_tolerance(0);
    let outputs = run.request(Request {
        max_uses: 2,
        ..PLAIN
    });
    assert_eq!(outputs, [Output::Refused(Refusal::LooseMultiUse)]);
}

/// AQL-5.1-8, AQL-1.2-1: what needs no token runs without one, and leaves alone the one that it carries.
#[test]
fn a_call_that_needs_no_token_runs_and_uses_none() {
    let mut run = Run::with_tolerance(0);
    let safe = Request {
        danger: Danger::Safe,
        ..PLAIN
    };
    assert_eq!(run.request(safe), [Output::PerformUngated]);
    run.request(PLAIN);
    let step = run.call(Fault::Ungated);
    assert_eq!(step.required.as_slice(), [Output::PerformUngated]);
    assert_eq!(run.first(), Phase::Live);
}

/// AQL-5.1-1: an operation that is rated higher by now runs on no token that was issued before, unless the reading does not ask.
#[test]
fn a_higher_rating_at_redemption_is_taken_as_the_reading_says() {
    for (reading, outputs) in [
        ("rating-at-redemption=checked", rejected(Check::Rating)),
        ("rating-at-redemption=not-checked", ADMITTED),
    ] {
        let mut run = Run::new(0, Oracle::Codes, taken(reading));
        run.request(PLAIN);
        let step = run.call(Fault::Rating);
        assert_eq!(step.required.as_slice(), outputs, "{reading}");
    }
}

/// AQL-5.1-5, AQL-5.1-6: none and one tick are in range, one tick is warned of, two are out of range.
#[test]
fn a_tolerance_is_warned_of_above_a_minute_and_refused_above_five() {
    let warned = [Output::Warned(Which::First), Output::Warned(Which::Second)];
    let refused = [Output::Refused(Refusal::WideTolerance)];
    let expected: [(u8, &[Output]); 5] = [
        (0, &[]),
        (1, &[]),
        (2, &warned),
        (5, &warned),
        (6, &refused),
    ];
    let model = McpAql::new(Bounds::SMALL).expect("a preset is in range");
    for (tolerance, expected) in expected {
        let oracle = Oracle::Codes;
        let step = model
            .step(&model.start(), Action::SetUp { tolerance, oracle })
            .expect("the first step configures");
        assert_eq!(step.required.as_slice(), expected);
        assert_eq!(step.next.setup.is_some(), tolerance <= 5);
    }
}

/// AQL-5.3-2, AQL-5.4-2: each trigger revokes what it concerns and spares the rest; each revocation is audited.
#[test]
fn a_trigger_revokes_what_it_concerns_and_nothing_else() {
    let elsewhere = Request {
        scope: Scope {
            adapter: Which::Second,
            ..Scope::PLAIN
        },
        ..PLAIN
    };
    let both = [Output::Revoked(Slot::First), Output::Revoked(Slot::Second)];
    let [first, second] = both;
    let rows: [(Trigger, &[Output]); 7] = [
        (Trigger::SessionEnd(SessionName::A), &[first]),
        (Trigger::SessionEnd(SessionName::B), &[]),
        (Trigger::Logout(Some(SessionName::A)), &[first]),
        (Trigger::Logout(None), &both),
        (Trigger::Configuration(Which::First), &[first]),
        (Trigger::Configuration(Which::Second), &[second]),
        (Trigger::Security, &both),
    ];
    for (trigger, expected) in rows {
        let mut run = Run::with_tolerance(0);
        run.request(IN_SESSION);
        run.request(elsewhere);
        let step = run.take(Action::Trigger(trigger));
        assert_eq!(step.required.as_slice(), expected, "{trigger:?}");
        let revoked = expected.contains(&first);
        assert_eq!(run.first() == Phase::Revoked, revoked);
        let called = run.call(Fault::None);
        assert_eq!(called.rejected, revoked.then_some(Check::NotRevoked));
    }
}

/// AQL-5.3-2, AQL-5.1-6: a configuration that says what is so already revokes nothing; a wide tolerance is warned of again.
#[test]
fn a_configuration_that_changes_nothing_revokes_nothing() {
    let warned = [Output::Warned(Which::First)];
    for (tolerance, expected) in [(0, &[][..]), (5, &warned)] {
        let mut run = Run::with_tolerance(tolerance);
        run.request(PLAIN);
        let step = run.take(Action::Reconfigure(Which::First));
        assert_eq!(step.required.as_slice(), expected);
        assert_eq!(run.first(), Phase::Live);
        assert_eq!(run.call(Fault::None).rejected, None);
    }
}

/// AQL-3.2-4: what an operator's list leaves out does not count, and where there is none everything does.
#[test]
fn a_parameter_counts_unless_a_list_leaves_it_out() {
    for (list, fault, expected) in [
        (None, Fault::Unlisted, Some(Check::Parameters)),
        (Some(List::Narrow), Fault::Unlisted, None),
        (
            Some(List::Narrow),
            Fault::Parameters,
            Some(Check::Parameters),
        ),
        (Some(List::Wide), Fault::Unlisted, Some(Check::Parameters)),
    ] {
        let mut run = Run::with_tolerance(0);
        if let Some(list) = list {
            let operation = Which::First;
            run.take(Action::Relist { operation, list });
        }
        run.request(PLAIN);
        assert_eq!(run.call(fault).rejected, expected, "{list:?}, {fault:?}");
    }
}

/// AQL-5.3-2: another list revokes the tokens of its operation on its adapter, and no others.
#[test]
fn another_list_revokes_the_tokens_of_its_operation_alone() {
    for (operation, adapter, expected) in [
        (Which::First, Which::First, Phase::Revoked),
        (Which::Second, Which::First, Phase::Live),
        (Which::First, Which::Second, Phase::Live),
    ] {
        let mut run = Run::with_tolerance(0);
        let scope = Scope {
            operation,
            adapter,
            ..Scope::PLAIN
        };
        run.request(Request { scope, ..PLAIN });
        run.take(Action::Relist {
            operation: Which::First,
            list: List::Narrow,
        });
        assert_eq!(run.first(), expected, "{scope:?}");
        run.take(Action::Reconfigure(Which::First));
        assert_eq!(run.first(), expected, "{scope:?}");
    }
}

/// AQL-6.5-1: a failed validation, in a call or by status, is answered up to the limit and turned away beyond it.
#[test]
fn a_validation_beyond_the_limit_is_turned_away() {
    for (limit, answered) in [(0, 3), (1, 1), (2, 2)] {
        let bounds = Bounds {
            limit,
            ..Bounds::LIMITED
        };
        let model = McpAql::new(bounds).expect("in range");
        let set_up = Action::SetUp {
            tolerance: 0,
            oracle: Oracle::Codes,
        };
        let mut state = model.step(&model.start(), set_up).expect("a step").next;
        for nth in 0..3 {
            let asked = Action::AskStatus(Carried::Guessed);
            let step = model.step(&state, asked).expect("a step");
            let turned_away = step.required.as_slice() == [Output::Limited];
            assert_eq!(turned_away, nth >= answered, "{limit}: {nth}");
            state = step.next;
        }
    }
}

/// AQL-6.5-1: each adapter counts its own failures, and its own issues.
#[test]
fn what_one_adapter_limits_is_not_limited_at_the_other() {
    let limited = Bounds {
        limit: 1,
        issues: 1,
        tokens: 3,
        ..FAR
    };
    let mut run = Run::within(limited, 0, Oracle::Codes, Reading::SPECIFICATION);
    run.request(PLAIN);
    assert_eq!(run.request(PLAIN), [Output::Limited]);
    let scope = Scope {
        adapter: Which::Second,
        ..Scope::PLAIN
    };
    let elsewhere = Request { scope, ..PLAIN };
    assert_eq!(run.request(elsewhere).len(), 2);
    assert_eq!(run.request(elsewhere), [Output::Limited]);
    for (fault, turned_away) in [
        (Fault::Adapter, false),
        (Fault::Operation, false),
        (Fault::Operation, true),
    ] {
        let outputs = run.call(fault).required;
        assert_eq!(outputs.as_slice() == [Output::Limited], turned_away);
    }
}

/// AQL-6.5-1: of a limit of revocations each is one, whatever comes of it; a live token stays live that is not looked at.
#[test]
fn a_revocation_beyond_the_limit_is_turned_away() {
    let limited = Bounds {
        revocations: 2,
        ..FAR
    };
    let mut run = Run::within(limited, 0, Oracle::Codes, Reading::SPECIFICATION);
    run.request(PLAIN);
    let guessed = Action::Revoke(Carried::Guessed);
    for turned_away in [false, false, true] {
        let revoked = run.take(guessed).required;
        assert_eq!(revoked.as_slice() == [Output::Limited], turned_away);
    }
    run.take(Action::Revoke(Carried::Token(Slot::First)));
    assert_eq!(run.first(), Phase::Live);
    run.take(Action::Restart(Store::Persistent));
    assert_eq!(run.take(guessed).required.as_slice(), [Output::Limited]);
    run.take(Action::Restart(Store::InMemory));
    assert_eq!(run.take(guessed).required.len(), 2);
}

/// AQL-5.5-3, AQL-5.5-1: an adapter that is full gives no token away until one of its own is over; another is not full.
#[test]
fn what_is_over_makes_room() {
    let crowded = Bounds {
        capacity: 1,
        tokens: 3,
        ..FAR
    };
    let scope = Scope {
        adapter: Which::Second,
        ..Scope::PLAIN
    };
    let ends: [fn(&mut Run); 4] = [
        |run| {
            run.call(Fault::None);
        },
        |run| {
            run.take(Action::Revoke(Carried::Token(Slot::First)));
        },
        |run| {
            run.wait(on(10));
        },
        |run| {
            run.take(Action::Restart(Store::InMemory));
        },
    ];
    for end in ends {
        let mut run = Run::within(crowded, 0, Oracle::Codes, Reading::SPECIFICATION);
        run.request(PLAIN);
        assert_eq!(run.request(PLAIN), [Output::Full]);
        assert_eq!(run.request(Request { scope, ..PLAIN }).len(), 2);
        assert_eq!(run.request(PLAIN), [Output::Full]);
        end(&mut run);
        assert_eq!(run.request(PLAIN).len(), 2);
    }
}

/// AQL-5.3-3, AQL-6.4-1: a live token is revoked, and a second revocation finds nothing; both are audited.
#[test]
fn a_token_is_revoked_by_hand_once() {
    let mut run = Run::with_tolerance(0);
    run.request(PLAIN);
    let carried = Carried::Token(Slot::First);
    let revoked = run.take(Action::Revoke(carried));
    assert_eq!(
        revoked.required.as_slice(),
        [Output::Revoked(Slot::First), Output::AnswerRevocation]
    );
    let again = run.take(Action::Revoke(carried));
    assert_eq!(
        again.required.as_slice(),
        [Output::NotRevoked, Output::AnswerRevocation]
    );
    let called = run.call(Fault::None);
    assert_eq!(called.required.as_slice(), rejected(Check::NotRevoked));
}

/// AQL-6.3-2: an unknown token is told apart from one that was revoked where codes are told, and nowhere else.
#[test]
fn the_revocation_of_an_unknown_token_tells_so_only_with_codes() {
    for (oracle, answer) in [
        (Oracle::Codes, Output::Fail(Code::Invalid)),
        (Oracle::Uniform, Output::AnswerRevocation),
    ] {
        let mut run = Run::new(0, oracle, Reading::SPECIFICATION);
        let step = run.take(Action::Revoke(Carried::Guessed));
        assert_eq!(step.required.as_slice(), [Output::NotRevoked, answer]);
    }
}

/// AQL-4.1-1, AQL-4.1-2, AQL-5.5-2: once a token can never be valid again it may be purged, and is answered as either.
#[test]
fn an_expired_token_may_be_answered_as_expired_or_as_unknown() {
    for (moment, instead) in [(on(5), None), (on(5) + 1, Some(rejected(Check::Exists)))] {
        let mut run = Run::with_tolerance(0);
        run.request(PLAIN);
        let step = run.wait(moment).call(Fault::None);
        let found = step.instead.map(|outputs| outputs.as_slice().to_vec());
        assert_eq!(found, instead.map(|outputs| outputs.to_vec()));
    }
    for (assignment, purged, check) in [
        ("purge-code=unknown", false, Check::NotExpired),
        ("purge-code=unknown", true, Check::Exists),
        ("purge-code=remembered", true, Check::NotExpired),
    ] {
        let reading = taken(assignment);
        let mut run = Run::new(0, Oracle::Codes, reading);
        run.request(PLAIN);
        run.wait(on(5) + 1);
        if purged {
            run.take(Action::Purge { slot: Slot::First });
        }
        let step = run.call(Fault::None);
        assert_eq!((step.rejected, step.instead), (Some(check), None));
    }
}

/// AQL-5.5-2: nothing is purged that the tolerance still keeps alive.
#[test]
fn a_token_is_purged_after_expiry_and_tolerance_and_not_before() {
    for (moment, purged) in [(on(10) - 1, false), (on(10), false), (on(10) + 1, true)] {
        let mut run = Run::with_tolerance(5);
        run.request(PLAIN);
        run.wait(moment);
        let step = run
            .model
            .step(&run.state, Action::Purge { slot: Slot::First });
        assert_eq!(step.is_some(), purged, "at {}", name(moment));
    }
}

/// AQL-5.5-1, AQL-6.1-1, AQL-5.2-2: what is stored outlasts a restart, used or not, and what was admitted is lost for good.
#[test]
fn a_restart_keeps_what_is_stored_and_repeats_nothing() {
    for (store, used, check) in [
        (Store::Persistent, false, None),
        (Store::Persistent, true, Some(Check::NotUsed)),
        (Store::InMemory, false, Some(Check::Exists)),
        (Store::InMemory, true, Some(Check::Exists)),
    ] {
        let mut run = Run::with_tolerance(0);
        run.request(PLAIN);
        if used {
            run.call(Fault::None);
            assert_eq!(run.state.token(Slot::First).to_run, 1);
        }
        let restart = run.take(Action::Restart(store));
        assert!(restart.required.is_empty());
        assert_eq!(run.state.token(Slot::First).to_run, 0);
        assert_eq!(run.call(Fault::None).rejected, check, "{store:?}, {used}");
    }
}

/// AQL-5.4-2: what is bound to a session goes with the process, by the reading that ends the connections with it.
#[test]
fn a_restart_ends_the_sessions_as_the_reading_says() {
    for (assignment, revoked) in [
        ("restarted-session=goes-on", false),
        ("restarted-session=ends", true),
    ] {
        let mut run = Run::new(0, Oracle::Codes, taken(assignment));
        run.request(IN_SESSION);
        run.request(PLAIN);
        let restart = run.take(Action::Restart(Store::Persistent));
        let expected = [Output::Revoked(Slot::First)];
        let expected: &[Output] = if revoked { &expected } else { &[] };
        assert_eq!(restart.required.as_slice(), expected);
        assert_eq!(run.first() == Phase::Revoked, revoked);
        assert_eq!(run.state.token(Slot::Second).phase, Phase::Live);
    }
}

/// AQL-5.4-2: no token is bound to a session that has ended, by the reading that lets none come back; one use is bound to none.
#[test]
fn a_session_that_has_ended_stays_so_as_the_reading_says() {
    for (assignment, refused) in [
        ("ended-session=either", false),
        ("ended-session=stays-ended", true),
    ] {
        for (store, is_remembered) in [
            (None, true),
            (Some(Store::Persistent), true),
            (Some(Store::InMemory), false),
        ] {
            let mut run = Run::new(0, Oracle::Codes, taken(assignment));
            run.request(IN_SESSION);
            run.take(Action::Trigger(Trigger::SessionEnd(SessionName::A)));
            if let Some(store) = store {
                run.take(Action::Restart(store));
            }
            let outputs = run.request(IN_SESSION);
            let is_refused = outputs == [Output::Refused(Refusal::SessionEnded)];
            assert_eq!(
                is_refused,
                refused && is_remembered,
                "{assignment} {store:?}"
            );
            if is_refused {
                let once = Request {
                    max_uses: 1,
                    ..IN_SESSION
                };
                assert_eq!(run.request(once).len(), 2);
            }
        }
    }
}

/// AQL-7.3-1, AQL-6.3-2: the status tells how many uses are left, and in the mode without oracle nothing of what is dead.
#[test]
fn a_status_is_what_a_call_would_find() {
    for (oracle, dead) in [
        (Oracle::Codes, Status::Consumed),
        (Oracle::Uniform, Status::Unknown),
    ] {
        let mut run = Run::new(0, oracle, Reading::SPECIFICATION);
        run.request(IN_SESSION);
        for uses_left in [2, 1] {
            let live = Status::Live { uses_left };
            assert_eq!(run.status(), Output::AnswerStatus(live));
            run.call(Fault::None);
        }
        assert_eq!(run.status(), Output::AnswerStatus(dead));
    }
}

/// AQL-7.3-2: who signs its tokens tells of none that was never used, and binds none to a session (AQL-5.4-1).
#[test]
fn who_signs_keeps_nothing_of_a_token_until_it_is_used() {
    let mut run = Run::new(0, Oracle::Codes, taken("token-storage=signed"));
    let refused = Output::Refused(Refusal::BoundWithoutStore);
    assert_eq!(run.request(IN_SESSION), [refused]);
    run.request(PLAIN);
    assert_eq!(run.status(), Output::AnswerStatus(Status::Unknown));
    run.call(Fault::None);
    assert_eq!(run.status(), Output::AnswerStatus(Status::Consumed));
}

/// AQL-6.1-2: read so, a token with one use is bound to the session that its call names.
#[test]
fn the_reading_binds_single_use_tokens_to_their_session() {
    let always = taken("session-binding=always");
    for (reading, bound) in [
        (Reading::SPECIFICATION, None),
        (always, Some(SessionName::A)),
    ] {
        let mut run = Run::new(0, Oracle::Codes, reading);
        run.request(Request {
            max_uses: 1,
            ..IN_SESSION
        });
        assert_eq!(run.state.token(Slot::First).scope.session, bound);
    }
}
