//! A client that drives a running AAEP producer over HTTP, run by run, and records what it sees.
//!
//! The one thing to know: it judges nothing. A [`Played`] has the recording, for the judge of streams; and beside it the few things
//! that no recording shows ([`Wrong`]), and the clauses by which something could have been wrong.

mod convention;
mod run;
mod script;
mod shown;
mod spawned;
mod wire;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::BufRead;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use reqwest::Url;
use serde_json::{Value, json};

pub use convention::{Convention, Fault};
pub use run::Step;
pub use script::Script;
pub use shown::{SHOWN, Wrong};
pub use wire::Trouble;

use crate::http::asked_to_end;
use crate::recorder::line;
use run::{Question, Run, What};
use spawned::Spawned;
use wire::Wire;

/// What an operator chooses.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The producer: scheme, host, port, and a path that stands before every other one.
    pub url: Url,
    /// How it is spoken to; found out, where it is not said.
    pub convention: Option<Convention>,
    /// The command that starts it afresh for each run.
    pub spawn: Option<Vec<OsString>>,
    /// What every request shows.
    pub bearer_token: Option<String>,
    /// The longest wait: for a question, for the end of a session, for a timeout.
    pub max_wait: Duration,
    /// What the agent is asked.
    pub prompts: Vec<String>,
    /// The scripts to be played; those that are worth it, where none is named.
    pub scripts: Vec<Script>,
}

/// A run that was played.
#[derive(Clone, Debug)]
pub struct Played {
    /// What was done in it.
    pub script: Script,
    /// What the agent was asked.
    pub prompt: String,
    /// What the producer calls itself, where an event came.
    pub name: Option<String>,
    /// The recording.
    pub lines: Vec<u8>,
    /// What was asked, and what was heard.
    pub steps: Vec<Step>,
    /// For each line of the recording the step in which it came, from 0.
    pub step_of_line: Vec<usize>,
    /// The clauses by which something could have been wrong.
    pub shown: BTreeSet<&'static str>,
    /// What is wrong and does not show in the recording.
    pub wrong: Vec<Wrong>,
    /// What kept it from going on.
    pub trouble: Option<String>,
    /// Why it is not to be judged: not everything in it may belong to it.
    pub doubt: Option<String>,
    /// Whether its sessions were over at its end.
    pub is_over: bool,
    /// Whether the producer has named the subscription.
    names_subscriptions: bool,
    /// The same once more, as often as was wanted.
    pub again: Vec<Played>,
    /// The questions that came in it.
    questions: Vec<Question>,
}

/// The first line of a recording: what was played.
fn written_head(script: Script, prompt: &str) -> Vec<u8> {
    let head = json!({"type": HEAD, "script": script.name(), "prompt": prompt});
    format!("{head}\n").into_bytes()
}

/// The type of that line, which the judge of streams knows.
const HEAD: &str = "countersign.recording";

/// What was played in a recording: its script and its prompt, where it begins with them.
pub fn head(recording: impl BufRead) -> Option<(Script, String)> {
    let line = recording.lines().next()?.ok()?;
    let head: Value = serde_json::from_str(&line).ok()?;
    let prompt = head["prompt"].as_str()?.to_owned();
    let mut scripts = Script::ALL.into_iter();
    let script = scripts.find(|it| head["script"] == it.name())?;
    (head["type"] == HEAD).then_some((script, prompt))
}

/// Plays all runs, one after the other, until all are or a signal asks the process to end: those that were played, and whether it was
/// a signal. `tell` hears of each, and says how many times it is to be played again.
///
/// # Errors
///
/// Where the producer cannot be started or reached.
pub fn drive(
    settings: &Settings,
    tell: impl FnMut(&Played) -> usize,
) -> Result<(Vec<Played>, bool), Trouble> {
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.enable_all().build();
    let runtime = runtime.map_err(|error| Trouble(error.to_string()))?;
    let mut driver = Driver::of(settings);
    let is_stopped = runtime.block_on(async {
        tokio::select! {
            played = driver.drive(tell) => played.map(|()| false),
            () = asked_to_end() => Ok(true),
        }
    })?;
    Ok((driver.played, is_stopped))
}

struct Driver<'a> {
    settings: &'a Settings,
    /// How the producer is spoken to, once that is known. A fresh process is spoken to in the same way.
    wire: Option<Wire>,
    /// Sessions of runs that are over, and of others.
    others: BTreeSet<String>,
    played: Vec<Played>,
}

/// So many runs that something kept from going on are enough.
const MOST_TROUBLES: usize = 2;

impl<'a> Driver<'a> {
    fn of(settings: &'a Settings) -> Self {
        Self {
            settings,
            wire: None,
            others: BTreeSet::new(),
            played: Vec::new(),
        }
    }

    async fn drive(&mut self, mut tell: impl FnMut(&Played) -> usize) -> Result<(), Trouble> {
        let Settings {
            scripts, prompts, ..
        } = self.settings;
        let is_chosen = !scripts.is_empty();
        let all = if is_chosen { scripts } else { &Script::ALL[..] };
        for &script in all {
            let prompts = if is_chosen {
                prompts.clone()
            } else {
                self.worth(script)
            };
            for prompt in prompts {
                if !self.goes_on() {
                    return Ok(());
                }
                let Some(mut played) = self.play(script, &prompt).await? else {
                    continue;
                };
                for _ in 0..tell(&played) {
                    played.again.extend(self.play(script, &prompt).await?);
                }
                self.played.push(played);
            }
        }
        Ok(())
    }

    fn goes_on(&self) -> bool {
        let troubled = self.played.iter().rev().take(MOST_TROUBLES);
        troubled.filter(|it| it.trouble.is_some()).count() < MOST_TROUBLES
    }

    /// The prompts that a script is worth playing with: all for the first, those that have brought about a question for the second,
    /// and one for each of the others.
    fn worth(&self, script: Script) -> Vec<String> {
        let confirmed = |it: &&Played| it.questions.iter().any(Question::is_confirmation);
        let first = || self.played.iter().filter(|it| it.script == Script::Accept);
        let asking = || first().filter(confirmed);
        let prompts = |played: &mut dyn Iterator<Item = &Played>| -> Vec<String> {
            played.map(|it| it.prompt.clone()).collect()
        };
        let any =
            |holds: &dyn Fn(&Question) -> bool| asking().find(|it| it.questions.iter().any(holds));
        match script {
            Script::Accept => self.settings.prompts.clone(),
            Script::Reject => prompts(&mut asking()),
            Script::NotAllowed => {
                let restricts = |it: &Question| !it.allows("accept") || !it.allows("reject");
                prompts(&mut any(&restricts).into_iter())
            }
            Script::Closed if !self.is_such(Wire::closes_subscriptions) => Vec::new(),
            Script::ComesBack if !self.is_such(Wire::keeps_subscriptions) => Vec::new(),
            Script::NotOpen if !self.played.iter().any(|it| it.names_subscriptions) => Vec::new(),
            Script::NotAuthenticated if self.settings.bearer_token.is_none() => Vec::new(),
            Script::Timeout => {
                let of = |decision: &'static str| {
                    move |it: &Question| {
                        let is_short = it.timeout().is_some_and(|it| it <= self.settings.max_wait);
                        is_short && it.event["default_decision"] == decision
                    }
                };
                let (reject, accept) = (of("reject"), of("accept"));
                let found = [any(&reject), any(&accept)];
                let found: BTreeSet<String> = prompts(&mut found.into_iter().flatten())
                    .into_iter()
                    .collect();
                found.into_iter().collect()
            }
            Script::RejectThenAccept
            | Script::AcceptTwice
            | Script::UnknownToken
            | Script::OtherKind
            | Script::Malformed
            | Script::DecidedLate
            | Script::NotOpen
            | Script::Closed
            | Script::NotAuthenticated
            | Script::Modified
            | Script::Answers
            | Script::AtOnce
            | Script::ComesBack
            | Script::TwoSessions => {
                let is_simple = |it: &&Played| {
                    it.questions.len() == 1 && it.questions.iter().all(Question::shows_its_call)
                };
                let best = asking().find(is_simple);
                let best = best.or_else(|| any(&Question::shows_its_call));
                prompts(&mut best.or_else(|| asking().next()).into_iter())
            }
        }
    }

    fn is_such(&self, holds: fn(&Wire) -> bool) -> bool {
        self.wire.as_ref().is_some_and(holds)
    }

    /// Plays a run: nothing, where its script needs what the producer has not.
    async fn play(&mut self, script: Script, prompt: &str) -> Result<Option<Played>, Trouble> {
        let settings = self.settings;
        let mut process = None;
        if let Some(command) = &settings.spawn {
            process = Some(Spawned::start(command, &settings.url).await?);
        }
        if let Some(wire) = self.wire.as_ref().filter(|_| process.is_some()) {
            wire.is_healthy().await?;
        } else if self.wire.is_none() {
            let (token, chosen) = (&settings.bearer_token, &settings.convention);
            let found = Wire::find(&settings.url, token.as_deref(), chosen.as_ref());
            self.wire = Some(found.await?);
        }
        let Some(wire) = &self.wire else {
            return Ok(None);
        };
        let (recording, passed) = channel();
        let writer = thread::spawn(move || {
            let mut lines = Vec::new();
            // Nothing can go wrong with memory.
            let _written = line::write(&passed, &mut lines);
            lines
        });
        let waits = (settings.max_wait, process.is_some());
        let mut run = Run::new(wire, waits, &mut self.others, recording);
        let gone = script.play(&mut run, prompt).await;
        let trouble = gone.err().or_else(|| run.trouble.clone());
        let ended = process.as_mut().and_then(Spawned::ended);
        let trouble = match (trouble, ended) {
            (Some(trouble), Some(ended)) => {
                Some(format!("{trouble}; the process has ended: {ended}"))
            }
            (Some(trouble), None) => Some(trouble.0),
            (None, _) => None,
        };
        let named = run.log.iter().find_map(|it| match &it.what {
            What::Event(event) => producer(event),
            What::Reply(_) => None,
        });
        let mut played = Played {
            script,
            prompt: prompt.to_owned(),
            name: named,
            lines: Vec::new(),
            shown: shown::shown(&run, script),
            wrong: shown::wrong(&run, script),
            trouble,
            doubt: run.doubt.clone(),
            is_over: run.is_over(),
            names_subscriptions: run.subscription(0).is_some(),
            steps: std::mem::take(&mut run.steps),
            step_of_line: std::mem::take(&mut run.step_of_line),
            questions: std::mem::take(&mut run.questions),
            again: Vec::new(),
        };
        let was_prompted = run.prompts > 0;
        run.end().await;
        drop(run);
        played.lines = written_head(script, prompt);
        played.step_of_line.insert(0, 0);
        played.lines.extend(writer.join().unwrap_or_default());
        drop(process);
        if let (Some(trouble), true) = (&played.trouble, self.has_seen_nothing(&played)) {
            return Err(Trouble(trouble.clone()));
        }
        // Where a script needs what the producer has not, nothing was asked.
        Ok((was_prompted || played.trouble.is_some()).then_some(played))
    }

    fn has_seen_nothing(&self, last: &Played) -> bool {
        self.played.iter().chain([last]).all(|it| it.name.is_none())
    }
}

/// What the producer of an event calls itself.
fn producer(event: &Value) -> Option<String> {
    let producer = &event["producer"];
    let name = producer["agent_id"].as_str()?;
    let version = producer["agent_version"].as_str();
    Some(version.map_or_else(|| name.to_owned(), |version| format!("{name} {version}")))
}

/// What still has to come about before a clause can be shown, if anything has: that it was not shown all the same is no lack.
pub fn lacks(clause: &str, settings: &Settings, played: &[Played]) -> Option<&'static str> {
    let needs = SHOWN.iter().find(|(shown, _)| *shown == clause)?.1?;
    let is_there = match needs {
        shown::TOKEN => settings.bearer_token.is_some(),
        shown::NAMED => played.iter().any(|it| it.names_subscriptions),
        shown::RESTRICTED => {
            let mut questions = played.iter().flat_map(|it| &it.questions);
            questions
                .any(|it| it.is_confirmation() && !(it.allows("accept") && it.allows("reject")))
        }
        // Where it has come about it was shown.
        _ => false,
    };
    (!is_there).then_some(needs)
}
