//! The text of a protocol as stateright's Explorer shows it: every conforming party, in each of the worlds, with a checker beside it.

use std::fmt::{self, Debug, Formatter};
use std::hash::{Hash, Hasher};

use countersign_model::checker::StepText;
use countersign_model::engine::clause::ClauseSet;
use countersign_model::engine::model::{self, Party as _};
use countersign_model::engine::party::Apart;
use countersign_model::engine::protocol::Variant;
use countersign_model::engine::world::Freedom;
use countersign_model::facade::Model as _;
use countersign_model::facade::engine::{Catalog, Variation};
use countersign_model::facade::run::{Step, describe, run_of};
use stateright::{Model, Path, Property};

use super::drawn;

/// The text of a protocol, to be walked through by hand.
pub struct ExploredText<P: Catalog> {
    text: Variation<P>,
    worlds: Vec<model::Model<P, Apart<P>>>,
}

/// A state of the text, and the run to it.
#[derive(Clone)]
pub struct Reached<P: Catalog> {
    world: usize,
    name: &'static str,
    state: model::State<P, Apart<P>>,
    run: Vec<Step<P>>,
}

impl<P: Catalog> PartialEq for Reached<P> {
    fn eq(&self, other: &Self) -> bool {
        (self.world, &self.state) == (other.world, &other.state)
    }
}

impl<P: Catalog> Hash for Reached<P> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        (self.world, &self.state).hash(hasher);
    }
}

/// A state in words is what has become of each thing.
impl<P: Catalog> Debug for Reached<P> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "the world {}", self.name)?;
        if self.run.is_empty() {
            return formatter.write_str(", at the start");
        }
        let steps = describe::<P>(&self.run);
        let changes = steps.iter().flat_map(|it| &it.changes);
        let became = changes.filter_map(|it| {
            let (name, states) = it.split_once(": ")?;
            let (_, after) = states.split_once(" → ")?;
            Some((name, after))
        });
        let last: std::collections::BTreeMap<_, _> = became.collect();
        for (name, after) in last {
            write!(formatter, "\n{name}: {after}")?;
        }
        Ok(())
    }
}

/// A step, and the run that it makes.
#[derive(Clone)]
pub struct Taken<P: Catalog> {
    action: model::Action<P, Apart<P>>,
    run: Vec<Step<P>>,
}

impl<P: Catalog> PartialEq for Taken<P> {
    fn eq(&self, other: &Self) -> bool {
        self.action == other.action
    }
}

impl<P: Catalog> Debug for Taken<P> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        self.action.fmt(formatter)
    }
}

impl<P: Catalog> Taken<P> {
    fn step(&self) -> Option<StepText> {
        describe::<P>(&self.run).pop()
    }
}

impl<P: Catalog> ExploredText<P> {
    /// The text, with the checker of the whole text beside it.
    pub fn new(text: Variation<P>) -> Self {
        let whole = Variant {
            left_out: ClauseSet::EMPTY,
            ..text.variant.clone()
        };
        let world = |(_, bounds): &(&str, P::Bounds)| model::Model {
            variant: text.variant.clone(),
            party: Apart::new(
                text.variant.clone(),
                std::slice::from_ref(&whole),
                P::account(Some(bounds)),
            ),
            bounds: *bounds,
            freedom: Freedom::May,
            forgets: text.has_quotient(),
        };
        let worlds = text.worlds.iter().map(world).collect();
        Self { text, worlds }
    }
}

impl<P: Catalog> Model for ExploredText<P> {
    type State = Reached<P>;
    type Action = Taken<P>;

    fn init_states(&self) -> Vec<Reached<P>> {
        let worlds = self.worlds.iter().zip(&self.text.worlds).enumerate();
        let starts = worlds.flat_map(|(world, (model, (name, _)))| {
            let reached = move |state| Reached {
                world,
                name,
                state,
                run: Vec::new(),
            };
            model.init_states().into_iter().map(reached)
        });
        starts.collect()
    }

    fn actions(&self, from: &Reached<P>, taken: &mut Vec<Taken<P>>) {
        let mut actions = Vec::new();
        self.worlds[from.world].actions(&from.state, &mut actions);
        // What is plainest comes first.
        taken.extend(actions.into_iter().rev().map(|action| {
            let mut run = from.run.clone();
            run.extend(run_of(vec![action.clone()]));
            Taken { action, run }
        }));
    }

    fn next_state(&self, from: &Reached<P>, taken: Taken<P>) -> Option<Reached<P>> {
        let state = self.worlds[from.world].next_state(&from.state, taken.action)?;
        Some(Reached {
            state,
            run: taken.run,
            ..*from
        })
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("the checker finds nothing", |_, it: &Reached<P>| {
                it.state.party.conforms()
            }),
            Property::always("every guarantee holds", |_, it: &Reached<P>| {
                P::GUARANTEES
                    .iter()
                    .all(|one| (one.holds)(&it.state.history))
            }),
        ]
    }

    fn format_action(&self, taken: &Taken<P>) -> String {
        taken.step().map_or_else(
            || format!("{taken:?}"),
            |step| format!("{} {} {}", step.at, step.actor, step.action),
        )
    }

    /// What the step changes, a line for each.
    fn format_step(&self, _: &Reached<P>, taken: Taken<P>) -> Option<String> {
        let step = taken.step()?;
        if step.changes.is_empty() {
            return Some("nothing changes".to_owned());
        }
        Some(step.changes.join("\n"))
    }

    fn as_svg(&self, path: Path<Reached<P>, Taken<P>>) -> Option<String> {
        let run = &path.last_state().run;
        let found = self.text.wrong(run);
        Some(drawn(P::NAME, &describe::<P>(run), found))
    }
}

#[cfg(test)]
mod tests {
    use countersign_model::facade;
    use countersign_model::pending_action::PendingAction;

    use super::*;

    fn explored(without: &str) -> ExploredText<PendingAction> {
        let text = facade::text("pending-action").expect("a text");
        let model = (text.within)("one").expect("a world");
        let model = model.with(&text.named(without), &[]);
        let text: Option<&Variation<PendingAction>> = model.as_any().downcast_ref();
        ExploredText::new(text.expect("it is of this text").clone())
    }

    /// The first step of which this is told and which comes to that, and the state behind it.
    fn told(
        model: &ExploredText<PendingAction>,
        before: &Reached<PendingAction>,
        [text, change]: [&str; 2],
    ) -> Option<(Taken<PendingAction>, Reached<PendingAction>)> {
        let mut steps = model.next_steps(before).into_iter();
        steps.find(|(taken, _)| {
            let changes = model.format_step(before, taken.clone());
            model.format_action(taken).contains(text)
                && changes.is_some_and(|it| it.contains(change))
        })
    }

    const PROPOSES: [&str; 2] = [
        "agent proposes a call in session 1",
        "pa_1: unknown → pending\n",
    ];

    #[test]
    fn steps_and_states_are_told_in_words() {
        let model = explored("nothing");
        let start = model.init_states().remove(0);
        assert_eq!(format!("{start:#?}"), "the world one, at the start");
        let (taken, next) = told(&model, &start, PROPOSES).expect("a step");
        assert_eq!(format!("{next:#?}"), "the world one\npa_1: pending");
        let action = model.format_action(&taken);
        assert!(action.starts_with("t=0 agent proposes "), "{action}");
    }

    /// PA-5: what was denied does not run.
    #[test]
    fn a_way_is_drawn_and_what_the_checker_finds_is_marked_in_it() {
        for (without, is_found) in [("nothing", false), ("PA-5", true)] {
            let model = explored(without);
            let start = model.init_states().remove(0);
            let (first, asked) = told(&model, &start, PROPOSES).expect("a step");
            let denial = told(&model, &asked, ["sends deny(pa_1)", "perform(pa_1"]);
            assert_eq!(denial.is_some(), is_found);
            let steps: Vec<_> = [first].into_iter().chain(denial.map(|it| it.0)).collect();
            let path = Path::from_actions(&model, start, &steps).expect("steps that are enabled");
            let picture = model.as_svg(path).expect("a picture");
            assert_eq!(picture.contains("violation PA-5"), is_found, "{picture}");
        }
    }
}
