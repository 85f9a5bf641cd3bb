//! `countersign serve`: the reference executor as a live implementation of the driver protocol, or as an AAEP producer over HTTP.

use std::fs;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use countersign_clauses::cited;
use countersign_live::{host::Host, http};
use countersign_model::aaep::AaepProtocol;
use countersign_model::mcp_aql::McpAqlProtocol;
use countersign_model::pending_action::PendingActionProtocol;
use countersign_model::specification::Modelled;
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
    let schema = countersign_driver::schema();
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
Each request has `id` and `op`, and from `reset` on `now` (RFC 3339). The first two are
  {\"id\":1,\"op\":\"hello\",\"driver\":1,\"protocol\":\"mcp-aql\"}
  {\"id\":2,\"op\":\"reset\",\"now\":\"2026-05-24T14:22:20Z\"}

The ops, with their fields (? may be absent):
";

const LAST: &str = "
`params`, `arguments` and `result` are any JSON and reach the executor as they are written; a
string holds the text of it, and that of a `result` need be no JSON. `arguments` and `result` come
out as such a string. A message whose bytes are no UTF-8 comes as `message_base64`. `lost` says
how many outputs of the last response, from its end, were not carried out; the first `restart`
on a store tells all again that is not known to be carried out, unless `lost` is 0.
A call whose `params` have no one meaning (a name twice, half a surrogate pair, a number that is
not the same to all readers) cannot be confirmed, nor can one whose `params` are longer than
1 MiB; how deep they are nested has no limit. A whole number in full is bound to the digit,
any other as its double: beyond 2^53 where the shortest form of the double is that very number
(1e20), else not at all (9007199254740993.0, 1e400, 1e-400). `arguments` are kept as they are,
whatever their numbers, and approved by what means the same.
A missing field, an unknown one or one of another type is an `error`, and so is a `now` that is
no time; a value that is not allowed is `refused`. Types, limits, the shapes of what comes out,
and what is read into the texts: countersign schema driver

--settings is one JSON object; what it leaves out is the first of the values, or the one in [ ]:
  aaep            modified_action: false|true, whether a reply may modify what it accepts
  mcp-aql         check_order: table|sample, session_binding: many_uses|every,
                  ended_session: stays_ended|comes_back, restarted_session: ends|goes_on (of
                  no effect here, for `restart` ends every connection),
                  persistence: persistent|in_memory,
                  capacity: 1000 tokens or more that can be used [1000000],
                  retention: 0 to 3000 seconds [900] for which an expired token is told from
                  an unknown one: it is forgotten within the hour,
                  rate_limits: {issuance, failed_validation, revocation: each
                  {burst, interval_millis}; no limit where absent},
                  configuration: {clock_skew_tolerance_seconds: 0 to 300 [30],
                  oracle: codes|uniform, critical}; `configure` changes it for one adapter,
                  but for the oracle where --reading oracle=uniform settles it;
                  above 60 seconds `reset` answers with a warning
  pending-action  read_effect: pends|runs (a read runs though it names deciders; its event
                  `decided` names nobody), expiry_boundary: at|after (a decision at the very
                  time of the expiry is late, or counts; a proposal has to expire after `now`
                  in either case), expiry_absent: never|{\"after\":{\"seconds\":N}},
                  deciders_absent: anyone|nobody, delivery: at_most_once|at_least_once (an
                  allowed idempotent call runs again with each restart until it is finished or
                  its session has ended, also after its expiry, which binds decisions alone)

Where the text of aaep leaves it open, this executor does as follows.
  - A reply with a modified_action that is not supported rejects, even where reject is not allowed.
  - When the last open subscription closes that has said it can reply, in any session, each pending
    default applies; one that accepts waits for its deadline.
  - Two clarifications are the same where session and question are the same to the letter.
  - The first reply after a default is told of its lateness as a duplicate is (courtesy notice).
  - A default_response need be no choice and of no accepted kind: 6.5.5 binds replies, and it is
    always a text, so that it could not be of the kind yes_no or numeric.
  - A clock that jumps over several moments of a countdown has the time left told once a question.
  - What falls due at one instant comes in the order of deadlines: confirmations first, then
    clarifications, each in the order of asking, and a default before a time left.
  - A reply with a name twice in an object, however deep, is no reply.
  - An answer that was lost in a crash comes again as it was; a courtesy notice does not.
  - A reply that comes in the request in which its deadline passes finds the default applied.

A limit of mcp-aql is of one adapter, for all its clients. So many at once (burst), then one more
each interval; what is more is answered with RATE_LIMITED. Who has failed too often is not
listened to: a good token does not pass then either. A call with a token and parameters that
cannot be confirmed counts as failed, one that is honoured does not count. A restart keeps the
count with the tokens.

--signed: a token of which nothing is kept is known by its signature alone.
  - Until it has come with its call, one for another call is told as that, and the log does not
    say in what the two differ, unless it is the purpose; its status is told as unknown.
  - Its holder can give it back while it lives; altered or expired it is refused. The log then
    cannot say what it was for, nor that it had ended with its adapter before, and one of 2^48
    forgeries would pass for a token there. None is honoured.
  - Where all end, one entry of the log stands for those that are not known (without `token_id`).
  - What is redeemed takes memory until it expires, whatever the capacity: set rate_limits.

--http serves aaep alone, as a producer with a scripted agent whose tools do nothing.
  - POST /sessions {\"user_message\":\"...\"} or POST /messages {\"kind\":\"user_input\",\"text\":\"...\"}
    starts a session. Words of the prompt name its tasks: look (up), change, transfer or
    confirmation, note, clarify or clarification, handoff; look where there is none.
  - GET /events streams what comes from now on, by a subscription of its own that can reply: its
    id is in the header aaep-subscription-id, and it closes with the connection. By the
    specification: POST /aaep/v1/subscriptions, then GET /aaep/v1/events?subscription_id=ID.
    `Last-Event-ID` goes on behind that event, while it is one of the last 16384.
  - POST /messages or /aaep/v1/replies takes replies; each is answered with 204, and stderr says
    why one is ignored. The sender is the open subscription that the reply names.
  - Bodies are application/json of at most 256 KiB. 1024 connections; 10000 sessions under way,
    and as many subscriptions; 10 seconds for a request. What has ended stays in memory as long
    as the process: about a kilobyte a session.
  - Other than on the loopback it is served with --bearer-token-file alone. Requests of pages of
    another origin are refused. There is no TLS: put a proxy in front.
  - SIGINT and SIGTERM end the streams, then the process.

Examples:
  countersign serve aaep --stdio
  countersign serve aaep --http 127.0.0.1:8080
  countersign serve aaep --http 0.0.0.0:8080 --bearer-token-file token.txt --timeout-seconds 60
  countersign serve pending-action --stdio --store actions.store
  countersign serve aaep --stdio --seed 7
  countersign serve pending-action --stdio --spec changed.toml
  countersign serve pending-action --stdio --reading expiry-boundary=after
  countersign serve mcp-aql --stdio --signed --settings '{\"capacity\":1000}'";

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
        "  {:<16}",
        op["properties"]["op"]["const"].as_str().unwrap_or("")
    );
    let mut column = text.len();
    for (place, field) in fields.iter().enumerate() {
        let comma = if place + 1 < fields.len() { "," } else { "" };
        if column + field.len() + 2 > WIDTH {
            column = 18;
            text.push_str("\n                  ");
        }
        column += field.len() + 2;
        text.extend([" ", field, comma]);
    }
    text.truncate(text.trim_end().len());
    text + "\n"
}

/// The longest line of the help.
const WIDTH: usize = 98;

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
    /// Read requests from stdin and write responses to stdout, one JSON object a line
    #[arg(long, required_unless_present = "http")]
    pub stdio: bool,
    /// Serve a producer with a scripted agent at this address, such as 127.0.0.1:8080 (aaep); port 0 takes a free one
    ///
    /// The first line on stdout is `listening on http://ADDR`.
    #[arg(long, value_name = "ADDR", conflicts_with_all = ["stdio", "signed"])]
    pub http: Option<SocketAddr>,
    /// With --http, let in only who shows the token that is the one line of this file
    #[arg(long, value_name = "PATH", conflicts_with = "stdio")]
    pub bearer_token_file: Option<PathBuf>,
    /// With --http, how long the questions of the agent wait
    #[arg(long, value_name = "N", conflicts_with = "stdio", default_value_t = 30)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=86400))]
    pub timeout_seconds: u64,
    /// Keep pending actions in this file, beyond the process
    ///
    /// After `hello`, `restart` goes on with what the file holds; `reset` forgets all of it and starts afresh.
    #[arg(long, value_name = "PATH")]
    pub store: Option<PathBuf>,
    /// What the host chooses once, as JSON; the names and values stand below
    #[arg(long, value_name = "JSON")]
    pub settings: Option<String>,
    /// Choose so that the text is taken with the settings of this file, as `spec` prints one: of the readings that the executor has
    /// a setting for
    #[arg(long, value_name = "FILE", conflicts_with = "settings")]
    pub spec: Option<PathBuf>,
    /// Choose so that this passage is taken so (may be repeated), where the executor has a setting for it; an unknown name lists the
    /// readings
    #[arg(
        long = "reading",
        value_name = "NAME=VALUE",
        conflicts_with = "settings"
    )]
    pub readings: Vec<String>,
    /// Sign tokens instead of keeping them (mcp-aql)
    #[arg(long)]
    pub signed: bool,
    /// Draw ids, tokens and keys from this seed: the same requests have the same responses in each process
    ///
    /// Whoever knows the seed can guess every token, so it is for comparing transcripts and for nothing else.
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
    let by_text = match protocol {
        Protocol::Aaep => carried_out::<AaepProtocol>(arguments),
        Protocol::McpAql => carried_out::<McpAqlProtocol>(arguments),
        Protocol::PendingAction => carried_out::<PendingActionProtocol>(arguments),
    }?;
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
fn carried_out<T: Modelled>(arguments: &Args) -> miette::Result<ByText> {
    let file = arguments.spec.as_deref();
    let reason = "the executor keeps every rule";
    let changes = Changes::<T>::with_every_rule(file, &arguments.readings, reason)?;
    let mut settings = serde_json::Map::new();
    for (name, value) in changes.changed() {
        let assignment = format!("{name}={value}");
        let setting = match (&*assignment, arguments.signed) {
            ("token-storage=signed", true) => Ok("{}"),
            ("token-storage=signed", false) => Err("--signed is for that"),
            ("token-storage=kept", true) => Err("with --signed it keeps none"),
            ("restarted-session=goes-on", _) => Err(CONNECTIONS_END),
            _ => setting(&assignment)
                .or_else(|| is_usual::<T>(name, value).then_some("{}"))
                .ok_or_else(|| without_setting::<T>(&assignment)),
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
fn is_usual<T: Modelled>(name: &str, value: &str) -> bool {
    let place = T::PLACES.iter().find(|place| place.name == name);
    place.is_some_and(|place| place.choices.first().is_some_and(|it| it.value == value))
}

/// Why the executor has no setting for that.
fn without_setting<T: Modelled>(assignment: &str) -> &'static str {
    let name = assignment.split('=').next().unwrap_or_default();
    if assignment == "expiry-absent=after" {
        "how long, the reading does not say: take --settings '{\"expiry_absent\":{\"after\":{\"seconds\":N}}}'"
    } else if assignment == "oracle=codes" {
        "it begins so, and a `configure` can have it answer alike whatever is wrong"
    } else if T::NUMBERS.iter().any(|number| number.name == name) {
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
