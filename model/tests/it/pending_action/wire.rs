//! The driver protocol in the words of the spec: what is read, what is not of its form, and that what is written is read.

use countersign_model::engine::checker::{Checker, Judgement};
use countersign_model::engine::clause::Clause;
use countersign_model::engine::model::Environment as _;
use countersign_model::engine::protocol::Variant;
use countersign_model::engine::world::{Freedom, World};
use countersign_model::pending_action::PendingAction;
use countersign_model::pending_action::account::Account;
use countersign_model::pending_action::alphabet::*;
use countersign_model::pending_action::clauses::*;
use countersign_model::pending_action::environment::Bounds;
use countersign_model::pending_action::guarantees::History;
use countersign_model::pending_action::wire::Names;
use countersign_model::wire::Codec as _;
use countersign_model::wire::names::NOTHING;
use countersign_protocol::Output as Put;
use countersign_protocol::pending_action::PendingAction as Driver;

use crate::common::wire;

fn asked(line: &str) -> countersign_protocol::Op<Driver> {
    wire::asked(&format!(
        r#"{{"id":1,"now":"1970-01-01T00:00:00Z",{line}}}"#
    ))
    .1
}

fn put(outputs: &str) -> Vec<Put<Driver>> {
    wire::put(&format!(r#"{{"id":1,"outputs":[{outputs}]}}"#))
}

const PROPOSE: &str = r#""op":"propose","agent_id":"agent","session_id":"s","run_id":"r","tool":"t",
    "arguments":{"n":1},"effect":"write","summary":"Send?","label":"Send""#;
const CREATED: &str = r#""event_id":"e1","action_id":"pa_1","at":"1970-01-01T00:00:00Z","type":"created","agent_id":"agent",
    "session_id":"s","run_id":"r","tool":"t","arguments":"{\"n\": 1.0}","effect":"write","summary":"Send?","label":"Send","#;

fn a_run() -> (Names, Call) {
    let mut names = Names::default();
    let call = names.call(0, &asked(PROPOSE));
    (names, call)
}

/// What was read of that in answer to a proposal, and the clauses of what is not of its form.
fn read(outputs: &str) -> (Vec<Output>, Vec<Clause>) {
    let (mut names, call) = a_run();
    let (read, flaws) = names.outputs(&call, &put(outputs));
    (read, flaws.into_iter().map(|it| it.clause).collect())
}

#[test]
fn equal_texts_have_equal_numbers() {
    let (mut names, call) = a_run();
    let Op::Propose(proposal) = &call.op else {
        panic!("{call:?}");
    };
    let (read, flaws) = names.outputs(
        &call,
        &put(&format!(
            r#"{{"event":{{{CREATED}"nonce":"n1","deciders":null,"idempotent":false}}}}"#
        )),
    );
    assert_eq!(flaws, []);
    let [
        Output::Event(Event {
            id: Id::Fresh,
            action: 0,
            at: 0,
            what: What::Created(record),
        }),
    ] = &*read
    else {
        panic!("{read:?}");
    };
    let Record {
        agent,
        session,
        run,
        tool,
        summary,
        label,
        ..
    } = **record;
    assert_eq!(
        [agent, session, run, tool, summary, label],
        [
            proposal.agent,
            proposal.session,
            proposal.run,
            proposal.tool,
            proposal.summary,
            proposal.label
        ]
        .map(|it| it.name)
    );
    assert_eq!(record.arguments.meaning, proposal.arguments.value.meaning);
    assert_ne!(record.arguments.bytes, proposal.arguments.value.bytes);
    assert_eq!((proposal.arguments.size, proposal.arguments.levels), (7, 1));
    assert_eq!(
        (record.nonce, &record.deciders, record.idempotent),
        (Some(0), &None, false)
    );

    // The ids that were put out, and one that was not.
    for (line, expected) in [
        (r#""op":"cancel","action_id":"pa_1""#, Op::Cancel(0)),
        (r#""op":"cancel","action_id":"pa_2""#, Op::Cancel(NOTHING)),
        (
            r#""op":"restart""#,
            Op::Restart(Lost::Outputs([].into_iter().collect())),
        ),
        (
            r#""op":"restart","lost":1"#,
            Op::Restart(Lost::Outputs(read.iter().cloned().collect())),
        ),
        (r#""op":"restart","lost":2"#, Op::Restart(Lost::TooMany)),
        (r#""op":"tick""#, Op::Tick),
    ] {
        assert_eq!(names.call(0, &asked(line)).op, expected, "{line}");
    }
    let Op::Decide(decide) = names
        .call(0, &asked(r#""op":"decide","action_id":"pa_1","nonce":"n1","decision":"allow","by":" ","arguments":null"#))
        .op
    else {
        panic!()
    };
    assert_eq!((decide.nonce, decide.by.is_blank), (Some(0), true));
    assert!(decide.arguments.is_some_and(|it| it.meaning.is_some()));
}

#[test]
fn an_id_is_new_or_comes_again_or_is_taken() {
    let said = |text: &str, id: &str| {
        format!(
            r#"{{"append":{{"message_id":"{id}","type":"user_message","by":"ana","text":"{text}"}}}}"#
        )
    };
    for (second, id) in [
        (said("Yes", "m1"), Id::Again),
        (said("No", "m1"), Id::Taken),
        (said("Yes", "m2"), Id::Fresh),
    ] {
        let (read, flaws) = read(&format!("{},{second}", said("Yes", "m1")));
        let ids: Vec<_> = read
            .iter()
            .map(|it| {
                if let Output::Append(it) = it {
                    it.id
                } else {
                    panic!()
                }
            })
            .collect();
        assert_eq!((ids, flaws), (vec![Id::Fresh, id], vec![]), "{second}");
    }
}

#[test]
fn a_ledger_of_an_older_time_does_not_know_its_ids() {
    let (mut names, call) = a_run();
    let said =
        put(r#"{"append":{"message_id":"m","type":"user_message","by":"ana","text":"Yes"}}"#);
    let is = |names: &mut Names, call: &Call, id| {
        let (read, _) = names.outputs(call, &said);
        assert!(
            matches!(&*read, [Output::Append(it)] if it.id == id),
            "{read:?}"
        );
    };
    is(&mut names, &call, Id::Fresh);
    let rollback = asked(r#""op":"rollback","snapshot":[1]"#);
    let rollback = names.call(0, &rollback);
    names.outputs(&rollback, &put(r#"{"refused":{"reason":""}}"#));
    is(&mut names, &call, Id::Again);
    names.outputs(&rollback, &[]);
    is(&mut names, &call, Id::Fresh);
}

#[test]
fn a_member_that_is_missing_is_nothing() {
    let (read, flaws) = read(
        r#"{"event":{"event_id":"e","action_id":"a","type":"created","at":"noon","label":5,"expires_at":5,"deciders":5,"effect":"odd"}}"#,
    );
    let [
        Output::Event(Event {
            at: Time::MIN,
            what: What::Created(record),
            ..
        }),
    ] = &*read
    else {
        panic!("{read:?}");
    };
    let Record {
        agent,
        label,
        effect,
        expires_at,
        ref deciders,
        arguments,
        ..
    } = **record;
    assert_eq!((agent, label, arguments.bytes), (NOTHING, NOTHING, NOTHING));
    assert!(matches!(effect, Effect::Other(it) if it != NOTHING));
    assert_eq!(
        (expires_at, deciders.as_deref()),
        (Some(Time::MIN), Some(&[NOTHING][..]))
    );
    assert_eq!(flaws, []);
}

/// Each rule of form: what keeps it, and what does not.
#[test]
fn what_is_not_of_its_form_is_found() {
    let rows: [(Clause, &[&str], &[&str]); 4] = [
        (
            PA_10,
            &[
                r#"{"event":{"event_id":"e","action_id":"a","type":"expired","at":"1970-01-01T00:00:00Z"}}"#,
                r#"{"append":{"message_id":"m","type":"user_message","by":"ana","text":"Yes"}}"#,
            ],
            &[
                r#"{"event":{"event_id":"e","action_id":"a","type":"called"}}"#,
                r#"{"event":{"event_id":"e","action_id":"a"}}"#,
                r#"{"event":5}"#,
                r#"{"append":[]}"#,
                r#"{"append":{"message_id":"m","type":"expired"}}"#,
            ],
        ),
        (
            PA_10,
            &[
                r#"{"append":{"message_id":"m","type":"expired_result","tool_call_id":"a","tool":"t"}}"#,
            ],
            &[
                r#"{"append":{"message_id":"m","type":"expired_result","action_id":"a","tool":"t"}}"#,
                r#"{"event":{"event_id":"e","type":"expired"}}"#,
                r#"{"event":{"event_id":"e","type":"expired","action_id":5}}"#,
            ],
        ),
        (
            PA_10,
            &[],
            &[
                r#"{"append":{"type":"expired_result","tool_call_id":"a","tool":"t"}}"#,
                r#"{"event":{"message_id":"e","type":"expired","action_id":"a"}}"#,
            ],
        ),
        (
            PA_9,
            &[
                r#"{"append":{"message_id":"m","type":"confirmation_request","text":"Send {1}?","label":"Send"}}"#,
                r#"{"append":{"message_id":"m","type":"confirmation_request","text":"Send?","label":"[{\"n\":2}]"}}"#,
                r#"{"append":{"message_id":"pa_1","type":"user_message","by":"ana","text":"{\"n\":1}"}}"#,
            ],
            &[
                r#"{"append":{"message_id":"m","type":"confirmation_request","text":"Send {\"n\": 1e0} now?","label":"Send"}}"#,
                r#"{"append":{"message_id":"m","type":"confirmation_request","text":"Send?","label":"pa_1"}}"#,
                r#"{"append":{"message_id":"m_pa_1","type":"confirmation_request","text":"Send?","label":"Send"}}"#,
            ],
        ),
    ];
    let created = format!(r#"{{"event":{{{CREATED}"idempotent":false}}}}"#);
    for (clause, right, wrong) in rows {
        for it in right {
            assert_eq!(read(&format!("{it},{created}")).1, [], "{it}");
        }
        for it in wrong {
            assert_eq!(read(&format!("{it},{created}")).1, [clause], "{it}");
        }
    }
    // What the loop has put into the words of the question is not for the ledger to hide.
    let mut names = Names::default();
    let call = names.call(0, &asked(&PROPOSE.replace("Send?", "Send pa_1 {}?")));
    let shown = r#"{"append":{"message_id":"m","type":"confirmation_request","text":"Send pa_1 {}?","label":"Send"}}"#;
    assert_eq!(
        names.outputs(&call, &put(&format!("{shown},{created}"))).1,
        []
    );
}

#[test]
fn what_the_spec_has_no_word_for_is_another() {
    let (read, _) = read(
        r#"{"event":{"type":"called"}},{"event":{"type":"called"}},{"append":{"type":"odd"}}"#,
    );
    assert!(
        matches!(*read, [Output::Other(one), Output::Other(same), Output::Other(other)] if one == same && one != other)
    );
}

struct Numbers(u64);

impl Numbers {
    fn below(&mut self, count: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(count).unwrap()).unwrap()
    }
}

/// Every call is read as it was written, and so is every answer of a conforming ledger; and a ledger that has numbers of
/// its own conforms over the wire.
#[test]
fn what_is_written_is_read() {
    let mut said = [0; 2];
    for seed in 1..=40_u64 {
        let mut numbers = Numbers(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let (_, bounds) = Bounds::WORLDS[numbers.below(Bounds::WORLDS.len())];
        let bounds = Bounds {
            actions: 3,
            crashes: 9,
            rollbacks: 3,
            ..bounds
        };
        let mut around = PendingAction::surroundings(&bounds);
        let mut history = History::default();
        let mut world = World::<PendingAction>::new(Account::default());
        let [mut host, mut party, mut unwritten, mut other, mut judge] =
            [(); 5].map(|()| Names::default());
        let mut other_world = World::<PendingAction>::new(Account::default());
        let mut checker = Checker::<PendingAction>::new(Account::default());
        let mut last: Vec<Output> = Vec::new();
        let pick = |numbers: &mut Numbers, world: &World<PendingAction>, call: &Call| {
            let mut answers = Vec::new();
            world.answers(&Variant::default(), Freedom::May, call, |world, outputs| {
                answers.push((world, outputs));
            });
            answers.swap_remove(numbers.below(answers.len()))
        };
        for _ in 0..25 {
            let mut moves = vec![around.clone()];
            PendingAction::moves(&bounds, &around, &mut |it| moves.push(it));
            around = moves.swap_remove(numbers.below(moves.len()));
            let mut calls = Vec::new();
            PendingAction::calls(&bounds, &around, &history, &mut |it| calls.push(it));
            let lost = last.len().min(numbers.below(3));
            calls.push(PendingAction::restart(&around, &last[last.len() - lost..]));
            let call = calls.swap_remove(numbers.below(calls.len()));
            let Some(op) = host.request(&call) else {
                continue;
            };
            assert_eq!(host.call(call.now, &op), call, "{op:?}");
            assert_eq!(party.request(&call), Some(op.clone()));
            said[0] += 1;

            // By the same numbers.
            let (next, outputs) = pick(&mut numbers, &world, &call);
            let response = party.responses(&outputs);
            unwritten.issued(&outputs);
            let named = |it: &Names| [it.actions(), it.nonces(), it.snapshots()].map(<[_]>::to_vec);
            assert_eq!(named(&unwritten), named(&party));
            let (read, flaws) = host.outputs(&call, &response);
            assert_eq!((&read, flaws), (&outputs, vec![]), "{call:?} {response:?}");
            said[1] += outputs.len();
            PendingAction::happened(&mut around, &mut history, &call, &outputs, 0);
            (world, last) = (next, outputs);

            // By numbers of its own.
            let asked = other.call(call.now, &op);
            let (next, outputs) = pick(&mut numbers, &other_world, &asked);
            other_world = next;
            let response = other.responses(&outputs);
            let asked = judge.call(call.now, &op);
            let (read, flaws) = judge.outputs(&asked, &response);
            assert_eq!(flaws, []);
            let judgement = checker.observe(&Variant::default(), &asked, &read);
            assert_eq!(judgement, Judgement::Conforms, "{asked:?} {read:?}");
        }
    }
    assert!(said.iter().all(|it| *it > 200), "{said:?}");
}
