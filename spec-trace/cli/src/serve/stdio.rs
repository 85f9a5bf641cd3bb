//! The driver protocol over JSON Lines: one request a line, one response a line with the same `id`.
//!
//! The one thing to know: a bad request never ends the conversation. It is answered with an `error` that names the
//! line, the field and what was expected, it changes nothing, and the next line is read.

use std::io::{self, BufRead, Write};

use countersign_lint::lines::{Line, Lines};
use countersign_protocol::{Answer, LONGEST_LINE, Request, Response};

use super::Service;
use super::conversation::Conversation;

/// Answers requests until the input ends or nobody reads the output any more.
///
/// Each response is flushed before the next request is read. Memory is bounded by one line, one response and the
/// executor's state.
///
/// # Errors
///
/// Where the input cannot be read or the output cannot be written. A reader that has gone away is no error.
pub fn serve<S: Service>(
    input: impl BufRead,
    mut output: impl Write,
    service: S,
) -> io::Result<()> {
    let mut conversation = Conversation::new(service);
    let mut lines = Lines::new(input);
    while let Some(line) = lines.next_line()? {
        let response = respond(&mut conversation, &line);
        let response = serde_json::to_string(&response)?;
        match writeln!(output, "{response}").and_then(|()| output.flush()) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The one response to one line. An error names the line.
fn respond<S: Service>(
    conversation: &mut Conversation<S>,
    line: &Line<'_>,
) -> Response<S::Protocol> {
    let (number, mut response) = match *line {
        Line::Whole { number, bytes, .. } => (number, conversation.respond(Request::read(bytes))),
        Line::TooLong { number, .. } | Line::Without { number, .. } => {
            let error = format!("expected at most {LONGEST_LINE} bytes");
            let answer = Answer::Error { error };
            (number, Response { id: None, answer })
        }
    };
    if let Answer::Error { error } = &mut response.answer {
        *error = format!("line {number}: {error}");
    }
    response
}
