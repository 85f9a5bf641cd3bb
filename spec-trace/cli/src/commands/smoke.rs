//! `countersign diff P --preflight`, by its old name `smoke`: whether an adapter speaks the driver protocol.
//!
//! A line that is no response, or another than the driver protocol asks for, is the adapter's fault. A well-formed response that says
//! that something broke is the implementation's. Violated clauses are listed, and left to `diff`.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use countersign_conform::driven::{Run, play};
use countersign_conform::implementation::{Fault, Greeted, Lost, Process};
use countersign_conform::spoken::{Spoken, Wire, judge};
use countersign_model::aaep::Aaep;
use countersign_model::mcp_aql::McpAql;
use countersign_model::pending_action::PendingAction;
use countersign_protocol::{Answer as Said, Greeting, Kind as OutputKind, Response, VERSION};
use countersign_reference::time::Timestamp;
use miette::{Report, miette};
use serde_json::{Value, json};

use super::diff::{greeted, stop_on_signal, words};
use crate::answer::{Answer, Format, Status};
use crate::arguments::Protocol;
use crate::differing::STOPPED;
use crate::show::words::{printable, shortened};

const EXAMPLES: &str = "\
Examples:
  countersign diff pending-action --preflight -- python3 adapter.py
  countersign diff aaep --preflight --timeout 20 --format json -- ./producer
  countersign diff mcp-aql --preflight -- countersign serve mcp-aql --stdio

Sends requests that are in order and requests that are not, and checks each
response: `id`, the kind of answer, errors for malformed requests, `unsupported`
for ops that `hello` does not declare, every op of the protocol, the end of
input. DRIVER.md and `schema driver` describe the protocol.

Names whose fault a failed check is: the adapter's, where a line is not what the
driver protocol asks for; the implementation's, where a response says that
something broke. Violated clauses are listed and not counted: `diff` tests them.

Exit status: 0 every check passed; 1 a check failed; 2 COMMAND does not start or
does not answer `hello`; 3 an op that the adapter has was not asked.";

/// Check that an adapter speaks the driver protocol
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The protocol that the adapter speaks
    #[arg(value_enum)]
    pub protocol: Protocol,

    /// Wait so many seconds for each response
    #[arg(long, value_name = "S", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..))]
    pub timeout: u64,

    /// What stands where `--` is missing
    #[command(flatten)]
    pub stray: Stray,

    /// The adapter: a program and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// The words of a command that lacks the `--` before it: always an error.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Stray {
    #[arg(hide = true, value_name = "COMMAND", num_args = 1.., value_parser = without_dashes)]
    stray: Vec<String>,
}

fn without_dashes(_: &str) -> Result<String, &'static str> {
    Err("`--` has to stand before the command\n  hint: countersign diff PROTOCOL -- COMMAND")
}

/// The error for an adapter that does not answer `hello`, with one hint.
pub(super) fn no_hello(command: &[OsString], lost: &Lost) -> Report {
    let shown = words(command);
    match &lost.fault {
        Fault::NotStarted(_) => {
            let hint = command.first().and_then(started_as);
            let hint = hint.map_or_else(String::new, |it| format!("\n  hint: {it}"));
            miette!("{shown}: {lost}{hint}")
        }
        Fault::Silent(waited) => {
            let (seconds, stderr) = (waited.as_secs(), lost.last_words.trim_end());
            let stderr = if stderr.is_empty() {
                String::new()
            } else {
                format!("\n  stderr: {stderr}")
            };
            let longer = seconds.saturating_mul(6);
            miette!(
                "{shown}: no `hello` response within {seconds} s; the adapter runs and has written nothing{stderr}\n  hint: give it more time to start: --timeout {longer}"
            )
        }
        Fault::Unflushed(waited) => miette!(
            "{shown}: no `hello` response within {} s; it came when stdin was closed\n  hint: flush stdout after each line",
            waited.as_secs()
        ),
        Fault::Unreadable(line, _) => miette!(
            "{shown}: the first line is no `hello` response: {line}\n  hint: write responses alone to stdout, and logs to stderr"
        ),
        Fault::Ended(_)
        | Fault::TooLong
        | Fault::Misnumbered(..)
        | Fault::Unasked(_)
        | Fault::Errored(_)
        | Fault::Misplaced(_) => miette!("{shown}: no `hello` response: {lost}"),
    }
}

/// How a file of this folder is started that was named as if it were a command.
fn started_as(program: &OsString) -> Option<String> {
    let path = Path::new(program);
    if path.components().count() != 1 || !path.is_file() {
        return None;
    }
    let name = path.display();
    Some(match path.extension()?.to_str()? {
        "py" => format!("python3 {name}"),
        "js" | "mjs" | "ts" | "mts" => format!("node {name}"),
        _ => format!("./{name}"),
    })
}

/// Checks the adapter.
///
/// # Errors
///
/// Where it does not start or does not answer `hello`.
pub fn run(args: &Args, format: Format) -> miette::Result<Answer> {
    let about = about(args.protocol);
    let preflight = match args.protocol {
        Protocol::PendingAction => check::<PendingAction>(args, &about)?,
        Protocol::McpAql => check::<McpAql>(args, &about)?,
        Protocol::Aaep => check::<Aaep>(args, &about)?,
    };
    Ok(match format {
        Format::Text => preflight.text(),
        Format::Json => Answer::json(&preflight.json(), preflight.status()),
    })
}

/// An op that needs a capability: the op, the capability, and the fields of a request that is in order.
pub(super) type Optional = (&'static str, &'static str, &'static str);

/// What an adapter has to know of a protocol.
pub(super) struct About {
    /// Its name in `hello`.
    pub name: &'static str,
    /// The kinds of output that it has to show.
    pub needed: &'static [OutputKind],
    /// The ops that it need not have.
    pub optional: &'static [Optional],
    /// The fields of a `finish_tool`, where there is one: a random run has it only after a `perform`.
    finish_tool: Option<&'static str>,
}

pub(super) const fn about(protocol: Protocol) -> About {
    match protocol {
        Protocol::PendingAction => About {
            name: "pending-action",
            needed: PendingAction::NEEDED,
            optional: PENDING_ACTION,
            finish_tool: Some(r#""action_id":"pa_1","status":"success""#),
        },
        Protocol::McpAql => About {
            name: "mcp-aql",
            needed: McpAql::NEEDED,
            optional: MCP_AQL,
            finish_tool: None,
        },
        Protocol::Aaep => About {
            name: "aaep",
            needed: Aaep::NEEDED,
            optional: AAEP,
            finish_tool: Some(r#""session_id":"sess_1","action":"a1","status":"success""#),
        },
    }
}

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

/// What was found out about an adapter.
struct Preflight {
    protocol: &'static str,
    name: String,
    supports: BTreeSet<String>,
    checks: Vec<Check>,
    /// The ops that were asked, and how often.
    asked: BTreeMap<String, usize>,
    /// The ops that are there or are declared, and were not asked.
    unasked: Vec<String>,
    /// The clauses that the checker found violated on the way.
    broken: BTreeSet<&'static str>,
    /// Whether a signal stopped it.
    is_stopped: bool,
}

/// One thing that was checked.
struct Check {
    name: String,
    wrong: Option<Failure>,
}

/// Why a check failed.
struct Failure {
    of: Side,
    text: String,
    /// The line that was sent; none, where none was.
    request: Option<String>,
    /// The line that came back; none, where none did.
    response: Option<String>,
}

impl Failure {
    const fn of_adapter(text: String) -> Self {
        Self {
            of: Side::Adapter,
            text,
            request: None,
            response: None,
        }
    }
}

/// Whose fault it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Adapter,
    Implementation,
}

/// The kind of answer that is expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    Outputs,
    Error,
    Unsupported,
}

/// A process that is asked line by line.
struct Prober<P: Spoken> {
    process: Process,
    /// The id of the last request.
    id: u64,
    /// What was checked before a signal.
    checks: Vec<Check>,
    protocol: std::marker::PhantomData<P>,
}

fn check<P: Spoken>(args: &Args, about: &About) -> miette::Result<Preflight> {
    let stop = stop_on_signal();
    let is_stopped = || stop.load(Ordering::Relaxed);
    let mut preflight = Preflight {
        protocol: P::NAME,
        name: words(&args.command),
        supports: BTreeSet::new(),
        checks: Vec::new(),
        asked: BTreeMap::new(),
        unasked: Vec::new(),
        broken: BTreeSet::new(),
        is_stopped: true,
    };
    let partner = match greeted::<P>(&args.command, args.timeout, &stop) {
        Err(_) if is_stopped() => return Ok(preflight),
        partner => partner?,
    };
    let mut process = Process::new(args.command.clone(), Duration::from_secs(args.timeout));
    process.stop = Arc::clone(&stop);
    let mut prober = Prober::<P> {
        process,
        id: 0,
        checks: Vec::new(),
        protocol: std::marker::PhantomData,
    };
    let greeting = match prober.greet() {
        Err(_) if is_stopped() => return Ok(preflight),
        Err(why) => return Err(miette!("no `hello` response from a second process: {why}")),
        Ok(greeting) => greeting,
    };
    let supports: BTreeSet<String> = greeting.declared().collect();
    prober.hello_members(&greeting);
    prober.valid_requests();
    prober.malformed_requests();
    for (op, capability, fields) in about.optional {
        if !supports.contains(*capability) {
            let name = format!("`{op}` is `unsupported` without the capability `{capability}`");
            prober.request(&name, op, fields, Expected::Unsupported);
        }
    }
    if let Some(fields) = about.finish_tool {
        let name = "`finish_tool` is answered";
        prober.request(name, "finish_tool", fields, Expected::Outputs);
        preflight.asked.insert("finish_tool".to_owned(), 1);
    }
    prober.request(
        "`tick` is answered after errors",
        "tick",
        "",
        Expected::Outputs,
    );
    prober.end_of_input();
    prober.other_versions();
    preflight.name = greeting.name;
    preflight.supports = supports;
    preflight.checks = prober.checks;
    preflight.random_runs::<P>(partner, about.optional, &stop);
    preflight.is_stopped = is_stopped();
    Ok(preflight)
}

/// The time of the first reset, in milliseconds since the epoch.
const START: i64 = 1_779_632_540_000;

impl<P: Spoken> Prober<P> {
    /// Starts a process, and reads its response to `hello`.
    fn greet(&mut self) -> Result<Greeting<Wire<P>>, String> {
        self.process.launch().map_err(|lost| lost.to_string())?;
        self.id = 1;
        let (_, response) = self.exchange(&hello(VERSION, P::NAME));
        match response?.answer {
            Said::Greeting(greeting) => Ok(greeting),
            answer @ (Said::Outputs { .. } | Said::Error { .. } | Said::Unsupported) => {
                Err(format!("the response is {}", answered::<P>(&answer)))
            }
        }
    }

    /// What the response to `hello` has to hold.
    fn hello_members(&mut self, greeting: &Greeting<Wire<P>>) {
        let is_blank = greeting.name.trim().is_empty();
        let blank = is_blank.then(|| "`name` is blank".to_owned());
        self.found("`hello` is answered with a `name`", blank);
        let unseen = P::NEEDED.iter().filter(|it| !greeting.shows(**it));
        let unseen: Vec<String> = unseen.map(|it| json!(it).to_string()).collect();
        let missing = format!("`shows` lacks {}", unseen.join(", "));
        let wrong = (!unseen.is_empty()).then_some(missing);
        self.found("`shows` has the outputs that are needed", wrong);
    }

    fn valid_requests(&mut self) {
        self.request_at(START, "`reset` is answered", "reset", "", Expected::Outputs);
        self.request_at(
            START,
            "a second `reset` is answered",
            "reset",
            "",
            Expected::Outputs,
        );
        let later = START + 60_000;
        self.request_at(later, "`tick` is answered", "tick", "", Expected::Outputs);
        self.request_at(START, "`now` may step back", "tick", "", Expected::Outputs);
        let far = START + 3_600_000;
        self.request_at(far, "`now` may go on again", "tick", "", Expected::Outputs);
        self.request_at(
            START,
            "`reset` sets the clock",
            "reset",
            "",
            Expected::Outputs,
        );
    }

    fn malformed_requests(&mut self) {
        self.request(
            "an unknown op is an `error`",
            "no_such_op",
            "",
            Expected::Error,
        );
        let field = r#""no_such_field":1"#;
        self.request(
            "an unknown field is an `error`",
            "tick",
            field,
            Expected::Error,
        );
        self.id += 1;
        let timeless = format!(r#"{{"id":{},"op":"tick"}}"#, self.id);
        self.check_line(
            "a request without `now` is an `error`",
            &timeless,
            Some(self.id),
            Expected::Error,
        );
        self.id += 1;
        let no_time = format!(r#"{{"id":{},"op":"tick","now":"noon"}}"#, self.id);
        self.check_line(
            "a `now` that is no time is an `error`",
            &no_time,
            Some(self.id),
            Expected::Error,
        );
        self.check_line(
            "a line that is no JSON is an `error` with the id null",
            "{",
            None,
            Expected::Error,
        );
    }

    /// The adapter ends when its input does.
    fn end_of_input(&mut self) {
        let wrong = match self.process.hang_up() {
            Some(status) if status.success() => None,
            Some(status) => Some(format!("the adapter ended ({status})")),
            None => Some("the adapter does not end".to_owned()),
        };
        self.found("the adapter ends with its input, with status 0", wrong);
    }

    fn other_versions(&mut self) {
        for (name, line) in [
            (
                "another version in `hello` is an `error`",
                hello(99, P::NAME),
            ),
            (
                "another protocol in `hello` is an `error`",
                hello(VERSION, "no-such-protocol"),
            ),
        ] {
            if let Err(lost) = self.process.launch() {
                self.found(name, Some(lost.to_string()));
                continue;
            }
            self.check_line(name, &line, Some(1), Expected::Error);
        }
    }

    fn request(&mut self, name: &str, op: &str, fields: &str, expected: Expected) {
        self.request_at(START, name, op, fields, expected);
    }

    fn request_at(&mut self, now: i64, name: &str, op: &str, fields: &str, expected: Expected) {
        self.id += 1;
        let now = Timestamp::from_millis(now);
        let comma = if fields.is_empty() { "" } else { "," };
        let id = self.id;
        let line = format!(r#"{{"id":{id},"op":"{op}","now":"{now}"{comma}{fields}}}"#);
        self.check_line(name, &line, Some(id), expected);
    }

    /// Writes a line, and checks what comes.
    fn check_line(&mut self, name: &str, line: &str, id: Option<u64>, expected: Expected) {
        let (came, response) = self.exchange(line);
        let wrong = match response {
            Err(why) => {
                self.again();
                Some((Side::Adapter, why))
            }
            Ok(response) => wrong::<P>(&response, id, expected),
        };
        self.checked(Check {
            name: name.to_owned(),
            wrong: wrong.map(|(of, text)| Failure {
                of,
                text,
                request: Some(line.to_owned()),
                response: came,
            }),
        });
    }

    /// Notes a check. Behind a signal no answer is waited for, and nothing counts.
    fn checked(&mut self, check: Check) {
        if !self.process.stop.load(Ordering::Relaxed) {
            self.checks.push(check);
        }
    }

    /// Starts another process, so that no check depends on the failed one. Where it does not start, the next check says so.
    fn again(&mut self) {
        if self.greet().is_ok() {
            let now = Timestamp::from_millis(START);
            let reset = format!(r#"{{"id":2,"op":"reset","now":"{now}"}}"#);
            let _told_by_the_next = self.exchange(&reset);
            self.id = 2;
        }
    }

    fn found(&mut self, name: &str, wrong: Option<String>) {
        self.checked(Check {
            name: name.to_owned(),
            wrong: wrong.map(Failure::of_adapter),
        });
    }

    /// Writes a line: the line that came back, and what it says or why it is no response.
    fn exchange(&mut self, line: &str) -> (Option<String>, Result<Response<Wire<P>>, String>) {
        match self.process.exchange(line.as_bytes()) {
            Err(lost) => (None, Err(lost.to_string())),
            Ok(line) => {
                let response = Response::read(&line);
                let response =
                    response.map_err(|problem| format!("the line is no response: {problem}"));
                (Some(String::from_utf8_lossy(&line).into_owned()), response)
            }
        }
    }
}

/// What is wrong with a response, and whose fault it is.
fn wrong<P: Spoken>(
    response: &Response<Wire<P>>,
    id: Option<u64>,
    expected: Expected,
) -> Option<(Side, String)> {
    if response.id != id {
        let shown = |id: Option<u64>| id.map_or("null".to_owned(), |id| id.to_string());
        let (is, expected) = (shown(response.id), shown(id));
        let text = format!("the response has the `id` {is}: expected {expected}");
        return Some((Side::Adapter, text));
    }
    match (&response.answer, expected) {
        (Said::Outputs { .. }, Expected::Outputs)
        | (Said::Error { .. }, Expected::Error)
        | (Said::Unsupported, Expected::Unsupported) => None,
        (Said::Error { error }, Expected::Outputs) => {
            let text = format!("the response is an `error`: {error}");
            Some((Side::Implementation, text))
        }
        (answer, Expected::Outputs | Expected::Error | Expected::Unsupported) => {
            let (is, expected) = (answered::<P>(answer), expected.name());
            let text = format!("the response is {is}: expected {expected}");
            Some((Side::Adapter, text))
        }
    }
}

fn hello(version: u64, protocol: &str) -> String {
    format!(r#"{{"id":1,"op":"hello","driver":{version},"protocol":"{protocol}"}}"#)
}

const fn answered<P: Spoken>(answer: &Said<Wire<P>>) -> &'static str {
    match answer {
        Said::Greeting(_) => "that of `hello`",
        Said::Outputs { .. } => "`outputs`",
        Said::Error { .. } => "an `error`",
        Said::Unsupported => "`unsupported`",
    }
}

impl Expected {
    const fn name(self) -> &'static str {
        match self {
            Self::Outputs => "`outputs`",
            Self::Error => "an `error`",
            Self::Unsupported => "`unsupported`",
        }
    }
}

/// At most so many random runs,
const RUNS: u64 = 100;
/// of so many steps each.
const STEPS: usize = 60;

impl Preflight {
    /// Asks each op, in random runs, until each was.
    fn random_runs<P: Spoken>(
        &mut self,
        mut partner: Greeted<Wire<P>, Process>,
        optional: &[Optional],
        stop: &AtomicBool,
    ) {
        let is_stopped = || stop.load(Ordering::Relaxed);
        let judge = judge::<P>(partner.greeting());
        let mut wrong = None;
        let mut seed = 1;
        self.unasked = self.ops(optional);
        self.unasked.retain(|op| !self.asked.contains_key(op));
        while seed <= RUNS && wrong.is_none() && !self.unasked.is_empty() {
            let run = Run::<P>::seeded(seed, STEPS);
            let played = play::<P, _>(&mut partner, &run.steps, &judge);
            if is_stopped() {
                return;
            }
            for op in played.told.iter().filter_map(|told| told.ask.op()) {
                *self.asked.entry(op.name()).or_default() += 1;
            }
            let lost = played.wrong.iter().find(|it| it.lost.is_some());
            wrong = lost.and_then(|wrong| {
                let lost = wrong.lost.as_ref()?;
                let told = wrong
                    .calls
                    .checked_sub(1)
                    .and_then(|last| played.told.get(last));
                let request = told.and_then(|told| told.step().request().ok());
                let request = request.map(|it| it.as_str().to_owned());
                let is_error = matches!(lost.fault, Fault::Errored(_));
                Some(Failure {
                    of: if is_error {
                        Side::Implementation
                    } else {
                        Side::Adapter
                    },
                    text: lost.to_string(),
                    request,
                    response: None,
                })
            });
            if let Some(op) = played.unsupported.first() {
                let text = format!(
                    "`{op}` is `unsupported`, and its capability is declared or it needs none"
                );
                wrong = wrong.or_else(|| Some(Failure::of_adapter(text)));
            }
            let broken = played.wrong.iter().filter(|it| it.lost.is_none());
            self.broken.extend(broken.map(|it| it.finding.clause));
            self.unasked.retain(|op| !self.asked.contains_key(op));
            seed += 1;
        }
        self.checks.push(Check {
            name: "every op is answered in random runs".to_owned(),
            wrong,
        });
    }

    /// The ops that every implementation has, and those that it declares.
    fn ops(&self, optional: &[Optional]) -> Vec<String> {
        let schema = countersign_protocol::schema();
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
        let is_whole = self.unasked.is_empty() && !self.is_stopped;
        Status::of(!is_wrong).over(Status::if_exercised(is_whole))
    }

    fn json(&self) -> Value {
        let checks = self.checks.iter().map(|check| {
            let wrong = check.wrong.as_ref();
            json!({
                "name": check.name, "passed": wrong.is_none(), "of": wrong.map(|it| it.of.name()),
                "text": wrong.map(|it| &it.text), "request": wrong.and_then(|it| it.request.as_ref()),
                "response": wrong.and_then(|it| it.response.as_ref()),
            })
        });
        json!({
            "protocol": self.protocol, "implementation": self.name, "supports": self.supports,
            "verdict": self.status().verdict(), "result": self.status().result(),
            "ended": self.is_stopped.then_some(STOPPED),
            "checks": checks.collect::<Vec<_>>(),
            "asked": self.asked, "unasked": self.unasked, "broken": self.broken,
        })
    }

    /// The failed checks, and the counts.
    fn text(&self) -> Answer {
        let mut lines = Vec::new();
        for check in &self.checks {
            let Some(wrong) = &check.wrong else {
                continue;
            };
            lines.push(format!(" ✗ {}", check.name));
            lines.push(format!(
                "     {}: {}",
                wrong.of.name(),
                printable(&wrong.text)
            ));
            let line = |text: &String| shortened(&printable(text), LONGEST_SHOWN);
            lines.extend(
                wrong
                    .request
                    .as_ref()
                    .map(|it| format!("     →  {}", line(it))),
            );
            lines.extend(
                wrong
                    .response
                    .as_ref()
                    .map(|it| format!("     ←  {}", line(it))),
            );
        }
        if !self.unasked.is_empty() {
            lines.push(format!("not asked: {}", self.unasked.join(", ")));
        }
        if !self.broken.is_empty() {
            let clauses: Vec<&str> = self.broken.iter().copied().collect();
            let clauses = clauses.join(", ");
            lines.push(format!("not counted here, for `diff`: {clauses} violated"));
        }
        let passed = self.checks.iter().filter(|it| it.wrong.is_none()).count();
        let (result, all) = (self.status().result(), self.checks.len());
        let (name, protocol) = (printable(&self.name), self.protocol);
        let ended = if self.is_stopped {
            format!(", {STOPPED}")
        } else {
            String::new()
        };
        lines.push(format!(
            "{result}  {passed} of {all} checks passed ({name}, an adapter of {protocol}{ended})"
        ));
        Answer {
            text: lines.join("\n") + "\n",
            status: self.status(),
        }
    }
}

/// So many columns of a request or a response are shown.
const LONGEST_SHOWN: usize = 400;

impl Side {
    const fn name(self) -> &'static str {
        match self {
            Self::Adapter => "adapter",
            Self::Implementation => "implementation",
        }
    }
}
