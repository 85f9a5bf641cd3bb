//! The spec of MCP-AQL by each reading, without a log, and for any call.

use crate::common::explained::Explained;
use arbitrary::{Arbitrary, Unstructured};
use countersign_model::engine::checker::{Checker, Judgement};
use countersign_model::engine::model::{CONFORMS, Environment, Model};
use countersign_model::engine::party::{ByVariant, Executor};
use countersign_model::engine::protocol::Variant;
use countersign_model::engine::world::{Freedom, World};
use countersign_model::mcp_aql::McpAql;
use countersign_model::mcp_aql::account::{Account, Declared, Limit};
use countersign_model::mcp_aql::alphabet::{
    Answer, Call, Code, EventKind, Op, Output, Request, Shown,
};
use countersign_model::mcp_aql::environment::Bounds;
use countersign_model::mcp_aql::guarantees::{GUARANTEES, History};
use countersign_model::mcp_aql::readings::{AMBIGUITIES, Reading};
use stateright::{Checker as _, Model as _};

/// The kinds of output that a gatekeeper without a log does not show.
const WITHOUT_LOG: u32 = 1 << 2;

/// Whatever a conforming gatekeeper chooses is explained within so many steps, and these guarantees break.
fn broken(variant: &Variant<McpAql>, account: &Account, depth: usize) -> Vec<&'static str> {
    let mut broken = Vec::new();
    for (name, bounds) in Bounds::WORLDS {
        let model = Model {
            variant: variant.clone(),
            party: Explained::<McpAql>::new(account.clone()),
            bounds,
            freedom: Freedom::May,
            forgets: true,
        };
        let found = model
            .checker()
            .target_max_depth(depth)
            .spawn_bfs()
            .join()
            .discoveries();
        if let Some(path) = found.get(CONFORMS) {
            let judgement = path.last_state().party.judgement.clone();
            panic!("{name}: {:#?} {judgement:?}", path.clone().into_actions());
        }
        let guarantees = GUARANTEES.iter().map(|it| it.name);
        broken.extend(guarantees.filter(|it| found.contains_key(it)));
    }
    broken.sort_unstable();
    broken.dedup();
    broken
}

#[test]
fn each_reading_explains_its_own_gatekeepers_and_gives_up_what_is_known() {
    const GIVEN_UP: [&str; 5] = [
        "oracle=uniform: the answer to a failure says what is wrong",
        "multi-use=anywhere: no token is given away that nothing can be bound to",
        "token-storage=signed: a status is what it is",
        "rating-at-redemption=not-checked: a token runs nothing that is rated higher",
        "longest-life=default: what needs a token gets one, or is told why not",
    ];
    let mut given_up = Vec::new();
    for place in AMBIGUITIES {
        for way in place.choices.iter().skip(1) {
            let variant = Variant {
                reading: Reading::default().with(place.name, way.value).unwrap(),
                ..Variant::default()
            };
            let broken = broken(&variant, &Account::default(), 4);
            if !broken.is_empty() {
                let broken = broken.join(", ");
                given_up.push(format!("{}={}: {broken}", place.name, way.value));
            }
        }
    }
    assert_eq!(given_up, GIVEN_UP);
}

#[test]
fn a_gatekeeper_without_a_log_is_explained() {
    let variant = Variant {
        hidden: WITHOUT_LOG,
        ..Variant::default()
    };
    broken(&variant, &Account::default(), 4);
}

#[test]
fn a_gatekeeper_that_declares_limits_is_explained() {
    let limit = Limit {
        burst: 1,
        every: Some(300_000),
    };
    let declared = Declared {
        limits: [Some(limit); 3],
        capacity: Some(1),
    };
    // AQL-5.5-3: room for one is declared, and is too little.
    assert_eq!(
        broken(&Variant::default(), &Account::declaring(declared), 5),
        ["nobody is turned away at the first try, or while there is room"]
    );
}

/// What a gatekeeper puts out by default in the last of these calls.
fn by_default(calls: impl IntoIterator<Item = Call>) -> Vec<Output> {
    let mut gatekeeper = ByVariant::<McpAql>::new(Variant::default(), Account::default());
    let answers = calls.into_iter().map(|call| gatekeeper.call(&call));
    answers.last().unwrap_or_default()
}

/// AQL-3.2-1, AQL-5.3-2: a call is bound in full where no list says otherwise, and what has expired is not revoked.
#[test]
fn by_default_a_change_counts_and_what_is_over_is_left_alone() {
    let mut calls = Vec::new();
    let around = McpAql::surroundings(&Bounds::ONE);
    McpAql::calls(&Bounds::ONE, &around, &History::default(), &mut |call| {
        calls.push(call);
    });
    let ask = calls
        .iter()
        .find(|it| matches!(it.op, Op::Call(_)))
        .unwrap();
    let Op::Call(request) = &ask.op else { return };
    let mut other = Request::clone(request);
    let note = other.parameters.each.last_mut().unwrap();
    (note.value, other.parameters.meaning) = (2, Some(112));
    other.token = Some(Shown::Token(0));
    let again = Call {
        now: 0,
        op: Op::Call(other.into()),
    };
    let answer = by_default([ask.clone(), again]);
    let is_scope =
        |it: &Output| matches!(it, Output::Respond(Answer::Failed(it)) if it.code == Code::Scope);
    assert!(answer.iter().any(is_scope), "{answer:?}");
    let security = |now| Call {
        now,
        op: Op::Event {
            kind: EventKind::Security,
            session: None,
        },
    };
    assert_eq!(by_default([ask.clone(), security(330_000)]).len(), 1);
    assert_eq!(by_default([ask.clone(), security(330_001)]), []);
}

/// Numbers that look random, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u8 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.to_le_bytes()[3]
    }
}

#[test]
fn any_call_is_taken() {
    let mut gated = 0;
    for seed in 1..=200 {
        let mut numbers = Numbers(0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(seed));
        let bytes: Vec<u8> = (0..900).map(|_| numbers.next()).collect();
        let mut bytes = Unstructured::new(&bytes);
        let mut checker = Checker::<McpAql>::new(Account::default());
        let mut world = World::<McpAql>::new(Account::default());
        let mut history = History::default();
        while let (false, Ok(call)) = (bytes.is_empty(), Call::arbitrary(&mut bytes)) {
            let mut answer = None;
            world.answers(
                &Variant::default(),
                Freedom::Default,
                &call,
                |world, outputs| {
                    answer = Some((world, outputs));
                },
            );
            let (next, outputs) = answer.unwrap();
            assert_eq!(
                checker.observe(&Variant::default(), &call, &outputs),
                Judgement::Conforms,
                "{call:?} {outputs:?}"
            );
            gated += usize::from(matches!(call.op, Op::Call(_)) && outputs.len() > 1);
            let mut around = McpAql::surroundings(&Bounds::ONE);
            McpAql::happened(&mut around, &mut history, &call, &outputs, 0);
            // Whatever comes, it is judged.
            if let Ok(output) = Output::arbitrary(&mut bytes) {
                let _ = checker
                    .clone()
                    .observe(&Variant::default(), &call, &[output]);
                McpAql::happened(&mut around, &mut history.clone(), &call, &[output], 1);
            }
            world = next;
        }
    }
    assert!(gated > 20, "{gated}");
}
