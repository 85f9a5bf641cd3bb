//! `countersign record`: a proxy in front of a live producer, and what passes through it as a recorded stream.

use std::fs::File;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use countersign_live::for_its_owner;
use countersign_live::http;
use countersign_live::recorder::{self, Recorded, Settings, Url};
use miette::{Context, IntoDiagnostic, miette};
use serde_json::json;

use super::{is_base, told_on_stderr};
use crate::answer::{Answer, Format, Status};
use crate::show::words::printable;

const HELP: &str = "\
Point the clients of a producer at ADDR: what they send goes to URL unchanged,
and so does what comes back. The recording has a first line that says that all
replies are in it, in the order of receipt, and then a line for

  each event (text/event-stream): `dir` is `out`. An event that several
  subscribers get is one line, with `stream` and `subscription_id` of the first;

  each reply that is posted: `dir` is `in`, with `http_status` and `http_body`
  of the answer (if it comes within 5 s), and whether `authorization` was sent.
  A reply has the `type` of one, or goes to a path that ends in /replies or
  /messages and is no prompt.

`at` is the time of receipt. Messages are kept byte for byte; one that is no
JSON is text in `_raw`. An event of more than 16 MiB passes unrecorded, and
stderr says so. SIGINT and SIGTERM end the recording; it has whole lines at any
moment.

Examples:
  countersign record --listen 127.0.0.1:81 --to http://127.0.0.1:80 > run.jsonl
  countersign lint run.jsonl

Exit status: 0 recorded; 2 the address, the file or the certificate of the
producer cannot be used; 3 nothing or not everything was recorded";

/// Arguments of `countersign record`.
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// Listen here, such as 127.0.0.1:8081; stderr tells the port for port 0
    #[arg(long, value_name = "ADDR")]
    pub listen: SocketAddr,
    /// The producer, such as `http://127.0.0.1:8080`
    #[arg(long, value_name = "URL")]
    pub to: Url,
    /// Write to this new file [default: stdout]
    #[arg(long, value_name = "PATH")]
    pub out: Option<PathBuf>,
    /// Listen where other machines can reach the producer through it
    #[arg(long)]
    pub exposed: bool,
}

/// Records until a signal asks the process to end.
///
/// # Errors
///
/// Where it cannot listen there, the producer is none that it can reach by HTTP, or the recording cannot be written.
pub fn run(args: &Args, format: Format) -> miette::Result<Answer> {
    let Args {
        listen,
        to,
        out,
        exposed,
    } = args;
    is_base("--to", to)?;
    if !exposed && !listen.ip().is_loopback() {
        return Err(miette!(
            "--listen {listen}: whoever reaches this address reaches the producer; --exposed allows it"
        ));
    }
    let listener = http::bind(*listen).into_diagnostic();
    let listener = listener.wrap_err_with(|| format!("--listen {listen}: cannot listen there"))?;
    let address = listener.local_addr().into_diagnostic()?;
    let output: Box<dyn Write + Send> = match out {
        Some(path) => Box::new(create(path)?),
        None => Box::new(io::stdout()),
    };
    let (troubles, teller) = told_on_stderr(|trouble: String| printable(&trouble));
    let settings = Settings {
        to: to.clone(),
        troubles,
    };
    let mut listening = Ok(());
    let stop = async {
        let tell = || writeln!(io::stderr(), "listening on http://{address}");
        listening = http::told_and_asked_to_end(tell).await;
    };
    let recorded = recorder::run(listener, settings, output, stop);
    // The end of its troubles is the end of it.
    let _told = teller.join();
    let recorded = recorded.into_diagnostic().wrap_err_with(|| {
        let shown = out.as_ref().map(|path| path.display().to_string());
        let shown = shown.unwrap_or_else(|| "stdout".to_owned());
        format!("{shown}: the recording broke off")
    })?;
    listening.into_diagnostic()?;
    Ok(answer(&recorded, out.as_deref(), format))
}

/// A file that was not there. What stands in a recording lets its reader reply, so that it is for its owner alone.
fn create(path: &Path) -> miette::Result<File> {
    let file = for_its_owner().create_new(true).open(path);
    let file = file.into_diagnostic();
    file.wrap_err_with(|| format!("--out {}: cannot be made", path.display()))
}

fn counted(count: u64, one: &str, more: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { more })
}

fn answer(recorded: &Recorded, out: Option<&Path>, format: Format) -> Answer {
    let Recorded {
        written,
        streams,
        left_out,
    } = recorded;
    let (events, messages) = (written.events, written.messages);
    let is_whole = events + messages > 0 && *left_out == 0;
    let text = match format {
        Format::Json => {
            let file = out.map(|path| path.display().to_string());
            let told = json!({"file": file, "events": events, "messages": messages, "streams": streams, "left_out": left_out});
            format!("{told}\n")
        }
        Format::Text => {
            let rest = match left_out {
                0 => String::new(),
                _ => format!(", {left_out} left out"),
            };
            let events = counted(events, "event", "events");
            let streams = counted(*streams, "stream", "streams");
            let replies = counted(messages, "reply", "replies");
            format!("recorded: {events} of {streams}, {replies}{rest}\n")
        }
    };
    let status = if is_whole {
        Status::Holds
    } else {
        Status::Inconclusive
    };
    if out.is_some() {
        return Answer { text, status };
    }
    // Stdout was the recording.
    let _unread = io::stderr().write_all(text.as_bytes());
    Answer {
        text: String::new(),
        status,
    }
}
