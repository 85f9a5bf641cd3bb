//! What is said between a driver and a service, whatever carries it: lines over stdio, or calls in one process.
//!
//! The one thing to know: a bad request never ends the conversation. It is answered with an `error`, it changes nothing, and
//! the next one is taken.

use countersign_conform::implementation::{Implementation, Lost};
use countersign_protocol::{
    Answer, BadRequest, Common, Greeting, Kind, Op, Output as Put, Problem, Protocol, Request,
    Response, VERSION,
};
use countersign_reference::time::Timestamp;

use super::{Failure, Instead, Last, Output, Service};

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

/// A service, and how far it has got with its driver.
pub struct Conversation<S: Service> {
    service: S,
    stage: Stage,
    /// The kinds of the outputs of the last response: what a restart can say that was lost.
    last: Vec<Kind>,
}

impl<S: Service> Conversation<S> {
    /// One in which nothing was said yet.
    pub const fn new(service: S) -> Self {
        Self {
            service,
            stage: Stage::Silent,
            last: Vec::new(),
        }
    }

    /// Goes on with another service, to which nothing was said of what came before.
    pub fn goes_on_with(&mut self, service: S) {
        self.service = service;
    }

    /// The one response to one request, or to what is none.
    pub fn respond(
        &mut self,
        read: Result<Request<S::Protocol>, BadRequest>,
    ) -> Response<S::Protocol> {
        let (id, answer) = match read {
            Ok(Request { id, now, op }) => (Some(id), self.answer(now.as_deref(), op)),
            Err(bad) => {
                let answer = self.refuse(bad.refused_at.as_deref(), &bad.problem);
                (bad.id, answer)
            }
        };
        let answer = answer.unwrap_or_else(|error| Answer::Error { error });
        Response { id, answer }
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
            Err(Instead::Unsupported) => Ok(Answer::Unsupported),
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
        self.last.clear();
        self.last.extend(outputs.iter().map(S::Protocol::kind));
        let outputs = outputs.into_iter().map(Put::to_all).collect();
        Answer::Outputs { outputs }
    }
}

/// The service in one process with its driver. What is new has not been greeted; its state goes with the first `reset`.
impl<S: Service> Implementation<S::Protocol> for Conversation<S> {
    fn start(&mut self) -> Result<(), Lost> {
        self.stage = Stage::Silent;
        self.last.clear();
        Ok(())
    }

    fn ask(&mut self, request: Request<S::Protocol>) -> Result<Response<S::Protocol>, Lost> {
        Ok(self.respond(Ok(request)))
    }

    fn ask_line(&mut self, _: u64, line: &[u8]) -> Result<Response<S::Protocol>, Lost> {
        Ok(self.respond(Request::read(line)))
    }
}

/// Reads the time of a request. Without one nothing can happen.
fn time(now: &str) -> Result<Timestamp, String> {
    Timestamp::parse(now).map_err(|error| format!("`now` is {now:?}: {error}"))
}

fn out_of_turn<P: Protocol>(op: &Op<P>, expected: &str) -> String {
    format!("`op` is {:?}: expected {expected}", op.name())
}

fn broken(failure: &Failure) -> String {
    format!("internal failure: {failure}")
}
