//! The lines of a recording, in the order in which things were received.
//!
//! The one thing to know: a reply stands where it came, and what was answered to it stands in the same line. So the lines behind it
//! wait for the answer, [`ANSWERED_WITHIN`] at most; nothing that passes through waits for a line.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::Duration;

use countersign_reference::time::Timestamp;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

/// How long a line waits for the answer to its reply. What is answered later is not recorded.
pub const ANSWERED_WITHIN: Duration = Duration::from_secs(5);

/// How many bytes of lines are written at once.
const AT_ONCE: usize = 256 * 1024;

/// What has passed through, as it was received.
#[derive(Debug)]
pub enum Passed {
    /// An event, from the producer to a subscriber.
    Event {
        /// When it was received.
        at: Timestamp,
        /// Its bytes.
        data: Vec<u8>,
        /// The number of the stream in which it came first, from 1.
        stream: u64,
        /// The subscription of that stream, where it was named.
        subscription_id: Option<String>,
    },
    /// A message from a subscriber to the producer.
    Message {
        /// When it was received.
        at: Timestamp,
        /// Its bytes.
        body: Vec<u8>,
        /// Whether its sender has shown anything to be authenticated by.
        has_authorization: bool,
        /// What else is known of the sender: `known`, `stranger` or `untold`, as the judge of streams takes it.
        sender: Option<&'static str>,
        /// What is answered.
        answer: Receiver<Answered>,
    },
}

/// What was answered to a message.
#[derive(Debug)]
pub struct Answered {
    /// The status of HTTP.
    pub status: u16,
    /// The body, unless it is too long to be kept.
    pub body: Option<Vec<u8>>,
}

/// What stands in a recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Events.
    pub events: u64,
    /// Messages to the producer.
    pub messages: u64,
}

/// Writes what has passed until nothing more can: whole lines, and no line is kept back while there is nothing to wait for.
///
/// # Errors
///
/// Where it cannot be written.
pub fn write(passed: &Receiver<Passed>, mut output: impl Write) -> io::Result<Written> {
    let mut written = Written::default();
    let mut lines = Vec::new();
    loop {
        if lines.len() >= AT_ONCE {
            put(&mut output, &mut lines)?;
        }
        let mut next = passed.try_recv();
        if matches!(next, Err(TryRecvError::Empty)) {
            put(&mut output, &mut lines)?;
            next = passed.recv().map_err(Into::into);
        }
        let Ok(next) = next else {
            break;
        };
        match next {
            Passed::Event {
                at,
                data,
                stream,
                subscription_id,
            } => {
                written.events += 1;
                line(&mut lines, "out", at, &data);
                lines.extend_from_slice(format!(",\"stream\":{stream}").as_bytes());
                if let Some(id) = subscription_id {
                    lines.extend_from_slice(
                        format!(",\"subscription_id\":{}", json!(id)).as_bytes(),
                    );
                }
            }
            Passed::Message {
                at,
                body,
                has_authorization,
                sender,
                answer,
            } => {
                written.messages += 1;
                // Nobody waits for what stands before it.
                put(&mut output, &mut lines)?;
                line(&mut lines, "in", at, &body);
                lines.extend_from_slice(
                    format!(",\"authorization\":{has_authorization}").as_bytes(),
                );
                if let Some(sender) = sender {
                    lines.extend_from_slice(format!(",\"sender\":\"{sender}\"").as_bytes());
                }
                match answer.recv_timeout(ANSWERED_WITHIN) {
                    Ok(answered) => lines.extend_from_slice(told(&answered).as_bytes()),
                    Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
                }
            }
        }
        lines.extend_from_slice(b"}\n");
    }
    put(&mut output, &mut lines)?;
    Ok(written)
}

fn put(output: &mut impl Write, lines: &mut Vec<u8>) -> io::Result<()> {
    output.write_all(lines)?;
    output.flush()?;
    lines.clear();
    Ok(())
}

/// The beginning of a line. The message stands there byte for byte, where it is JSON.
fn line(lines: &mut Vec<u8>, direction: &str, at: Timestamp, message: &[u8]) {
    lines.extend_from_slice(
        format!("{{\"dir\":\"{direction}\",\"at\":\"{at}\",\"message\":").as_bytes(),
    );
    if is_json(message) {
        // A line break in JSON is white space between two tokens.
        let bytes = message.iter();
        lines.extend(bytes.map(|byte| {
            if matches!(byte, b'\n' | b'\r') {
                b' '
            } else {
                *byte
            }
        }));
    } else {
        let raw = json!({"_raw": String::from_utf8_lossy(message)});
        lines.extend_from_slice(raw.to_string().as_bytes());
    }
}

fn told(answered: &Answered) -> String {
    let body = answered.body.as_deref().filter(|body| !body.is_empty());
    let body = body.map(|body| {
        let read = serde_json::from_slice::<Value>(body).ok();
        read.unwrap_or_else(|| String::from_utf8_lossy(body).into())
    });
    let status = format!(",\"http_status\":{}", answered.status);
    body.map_or(status.clone(), |body| {
        format!("{status},\"http_body\":{body}")
    })
}

/// Whether it is one JSON value, however deep.
fn is_json(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| serde_json::from_str::<IgnoredAny>(text).is_ok())
}
