//! `countersign serve`: the reference executor as a live implementation of the driver protocol, or as an AAEP producer over HTTP.

use std::fs;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use countersign_clauses::cited;
use countersign_live::{host::Host, http};
use countersign_model::facade::Text;
use countersign_reference::aaep::Audit;
use countersign_reference::mcp_aql::Settings;
use countersign_store::Store;
use miette::{Context, IntoDiagnostic, miette};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::told_on_stderr;
use super::vectors::{CONNECTIONS_END, setting};
use crate::answer::{Answer, Status};
use crate::arguments::Protocol;
use crate::serve::aaep::{self, Aaep};
use crate::serve::ids::Ids;
use crate::serve::mcp_aql::McpAql;
use crate::serve::pending_action::PendingAction;
use crate::serve::{Service, stdio};
use crate::spec_file::Changes;

/// What stands below the options: all requests, as the types of the driver protocol have them.
fn requests() -> String {
    let schema = countersign_protocol::schema();
    let mut text = String::from(FIRST);
    for (protocol, skipped) in [
        ("aaep", 0),
        ("aaep", COMMON),
        ("mcp-aql", COMMON),
        ("pending-action", COMMON),
    ] {
        let ops = schema["$defs"][format!("{protocol}.request")]["oneOf"].as_array();
        let ops = ops.into_iter().flatten().skip(skipped);
        let ops = ops.take(if skipped == 0 { COMMON } else { usize::MAX });
        text.push_str(if skipped == 0 { "all" } else { protocol });
        text.push_str(":\n");
        ops.for_each(|op| text.push_str(&request(op)));
    }
    text + LAST
}

/// How many ops every protocol has; they come first.
const COMMON: usize = 4;

const FIRST: &str = "\
Examples:
  countersign serve aaep --stdio --seed 7
  countersign serve pending-action --stdio --store actions.store
  countersign serve pending-action --stdio --reading expiry-boundary=after
  countersign serve mcp-aql --stdio --signed --settings '{\"capacity\":1000}'
  countersign serve aaep --http 127.0.0.1:8080
  countersign serve aaep --http 0.0.0.0:8080 --bearer-token-file token.txt

--stdio speaks the driver protocol. Each request has `id` and `op`, and from
`reset` on `now` (RFC 3339):
  {\"id\":1,\"op\":\"hello\",\"driver\":1,\"protocol\":\"mcp-aql\"}
  {\"id\":2,\"op\":\"reset\",\"now\":\"2026-05-24T14:22:20Z\"}

Ops and fields (? is optional); `schema driver` has their types:
";

const LAST: &str = "
--settings is a JSON object; the first value, or the one in [ ], is the default:
  aaep            modified_action: false|true
  mcp-aql         check_order: table|sample
                  session_binding: many_uses|every
                  ended_session: stays_ended|comes_back
                  restarted_session: ends|goes_on
                  persistence: persistent|in_memory
                  capacity: 1000 usable tokens or more [1000000]
                  retention: 0 to 3000 seconds [900] for which an expired token
                    differs from an unknown one
                  rate_limits: {issuance, failed_validation, revocation:
                    {burst, interval_millis}} [no limit]
                  configuration: {clock_skew_tolerance_seconds: 0 to 300 [30],
                    oracle: codes|uniform, critical}
  pending-action  read_effect: pends|runs
                  expiry_boundary: at|after
                  expiry_absent: never|{\"after\":{\"seconds\":N}}
                  deciders_absent: anyone|nobody
                  delivery: at_most_once|at_least_once

--http serves an AAEP producer with a scripted agent until SIGINT or SIGTERM.
Beyond the loopback it needs --bearer-token-file. There is no TLS.

spec-trace/docs/LIVE.md has paths, limits, and what the reference does where a
text leaves a choice.";

/// One op and its fields, over as many lines as they need.
fn request(op: &Value) -> String {
    let required = op["required"].as_array();
    let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|it| it == name));
    let fields = op["properties"].as_object().into_iter().flatten();
    let fields = fields.filter(|(name, _)| !["id", "op", "now"].contains(&name.as_str()));
    let fields: Vec<String> = fields
        .map(|(name, schema)| {
            let mark = if is_required(name) { "" } else { "?" };
            format!("{name}{mark}{}", words(schema))
        })
        .collect();
    let mut text = format!(
        "  {:<14}",
        op["properties"]["op"]["const"].as_str().unwrap_or("")
    );
    let mut column = text.len();
    for (place, field) in fields.iter().enumerate() {
        let comma = if place + 1 < fields.len() { "," } else { "" };
        if column + field.len() + 2 > WIDTH {
            column = 16;
            text.push_str("\n                ");
        }
        column += field.len() + 2;
        text.extend([" ", field, comma]);
    }
    text.truncate(text.trim_end().len());
    text + "\n"
}

/// The longest line of the help.
const WIDTH: usize = 78;

/// The words that a field may hold, if it is one of a few.
fn words(schema: &Value) -> String {
    // A field that may be absent has its words one level further down.
    let choices = schema["oneOf"].as_array();
    let choices = choices.or_else(|| schema["anyOf"][0]["oneOf"].as_array());
    let choices = choices.into_iter().flatten();
    let words: Vec<&str> = choices
        .filter_map(|choice| choice["const"].as_str())
        .collect();
    if words.is_empty() {
        String::new()
    } else {
        format!(": {}", words.join("|"))
    }
}

/// Arguments of `countersign serve`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = requests())]
pub struct Args {
    /// The protocol to serve
    #[arg(value_enum)]
    pub protocol: Protocol,
    /// Answer requests on stdin, one JSON object a line
    #[arg(long, required_unless_present = "http")]
    pub stdio: bool,
    /// Serve an AAEP producer here, such as 127.0.0.1:8080; port 0 takes a free one
    #[arg(long, value_name = "ADDR", conflicts_with_all = ["stdio", "signed"])]
    pub http: Option<SocketAddr>,
    /// With --http, require the token that is the one line of this file
    #[arg(long, value_name = "PATH", conflicts_with = "stdio")]
    pub bearer_token_file: Option<PathBuf>,
    /// With --http, let each question of the agent wait N seconds
    #[arg(long, value_name = "N", conflicts_with = "stdio", default_value_t = 30)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=86400))]
    pub timeout_seconds: u64,
    /// Keep pending actions in this file; `restart` resumes, `reset` clears it
    #[arg(long, value_name = "PATH")]
    pub store: Option<PathBuf>,
    /// Choose settings, as JSON; names and values are listed below
    #[arg(long, value_name = "JSON")]
    pub settings: Option<String>,
    /// Take readings and numbers from this file; `spec` prints one
    #[arg(long, value_name = "FILE", conflicts_with = "settings")]
    pub spec: Option<PathBuf>,
    /// Choose a reading of an ambiguous clause (may be repeated)
    #[arg(
        long = "reading",
        value_name = "NAME=VALUE",
        conflicts_with = "settings"
    )]
    pub readings: Vec<String>,
    /// Sign tokens instead of storing them (mcp-aql)
    #[arg(long)]
    pub signed: bool,
    /// Draw ids, tokens and keys from this seed; whoever knows it can guess them
    #[arg(long, value_name = "N", conflicts_with = "store")]
    pub seed: Option<u64>,
}

/// Serves until stdin ends or nobody reads stdout any more, or with --http until a signal says so. Responses are written while it
/// runs, so that there is nothing left to print at the end. To have been asked nothing is no failure: a server makes no claim.
///
/// # Errors
///
/// Where stdin cannot be read, stdout cannot be written, the store cannot be opened, or the address cannot be served.
pub fn run(arguments: &Args) -> miette::Result<Answer> {
    let Args {
        protocol,
        store,
        settings,
        spec: _,
        readings: _,
        signed,
        seed,
        http,
        bearer_token_file,
        timeout_seconds,
        stdio: _,
    } = arguments;
    let ids = Ids::of(*seed);
    let by_text = carried_out(protocol.text(), arguments)?;
    let settings = settings.as_deref().unwrap_or(&by_text.settings);
    let mcp_aql = |service: McpAql<Ids>| {
        if by_text.is_uniform {
            service.always_uniform()
        } else {
            service
        }
    };
    match protocol {
        Protocol::Aaep | Protocol::McpAql if store.is_some() => Err(miette!(
            help = "leave --store out: the state of this executor lives as long as its process",
            "--store is for pending-action alone"
        )),
        Protocol::Aaep | Protocol::PendingAction if *signed => Err(miette!(
            help = "leave --signed out: nothing else has tokens that could be signed",
            "--signed is for mcp-aql alone"
        )),
        Protocol::McpAql | Protocol::PendingAction if http.is_some() => Err(miette!(
            help = "serve it with --stdio",
            "--http is for aaep alone: neither text of the others says how it travels"
        )),
        Protocol::Aaep if let Some(address) = http => {
            let settings = chosen::<aaep::Settings>(settings)?.over_http();
            let token = bearer_token_file.as_deref();
            let host = Host::new(settings, ids, *timeout_seconds);
            listen(*address, token, host)
        }
        Protocol::Aaep => converse(Aaep::new(chosen(settings)?, ids)),
        Protocol::McpAql if *signed => {
            converse(mcp_aql(McpAql::signing(conforming(settings)?, ids)))
        }
        Protocol::McpAql => converse(mcp_aql(McpAql::new(conforming(settings)?, ids))),
        Protocol::PendingAction => match store {
            None => converse(PendingAction::in_memory(chosen(settings)?, ids)),
            Some(path) => {
                let settings = chosen(settings)?;
                let store = Store::open(path).into_diagnostic()?;
                converse(PendingAction::kept_in(store, settings, ids))
            }
        },
    }
}

/// How the executor takes the text as a file and the readings named have it.
struct ByText {
    /// Its settings.
    settings: String,
    /// Whether no `configure` has it tell which check failed: as a setting that is how it begins, as a reading how it is.
    is_uniform: bool,
}

/// That which is named.
fn carried_out(text: &'static Text, arguments: &Args) -> miette::Result<ByText> {
    let file = arguments.spec.as_deref();
    let reason = "the executor keeps every rule";
    let changes = Changes::with_every_rule(text, file, &arguments.readings, reason)?;
    let mut settings = serde_json::Map::new();
    for (name, value) in changes.changed() {
        let assignment = format!("{name}={value}");
        let setting = match (&*assignment, arguments.signed) {
            ("token-storage=signed", true) => Ok("{}"),
            ("token-storage=signed", false) => Err("--signed is for that"),
            ("token-storage=kept", true) => Err("with --signed it keeps none"),
            ("restarted-session=goes-on", _) => Err(CONNECTIONS_END),
            _ => setting(&assignment)
                .or_else(|| is_usual(text, name, value).then_some("{}"))
                .ok_or_else(|| without_setting(text, &assignment)),
        };
        let setting = setting.map_err(|why| {
            let by = if arguments.readings.contains(&assignment) {
                "--reading".to_owned()
            } else {
                file.map_or_else(String::new, |it| it.display().to_string())
            };
            miette!("{by}: the executor cannot carry out {name} = {value}: {why}")
        })?;
        let setting: serde_json::Map<_, _> = serde_json::from_str(setting).into_diagnostic()?;
        settings.extend(setting);
    }
    Ok(ByText {
        settings: Value::Object(settings).to_string(),
        is_uniform: changes.changed().any(|it| it == ("oracle", "uniform")),
    })
}

/// Whether the text is taken so where nothing is said.
fn is_usual(text: &Text, name: &str, value: &str) -> bool {
    text.place(name)
        .is_some_and(|place| place.choices.first().is_some_and(|it| it.value == value))
}

/// Why the executor has no setting for that.
fn without_setting(text: &Text, assignment: &str) -> &'static str {
    let name = assignment.split('=').next().unwrap_or_default();
    if assignment == "expiry-absent=after" {
        "how long, the reading does not say: take --settings '{\"expiry_absent\":{\"after\":{\"seconds\":N}}}'"
    } else if assignment == "oracle=codes" {
        "it begins so, and a `configure` can have it answer alike whatever is wrong"
    } else if text.number(name).is_some() {
        "it has the numbers of the text"
    } else {
        "it has no setting for that"
    }
}

/// The settings of a gatekeeper. The library takes a smaller capacity than may be served.
fn conforming(settings: &str) -> miette::Result<Settings> {
    let settings: Settings = chosen(settings)?;
    if !settings.capacity.conforms() {
        return Err(miette!(
            help = "countersign serve --help lists the settings",
            "--settings: capacity must be 1000 tokens or more (AQL-5.5-3)"
        ));
    }
    Ok(settings)
}

/// The settings as they are given; the defaults where they are not, and for what they do not name.
fn chosen<S: DeserializeOwned>(settings: &str) -> miette::Result<S> {
    serde_json::from_str(settings).map_err(|error| {
        miette!(
            help = "countersign serve --help lists the settings",
            "--settings: {error}"
        )
    })
}

fn converse(service: impl Service) -> miette::Result<Answer> {
    stdio::serve(io::stdin().lock(), io::stdout().lock(), service)
        .into_diagnostic()
        .wrap_err("the conversation over stdin and stdout broke off")?;
    Ok(Answer {
        text: String::new(),
        status: Status::Holds,
    })
}

/// Serves the producer at that address until a signal asks the process to end.
fn listen(address: SocketAddr, token: Option<&Path>, host: Host<Ids>) -> miette::Result<Answer> {
    let bearer_token = token.map(bearer_token).transpose()?;
    if bearer_token.is_none() && !address.ip().is_loopback() {
        return Err(miette!(
            help = "give --bearer-token-file, or an address such as 127.0.0.1:8080",
            "--http {address}: whoever reaches this address could decide in the user's place"
        ));
    }
    let listener = http::bind(address).into_diagnostic();
    let listener = listener.wrap_err_with(|| format!("--http {address}: cannot listen there"))?;
    let address = listener.local_addr().into_diagnostic()?;
    let (audits, _teller) = told_on_stderr(|Audit { clause, text, .. }| {
        format!("ignored: {text} ({})", cited(clause.0))
    });
    let settings = http::Settings {
        bearer_token,
        patience: http::PATIENCE,
        connections: http::CONNECTIONS,
        audits,
    };
    let mut listening = Ok(());
    let stop = async {
        let tell = || {
            let mut output = io::stdout();
            writeln!(output, "listening on http://{address}").and_then(|()| output.flush())
        };
        listening = http::told_and_asked_to_end(tell).await;
    };
    http::run(listener, host, settings, stop)
        .into_diagnostic()
        .wrap_err_with(|| format!("http://{address} could not be served"))?;
    listening.into_diagnostic()?;
    Ok(Answer {
        text: String::new(),
        status: Status::Holds,
    })
}

/// The token in a file: its one line, without white space at its end.
pub(super) fn bearer_token(path: &Path) -> miette::Result<String> {
    let shown = path.display();
    let text = fs::read_to_string(path).into_diagnostic();
    let text = text.wrap_err_with(|| format!("--bearer-token-file: cannot read {shown}"))?;
    let token = text.trim_end();
    if token.len() < SHORTEST_TOKEN || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(miette!(
            help = "openssl rand -hex 16 > token.txt",
            "--bearer-token-file: expected one line of {SHORTEST_TOKEN} ASCII characters or more without a space in {shown}"
        ));
    }
    Ok(token.to_owned())
}

/// What is shorter can be guessed.
const SHORTEST_TOKEN: usize = 16;
