//! Readings as data: a place where a text can be taken in more than one way, and its choices.

/// A place that can be taken in more than one way; `R` is the protocol's reading.
#[derive(Debug)]
pub struct Place<R: 'static> {
    /// Its name, as on the command line.
    pub name: &'static str,
    /// The clauses that leave it open.
    pub clauses: &'static [&'static str],
    /// What is open.
    pub question: &'static str,
    /// Whether an implementation may take it in any of these ways; else the text says which, and the others are for its editors to try.
    pub open: bool,
    /// The choices, the default first.
    pub choices: &'static [Choice<R>],
    /// Why the first choice is the default.
    pub why: &'static str,
}

/// One way to take a place.
#[derive(Debug)]
pub struct Choice<R> {
    /// Its value, as on the command line.
    pub value: &'static str,
    /// What it means, and where it is not the default, from which words of the text it can be defended.
    pub gloss: &'static str,
    /// Makes the choice.
    pub set: fn(&mut R),
}

/// The reading with one of these places read that way; none where there is no such place or way.
pub fn with<R: 'static>(places: &[Place<R>], mut reading: R, name: &str, way: &str) -> Option<R> {
    let place = places.iter().find(|it| it.name == name)?;
    let choice = place.choices.iter().find(|it| it.value == way)?;
    (choice.set)(&mut reading);
    Some(reading)
}

/// The ambiguities of a text, each with its ways, the default first: an enum each, a `Reading` of them all, and `AMBIGUITIES`.
macro_rules! ambiguities {
    ($([$numbers:ty])? $(
        $field:ident $choice:ident $name:literal [$($clause:literal),+] $($open:ident)? $question:literal
            $default:ident $default_value:literal $default_gloss:literal,
            $($way:ident $value:literal $gloss:literal),+;
            $why:literal
    )*) => {
        $(
            #[doc = $question]
            #[allow(clippy::doc_markdown, reason = "a gloss is for the command line, too")]
            #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
            pub enum $choice {
                #[doc = $default_gloss]
                #[default]
                $default,
                $(#[doc = $gloss] $way),+
            }
        )*

        /// How each ambiguity is read.
        #[allow(clippy::doc_markdown, reason = "a question is for the command line, too")]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct Reading {
            $(#[doc = "The numbers of the text."] pub numbers: $numbers,)?
            $(#[doc = $question] pub $field: $choice),*
        }

        impl Reading {
            /// The same with one ambiguity read that way; none where there is no such way.
            pub fn with(self, name: &str, way: &str) -> Option<Self> {
                $crate::readings::with(AMBIGUITIES, self, name, way)
            }
        }

        /// Every ambiguity, in the order of the text.
        pub const AMBIGUITIES: &[$crate::readings::Place<Reading>] = &[$($crate::readings::Place {
            name: $name,
            clauses: &[$($clause),+],
            question: $question,
            open: ambiguities!(@ $($open)?),
            choices: &[
                $crate::readings::Choice { value: $default_value, gloss: $default_gloss, set: |it| it.$field = $choice::$default },
                $($crate::readings::Choice { value: $value, gloss: $gloss, set: |it| it.$field = $choice::$way }),+
            ],
            why: $why,
        }),*];
    };
    (@ open) => { true };
    (@) => { false };
}
pub(crate) use ambiguities;
