//! The judge's own words for clarifications: what is to be asked, what the event says, and what it comes to.
//!
//! The one thing to know: texts are numbered in one series, so that a choice's value, a default and a response of the same number are the
//! same text.

/// What is to be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clarify {
    /// The session that asks.
    pub session: u32,
    /// The question: in one session the same text is the same question.
    pub question: u32,
    /// `accepted_response_kinds`, as given, where the driver says.
    pub kinds: Option<Vec<ResponseKind>>,
    /// What there is to choose from, as given, where the driver says.
    pub choices: Option<Vec<Choice>>,
    /// How long to wait.
    pub timeout_seconds: i64,
    /// What is taken for the answer when none comes in time.
    pub default: Option<u32>,
    /// Whose limits a text is outside of (AAEP-EV-5: empty, AAEP-EV-10: too long), if any, so that it cannot be asked as it stands.
    pub out_of_limits: Option<&'static str>,
}

/// What an `awaiting.clarification` says.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Clarification {
    /// Its reply token.
    pub token: u32,
    /// The question.
    pub question: u32,
    /// `accepted_response_kinds`, where it says.
    pub kinds: Option<Vec<ResponseKind>>,
    /// What there is to choose from, where it says.
    pub choices: Option<Vec<Choice>>,
    /// How long it waits.
    pub timeout_seconds: i64,
    /// What is taken for the answer when none comes in time, where it says.
    pub default: Option<u32>,
}

/// One of the answers to choose from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Choice {
    /// The text that is answered.
    pub value: u32,
    /// The text that the user reads.
    pub label: u32,
}

/// A kind of answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ResponseKind {
    /// `freetext`: any string.
    Freetext,
    /// `yes_no`: a boolean.
    YesNo,
    /// `multiple_choice`: the value of a choice.
    MultipleChoice,
    /// `numeric`: a number.
    Numeric,
}

/// What is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Response {
    /// A string, by the number of its text.
    Text(u32),
    /// A boolean.
    Boolean(bool),
    /// A number, by a number of its own: equal for numbers of equal value.
    Number(u32),
}

/// Who answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AnsweredBy {
    /// Whoever sent the valid reply.
    Reply,
    /// Nobody in time, so that the default response is the answer.
    Default,
    /// Nobody in time, and there is no default response.
    Nobody,
}
