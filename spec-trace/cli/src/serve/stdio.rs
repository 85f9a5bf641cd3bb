//! The driver protocol over JSON Lines: one request a line, one response a line with the same `id`.
//!
//! The one thing to know: a bad request never ends the conversation. It is answered with an `error` that names the
//! line, the field and what was expected, it changes nothing, and the next line is read.

use std::io::{self, BufRead, Write};

use countersign_driver::{
    Answer, Common, Greeting, LONGEST_LINE, Op, Output as Put, Problem, Protocol, Request,
    Response, VERSION,
};
use countersign_lint::lines::{Line, Lines};
use countersign_reference::time::Timestamp;

use super::{Failure, Instead, Last, Output, Service};

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
    let mut conversation = Conversation {
        service,
        stage: Stage::Silent,
        last: Vec::new(),
    };
    let mut lines = Lines::new(input);
    while let Some(line) = lines.next_line()? {
        let response = conversation.respond(&line);
        let response = serde_json::to_string(&response)?;
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

struct Conversation<S: Service> {
    service: S,
    stage: Stage,
    /// The outputs of the last response: what a restart can say that was lost.
    last: Vec<Output<S>>,
}

impl<S: Service> Conversation<S> {
    /// The one response to one line.
    fn respond(&mut self, line: &Line<'_>) -> Response<S::Protocol> {
        let (number, read) = match *line {
            Line::Whole { number, bytes, .. } => (number, Request::read(bytes)),
            Line::TooLong { number, .. } => {
                let answer = error(number, format!("expected at most {LONGEST_LINE} bytes"));
                return Response { id: None, answer };
            }
        };
        match read {
            Ok(Request { id, now, op }) => {
                let answer = self.answer(now.as_deref(), op);
                let answer = answer.unwrap_or_else(|problem| error(number, problem));
                Response {
                    id: Some(id),
                    answer,
                }
            }
            Err(bad) => {
                let answer = self.refuse(bad.refused_at.as_deref(), &bad.problem);
                let answer = answer.unwrap_or_else(|problem| error(number, problem));
                Response { id: bad.id, answer }
            }
        }
    }

    /// Refuses a request that is understood and holds a value that is not allowed. Any other is an error.
    fn refuse(
        &mut self,
        refused_at: Option<&str>,
        problem: &Problem,
    ) -> Result<Answer<S::Protocol>, String> {
        match (refused_at, self.stage) {
            (Some(now), Stage::Serving) => {
                let refused = Instead::refused(problem.to_string());
                self.done(time(now)?, Err(refused))
            }
            (Some(_) | None, Stage::Silent | Stage::Greeted | Stage::Serving) => {
                Err(problem.to_string())
            }
        }
    }

    /// Carries a request out that is well-formed.
    fn answer(
        &mut self,
        now: Option<&str>,
        op: Op<S::Protocol>,
    ) -> Result<Answer<S::Protocol>, String> {
        let now = now.map(time).transpose()?.unwrap_or(Timestamp::MIN);
        match (op, self.stage) {
            (Op::Common(Common::Hello { driver, protocol }), _) => self.hello(driver, &protocol),
            (op, Stage::Silent) => Err(out_of_turn(&op, "\"hello\" before anything else")),
            (Op::Common(Common::Reset {}), Stage::Greeted | Stage::Serving) => {
                self.service
                    .reset(now)
                    .map_err(|failure| broken(&failure))?;
                self.stage = Stage::Serving;
                // What an executor says of its settings, it says first of all.
                let first = self.service.handle(now, S::TICK);
                Ok(self.outputs(first.map_err(|failure| broken(&failure))?))
            }
            (Op::Common(Common::Restart { lost }), Stage::Greeted) if self.service.is_kept() => {
                // Nobody has seen the last response of another process, unless they say that nothing of it was lost.
                let nothing = Last {
                    carried: &[],
                    lost: &[],
                };
                let last = (lost == Some(0)).then_some(nothing);
                let restarted = self.service.restart(now, last);
                let answer = self.done(now, restarted)?;
                self.stage = Stage::Serving;
                Ok(answer)
            }
            (op, Stage::Greeted) => {
                let first = if self.service.is_kept() {
                    "\"restart\" or \"reset\""
                } else {
                    "\"reset\""
                };
                Err(out_of_turn(&op, &format!("{first} after \"hello\"")))
            }
            (Op::Common(Common::Tick {}), Stage::Serving) => {
                let ticked = self.service.handle(now, S::TICK).map_err(Instead::from);
                self.done(now, ticked)
            }
            (Op::Common(Common::Restart { lost }), Stage::Serving) => {
                let restarted = self.restart(now, lost.unwrap_or(0));
                self.done(now, restarted)
            }
            (Op::Own(op), Stage::Serving) => {
                let done = S::input(op).and_then(|input| {
                    if self.service.is_declared(&input) {
                        Ok(self.service.handle(now, input)?)
                    } else {
                        Err(Instead::Unsupported)
                    }
                });
                self.done(now, done)
            }
        }
    }

    fn hello(&mut self, driver: u64, protocol: &str) -> Result<Answer<S::Protocol>, String> {
        if driver != VERSION {
            return Err(format!(
                "`driver` is {driver}: expected {VERSION}, the only version spoken here"
            ));
        }
        let served = <S::Protocol as Protocol>::NAME;
        if protocol != served {
            return Err(format!(
                "`protocol` is {protocol:?}: expected {served:?}, the protocol served here"
            ));
        }
        if self.stage == Stage::Silent {
            self.stage = Stage::Greeted;
        }
        Ok(Answer::Greeting(Greeting {
            name: format!("countersign-reference {}", env!("CARGO_PKG_VERSION")),
            supports: self.service.supports().iter().cloned().collect(),
            shows: Some(S::SHOWS.iter().copied().collect()),
        }))
    }

    fn restart(&mut self, now: Timestamp, lost: u64) -> Result<Vec<Output<S>>, Instead> {
        let outputs = self.last.len();
        let carried = usize::try_from(lost)
            .ok()
            .and_then(|lost| outputs.checked_sub(lost));
        let Some(carried) = carried else {
            let reason = format!(
                "`lost` is {lost}: expected at most {outputs}, the outputs of the last response"
            );
            return Err(Instead::refused(reason));
        };
        let (carried, lost) = self.last.split_at(carried);
        self.service.restart(now, Some(Last { carried, lost }))
    }

    /// What came out of a request, or is said instead. A refused one leaves the time passed, and what was due done.
    fn done(
        &mut self,
        now: Timestamp,
        done: Result<Vec<Output<S>>, Instead>,
    ) -> Result<Answer<S::Protocol>, String> {
        match done {
            Ok(outputs) => Ok(self.outputs(outputs)),
            Err(Instead::Unsupported) => Ok(Answer::Unsupported { unsupported: true }),
            Err(Instead::Failed(failure)) => Err(broken(&failure)),
            Err(Instead::Refused(refused)) => {
                let due = self.service.handle(now, S::TICK);
                let mut outputs = due.map_err(|failure| broken(&failure))?;
                outputs.push(S::refused(refused));
                Ok(self.outputs(outputs))
            }
        }
    }

    fn outputs(&mut self, outputs: Vec<Output<S>>) -> Answer<S::Protocol> {
        self.last.clone_from(&outputs);
        let outputs = outputs.into_iter().map(Put::to_all).collect();
        Answer::Outputs { outputs }
    }
}

/// Reads the time of a request. Without one nothing can happen.
fn time(now: &str) -> Result<Timestamp, String> {
    Timestamp::parse(now).map_err(|error| format!("`now` is {now:?}: {error}"))
}

fn out_of_turn<P: Protocol>(op: &Op<P>, expected: &str) -> String {
    format!("`op` is {:?}: expected {expected}", op.name())
}

fn error<P: Protocol>(number: u64, problem: impl std::fmt::Display) -> Answer<P> {
    Answer::Error {
        error: format!("line {number}: {problem}"),
    }
}

fn broken(failure: &Failure) -> String {
    format!("internal failure: {failure}")
}
