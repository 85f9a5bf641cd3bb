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
Whatever is sent to the address goes to the producer as it is, and what the producer answers comes
back as it comes. Clients are given this address in the place of the producer's. The first line
of a recording says that all replies are in it, in the order of receipt. So `lint` takes it as
evidence where there is none, and no reply explains a call before it: nobody may go round this
address. Then it has a line for

  each event that a stream (text/event-stream) has told: `dir` is `out`. What comes to several
  subscribers is recorded once, with the number of the `stream` that it came in first and, where
  it is named, its `subscription_id`;

  each reply that was posted: `dir` is `in`. It is a reply by its `type`, or what else is posted to
  a path that ends in /replies or /messages and is no prompt. `authorization` says whether it came
  with that header, `http_status` and `http_body` what was answered within 5 seconds.

`at` is the time of receipt here. A message is kept byte for byte; where it is no JSON, it stands as
text in `_raw`. Redirects are for the client to follow. A line behind a reply waits for the answer
to that, so that lines stand in the order of receipt; nothing that passes through waits for a line.
An event of more than 16 MiB passes and is not recorded, which is said on stderr.

It ends with SIGINT or SIGTERM. A recording has whole lines at any moment.

Examples:
  countersign record --listen 127.0.0.1:8081 --to http://127.0.0.1:8080 --out run.jsonl
  countersign lint run.jsonl
  countersign record --listen 127.0.0.1:0 --to https://producer.example --out run.jsonl

Exit status: 0 something was recorded, 2 the address cannot be used, the recording not written, or
the certificate of the producer not accepted, 3 nothing was recorded, or not all.";

/// Arguments of `countersign record`.
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// The address to listen at; port 0 takes a free one
    ///
    /// The first line on stderr is `listening on http://ADDR`.
    #[arg(long, value_name = "ADDR")]
    pub listen: SocketAddr,
    /// The producer: http, or https in a build with the feature `tls`, a host, and a path where all of its paths begin so
    #[arg(long, value_name = "URL")]
    pub to: Url,
    /// Write the recording to this file, which must not be there; stdout, where absent
    #[arg(long, value_name = "PATH")]
    pub out: Option<PathBuf>,
    /// Listen also where others than this machine reach it, and with it the producer
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
