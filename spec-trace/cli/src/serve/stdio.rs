//! The driver protocol over JSON Lines: one request a line, one response a line with the same `id`.
//!
//! The one thing to know: a bad request never ends the conversation. It is answered with an `error` that names the
//! line, the field and what was expected, it changes nothing, and the next line is read.

use std::error::Error;
use std::io::{self, BufRead, Write};

use countersign_reference::time::Timestamp;
use serde_json::{Value, json};

use super::request::{BadRequest, Fields};
use super::{Operation, Service};
use countersign_lint::lines::{LONGEST_LINE, Line, Lines};

/// The version of the driver protocol that is spoken here.
pub const DRIVER_VERSION: u64 = 1;

/// How many characters of either end of a long error message are kept.
const KEPT_OF_MESSAGE: usize = 512;

/// Answers requests until the input ends or nobody reads the output any more.
///
/// Each response is flushed before the next request is read. Memory is bounded by one line and the executor's state.
///
/// # Errors
///
/// Where the input cannot be read or the output cannot be written. A reader that has gone away is no error.
pub fn serve<S: Service>(
    input: impl BufRead,
    mut output: impl Write,
    service: S,
) -> io::Result<()> {
    let mut conversation = Conversation {
        service,
        stage: Stage::Silent,
    };
    let mut lines = Lines::new(input);
    while let Some(line) = lines.next_line()? {
        let response = conversation.respond(&line);
        match writeln!(output, "{response}").and_then(|()| output.flush()) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// How far the two sides have got to know each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Nothing was said yet.
    Silent,
    /// `hello` was said; there is no executor to talk to before the first `reset`.
    Greeted,
    /// Everything goes.
    Serving,
}

struct Conversation<S> {
    service: S,
    stage: Stage,
}

/// What a request that can be carried out is answered with.
enum Body {
    Greeting,
    Outputs(Vec<Value>),
    Unsupported,
}

impl<S: Service> Conversation<S> {
    /// The one response to one line: every shape that there is.
    fn respond(&mut self, line: &Line<'_>) -> Value {
        let mut id = None;
        let (number, result) = match *line {
            Line::Whole { number, bytes, .. } => (number, self.request(bytes, &mut id)),
            Line::TooLong { number, .. } => (number, Err(too_long())),
        };
        match result {
            Ok(Body::Greeting) => json!({"id": id, "name": name(), "supports": S::SUPPORTS}),
            Ok(Body::Outputs(outputs)) => json!({"id": id, "outputs": outputs}),
            Ok(Body::Unsupported) => json!({"id": id, "unsupported": true}),
            Err(error) => {
                let error = without_middle(&error.to_string());
                json!({"id": id, "error": format!("line {number}: {error}")})
            }
        }
    }

    /// Carries a request out. `id` is set as soon as it is known, so that an error can carry it, too.
    fn request(&mut self, line: &[u8], id: &mut Option<u64>) -> Result<Body, BadRequest> {
        let mut fields = Fields::parse(line, S::VERBATIM)?;
        *id = Some(fields.required("id")?.whole_number()?);
        let op = fields.required("op")?.text()?;
        match (op.as_str(), self.stage) {
            ("hello", _) => self.hello(fields),
            (_, Stage::Silent) => Err(BadRequest(format!(
                "`op` is {op:?}: expected \"hello\" before anything else"
            ))),
            ("reset", Stage::Greeted | Stage::Serving) => self.reset(fields),
            ("restart", Stage::Greeted) if self.service.is_kept() => {
                let body = self.operate(&op, fields)?;
                self.stage = Stage::Serving;
                Ok(body)
            }
            (_, Stage::Greeted) => Err(BadRequest(format!(
                "`op` is {op:?}: expected {} after \"hello\"",
                self.first_ops()
            ))),
            (op, Stage::Serving) => self.operate(op, fields),
        }
    }

    /// What a conversation begins with.
    fn first_ops(&self) -> &'static str {
        if self.service.is_kept() {
            "\"restart\" or \"reset\""
        } else {
            "\"reset\""
        }
    }

    /// A greeting has no time of its own, and yet `now` is let pass: the driver sends it with every request.
    fn hello(&mut self, mut fields: Fields) -> Result<Body, BadRequest> {
        let driver = fields.required("driver")?;
        if driver.clone().whole_number()? != DRIVER_VERSION {
            return Err(driver.not(&format!("{DRIVER_VERSION}, the only version spoken here")));
        }
        let protocol = fields.required("protocol")?;
        if protocol.clone().text()? != S::PROTOCOL {
            return Err(protocol.not(&format!("{:?}, the protocol served here", S::PROTOCOL)));
        }
        if let Some(now) = fields.optional("now") {
            now.word::<Timestamp>()?;
        }
        fields.finish()?;
        if self.stage == Stage::Silent {
            self.stage = Stage::Greeted;
        }
        Ok(Body::Greeting)
    }

    fn reset(&mut self, mut fields: Fields) -> Result<Body, BadRequest> {
        let now = fields.required("now")?.word::<Timestamp>()?;
        fields.finish()?;
        let reset = self.service.reset(now);
        reset.map_err(|error| internal_failure(&*error))?;
        self.stage = Stage::Serving;
        Ok(Body::Outputs(Vec::new()))
    }

    fn operate(&mut self, op: &str, mut fields: Fields) -> Result<Body, BadRequest> {
        let now = fields.required("now")?.word::<Timestamp>()?;
        let input = match S::read(op, &mut fields)? {
            Operation::Do(input) => input,
            Operation::Unsupported => return Ok(Body::Unsupported),
        };
        fields.finish()?;
        let outputs = self.service.handle(now, input);
        let outputs = outputs.map_err(|error| internal_failure(&*error))?;
        Ok(Body::Outputs(outputs))
    }
}

/// The message, or its two ends where it is long. It may quote what stood in the request, which may be as long as a
/// line; its end says what was expected.
fn without_middle(message: &str) -> String {
    let length = message.chars().count();
    if length <= 2 * KEPT_OF_MESSAGE {
        return message.to_owned();
    }
    let start = message.chars().take(KEPT_OF_MESSAGE);
    let end = message.chars().skip(length - KEPT_OF_MESSAGE);
    start.chain(['…']).chain(end).collect()
}

fn internal_failure(error: &dyn Error) -> BadRequest {
    BadRequest(format!("internal failure: {error}"))
}

fn name() -> String {
    format!("countersign-reference {}", env!("CARGO_PKG_VERSION"))
}

fn too_long() -> BadRequest {
    BadRequest(format!("expected at most {LONGEST_LINE} bytes"))
}
