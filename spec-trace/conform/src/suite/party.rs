//! The text of a protocol as an implementation: it answers as the text asks, with every rule kept or with some left out.
//!
//! A text on the engine has a producer, which answers any request. A model has none: of the steps that it can take next, that one is
//! taken which the suite asks for by this very request ([`OfModel::steps_of`], `Driven::ask`). So it is for the runs of the suite. What
//! is no step of the model within its bounds, such as what every run ends with, is answered as unsupported, and so is all that follows
//! in the run.
//!
//! What the world around the party has done shows only later: a reply may have been under way long before it comes. So every world is
//! followed that has led to the same requests and outputs.

use std::collections::{BTreeSet, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use countersign_model::facade::{self, Rule, Text, specification_of};
use countersign_model::judged::{CallTold as _, Told};
use countersign_model::specification::{Modelled, Specification};
use countersign_model::table::Tabled;
use countersign_protocol::{
    Answer, Common, Greeting, Op, Output, Protocol as _, Request, Response,
};
use countersign_reference::time::Timestamp;

use super::{ActionOf, OfModel, StateOf, Suited, Taken, steps_taken};
use crate::driven::Driven;
use crate::implementation::{Implementation, Lost, Maker};

/// A driver whose requests the text of its protocol can answer.
pub trait Answering: Suited {
    /// The text as an implementation.
    type Party: Implementation<Self::Protocol>;

    /// What it declares.
    fn greeting() -> Greeting<Self::Protocol>;

    /// The rules of which the driver protocol does not show that they are left out, by name, with the reason.
    fn unseen() -> Vec<(&'static str, &'static str)>;

    /// One that answers as this text.
    fn party(text: &dyn facade::Model) -> Self::Party;
}

/// A driver whose requests the model of its protocol can answer.
pub trait AnsweringByModel: OfModel {
    /// What has come out in a run so far, in the words of the driver protocol.
    type Said: Default;
    /// What may happen besides what the model offers, which is only what can make a difference.
    const BESIDES: &'static [ActionOf<Self>];
    /// The rules of which the driver protocol does not show that they are left out, with the reason.
    const UNSEEN: &'static [(Guard<Self>, &'static str)];

    /// What it declares.
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

impl<D: AnsweringByModel> Answering for D {
    type Party = Party<D>;

    fn greeting() -> Greeting<D::Protocol> {
        <D as AnsweringByModel>::greeting()
    }

    fn unseen() -> Vec<(&'static str, &'static str)> {
        let named = |(guard, reason): &(Guard<D>, &'static str)| (guard.row().name, *reason);
        D::UNSEEN.iter().map(named).collect()
    }

    fn party(text: &dyn facade::Model) -> Party<D> {
        let model: ModelOf<D> = specification_of(text);
        let reading = D::reading(model.reading);
        Party::of(model.with(model.rules, reading))
    }
}

/// A rule of the model of a driver.
pub type Guard<D> = <<D as OfModel>::Model as Modelled>::Guard;
/// How the text of the model of a driver is taken.
pub type Reading<D> = <<D as OfModel>::Model as Modelled>::Reading;
/// The model of a driver.
pub type ModelOf<D> = Specification<<D as OfModel>::Model>;

/// The text of a driver.
///
/// # Panics
///
/// Never: each protocol has a text.
pub fn text_of<D: Driven>() -> &'static Text {
    facade::text(D::Protocol::NAME).expect("the text is registered")
}

/// The rules that are seen to be left out: of each [`without`] gives who leaves it out.
pub fn ablated<D: Answering>() -> impl Iterator<Item = &'static Rule> {
    let unseen = D::unseen();
    let rules = text_of::<D>().rules.iter();
    let is_unseen = move |name| unseen.iter().any(|(unseen, _)| *unseen == name);
    rules.filter(move |rule| rule.free.is_none() && !is_unseen(rule.name))
}

/// The other rules, each with the reason why nobody sees that it is left out.
pub fn unseen<D: Answering>() -> impl Iterator<Item = (&'static str, &'static str)> {
    let free = text_of::<D>().rules.iter();
    let free = free.filter_map(|rule| Some((rule.name, rule.free?)));
    free.chain(D::unseen())
}

/// The text within the bounds of a changed one.
fn small<D: Driven>() -> Arc<dyn facade::Model> {
    let text = text_of::<D>();
    let [_, small] = text.usual_bounds;
    (text.within)(small).expect("the usual bounds are in range")
}

/// One that keeps every rule, within bounds in which this one shows.
///
/// # Panics
///
/// Never: the usual bounds are in range.
pub fn keeping<D: Answering>(rule: &'static Rule) -> D::Party {
    D::party(&*small::<D>().showing(rule.with))
}

/// One that leaves a rule out.
///
/// # Panics
///
/// Never: the usual bounds are in range.
pub fn without<D: Answering>(rule: &'static Rule) -> D::Party {
    let within = small::<D>().showing(rule.with);
    D::party(&*within.with(&[rule], &[]))
}

/// Those of the text as it stands, within bounds in which every rule shows that is seen to be left out; as [`all_of`] gives them.
///
/// # Panics
///
/// Never: the usual bounds are in range.
pub fn all<D: Answering>() -> Vec<D::Party> {
    let needs = ablated::<D>().map(|it| it.with).chain([None]);
    within::<D>(&*small::<D>(), needs.collect())
}

/// Those of a text, within its bounds and within such as show what some rule needs; each with the quotient, where it has one, and
/// without.
pub fn all_of<D: Answering>(text: &dyn facade::Model) -> Vec<D::Party> {
    let needs = text.text().rules.iter().map(|it| it.with);
    within::<D>(text, needs.collect())
}

fn within<D: Answering>(text: &dyn facade::Model, needs: BTreeSet<Option<&str>>) -> Vec<D::Party> {
    let parties = needs.into_iter().flat_map(|with| {
        let within = text.showing(with);
        let literal = within.has_quotient().then(|| within.literal());
        [Some(within), literal].into_iter().flatten()
    });
    parties.map(|it| D::party(&*it)).collect()
}

/// A request, and the step of the model that it is.
pub struct Asked<'a, D: OfModel> {
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
pub struct Party<D: AnsweringByModel> {
    model: ModelOf<D>,
    /// What it can be asked for besides: what the model offers where the text stands as it is. Another reading offers other values, and
    /// none of those that the suite has, which was derived from the text.
    text: Option<ModelOf<D>>,
    run: Option<Run<D>>,
}

/// How far it is in a run.
struct Run<D: AnsweringByModel> {
    /// The states in which it can be, the first of which it goes by.
    worlds: Vec<StateOf<D>>,
    names: D::Names,
    /// The driver as it asks.
    driven: D,
    said: D::Said,
    step: Option<Step<D>>,
}

/// The step of the model that is being asked for.
struct Step<D: OfModel> {
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

impl<D: AnsweringByModel> Party<D> {
    fn of(model: ModelOf<D>) -> Self {
        let reading = D::reading(D::Model::reading_within(&model.bounds));
        let text = (model.reading != reading).then(|| model.with(model.rules, reading));
        Self {
            model,
            text,
            run: None,
        }
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

impl<D: AnsweringByModel> Run<D> {
    fn new(model: &ModelOf<D>) -> Self {
        Self {
            worlds: vec![model.start()],
            names: D::Names::default(),
            driven: D::begin(&Rc::new(<D as Answering>::greeting())),
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

impl<D: AnsweringByModel> Implementation<D::Protocol> for Party<D> {
    fn start(&mut self) -> Result<(), Lost> {
        self.run = None;
        Ok(())
    }

    fn ask(&mut self, request: Request<D::Protocol>) -> Result<Response<D::Protocol>, Lost> {
        let now = request.now.as_deref().map(Timestamp::parse);
        let outputs = match (&request.op, now) {
            (Op::Common(Common::Hello { .. }), _) => {
                let answer = Answer::Greeting(<D as Answering>::greeting());
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
