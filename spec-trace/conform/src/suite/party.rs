//! The model of a protocol as an implementation: it answers as the model does, with every rule kept or with some left out.
//!
//! The one thing to know: no request is read here. Of the steps that the model can take next, that one is taken which the suite asks
//! for by this very request ([`Suited::steps_of`], `Driven::ask`). So it is for the runs of the suite. What is no step of the model
//! within its bounds, such as what every run ends with, is answered as unsupported, and so is all that follows in the run.
//!
//! What the world around the party has done shows only later: a reply may have been under way long before it comes. So every world is
//! followed that has led to the same requests and outputs.

use std::collections::{BTreeSet, HashSet};
use std::rc::Rc;

use countersign_model::bounds::Bounds;
use countersign_model::judged::{CallTold as _, Told};
use countersign_model::rules::{GuardRow, Rules};
use countersign_model::specification::{Modelled, Specification};
use countersign_model::table::Tabled;
use countersign_protocol::{Answer, Common, Greeting, Op, Output, Request, Response};
use countersign_reference::time::Timestamp;

use super::{ActionOf, StateOf, Suited, Taken, steps_taken};
use crate::implementation::{Implementation, Lost, Maker};

/// A driver that the model of its protocol can answer.
pub trait Answering: Suited {
    /// What has come out in a run so far, in the words of the driver protocol.
    type Said: Default;
    /// What may happen besides what the model offers, which is only what can make a difference.
    const BESIDES: &'static [ActionOf<Self>];
    /// The rules of which the driver protocol does not show that they are left out, with the reason.
    const UNSEEN: &'static [(Guard<Self>, &'static str)];

    /// Who answers.
    fn greeting() -> Greeting<Self::Protocol>;

    /// How the text is taken where the driver protocol settles it.
    fn reading(reading: Reading<Self>) -> Reading<Self> {
        reading
    }

    /// The state in which this is asked: whoever asks was given the last response.
    fn received(_: &ModelOf<Self>, state: StateOf<Self>, _: &Op<Self::Protocol>) -> StateOf<Self> {
        state
    }

    /// What comes out for a request; nothing where the model has one name for what the driver knows as two.
    fn outputs(
        said: &mut Self::Said,
        asked: &Asked<'_, Self>,
    ) -> Option<Vec<Output<Self::Protocol>>>;
}

/// A rule of the model of a driver.
pub type Guard<D> = <<D as Suited>::Model as Modelled>::Guard;
/// How the text of the model of a driver is taken.
pub type Reading<D> = <<D as Suited>::Model as Modelled>::Reading;
/// The model of a driver.
pub type ModelOf<D> = Specification<<D as Suited>::Model>;

/// A request, and the step of the model that it is.
pub struct Asked<'a, D: Suited> {
    /// The time, in milliseconds since the epoch.
    pub now: i64,
    /// What is asked.
    pub op: &'a Op<D::Protocol>,
    /// Which request of the step it is, counted from 0: some are more than one.
    pub part: usize,
    /// The step.
    pub taken: &'a Taken<'a, D::Model>,
}

/// The model as a party.
pub struct Party<D: Answering> {
    model: ModelOf<D>,
    /// What it can be asked for besides: what the model offers where the text stands as it is. Another reading offers other values, and
    /// none of those that the suite has, which was derived from the text.
    text: Option<ModelOf<D>>,
    run: Option<Run<D>>,
}

/// How far it is in a run.
struct Run<D: Answering> {
    /// The states in which it can be, the first of which it goes by.
    worlds: Vec<StateOf<D>>,
    names: D::Names,
    /// The driver as it asks.
    driven: D,
    said: D::Said,
    step: Option<Step<D>>,
}

/// The step of the model that is being asked for.
struct Step<D: Suited> {
    before: StateOf<D>,
    action: ActionOf<D>,
    told: Told<D::Model>,
    after: StateOf<D>,
    /// What is asked, and how much of it was answered.
    asked: Vec<D::Step>,
    answered: usize,
}

/// So many worlds are looked at for a step that is asked for.
const MOST_WORLDS: usize = 2_000;

/// The rules that are seen to be left out: of each [`Party::without`] is the party that leaves it out.
pub fn ablated<D: Answering>() -> impl Iterator<Item = &'static GuardRow<Guard<D>>> {
    let rows = <Guard<D> as Tabled>::ROWS.iter();
    let is_unseen = |guard| D::UNSEEN.iter().any(|(unseen, _)| *unseen == guard);
    rows.filter(move |row| row.free.is_none() && !is_unseen(row.guard))
}

/// The other rules, each with the reason why nobody sees that it is left out.
pub fn unseen<D: Answering>() -> impl Iterator<Item = (&'static str, &'static str)> {
    let free = <Guard<D> as Tabled>::ROWS.iter();
    let free = free.filter_map(|row| Some((row.name, row.free?)));
    let unseen = D::UNSEEN.iter();
    free.chain(unseen.map(|(guard, reason)| (guard.row().name, *reason)))
}

impl<D: Answering> Party<D> {
    /// One that keeps these rules, within bounds in which what needs so much of something shows.
    ///
    /// # Panics
    ///
    /// Never: the presets are in range.
    pub fn new(rules: Rules<Guard<D>>, with: Option<&str>) -> Self {
        let [small, ..] = <D::Model as Modelled>::Bounds::PRESETS;
        let model = Specification::new(small).expect("the preset is in range");
        let model = model.showing(with);
        Self::of(model.with(rules, D::reading(model.reading)))
    }

    fn of(model: ModelOf<D>) -> Self {
        let reading = D::reading(D::Model::reading_within(&model.bounds));
        let text = (model.reading != reading).then(|| model.with(model.rules, reading));
        Self {
            model,
            text,
            run: None,
        }
    }

    /// One that leaves a rule out.
    pub fn without(row: &GuardRow<Guard<D>>) -> Self {
        Self::new(Rules::all().without(row.guard), row.with)
    }

    /// Those of a setting, within its bounds and within such as show what some rule needs; each with the quotient, where it has one, and
    /// without.
    pub fn all_of(model: &ModelOf<D>) -> impl Iterator<Item = Self> + use<D> {
        let rows = <Guard<D> as Tabled>::ROWS.iter();
        let needs: BTreeSet<Option<&str>> = rows.map(|row| row.with).collect();
        let model = model.with(model.rules, D::reading(model.reading));
        let parties = needs.into_iter().flat_map(move |with| {
            let model = model.showing(with);
            [model.clone(), model.literal()]
        });
        parties.map(Self::of)
    }

    /// The same without the quotient, in which the model takes some requests for others.
    #[must_use]
    pub fn literal(self) -> Self {
        Self::of(self.model.literal())
    }

    /// What comes out; nothing where it is no step of the model, or follows such a one.
    fn outputs(&mut self, now: i64, op: &Op<D::Protocol>) -> Option<Vec<Output<D::Protocol>>> {
        let mut run = self.run.take()?;
        let is_through = run
            .step
            .as_ref()
            .is_none_or(|it| it.answered == it.asked.len());
        if is_through {
            run.begins((&self.model, self.text.as_ref()), now, op)?;
        }
        let step = run.step.as_mut()?;
        let asked = run.driven.ask(step.asked.get(step.answered)?)?;
        if asked.now != now || asked.op != *op {
            return None;
        }
        let taken = Taken {
            before: &step.before,
            action: step.action,
            told: step.told,
            after: &step.after,
        };
        let request = Asked {
            now,
            op,
            part: step.answered,
            taken: &taken,
        };
        let outputs = D::outputs(&mut run.said, &request)?;
        step.answered += 1;
        // Whoever cannot read them goes no further.
        let _shown = run.driven.take(&asked.call, &outputs);
        self.run = Some(run);
        Some(outputs)
    }
}

impl<D: Answering> Run<D> {
    fn new(model: &ModelOf<D>) -> Self {
        Self {
            worlds: vec![model.start()],
            names: D::Names::default(),
            driven: D::begin(&Rc::new(D::greeting())),
            said: D::Said::default(),
            step: None,
        }
    }

    /// Takes the step that this is the first request of, with what the world does before it.
    fn begins(
        &mut self,
        (model, text): (&ModelOf<D>, Option<&ModelOf<D>>),
        now: i64,
        op: &Op<D::Protocol>,
    ) -> Option<()> {
        let mut known = HashSet::new();
        let received = self.worlds.iter();
        let received = received.map(|state| D::received(model, *state, op));
        let mut reached: Vec<_> = received.filter(|state| known.insert(*state)).collect();
        let mut is_it: Vec<(D::Step, bool)> = Vec::new();
        let mut found: Option<(Step<D>, D::Names)> = None;
        let (mut worlds, mut actions, mut from) = (Vec::new(), Vec::new(), 0);
        while from < reached.len().min(MOST_WORLDS) {
            let before = reached[from];
            from += 1;
            actions.clear();
            model.actions(&before, &mut actions);
            if let Some(text) = text {
                text.actions(&before, &mut actions);
            }
            actions.extend(D::BESIDES);
            for &action in &actions {
                let Some(taken) = D::Model::take(model, &before, action, 0) else {
                    continue;
                };
                let mut names = self.names.clone();
                let asked = steps_taken::<D>(&mut names, (&before, action), &taken);
                let next = model.reduced(&taken.next);
                let (Some(told), Some(first)) = (taken.told, asked.first()) else {
                    if known.insert(next) {
                        reached.push(next);
                    }
                    continue;
                };
                let is_asked = if let Some((_, known)) = is_it.iter().find(|(it, _)| it == first) {
                    *known
                } else {
                    let request = self.driven.clone().ask(first);
                    let is_asked = request.is_some_and(|it| it.now == now && it.op == *op);
                    is_it.push((first.clone(), is_asked));
                    is_asked
                };
                if !is_asked {
                    continue;
                }
                let (step, _) = found.get_or_insert_with(|| {
                    let step = Step {
                        before,
                        action,
                        told,
                        after: taken.next,
                        asked: asked.clone(),
                        answered: 0,
                    };
                    (step, names)
                });
                let is_same = step.asked == asked && step.told.outputs() == told.outputs();
                if is_same && !worlds.contains(&next) {
                    worlds.push(next);
                }
            }
        }
        let (step, names) = found?;
        (self.worlds, self.names, self.step) = (worlds, names, Some(step));
        Some(())
    }
}

impl<D: Answering> Implementation<D::Protocol> for Party<D> {
    fn start(&mut self) -> Result<(), Lost> {
        self.run = None;
        Ok(())
    }

    fn ask(&mut self, request: Request<D::Protocol>) -> Result<Response<D::Protocol>, Lost> {
        let now = request.now.as_deref().map(Timestamp::parse);
        let outputs = match (&request.op, now) {
            (Op::Common(Common::Hello { .. }), _) => {
                let answer = Answer::Greeting(D::greeting());
                let id = Some(request.id);
                return Ok(Response { id, answer });
            }
            (Op::Common(Common::Reset {}), _) => {
                self.run = Some(Run::new(&self.model));
                Some(Vec::new())
            }
            (op, Some(Ok(now))) => self.outputs(now.millis(), op),
            (_, Some(Err(_)) | None) => None,
        };
        let answer = outputs.map_or(Answer::Unsupported, |outputs| Answer::Outputs { outputs });
        Ok(Response {
            id: Some(request.id),
            answer,
        })
    }

    fn maker(&self) -> Option<Maker<Self>> {
        let model = self.model.clone();
        Some(Box::new(move || Self::of(model.clone())))
    }
}
