//! Runs that show a finding, and what a passage says of one.
//!
//! The one thing to know: a judge is one passage, or one way to take it, and nothing else: it says nothing of what that passage does not
//! speak of. Two judges that differ on one run are a contradiction, or an ambiguity, of the text.

use std::fmt;

use serde_json::{Map, Value};

/// One step of a run: a line of its text. Members that begin with `~` are facts that no message holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Milliseconds since midnight, from `at` (`10:00:05` or `10:00:05.250`); steps without one have that of the step before.
    pub at: i64,
    /// Its members.
    pub members: Map<String, Value>,
}

impl Step {
    /// The member with this name; null where there is none.
    pub fn get(&self, name: &str) -> &Value {
        self.members.get(name).unwrap_or(&Value::Null)
    }

    /// The text of a member; empty where it is none.
    pub fn text(&self, name: &str) -> &str {
        self.get(name).as_str().unwrap_or_default()
    }

    /// Whether a member has this text.
    pub fn is(&self, name: &str, text: &str) -> bool {
        self.get(name) == text
    }

    /// Its time of day, as in `10:00:05` or `10:00:05.250`.
    pub fn time(&self) -> String {
        let (seconds, fraction) = (self.at / 1000, self.at % 1000);
        let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        let fraction = match fraction {
            0 => String::new(),
            _ => format!(".{fraction:03}"),
        };
        format!("{hours:02}:{minutes:02}:{seconds:02}{fraction}")
    }

    /// Whether a member is there.
    pub fn has(&self, name: &str) -> bool {
        self.members.contains_key(name)
    }
}

/// A run, or an instance: that is a run of one step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run(pub Vec<Step>);

impl Run {
    /// Reads a run: a JSON object a line.
    ///
    /// # Errors
    ///
    /// A line that is no object, or an `at` that is no time of day, with its number.
    pub fn read(text: &str) -> Result<Run, String> {
        let mut at = 0;
        let mut steps = Vec::new();
        for (number, line) in (1..).zip(text.lines().filter(|line| !line.trim().is_empty())) {
            let mut members: Map<String, Value> =
                serde_json::from_str(line).map_err(|error| format!("step {number}: {error}"))?;
            if let Some(time) = members.shift_remove("at") {
                let read = time.as_str().and_then(time_of_day);
                at = read.ok_or_else(|| format!("step {number}: {time} is no time of day"))?;
            }
            steps.push(Step { at, members });
        }
        Ok(Run(steps))
    }

    /// The steps with their numbers, which begin with 1.
    pub fn steps(&self) -> impl DoubleEndedIterator<Item = (usize, &Step)> + ExactSizeIterator {
        self.0
            .iter()
            .enumerate()
            .map(|(place, step)| (place + 1, step))
    }

    /// The steps before this one, the last one first.
    pub fn before(&self, number: usize) -> impl Iterator<Item = (usize, &Step)> {
        self.steps().rev().skip(self.0.len() + 1 - number)
    }

    /// Runs that differ from this one by one or two small changes: steps left out, done twice, or in another order.
    pub fn neighbours(&self) -> Vec<Run> {
        let once = self.changed();
        let twice: Vec<Run> = once.iter().flat_map(Run::changed).collect();
        once.into_iter().chain(twice).collect()
    }

    fn changed(&self) -> Vec<Run> {
        let mut runs = Vec::new();
        for place in 0..self.0.len() {
            let mut without = self.0.clone();
            let step = without.remove(place);
            runs.push(Run(without));
            let mut twice = self.0.clone();
            twice.insert(place, step);
            runs.push(Run(twice));
            if place > 0 {
                let mut swapped = self.0.clone();
                swapped.swap(place - 1, place);
                let (before, after) = (swapped[place - 1].at, swapped[place].at);
                (swapped[place - 1].at, swapped[place].at) = (after, before);
                runs.push(Run(swapped));
            }
        }
        runs
    }
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, step) in self.steps() {
            write!(f, "{number}. {}", step.time())?;
            for (name, value) in &step.members {
                match value.as_str() {
                    Some(text) if !needs_quotes(name, text) => {
                        write!(f, " {name}={text}")?;
                    }
                    _ => write!(f, " {name}={value}")?,
                }
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

/// Whether a text without quotes would be taken for something else: for two, for another JSON value, or, of an answer, for an unknown type.
fn needs_quotes(name: &str, text: &str) -> bool {
    text.contains(char::is_whitespace)
        || name.ends_with("response")
        || serde_json::from_str::<Value>(text).is_ok()
}

/// `10:00:05.250` as milliseconds since midnight.
fn time_of_day(text: &str) -> Option<i64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let milliseconds: i64 = format!("{fraction:0<3}").get(..3)?.parse().ok()?;
    let mut seconds = 0;
    for part in whole.split(':') {
        seconds = seconds * 60 + part.parse::<i64>().ok()?;
    }
    (whole.split(':').count() == 3).then_some(seconds * 1000 + milliseconds)
}

/// What a passage says of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing that happens concerns it.
    Silent,
    /// It is kept.
    Right,
    /// It is broken by this step, counted from 1.
    Wrong(usize),
    /// This step has not what a mended wording wants of it.
    Lacks(usize),
}

impl Verdict {
    /// Whether it is against the run.
    pub fn is_against(self) -> bool {
        matches!(self, Self::Wrong(_) | Self::Lacks(_))
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Silent => write!(f, "silent"),
            Self::Right => write!(f, "right"),
            Self::Wrong(step) => write!(f, "wrong {step}"),
            Self::Lacks(step) => write!(f, "lacks {step}"),
        }
    }
}

/// What is said of a run in words: of `wrong 4` that step 4 is wrong.
pub fn in_words(said: &str) -> String {
    match said.split_once(' ') {
        Some(("wrong", step)) => format!("step {step} is wrong"),
        Some((_, step)) => format!("step {step} lacks what it wants"),
        None if said == "silent" => "says nothing of it".to_owned(),
        None => "nothing is wrong".to_owned(),
    }
}

/// One passage, or one way to take it, or a mended wording.
pub struct Judge {
    /// The section, and where it can be taken in two ways, which: `6.3.4`, `6.3.4 by receipt`. Of a mended wording, the finding's id.
    pub name: &'static str,
    /// What it says of a run.
    pub judge: fn(&Run) -> Verdict,
}

/// What has to hold whatever the wording is.
pub struct Guarantee {
    /// Its name, as in `nothing-unapproved-runs`.
    pub name: &'static str,
    /// The section that wants it.
    pub section: &'static str,
    /// What it is, in words.
    pub means: &'static str,
    /// The step that breaks it.
    pub broken: fn(&Run) -> Option<usize>,
}

/// What is executable of one protocol's documents.
pub struct Text {
    /// The passages, each in every way that is needed.
    #[cfg(feature = "execute")]
    pub passages: &'static [&'static [Judge]],
    /// The mended wordings.
    #[cfg(feature = "execute")]
    pub repairs: &'static [&'static [Judge]],
    /// The guarantees.
    pub guarantees: &'static [Guarantee],
    /// The members of a step that no message holds, `~end` aside: each with what it means.
    pub notes: &'static [(&'static str, &'static str)],
}

/// What `~end` means, in every protocol.
const END: (&str, &str) = ("~end", "nothing comes after this step");

/// What `from=null` means.
const FROM_NULL: (&str, &str) = (
    "from=null",
    "the transport does not know who sent the reply",
);

impl Text {
    /// What the passage with this name says of a run; `None` if there is no such passage.
    #[cfg(feature = "execute")]
    pub fn passage(&self, name: &str, run: &Run) -> Option<Verdict> {
        find(self.passages, name).map(|it| (it.judge)(run))
    }

    /// What the mended wording of this finding says of a run; `None` if it is not executable.
    #[cfg(feature = "execute")]
    pub fn repair(&self, id: &str, run: &Run) -> Option<Verdict> {
        find(self.repairs, id).map(|it| (it.judge)(run))
    }

    /// The guarantee with this name; `None` if there is none.
    pub fn guarantee(&self, name: &str) -> Option<&'static Guarantee> {
        self.guarantees.iter().find(|it| it.name == name)
    }

    /// What a reader has to be told of a run: each name in it that no message holds, with what it means, in the order of the first use.
    pub fn legend(&self, run: &Run) -> Vec<(&'static str, &'static str)> {
        let mut told: Vec<(&str, &str)> = Vec::new();
        for step in &run.0 {
            for (name, value) in &step.members {
                let known = self.notes.iter().chain([&END]).copied();
                let note = match name.as_str() {
                    "from" if value.is_null() => Some(FROM_NULL),
                    name => known.into_iter().find(|(it, _)| *it == name),
                };
                told.extend(note.filter(|it| !told.contains(it)));
            }
        }
        told
    }

    /// The guarantees that a run breaks, each with the step.
    #[cfg(feature = "execute")]
    pub fn broken<'a>(&'a self, run: &'a Run) -> impl Iterator<Item = (&'static str, usize)> + 'a {
        let all = self.guarantees.iter();
        all.filter_map(|it| Some((it.name, (it.broken)(run)?)))
    }
}

fn find(judges: &'static [&'static [Judge]], name: &str) -> Option<&'static Judge> {
    judges.iter().copied().flatten().find(|it| it.name == name)
}
