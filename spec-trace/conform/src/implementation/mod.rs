//! An implementation, whatever it is made of: it takes the requests of the driver protocol and gives answers.
//!
//! The one thing to know: whatever goes wrong between it and us is a value, [`Lost`], which a report can show. Nobody panics,
//! and nobody is waited for in vain.

mod process;

use std::fmt;
use std::rc::Rc;
use std::time::Duration;

use countersign_protocol::{
    Answer, Common, Greeting, Json, Op, Output, Protocol, Request, Response, VERSION,
};
use countersign_reference::time::Timestamp;

use crate::driven::with_id;

pub use process::Process;

/// What can be asked by the driver protocol.
pub trait Implementation<P: Protocol> {
    /// Whatever was there before is gone: a new one, which has not been greeted.
    ///
    /// # Errors
    ///
    /// [`Lost`], where there is none.
    fn start(&mut self) -> Result<(), Lost>;

    /// Takes a request, gives the response to it.
    ///
    /// # Errors
    ///
    /// [`Lost`], where none came, or not one that can be read.
    fn ask(&mut self, request: Request<P>) -> Result<Response<P>, Lost>;

    /// Takes a line that is no request of the protocol, gives the response to it. Whoever takes requests that were read understands none.
    ///
    /// # Errors
    ///
    /// [`Lost`], where none came, or not one that can be read.
    fn ask_line(&mut self, id: u64, _: &[u8]) -> Result<Response<P>, Lost> {
        let error = "this is no request".to_owned();
        Ok(Response {
            id: Some(id),
            answer: Answer::Error { error },
        })
    }

    /// What makes more of the same, which are asked at the same time. Whoever has it answers in each run as if there had been none
    /// before. None, where there is only the one.
    fn maker(&self) -> Option<Maker<Self>>
    where
        Self: Sized,
    {
        None
    }
}

/// Makes an implementation, wherever it is needed.
pub type Maker<I> = Box<dyn Fn() -> I + Send + Sync>;

/// Why an implementation cannot be asked any further.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// What has happened.
    pub fault: Fault,
    /// What it wrote last to where nobody reads it by the protocol; often empty.
    pub last_words: String,
}

/// What can go wrong between an implementation and its driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It could not be started.
    NotStarted(String),
    /// It has not answered for so long.
    Silent(Duration),
    /// It has not answered its first request for so long, and then did when its input was closed.
    Unflushed(Duration),
    /// It has ended, or closed its output; with what the system says of its end.
    Ended(Option<String>),
    /// It wrote a line that is longer than any answer may be.
    TooLong,
    /// It wrote a line that is no response: the line, shortened, and what is wrong with it.
    Unreadable(String, String),
    /// It answered under another id than it was asked under: which, and that of the request.
    Misnumbered(Option<u64>, u64),
    /// It wrote a line, shortened, though nothing was asked that it has not answered.
    Unasked(String),
    /// It has answered a request that is in order with an error.
    Errored(String),
    /// It has answered with what is no answer to this request: a greeting, or none where it was greeted.
    Misplaced(&'static str),
}

impl Fault {
    /// What it is, in a word.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::NotStarted(_) => "not-started",
            Self::Silent(_) | Self::Unflushed(_) => "silent",
            Self::Ended(_) => "ended",
            Self::TooLong => "too-long",
            Self::Unreadable(..) => "unreadable",
            Self::Misnumbered(..) => "misnumbered",
            Self::Unasked(_) => "unasked",
            Self::Errored(_) => "errored",
            Self::Misplaced(_) => "misplaced",
        }
    }

    /// The same, of one that has left nothing behind.
    pub(crate) const fn without_words(self) -> Lost {
        Lost {
            fault: self,
            last_words: String::new(),
        }
    }
}

/// What an implementation has to say to a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Said<P: Protocol> {
    /// What it has put out, of whatever kind: a crash counts what is not shown, too.
    Outputs(Vec<Output<P>>),
    /// It cannot do this.
    Unsupported,
    /// It has not understood what the protocol does not have.
    NotUnderstood,
}

/// An implementation that was greeted.
pub struct Greeted<P: Protocol, I> {
    implementation: I,
    greeting: Rc<Greeting<P>>,
    /// The id of the last request.
    id: u64,
    is_lost: bool,
}

impl<P: Protocol, I: Implementation<P>> Greeted<P, I> {
    /// Starts and greets it.
    ///
    /// # Errors
    ///
    /// [`Lost`], where there is nobody who answers.
    pub fn new(mut implementation: I) -> Result<Self, Lost> {
        let greeting = greet(&mut implementation)?;
        Ok(Self {
            implementation,
            greeting: Rc::new(greeting),
            id: 1,
            is_lost: false,
        })
    }

    /// What makes more of the same, if there can be more.
    pub fn maker(&self) -> Option<Maker<I>> {
        self.implementation.maker()
    }

    /// Another that has greeted like this, and does so again before it is asked anything.
    pub(crate) fn like(implementation: I, greeting: Greeting<P>) -> Self {
        Self {
            implementation,
            greeting: Rc::new(greeting),
            id: 1,
            is_lost: true,
        }
    }

    /// Who it is, and what is judged of it.
    pub const fn greeting(&self) -> &Rc<Greeting<P>> {
        &self.greeting
    }

    /// Forgets everything, at this time in milliseconds since the epoch. One that was lost is started again.
    ///
    /// # Errors
    ///
    /// [`Lost`], where it does not answer as it should.
    pub fn reset(&mut self, now: i64) -> Result<Said<P>, Lost> {
        if self.is_lost {
            self.greeting = Rc::new(greet(&mut self.implementation)?);
            self.id = 1;
            self.is_lost = false;
        }
        self.ask(now, Op::Common(Common::Reset {}))
    }

    /// Asks it, at this time in milliseconds since the epoch.
    ///
    /// # Errors
    ///
    /// [`Lost`], where it does not answer as it should. Only [`Greeted::reset`] goes on from there.
    pub fn ask(&mut self, now: i64, op: Op<P>) -> Result<Said<P>, Lost> {
        self.id += 1;
        let request = Request {
            id: self.id,
            now: Some(Timestamp::from_millis(now).to_string()),
            op,
        };
        let said = self.implementation.ask(request).and_then(|response| {
            in_answer(response, self.id).and_then(|answer| match answer {
                Answer::Outputs { outputs } => Ok(Said::Outputs(outputs)),
                Answer::Unsupported => Ok(Said::Unsupported),
                Answer::Error { error } => Err(Fault::Errored(error).without_words()),
                Answer::Greeting(_) => Err(Fault::Misplaced("that of `hello`").without_words()),
            })
        });
        self.is_lost |= said.is_err();
        said
    }

    /// Asks it for what the protocol does not have: a request as it is written, without its id.
    ///
    /// # Errors
    ///
    /// [`Lost`], where it does not answer as it should. Only [`Greeted::reset`] goes on from there.
    pub fn ask_raw(&mut self, request: &Json) -> Result<Said<P>, Lost> {
        self.id += 1;
        let line = with_id(self.id, request.as_str());
        let said = self.implementation.ask_line(self.id, line.as_bytes());
        let said = said.and_then(|response| match response {
            Response {
                id: None,
                answer: Answer::Error { .. },
            } => Ok(Said::NotUnderstood),
            response => in_answer(response, self.id).and_then(|answer| match answer {
                Answer::Outputs { outputs } => Ok(Said::Outputs(outputs)),
                Answer::Unsupported => Ok(Said::Unsupported),
                Answer::Error { .. } => Ok(Said::NotUnderstood),
                Answer::Greeting(_) => Err(Fault::Misplaced("that of `hello`").without_words()),
            }),
        });
        self.is_lost |= said.is_err();
        said
    }
}

fn greet<P: Protocol>(implementation: &mut impl Implementation<P>) -> Result<Greeting<P>, Lost> {
    implementation.start()?;
    let request = Request {
        id: 1,
        now: None,
        op: Op::Common(Common::Hello {
            driver: VERSION,
            protocol: P::NAME.to_owned(),
        }),
    };
    let response = implementation.ask(request)?;
    match in_answer(response, 1)? {
        Answer::Greeting(greeting) => Ok(greeting),
        Answer::Error { error } => Err(Fault::Errored(error).without_words()),
        Answer::Outputs { .. } | Answer::Unsupported => {
            Err(Fault::Misplaced("not that of `hello`").without_words())
        }
    }
}

fn in_answer<P: Protocol>(response: Response<P>, id: u64) -> Result<Answer<P>, Lost> {
    let Response { id: given, answer } = response;
    if given == Some(id) {
        return Ok(answer);
    }
    Err(match answer {
        // Who could not read the request cannot tell its id.
        Answer::Error { error } if given.is_none() => Fault::Errored(error),
        Answer::Error { .. }
        | Answer::Greeting(_)
        | Answer::Outputs { .. }
        | Answer::Unsupported => Fault::Misnumbered(given, id),
    }
    .without_words())
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotStarted(error) => write!(formatter, "the adapter does not start: {error}"),
            Self::Silent(waited) => {
                write!(formatter, "no response within {} s", waited.as_secs_f64())
            }
            Self::Unflushed(waited) => write!(
                formatter,
                "no response within {} s: it came when standard input was closed",
                waited.as_secs_f64()
            ),
            Self::Ended(None) => formatter.write_str("the adapter closed its standard output"),
            Self::Ended(Some(status)) => write!(formatter, "the adapter ended ({status})"),
            Self::TooLong => write!(
                formatter,
                "the adapter wrote a line of more than {} bytes",
                countersign_protocol::LONGEST_LINE
            ),
            Self::Unreadable(line, problem) => {
                write!(formatter, "the line is no response: {problem}: {line}")
            }
            Self::Misnumbered(None, asked) => {
                write!(formatter, "the response to request {asked} has no `id`")
            }
            Self::Misnumbered(Some(given), asked) => {
                write!(
                    formatter,
                    "the response to request {asked} has the `id` {given}"
                )
            }
            Self::Unasked(line) => {
                write!(
                    formatter,
                    "the adapter wrote a line without a request: {line}"
                )
            }
            Self::Errored(error) => write!(formatter, "the response is an error: {error}"),
            Self::Misplaced(what) => write!(formatter, "the response is {what}"),
        }
    }
}

impl fmt::Display for Lost {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.fault)?;
        match self.last_words.trim_end() {
            "" => Ok(()),
            words => write!(formatter, "; stderr: {words}"),
        }
    }
}
