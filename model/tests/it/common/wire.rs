//! The driver protocol in the words of a text: lines that are read, and runs that are written and read again.

use countersign_model::engine::checker::{Checker, Judgement};
use countersign_model::engine::model::Environment;
use countersign_model::engine::protocol::Variant;
use countersign_model::engine::world::{Freedom, World};
use countersign_model::facade::engine::Catalog;
use countersign_model::wire::{CallOf, Codec, Flaw, OutputOf, time};
use countersign_protocol::{Answer, Op, Output, Protocol, Request, Response};

/// A request and its time.
pub fn asked<D: Protocol>(line: &str) -> (i64, Op<D>) {
    let it = Request::read(line.as_bytes()).unwrap_or_else(|it| panic!("{it}: {line}"));
    (it.now.map_or(0, |it| time::parse(&it).unwrap()), it.op)
}

/// What a response puts out. An error puts out nothing.
pub fn put<D: Protocol>(line: &str) -> Vec<Output<D>> {
    let response = Response::read(line.as_bytes()).unwrap_or_else(|it| panic!("{it}: {line}"));
    match response.answer {
        Answer::Outputs { outputs } => outputs,
        Answer::Greeting(_) | Answer::Error { .. } | Answer::Unsupported => Vec::new(),
    }
}

/// Judges the run in the examples of a page of the driver protocol: `is_right` is asked about each example. So many outputs.
///
/// # Panics
///
/// Where an example is not right.
pub fn judge_examples<C>(
    page: &str,
    is_right: impl Fn(&Judgement<OutputOf<C>>, &[Flaw]) -> bool,
) -> usize
where
    C: Codec<Text: Environment<Account: Default>>,
{
    let lines = page.lines();
    let mut lines = lines.filter_map(|it| it.strip_prefix("→ ").or_else(|| it.strip_prefix("← ")));
    let mut names = C::default();
    let mut checker = Checker::<C::Text>::new(Default::default());
    let mut judged = 0;
    while let (Some(request), Some(response)) = (lines.next(), lines.next()) {
        let answer = Response::<C::Driver>::read(response.as_bytes())
            .unwrap()
            .answer;
        // A request that is answered so cannot be read.
        if matches!(answer, Answer::Error { .. }) {
            continue;
        }
        let (now, op) = asked(request);
        let call = names.call(now, &op);
        let (outputs, flaws) = names.outputs(&call, &put(response));
        let judgement = checker.observe(&Variant::default(), &call, &outputs);
        let found = format!("{request}\n{response}\n{judgement:?} {flaws:?}");
        assert!(is_right(&judgement, &flaws), "{found}");
        judged += outputs.len();
    }
    judged
}

/// Runs of the spec's producer within the worlds, written and read again: they conform. So many outputs were read.
///
/// # Panics
///
/// Where they do not.
pub fn written_and_read<C>(
    steps: usize,
    now: fn(&CallOf<C>) -> i64,
    is_written: fn(&CallOf<C>) -> bool,
) -> usize
where
    C: Codec<Text: Catalog>,
{
    let variant = Variant::default();
    let mut read_back = 0;
    for (name, bounds) in C::Text::WORLDS {
        for seed in 0..40_usize {
            let (mut around, mut history) = (C::Text::surroundings(bounds), Default::default());
            let mut world = World::<C::Text>::new(Default::default());
            let (mut writer, mut reader) = (C::default(), C::default());
            let mut checker = Checker::<C::Text>::new(Default::default());
            for step in 0..steps {
                let mut calls = Vec::new();
                C::Text::calls(bounds, &around, &history, &mut |it| calls.push(it));
                calls.retain(is_written);
                let random = seed * 7919 + step * 104_729 + seed * step;
                let call = calls[random % calls.len()].clone();
                let Some(op) = writer.request(&call) else {
                    continue;
                };
                let mut answer = None;
                world.answers(&variant, Freedom::Default, &call, |world, outputs| {
                    answer = Some((world, outputs));
                });
                let outputs;
                (world, outputs) = answer.unwrap();
                let written = writer.responses(&outputs);
                assert_eq!(written.len(), outputs.len(), "{outputs:?}");
                let read_call = reader.call(now(&call), &op);
                let (read, _) = reader.outputs(&read_call, &written);
                let judgement = checker.observe(&variant, &read_call, &read);
                let run = format!("{name} {seed} {call:?} {outputs:?}\n{read_call:?} {read:?}");
                assert_eq!(judgement, Judgement::Conforms, "{run}");
                read_back += read.len();
                C::Text::happened(&mut around, &mut history, &call, &outputs, 0);
                let mut moves = Vec::new();
                C::Text::moves(bounds, &around, &mut |it| moves.push(it));
                if random % 3 == 0
                    && let Some(moved) = moves.into_iter().next()
                {
                    around = moved;
                }
            }
        }
    }
    read_back
}
