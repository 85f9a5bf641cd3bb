//! The judge, who knows calls and outputs alone, is told of every step of the model.

use countersign_model::aaep::bounds::Bounds;
use countersign_model::aaep::{Aaep, AaepProtocol};
use countersign_model::ablation::breaks_within;
use countersign_model::bounds::preset;
use countersign_model::checker::check_within;
use countersign_model::judge::Kind;
use countersign_model::judged::Limit;
use countersign_model::rules::Rules;

use crate::common::judged::assert_nothing_is_found;
use crate::common::{small, within};

#[test]
fn the_judge_finds_nothing_in_a_producer_that_keeps_every_rule() {
    assert_nothing_is_found(&small::<AaepProtocol>());
}

/// AAEP-6.1-9: also where it asks what something means, and gives more time.
#[test]
fn the_judge_finds_nothing_in_a_producer_that_asks_for_clarifications() {
    assert_nothing_is_found(&within::<AaepProtocol>(Bounds::CLARIFY));
}

/// AAEP-6.1-4: also where it works around a question.
#[test]
fn the_judge_finds_nothing_in_a_producer_that_works_besides() {
    let bounds = preset("work,sessions=1,confirmations=1");
    assert_nothing_is_found(&within::<AaepProtocol>(bounds.expect("they are in range")));
}

/// AAEP-6.4-1: also where time goes on because something can still be asked, and not for the deadlines that the producer keeps.
#[test]
fn the_judge_finds_nothing_where_time_goes_on_by_itself() {
    let bounds = preset("small,confirmations=3,ticks=2,sessions=1,disturbances=0");
    assert_nothing_is_found(&within::<AaepProtocol>(bounds.expect("they are in range")));
}

/// AAEP-EV-11: also where two could answer, one of them closes, and then the other.
#[test]
fn the_judge_finds_nothing_where_two_could_answer() {
    let bounds = preset("small,confirmations=1,subscribers=3,close=2,disturbances=2");
    assert_nothing_is_found(&within::<AaepProtocol>(bounds.expect("they are in range")));
}

/// AAEP-A.2-2: also where it stays in `awaiting_input` while a question is open, as that reading has it; as far as three of them go.
#[test]
fn the_judge_finds_nothing_in_a_producer_that_stays_while_asked() {
    let reading = Aaep::reading(["state-while-asked=leaves-with-last"]).expect("a reading");
    for bounds in ["three", "clarify", "work"] {
        let bounds = preset(&format!("{bounds},sessions=1")).expect("they are in range");
        let model = within::<AaepProtocol>(bounds).with(Rules::all(), reading);
        let broken = breaks_within(&model, 9);
        assert!(broken.is_empty(), "{broken:#?}");
    }
}

/// AAEP-EV-11: chapter 6 to the letter. Who reads it so conforms, and leaves blocked who asked.
#[test]
fn a_check_of_a_reading_tells_what_it_costs_in_guarantees_and_nothing_else() {
    let reading = Aaep::reading(["early-default-on-close=never"]).expect("a reading");
    let model = small::<AaepProtocol>().with(Rules::all(), reading);
    let limit = Limit {
        steps: 6,
        ..Limit::default()
    };
    let report = check_within(&model, limit, |_| {});
    let broken: Vec<_> = report
        .properties
        .iter()
        .filter_map(|it| Some((it.finding.as_ref()?.kind, it.clauses[0], it.steps.len())))
        .collect();
    assert_eq!(broken, [(Kind::Guarantee, "AAEP-EV-11", 6)]);
}
