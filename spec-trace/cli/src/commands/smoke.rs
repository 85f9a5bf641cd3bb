//! `countersign smoke`: the plug of an implementation, before anything is said of the implementation.
//!
//! The one thing to know: a line that is no response, or not the one that the driver protocol has, is the adapter's fault; a
//! response in due form that says that something broke is the implementation's. What the judge finds is told, and is for `diff`.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::time::Duration;

use countersign_conform::aaep::wide::Driver as AaepDriver;
use countersign_conform::driven::{Driven, Run, play};
use countersign_conform::implementation::{Fault, Greeted, Process};
use countersign_conform::mcp_aql::wide::Driver as McpAqlDriver;
use countersign_conform::pending_action::wide::Driver as PendingActionDriver;
use countersign_driver::{Answer as Said, Greeting, Protocol as _, Response, VERSION};
use countersign_reference::time::Timestamp;
use miette::miette;
use serde_json::{Value, json};

use crate::answer::{Answer, Format, Status};
use crate::arguments::Protocol;
use crate::show::words::printable;

const EXAMPLES: &str = "\
Examples:
  countersign smoke pending-action -- python3 ledger.py
  countersign smoke aaep --timeout 20 --format json -- ./producer
  countersign smoke mcp-aql -- countersign serve mcp-aql --stdio

It is asked what is in order and what is not, and each response is held against the driver protocol
(docs/DRIVER.md, `schema driver`): that it greets, that each request has one response, with its id,
that a bad request is an error and nothing more, that it can be reset, that the clock may step back,
that an op that is not declared is unsupported, that each op that is declared can be asked, and that
it ends with its input.

A fault is the adapter's where a line is not what the driver protocol has there, and the
implementation's where it says in due form that something broke. Rules that are broken are named and
are for `diff` to judge: they do not count here.

Exit status: 0 if the plug holds; 1 if a check fails; 2 if COMMAND could not be started or does not
greet; 3 if an op that it declares was not asked.";

/// Checks the plug of an implementation: whether it speaks the driver protocol
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The protocol that it speaks
    #[arg(value_enum)]
    pub protocol: Protocol,

    /// Wait for each response so many seconds
    #[arg(long, value_name = "S", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..))]
    pub timeout: u64,

    /// The implementation: a program and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// Checks the plug.
///
/// # Errors
///
/// Where it cannot be started or does not greet.
pub fn run(args: &Args, format: Format) -> miette::Result<Answer> {
    let plug = match args.protocol {
        Protocol::PendingAction => check::<PendingActionDriver>(args, PENDING_ACTION)?,
        Protocol::McpAql => check::<McpAqlDriver>(args, MCP_AQL)?,
        Protocol::Aaep => check::<AaepDriver>(args, AAEP)?,
    };
    Ok(match format {
        Format::Text => plug.text(),
        Format::Json => Answer::json(&plug.json(), plug.status()),
    })
}

/// An op that needs a capability: the op, the capability, and a request of it that is in order.
type Optional = (&'static str, &'static str, &'static str);

const AAEP: &[Optional] = &[
    (
        "clarify",
        "clarify",
        r#""session_id":"sess_1","question":"Which?","timeout_seconds":60"#,
    ),
    ("cancel", "cancel", r#""reply_token":"rpl_1""#),
    (
        "extend",
        "extend",
        r#""reply_token":"rpl_1","timeout_seconds":60"#,
    ),
    (
        "tool",
        "work",
        r#""session_id":"sess_1","action":{"id":"a1","tool":"t"}"#,
    ),
    (
        "output",
        "work",
        r#""session_id":"sess_1","output_id":"out_1","chunk":"a","complete":true"#,
    ),
    (
        "handoff",
        "work",
        r#""session_id":"sess_1","reason":"r","target_kind":"human""#,
    ),
    RESTART,
];
const MCP_AQL: &[Optional] = &[
    (
        "introspect",
        "introspect",
        r#""query":"token_status","token":"conf_1""#,
    ),
    RESTART,
];
const PENDING_ACTION: &[Optional] = &[
    ("cancel", "cancel", r#""action_id":"pa_1""#),
    ("say", "say", r#""by":"ana","text":"Yes""#),
    ("snapshot", "snapshot", ""),
    ("rollback", "snapshot", r#""snapshot":"s""#),
    RESTART,
];
const RESTART: Optional = ("restart", "restart", "");

/// What was found out about a plug.
struct Plug {
    protocol: &'static str,
    name: String,
    supports: BTreeSet<String>,
    checks: Vec<Check>,
    /// The ops that were asked, and how often.
    asked: BTreeMap<String, usize>,
    /// The ops that are there or are declared, and were not asked.
    unasked: Vec<String>,
    /// The clauses that the judge found broken on the way.
    broken: BTreeSet<&'static str>,
}

/// One thing that was checked.
struct Check {
    name: String,
    /// What is wrong, and whose fault it is.
    wrong: Option<(Of, String)>,
}

/// Whose fault it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Of {
    Adapter,
    Implementation,
}

/// What has to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    Outputs,
    Error,
    Unsupported,
}

/// A process of which lines are asked.
struct Plugged<D: Driven> {
    process: Process,
    /// The id of the last request.
    id: u64,
    checks: Vec<Check>,
    protocol: std::marker::PhantomData<D>,
}

fn check<D: Driven>(args: &Args, optional: &[Optional]) -> miette::Result<Plug> {
    let process = || Process::new(args.command.clone(), Duration::from_secs(args.timeout));
    let mut plugged = Plugged::<D> {
        process: process(),
        id: 0,
        checks: Vec::new(),
        protocol: std::marker::PhantomData,
    };
    let lost = |why: String| miette!("it does not greet as the driver protocol has it: {why}");
    let greeting = plugged.greet().map_err(lost)?;
    let supports: BTreeSet<String> = greeting.declared().collect();
    plugged.greets(&greeting);
    plugged.takes_what_is_in_order();
    plugged.refuses_what_is_not();
    for (op, capability, fields) in optional {
        if !supports.contains(*capability) {
            let name = format!("{op} is unsupported, for {capability} is not declared");
            plugged.asks(&name, op, fields, Wanted::Unsupported);
        }
    }
    plugged.asks("it can be asked afterwards", "tick", "", Wanted::Outputs);
    plugged.ends();
    plugged.takes_no_other_version();
    let mut plug = Plug {
        protocol: D::Protocol::NAME,
        name: greeting.name,
        supports,
        checks: plugged.checks,
        asked: BTreeMap::new(),
        unasked: Vec::new(),
        broken: BTreeSet::new(),
    };
    plug.plays::<D>(process(), optional)?;
    Ok(plug)
}

/// The time of the first reset, in milliseconds since the epoch.
const START: i64 = 1_779_632_540_000;

impl<D: Driven> Plugged<D> {
    /// Starts it, and reads its greeting.
    fn greet(&mut self) -> Result<Greeting<D::Protocol>, String> {
        self.process.launch().map_err(|lost| lost.to_string())?;
        let response = self.exchange(&hello(VERSION, D::Protocol::NAME))?;
        match response.answer {
            Said::Greeting(greeting) if response.id == Some(1) => Ok(greeting),
            Said::Greeting(_) => Err("its response does not have the id 1".to_owned()),
            answer @ (Said::Outputs { .. } | Said::Error { .. } | Said::Unsupported { .. }) => {
                Err(format!("it answered with {}", answered::<D>(&answer)))
            }
        }
    }

    /// What the greeting has to say.
    fn greets(&mut self, greeting: &Greeting<D::Protocol>) {
        let is_blank = greeting.name.trim().is_empty();
        let blank = is_blank.then(|| "`name` is blank".to_owned());
        self.found("it greets, and says who it is", blank);
        let unseen = D::NEEDED.iter().filter(|it| !greeting.shows(**it));
        let unseen: Vec<String> = unseen.map(|it| json!(it).to_string()).collect();
        let missing = format!("`shows` lacks {}", unseen.join(", "));
        let wrong = (!unseen.is_empty()).then_some(missing);
        self.found("it shows what cannot be judged without", wrong);
        self.id = 1;
    }

    fn takes_what_is_in_order(&mut self) {
        self.asks_at(START, "it can be reset", "reset", "", Wanted::Outputs);
        self.asks_at(START, "it can be reset again", "reset", "", Wanted::Outputs);
        let later = START + 60_000;
        self.asks_at(later, "time goes on", "tick", "", Wanted::Outputs);
        self.asks_at(
            START,
            "the clock may step back",
            "tick",
            "",
            Wanted::Outputs,
        );
        let far = START + 3_600_000;
        self.asks_at(far, "and go on again", "tick", "", Wanted::Outputs);
        self.asks_at(
            START,
            "a reset sets the clock",
            "reset",
            "",
            Wanted::Outputs,
        );
    }

    fn refuses_what_is_not(&mut self) {
        self.asks(
            "an op that there is not is an error",
            "no_such_op",
            "",
            Wanted::Error,
        );
        let field = r#""no_such_field":1"#;
        self.asks(
            "a field that there is not is an error",
            "tick",
            field,
            Wanted::Error,
        );
        self.id += 1;
        let timeless = format!(r#"{{"id":{},"op":"tick"}}"#, self.id);
        self.says(
            "a request without `now` is an error",
            &timeless,
            Some(self.id),
            Wanted::Error,
        );
        self.id += 1;
        let no_time = format!(r#"{{"id":{},"op":"tick","now":"noon"}}"#, self.id);
        self.says(
            "a `now` that is no time is an error",
            &no_time,
            Some(self.id),
            Wanted::Error,
        );
        self.says(
            "a line that is no JSON is an error with a null id",
            "{",
            None,
            Wanted::Error,
        );
    }

    /// It ends when its input does.
    fn ends(&mut self) {
        let wrong = match self.process.hang_up() {
            Some(status) if status.success() => None,
            Some(status) => Some(format!("it ended with {status}")),
            None => Some("it goes on".to_owned()),
        };
        self.found("it ends with its input, and with status 0", wrong);
    }

    fn takes_no_other_version(&mut self) {
        for (name, line) in [
            (
                "another version of the driver is an error",
                hello(99, D::Protocol::NAME),
            ),
            (
                "another protocol is an error",
                hello(VERSION, "no-such-protocol"),
            ),
        ] {
            if let Err(lost) = self.process.launch() {
                self.found(name, Some(lost.to_string()));
                continue;
            }
            self.says(name, &line, Some(1), Wanted::Error);
        }
    }

    fn asks(&mut self, name: &str, op: &str, fields: &str, wanted: Wanted) {
        self.asks_at(START, name, op, fields, wanted);
    }

    fn asks_at(&mut self, now: i64, name: &str, op: &str, fields: &str, wanted: Wanted) {
        self.id += 1;
        let now = Timestamp::from_millis(now);
        let comma = if fields.is_empty() { "" } else { "," };
        let id = self.id;
        let line = format!(r#"{{"id":{id},"op":"{op}","now":"{now}"{comma}{fields}}}"#);
        self.says(name, &line, Some(id), wanted);
    }

    /// Writes a line, and checks what comes.
    fn says(&mut self, name: &str, line: &str, id: Option<u64>, wanted: Wanted) {
        let wrong = match self.exchange(line) {
            Err(why) => {
                self.again();
                Some((Of::Adapter, why))
            }
            Ok(response) => wrong::<D>(&response, id, wanted),
        };
        self.checks.push(Check {
            name: name.to_owned(),
            wrong,
        });
    }

    /// Starts it anew, so that what comes next is not held against what was before. Where it cannot, the next check says so.
    fn again(&mut self) {
        if self.greet().is_ok() {
            let now = Timestamp::from_millis(START);
            let reset = format!(r#"{{"id":2,"op":"reset","now":"{now}"}}"#);
            let _told_by_the_next = self.exchange(&reset);
            self.id = 2;
        }
    }

    fn found(&mut self, name: &str, wrong: Option<String>) {
        self.checks.push(Check {
            name: name.to_owned(),
            wrong: wrong.map(|wrong| (Of::Adapter, wrong)),
        });
    }

    fn exchange(&mut self, line: &str) -> Result<Response<D::Protocol>, String> {
        let line = self.process.exchange(line.as_bytes());
        let line = line.map_err(|lost| lost.to_string())?;
        Response::read(&line).map_err(|problem| format!("it wrote what is no response: {problem}"))
    }
}

/// What is wrong with a response, and whose fault it is.
fn wrong<D: Driven>(
    response: &Response<D::Protocol>,
    id: Option<u64>,
    wanted: Wanted,
) -> Option<(Of, String)> {
    if response.id != id {
        let shown = |id: Option<u64>| id.map_or("null".to_owned(), |id| id.to_string());
        let (is, wanted) = (shown(response.id), shown(id));
        let text = format!("the `id` of its response is {is}: expected {wanted}");
        return Some((Of::Adapter, text));
    }
    match (&response.answer, wanted) {
        (Said::Outputs { .. }, Wanted::Outputs)
        | (Said::Error { .. }, Wanted::Error)
        | (Said::Unsupported { .. }, Wanted::Unsupported) => None,
        (Said::Error { error }, Wanted::Outputs) => {
            let text = format!("it answered with an error: {error}");
            Some((Of::Implementation, text))
        }
        (answer, Wanted::Outputs | Wanted::Error | Wanted::Unsupported) => {
            let (is, wanted) = (answered::<D>(answer), wanted.name());
            let text = format!("it answered with {is}: expected {wanted}");
            Some((Of::Adapter, text))
        }
    }
}

fn hello(version: u64, protocol: &str) -> String {
    format!(r#"{{"id":1,"op":"hello","driver":{version},"protocol":"{protocol}"}}"#)
}

const fn answered<D: Driven>(answer: &Said<D::Protocol>) -> &'static str {
    match answer {
        Said::Greeting(_) => "a greeting",
        Said::Outputs { .. } => "`outputs`",
        Said::Error { .. } => "an `error`",
        Said::Unsupported { .. } => "`unsupported`",
    }
}

impl Wanted {
    const fn name(self) -> &'static str {
        match self {
            Self::Outputs => "`outputs`",
            Self::Error => "an `error`",
            Self::Unsupported => "`unsupported`",
        }
    }
}

/// After so many runs an op that was not asked is given up on.
const RUNS: u64 = 100;
/// Of so many steps.
const STEPS: usize = 60;

impl Plug {
    /// Asks each op, in random runs, until each was.
    fn plays<D: Driven>(&mut self, process: Process, optional: &[Optional]) -> miette::Result<()> {
        let mut partner = Greeted::<D::Protocol, _>::new(process)
            .map_err(|lost| miette!("it does not greet a second time: {lost}"))?;
        let judge = D::judge(partner.greeting());
        let mut wrong = None;
        let mut seed = 1;
        self.unasked = self.ops(optional);
        while seed <= RUNS && wrong.is_none() && !self.unasked.is_empty() {
            let run = Run::<D>::seeded(seed, STEPS);
            let played = play::<D, _>(&mut partner, &run.steps, &judge, None);
            for told in &played.told {
                *self.asked.entry(told.op.name()).or_default() += 1;
            }
            let lost = played.wrong.iter().find_map(|it| it.lost.as_ref());
            let of = |fault: &Fault| {
                if matches!(fault, Fault::Errored(_)) {
                    Of::Implementation
                } else {
                    Of::Adapter
                }
            };
            wrong = lost.map(|lost| (of(&lost.fault), lost.to_string()));
            if let Some(op) = played.unsupported.first() {
                let text = format!("{op} is unsupported, though it is declared or always there");
                wrong = wrong.or(Some((Of::Adapter, text)));
            }
            let broken = played.wrong.iter().filter(|it| it.lost.is_none());
            self.broken.extend(broken.map(|it| it.finding.clause));
            self.unasked.retain(|op| !self.asked.contains_key(op));
            seed += 1;
        }
        self.checks.push(Check {
            name: "each op that it has can be asked".to_owned(),
            wrong,
        });
        Ok(())
    }

    /// The ops that every implementation has, and those that it declares.
    fn ops(&self, optional: &[Optional]) -> Vec<String> {
        let schema = countersign_driver::schema();
        let ops = schema["$defs"][format!("{}.request", self.protocol)]["oneOf"].as_array();
        let ops = ops.into_iter().flatten();
        let ops = ops.filter_map(|op| op["properties"]["op"]["const"].as_str());
        let is_there = |op: &&str| {
            let mut needs = optional.iter().filter(|(it, ..)| it == op);
            needs.all(|(_, capability, _)| self.supports.contains(*capability))
        };
        // Those are asked of each process.
        let ops = ops.filter(|op| !["hello", "reset"].contains(op));
        ops.filter(is_there).map(str::to_owned).collect()
    }

    fn status(&self) -> Status {
        let is_wrong = self.checks.iter().any(|it| it.wrong.is_some());
        Status::of(!is_wrong).over(Status::if_exercised(self.unasked.is_empty()))
    }

    fn verdict(&self) -> &'static str {
        self.status().verdict()
    }

    fn json(&self) -> Value {
        let checks = self.checks.iter().map(|check| {
            let (of, text) = check.wrong.as_ref().map(|(of, it)| (of.name(), it)).unzip();
            json!({"name": check.name, "passed": of.is_none(), "of": of, "text": text})
        });
        json!({
            "protocol": self.protocol, "implementation": self.name, "supports": self.supports,
            "verdict": self.verdict(),
            "checks": checks.collect::<Vec<_>>(),
            "asked": self.asked, "unasked": self.unasked, "broken": self.broken,
        })
    }

    fn text(&self) -> Answer {
        let mut lines = vec![format!("{}, as {}", printable(&self.name), self.protocol)];
        for check in &self.checks {
            lines.push(match &check.wrong {
                None => format!("   {}", check.name),
                Some((of, text)) => {
                    format!(" ✗ {}\n     {}: {}", check.name, of.name(), printable(text))
                }
            });
        }
        if !self.unasked.is_empty() {
            lines.push(format!("not asked: {}", self.unasked.join(", ")));
        }
        if !self.broken.is_empty() {
            let clauses: Vec<&str> = self.broken.iter().copied().collect();
            let clauses = clauses.join(", ");
            lines.push(format!(
                "the plug aside, rules are broken, for `diff` to show: {clauses}"
            ));
        }
        lines.push(self.verdict().to_owned());
        Answer {
            text: lines.join("\n") + "\n",
            status: self.status(),
        }
    }
}

impl Of {
    const fn name(self) -> &'static str {
        match self {
            Self::Adapter => "adapter",
            Self::Implementation => "implementation",
        }
    }
}
