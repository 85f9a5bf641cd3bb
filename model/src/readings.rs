//! Readings as data: a place where a text can be taken in more than one way, and its choices.

use std::fmt;

/// A place that can be taken in more than one way; `R` is the protocol's reading.
#[derive(Debug)]
pub struct Place<R: 'static> {
    /// Its name, as on the command line.
    pub name: &'static str,
    /// The clauses that leave it open.
    pub clauses: &'static [&'static str],
    /// What is open.
    pub question: &'static str,
    /// What bounds must have for its ways to be told apart ([`crate::bounds::Bounds::shows`]); nothing where all do.
    pub with: Option<&'static str>,
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
            with: None,
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

/// A place and the way in which it is taken.
pub type Chosen<R> = (&'static Place<R>, &'static Choice<R>);

/// What each `name=value` chooses, in their order.
///
/// # Errors
///
/// No equals sign, an unknown name, a value that the place does not have, or two values for one place; the message lists what there is.
pub fn chosen<'a, R>(
    places: &'static [Place<R>],
    assignments: impl IntoIterator<Item = &'a str>,
) -> Result<Vec<Chosen<R>>, ReadingError<R>> {
    let mut all: Vec<Chosen<R>> = Vec::new();
    for assignment in assignments {
        let (place, choice) = choose(places, assignment)?;
        let mut before = all.iter().filter(|(it, _)| it.name == place.name);
        if let Some((_, other)) = before.find(|(_, it)| it.value != choice.value) {
            let ways = [other.value, choice.value];
            return Err(ReadingError::Twice { place, ways });
        }
        all.push((place, choice));
    }
    Ok(all)
}

fn choose<R>(places: &'static [Place<R>], assignment: &str) -> Result<Chosen<R>, ReadingError<R>> {
    let (name, value) =
        assignment
            .split_once('=')
            .ok_or_else(|| ReadingError::NotAnAssignment {
                places,
                text: assignment.to_owned(),
            })?;
    let place = places
        .iter()
        .find(|place| place.name == name)
        .ok_or_else(|| ReadingError::UnknownName {
            places,
            name: name.to_owned(),
        })?;
    let choice = place
        .choices
        .iter()
        .find(|choice| choice.value == value)
        .ok_or_else(|| ReadingError::UnknownValue {
            place,
            value: value.to_owned(),
        })?;
    Ok((place, choice))
}

/// An assignment that chooses nothing.
#[derive(Clone, Debug)]
pub enum ReadingError<R: 'static> {
    /// It is not of the form `name=value`.
    NotAnAssignment {
        /// The places that there are.
        places: &'static [Place<R>],
        /// What was given.
        text: String,
    },
    /// No place has this name.
    UnknownName {
        /// The places that there are.
        places: &'static [Place<R>],
        /// What was given.
        name: String,
    },
    /// The place does not have this value.
    UnknownValue {
        /// The place.
        place: &'static Place<R>,
        /// What was given.
        value: String,
    },
    /// The place is to be taken in two ways.
    Twice {
        /// The place.
        place: &'static Place<R>,
        /// The two values.
        ways: [&'static str; 2],
    },
}

impl<R> fmt::Display for ReadingError<R> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAnAssignment { places, text } => {
                let examples = places
                    .iter()
                    .take(1)
                    .flat_map(|place| place.choices.iter().map(move |choice| (place, choice)));
                write!(formatter, "reading `{text}`: expected NAME=VALUE")?;
                examples.last().map_or(Ok(()), |(place, choice)| {
                    write!(formatter, ", such as {}={}", place.name, choice.value)
                })
            }
            Self::UnknownName { places, name } => {
                let names: Vec<_> = places.iter().map(|place| place.name).collect();
                write!(
                    formatter,
                    "unknown reading `{name}`: expected one of {}",
                    names.join(", ")
                )
            }
            Self::UnknownValue { place, value } => {
                let values: Vec<_> = place.choices.iter().map(|choice| choice.value).collect();
                write!(
                    formatter,
                    "reading {}: unknown value `{value}`: expected {}",
                    place.name,
                    values.join(" or ")
                )
            }
            Self::Twice { place, ways } => {
                let (name, [one, other]) = (place.name, ways);
                write!(
                    formatter,
                    "reading {name}: {one} and {other} exclude each other: expected one of them"
                )
            }
        }
    }
}

impl<R: fmt::Debug> std::error::Error for ReadingError<R> {}
