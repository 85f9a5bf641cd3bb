//! The map between the driver protocol and the alphabet of a text, as one [`Codec`] of each; and what every one of them reads:
//! JSON by its meaning, times, texts, and numbers for them.

pub mod json;
pub mod names;
pub mod time;

use std::collections::BTreeMap;

use countersign_protocol::{Kind, Op, Output, Protocol};

use crate::engine;
use crate::engine::clause::Clause;

/// Values of the driver protocol as the words of a text, and back, in one run: it keeps what was named in it.
///
/// It decides form only. What a member must say is for the spec.
pub trait Codec: Clone + Default {
    /// The text.
    type Text: engine::protocol::Protocol;
    /// The driver protocol.
    type Driver: Protocol;
    /// The kinds of output, in the order of the bits of [`engine::protocol::Variant::hidden`].
    const KINDS: &'static [Kind];

    /// A request. `hello` and `reset` are that time passes: a run begins with new names. `now` is in milliseconds.
    fn call(&mut self, now: i64, op: &Op<Self::Driver>) -> CallOf<Self>;

    /// What came of a call, output by output, and what of it is not of its form.
    fn outputs(
        &mut self,
        call: &CallOf<Self>,
        outputs: &[Output<Self::Driver>],
    ) -> (Vec<OutputOf<Self>>, Vec<Flaw>);

    /// The request of a call. None for what no request can say.
    fn request(&mut self, call: &CallOf<Self>) -> Option<Op<Self::Driver>>;

    /// What a text puts out for one call. What the driver protocol cannot say is left out.
    fn responses(&mut self, outputs: &[OutputOf<Self>]) -> Vec<Output<Self::Driver>>;

    /// The same without writing it: what is new in it has the name that [`Self::responses`] gives it.
    fn issued(&mut self, outputs: &[OutputOf<Self>]);

    /// The things of a run, as the words of a finding call them, each with its text.
    fn in_run(&self) -> BTreeMap<String, String>;

    /// The kinds of output that are not shown, as [`engine::protocol::Variant::hidden`] has them.
    fn hidden(is_shown: impl Fn(Kind) -> bool) -> u32 {
        let hidden = (0..).zip(Self::KINDS);
        let hidden = hidden.filter(|(_, kind)| !is_shown(**kind));
        hidden.fold(0, |hidden, (place, _): (u32, _)| hidden | 1 << place)
    }
}

/// A call of the text of a codec.
pub type CallOf<C> = <<C as Codec>::Text as engine::protocol::Protocol>::Call;
/// An output of the text of a codec.
pub type OutputOf<C> = <<C as Codec>::Text as engine::protocol::Protocol>::Output;

/// An output that is not of its form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flaw {
    /// The clause that asks for the form.
    pub clause: Clause,
    /// The place of the output in the response.
    pub place: usize,
    /// What it must be.
    pub text: String,
}

/// Whether nobody sees anything of a text: white space, control characters and characters without width.
pub fn is_blank(text: &str) -> bool {
    let is_invisible = |it: char| {
        it.is_whitespace()
            || it.is_control()
            || matches!(
                it,
                '\u{ad}'
                    | '\u{200b}'..='\u{200f}'
                    | '\u{202a}'..='\u{202e}'
                    | '\u{2060}'..='\u{206f}'
                    | '\u{feff}'
            )
    };
    text.chars().all(is_invisible)
}

/// Whether a text goes on in another line.
pub fn has_line_break(text: &str) -> bool {
    text.contains([
        '\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}',
    ])
}
