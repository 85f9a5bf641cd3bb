//! Any implementation in a run: steps become requests of the driver protocol, and its outputs the words of the text.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::rc::Rc;

use countersign_model::engine::protocol::Variant;
use countersign_model::wire::Codec as _;
use countersign_model::{facade, readings};
use countersign_protocol::{Common, Greeting, Json, Kind, Op, Output as Put, Protocol as _};

use super::{Host as _, START, Spoken, Wire};
use crate::checked::{Checked, Read, Shown};
use crate::driven::{
    Ask, Asked, MOST_READINGS, Step, Taken, placed, placeholder, refusable_at, replaced,
};

/// What is kept of an implementation in a run.
#[derive(Clone)]
pub struct Driver<P: Spoken> {
    /// What has a name in it.
    pub codec: P::Codec,
    /// What the implementation declares.
    pub greeting: Rc<Greeting<Wire<P>>>,
    /// Of each output of the last response, whether it is shown.
    last: Vec<bool>,
}

impl<P: Spoken> Driver<P> {
    /// At the start of a run of somebody who declares everything.
    pub fn of_all() -> Self {
        Self::begin(&Rc::new(declaring_all::<P>("")))
    }

    /// Whether this is declared.
    pub fn supports(&self, capability: super::Capability<P>) -> bool {
        self.greeting.supports.contains(&capability)
    }

    /// Those outputs came, in the words of the text.
    pub fn is_answered(&mut self, outputs: &[P::Output]) {
        self.codec.issued(outputs);
        self.last = vec![true; outputs.len()];
    }

    /// The request as whoever sees what is shown knows it: of the outputs that are lost the others do not count.
    fn as_shown(&self, op: &Op<Wire<P>>) -> Op<Wire<P>> {
        let Op::Common(Common::Restart { lost: Some(lost) }) = op else {
            return op.clone();
        };
        let lost = usize::try_from(*lost).unwrap_or(usize::MAX);
        let shown = self.last.iter().rev().take(lost).filter(|it| **it);
        let lost = u64::try_from(shown.count()).ok();
        Op::Common(Common::Restart { lost })
    }

    /// How many things of each kind are named.
    fn named(&self) -> impl Iterator<Item = usize> {
        let kinds = 0..P::NAMED.len();
        kinds.map(|kind| P::names(&self.codec, kind).len())
    }
}

impl<P: Spoken> Driver<P> {
    /// The steps without some of them. What a step names that goes goes with it, and what is named behind it is counted anew. The reference
    /// takes the steps beside.
    pub fn without(steps: &[Step<Wire<P>>], gone: Range<usize>) -> Vec<Step<Wire<P>>> {
        let (mut driver, mut reference) = (Self::of_all(), P::Reference::new(<_>::default()));
        let mut lost = vec![BTreeSet::new(); P::NAMED.len()];
        let mut left = Vec::new();
        for (at, step) in steps.iter().enumerate() {
            let mut renumbered = step.clone();
            let stays = all_named::<P>(&mut renumbered.ask, &mut |kind, text| {
                let of = P::NAMED[kind];
                let Some((number, change)) = placed(of, text) else {
                    return true;
                };
                let lost: &BTreeSet<usize> = &lost[kind];
                *text = placeholder(of, number - lost.range(..number).count(), change);
                !lost.contains(&number)
            });
            let before: Vec<usize> = driver.named().collect();
            if let Some(Asked { call, .. }) = driver.ask(step) {
                driver.is_answered(&reference.answer(&call));
            }
            if !gone.contains(&at) && stays {
                left.push(renumbered);
                continue;
            }
            let new = before.into_iter().zip(driver.named());
            let new = lost.iter_mut().zip(new);
            new.for_each(|(lost, (before, after))| lost.extend(before..after));
        }
        left
    }

    /// Two steps in a simpler way: the second happens when the first does. None, where it does already.
    pub(crate) fn fold(
        first: &Step<Wire<P>>,
        second: &Step<Wire<P>>,
    ) -> Option<Vec<Step<Wire<P>>>> {
        let sooner = Step {
            now: first.now,
            ..second.clone()
        };
        // The time of what the protocol does not have is part of its text.
        (sooner != *second && second.ask.op().is_some()).then(|| vec![first.clone(), sooner])
    }

    /// What the checker calls things, such as `action 0`, each with its name in this run.
    pub(crate) fn names(&self) -> BTreeMap<String, String> {
        self.codec.in_run()
    }

    /// At the start of a run of somebody who declares this.
    pub fn begin(greeting: &Rc<Greeting<Wire<P>>>) -> Self {
        Self {
            codec: P::Codec::default(),
            greeting: Rc::clone(greeting),
            last: Vec::new(),
        }
    }

    /// What a step asks. Nothing where there is nothing that it could mean, or what it asks was not declared.
    pub fn ask(&mut self, step: &Step<Wire<P>>) -> Option<Asked<P>> {
        let (now, mut op) = (step.now, step.ask.op()?.clone());
        if !P::can_be_asked(self, &mut op) {
            return None;
        }
        if let Op::Common(Common::Restart { lost }) = &mut op {
            let last = u64::try_from(self.last.len()).unwrap_or(u64::MAX);
            *lost = Some(lost.unwrap_or(0).min(last));
        }
        P::all_named(&mut op, &mut |kind, text| self.name(kind, text)).then(|| {
            let call = self.codec.call(now, &self.as_shown(&op));
            Asked { now, op, call }
        })
    }

    /// A request that the protocol does not have, as it is asked. None for any other, and where there is nothing that it could mean.
    pub(crate) fn raw(&self, step: &Step<Wire<P>>) -> Option<Json> {
        let Ask::Raw(raw) = &step.ask else {
            return None;
        };
        let name = &mut |kind, text: &mut String| self.name(kind, text);
        let text = replaced(raw.as_str(), P::NAMED, name)?;
        serde_json::from_str(&text).ok()
    }

    /// The call that such a request is where it was refused, with what was put out: time passes. None where it may not be refused, or
    /// was not.
    pub(crate) fn take_refused(
        &mut self,
        raw: &Json,
        outputs: &[Put<Wire<P>>],
    ) -> Option<Shown<P>> {
        let now = refusable_at::<Wire<P>>(raw)?;
        let is_refused = |it: &Put<Wire<P>>| Wire::<P>::kind(&it.what) == Kind::Refused;
        outputs.iter().any(is_refused).then_some(())?;
        let call = self.codec.call(now, &Op::Common(Common::Tick {}));
        let due = self.read(&call, outputs, |it| !is_refused(it));
        Some((call, due))
    }

    /// Puts the name in the place of what stands for it. False, where there is none yet.
    fn name(&self, kind: usize, text: &mut String) -> bool {
        let Some((number, change)) = placed(P::NAMED[kind], text) else {
            return true;
        };
        let name = P::names(&self.codec, kind).get(number);
        let name = name.map(|it| change.map_or_else(|| it.clone(), |change| change.of(it)));
        name.map(|it| *text = it).is_some()
    }

    /// What was put out for a call, each as it is read; nothing of what is not declared to be shown.
    pub fn take(&mut self, call: &P::Call, outputs: &[Put<Wire<P>>]) -> Vec<Read<P::Output>> {
        self.read(call, outputs, |_| true)
    }

    /// The same of those outputs that count. Of the others none can be lost.
    fn read(
        &mut self,
        call: &P::Call,
        outputs: &[Put<Wire<P>>],
        counts: impl Fn(&Put<Wire<P>>) -> bool,
    ) -> Vec<Read<P::Output>> {
        let is_shown =
            |it: &Put<Wire<P>>| counts(it) && self.greeting.shows(Wire::<P>::kind(&it.what));
        self.last = outputs.iter().map(is_shown).collect();
        let shown = outputs.iter().filter(|it| is_shown(it)).cloned();
        let (read, flaws) = self.codec.outputs(call, &shown.collect::<Vec<_>>());
        super::read(read, &flaws)
    }

    /// What every run ends with behind these steps, so that what has happened can be seen: time passes, and the process dies and comes
    /// back.
    pub fn ends(steps: &[Step<Wire<P>>]) -> Vec<Step<Wire<P>>> {
        P::ends(steps.last().map_or(START, |it| it.now))
    }
}

/// Whether `each` says so of everything in a request that stands for what an implementation names, each with its kind. It may change
/// them.
fn all_named<P: Spoken>(
    ask: &mut Ask<Wire<P>>,
    each: &mut dyn FnMut(usize, &mut String) -> bool,
) -> bool {
    let raw = match ask {
        Ask::Op(op) => return P::all_named(op, each),
        Ask::Raw(raw) => raw,
    };
    let read = |it: String| serde_json::from_str(&it).ok();
    let Some(replaced) = replaced(raw.as_str(), P::NAMED, each).and_then(read) else {
        return false;
    };
    *raw = replaced;
    true
}

/// The ways in which the text can be taken where these of its places and numbers are settled, each by name and value: the default first,
/// then by how much is otherwise.
pub fn readings<P: Spoken>(
    greeting: &Greeting<Wire<P>>,
    settled: &[(&str, &str)],
) -> Vec<Taken<P>> {
    let settled = || settled.iter().copied();
    let default = facade::change(P::PLACES, P::NUMBERS, P::Reading::default(), settled());
    let mut all = vec![(Vec::new(), default, 0)];
    let is_open = |name: &str| settled().all(|(settled, _)| settled != name);
    let open = P::OPEN.iter().filter(|(name, _)| is_open(name));
    let count: usize = open.clone().map(|(_, ways)| ways.len()).product();
    let most = if count > MOST_READINGS { 2 } else { u8::MAX };
    for (name, ways) in open {
        let with = |(choices, reading, changed): (Vec<_>, P::Reading, u8)| {
            let ways = (0..).zip(*ways);
            ways.filter_map(move |(place, way)| {
                let choices = [choices.clone(), vec![(*name, *way)]].concat();
                let changed = changed + u8::from(place > 0);
                (changed <= most).then_some(())?;
                Some((
                    choices,
                    readings::with(P::PLACES, reading, name, way)?,
                    changed,
                ))
            })
        };
        all = all.into_iter().flat_map(with).collect();
    }
    all.sort_by_key(|(_, _, changed)| *changed);
    let taken = all.into_iter().map(|(choices, reading, _)| Taken {
        choices,
        judge: checked(greeting, reading),
    });
    taken.collect()
}

/// The text by which an implementation is judged.
pub fn judging<P: Spoken>(greeting: &Greeting<Wire<P>>, reading: P::Reading) -> Variant<P> {
    Variant {
        hidden: P::Codec::hidden(|kind| greeting.shows(kind)),
        reading: P::settled(reading),
        ..Variant::default()
    }
}

/// The checker of an implementation that declares this, and has not been asked anything.
pub fn judge<P: Spoken>(greeting: &Greeting<Wire<P>>) -> Checked<P> {
    checked(greeting, P::Reading::default())
}

fn checked<P: Spoken>(greeting: &Greeting<Wire<P>>, reading: P::Reading) -> Checked<P> {
    Checked::new(judging(greeting, reading), P::declared(greeting))
}

/// Somebody of that name who declares everything.
pub(super) fn declaring_all<P: Spoken>(name: &str) -> Greeting<Wire<P>> {
    Greeting {
        name: name.to_owned(),
        supports: P::SUPPORTS.iter().copied().collect(),
        shows: None,
    }
}

#[cfg(test)]
mod tests {
    use countersign_model::aaep::Aaep;
    use countersign_model::mcp_aql::McpAql;
    use countersign_model::pending_action::PendingAction;

    use super::Spoken;

    /// What is open is an ambiguity of the text, which is marked so where its table has such marks, and read as the text is by default
    /// where nobody says otherwise.
    fn assert_open_of_text<P: Spoken>() {
        let is_marked = P::PLACES.iter().any(|it| it.open);
        for (name, ways) in P::OPEN {
            let known = P::PLACES.iter().find(|it| it.name == *name);
            let known = known.unwrap_or_else(|| panic!("{name}"));
            assert!(known.open || !is_marked, "{name}");
            let known: Vec<_> = known.choices.iter().map(|it| it.value).collect();
            assert!(ways.iter().all(|it| known.contains(it)), "{name}");
            assert_eq!(ways.first(), known.first(), "{name}");
        }
    }

    #[test]
    fn what_is_open_is_an_ambiguity_of_the_text() {
        assert_open_of_text::<Aaep>();
        assert_open_of_text::<McpAql>();
        assert_open_of_text::<PendingAction>();
    }
}
