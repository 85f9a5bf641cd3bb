//! JSON as both sides write it: objects without a key twice, and values that pass through untouched.
//!
//! The one thing to know: serde reads the types, and says of a fault what it expected; [`Problem`] adds the place. What
//! serde would let pass is looked at beforehand: a key twice, however deep, and in requests a null.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::marker::PhantomData;
use std::{fmt, str, vec};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, MapDeserializer};
use serde::de::{
    DeserializeSeed, Deserializer, Error, IgnoredAny, IntoDeserializer, MapAccess, SeqAccess,
    Visitor,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use serde_path_to_error::{Path, Segment};

/// The members of a message that hold any JSON: a key twice, half a surrogate pair, a number that no double carries. A
/// client has sent it, or somebody has put it out.
pub(crate) const VERBATIM: &[&str] = &["params", "arguments", "result", "snapshot"];
/// The members of an output that hold any JSON: those, and what a user has said.
const VERBATIM_OUT: &[&str] = &[
    "params",
    "arguments",
    "result",
    "snapshot",
    "response",
    "modified_action",
];

/// How many characters of either end of a long message are kept: its end says what was expected.
const KEPT_OF_MESSAGE: usize = 512;

/// Why a line is no message: the place, what was there, and what was expected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Problem {
    message: String,
    /// Where what is wrong is a value of the right type: the place, and a value that would be allowed there.
    allowed: Option<Box<(Vec<Step>, Value)>>,
}

/// One step further into a value.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    /// To the member of an object.
    Member(String),
    /// To an element of an array.
    Element(usize),
}

/// A JSON value as it is written, byte for byte, whatever its numbers and keys.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct Json(Box<RawValue>);

/// The members of one object, each as it is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Members(BTreeMap<String, Json>);

/// Whether nulls may stand in a message. In a request none says anything: a field that is not meant is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nulls {
    Allowed,
    Refused,
}

impl Problem {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        let message = message.into();
        let length = message.chars().count();
        let message = if length <= 2 * KEPT_OF_MESSAGE {
            message
        } else {
            let start = message.chars().take(KEPT_OF_MESSAGE);
            let end = message.chars().skip(length - KEPT_OF_MESSAGE);
            start.chain(['…']).chain(end).collect()
        };
        Self {
            message,
            allowed: None,
        }
    }

    /// Whether what is wrong is a value, and neither its type nor that it is missing or unknown.
    pub(crate) fn is_about_a_value(&self) -> bool {
        self.allowed.is_some()
    }

    /// What serde says of the value at the end of these steps, in our words.
    fn at(steps: Vec<Step>, error: &serde_json::Error) -> Self {
        let (said, _) = said_at(error);
        let place = &*place(&steps);
        if let Some(name) = said.strip_prefix("missing field ") {
            let missing = joined(place, name.trim_matches('`'));
            return Self::new(format!("`{missing}` is missing"));
        }
        if let Some((_, expected)) = said
            .strip_prefix("unknown field `")
            .and_then(|rest| rest.split_once("`, "))
        {
            let expected =
                expected.replace("there are no fields", "expected only `id`, `op`, `now`");
            return Self::new(format!("unknown field `{place}`: {expected}"));
        }
        // Serde names whole numbers as Rust does.
        let said = said
            .replace("expected u64", "expected a whole number, 0 or more")
            .replace("expected i64", "expected a whole number");
        match place {
            "" => Self::new(said),
            _ => Self {
                allowed: allowed_instead(&said).map(|allowed| Box::new((steps, allowed))),
                ..Self::new(format!("`{place}`: {said}"))
            },
        }
    }
}

/// A value that would be allowed where serde complains of one that has the right type.
fn allowed_instead(said: &str) -> Option<Value> {
    // What is expected stands last, whatever the value holds.
    let (found, expected) = said.rsplit_once(", expected ")?;
    let word = expected.split('`').nth(1).map(Value::from);
    if found.starts_with("unknown variant `") {
        return word;
    }
    let found = found.strip_prefix("invalid value: ")?;
    let other = if found.starts_with("integer ") {
        Value::from(0)
    } else {
        Value::from("")
    };
    Some(word.unwrap_or(other))
}

impl Json {
    /// A string that holds `text`: the way to send what is no JSON, or would not stay on its line.
    pub fn holding(text: &str) -> Self {
        // There is no text that JSON cannot hold.
        to_raw_value(text).map_or_else(|_| Self(RawValue::NULL.to_owned()), Self)
    }

    /// The value that serde writes for `value`.
    ///
    /// # Errors
    ///
    /// Serde's, where there is none: a map with keys that are no texts.
    pub fn of(value: &impl Serialize) -> serde_json::Result<Self> {
        to_raw_value(value).map(Self)
    }

    /// The value as it is written.
    pub fn as_str(&self) -> &str {
        self.0.get()
    }

    /// The text that a verbatim field stands for: what a string holds, else the value as it is written, as is a string
    /// that holds no text but half a character.
    pub fn text(&self) -> Cow<'_, str> {
        let written = self.as_str();
        serde_json::from_str(written).map_or(Cow::Borrowed(written), Cow::Owned)
    }
}

/// A message is one line: a line break between two tokens becomes a blank.
impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = Box::<RawValue>::deserialize(deserializer)?;
        if !written.get().contains(['\n', '\r']) {
            return Ok(Self(written));
        }
        let line = written.get().replace(['\n', '\r'], " ");
        let line = RawValue::from_string(line).map_err(D::Error::custom)?;
        Ok(Self(line))
    }
}

/// Two are the same where they are written alike.
impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Json {}

impl JsonSchema for Json {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Json".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!(true)
    }
}

impl Members {
    /// Reads a line as one JSON object in which no key appears twice.
    pub(crate) fn of_line(line: &[u8], nulls: Nulls) -> Result<Self, Problem> {
        let text = str::from_utf8(line).map_err(|error| {
            let column = error.valid_up_to() + 1;
            Problem::new(format!("column {column}: expected UTF-8"))
        })?;
        let found = match text.trim_ascii() {
            object if object.starts_with('{') => None,
            "" => Some("nothing"),
            other => Some(other),
        };
        if let Some(found) = found {
            return Err(Problem::new(format!(
                "expected a JSON object, found {found}"
            )));
        }
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let seen = Outermost(nulls).deserialize(&mut deserializer);
        seen.and_then(|()| deserializer.end()).map_err(|error| {
            let (said, column) = said_at(&error);
            let expected = if error.is_data() {
                ""
            } else {
                "expected a JSON object: "
            };
            Problem::new(format!("column {column}: {expected}{said}"))
        })?;
        serde_json::from_str(text).map_err(|error| Problem::at(Vec::new(), &error))
    }

    /// The variant of an externally tagged enum that has fields: its name, and they.
    pub(crate) fn of_variant(value: &impl Serialize) -> serde_json::Result<(String, Self)> {
        let mut tagged: BTreeMap<String, Self> = serde_json::from_str(Json::of(value)?.as_str())?;
        let variant = tagged.pop_first();
        variant.ok_or_else(|| Error::custom("expected a variant"))
    }

    /// Serde says the same of an object in the place of a word, which is another type.
    pub(crate) fn judged(&self, problem: Problem) -> Problem {
        let Some((steps, _)) = problem.allowed.as_deref() else {
            return problem;
        };
        let found = self.member_of(steps);
        let is_object = found.is_some_and(|(_, mut member, within)| {
            value_at(&mut member, within).is_some_and(|value| value.is_object())
        });
        if is_object {
            let place = place(steps);
            return Problem::new(format!("`{place}`: invalid type: map, expected a string"));
        }
        problem
    }

    /// The members with an allowed value where one is not, to see what else is wrong. None, where nothing would change.
    pub(crate) fn allowing(&self, problem: &Problem) -> Option<Self> {
        let (steps, allowed) = problem.allowed.as_deref()?;
        let (name, mut member, within) = self.member_of(steps)?;
        let before = member.clone();
        if let [list @ .., Step::Element(_)] = within {
            // All words of a list at once, or a long one would be read as often as it has wrong ones.
            let words = value_at(&mut member, list)?.as_array_mut()?;
            let words = words.iter_mut().filter(|word| word.is_string());
            words.for_each(|word| word.clone_from(allowed));
        } else {
            value_at(&mut member, within)?.clone_from(allowed);
        }
        let mut members = self.clone();
        members.0.insert(name.clone(), Json::of(&member).ok()?);
        (member != before).then_some(members)
    }

    /// The member that these steps lead into: its name, its value, and the steps from there.
    fn member_of<'a>(&self, steps: &'a [Step]) -> Option<(&'a String, Value, &'a [Step])> {
        let (Step::Member(name), within) = steps.split_first()? else {
            return None;
        };
        let member = serde_json::from_str(self.0.get(name)?.as_str()).ok()?;
        Some((name, member, within))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&String, &Json)> {
        self.0.iter()
    }

    /// The one of these names that has a member.
    pub(crate) fn only_one_of<'a>(&self, names: &[&'a str]) -> Result<&'a str, Problem> {
        let mut found = names.iter().filter(|name| self.0.contains_key(**name));
        if let (Some(only), None) = (found.next(), found.next()) {
            return Ok(only);
        }
        let found = self.0.keys().filter(|name| names.contains(&name.as_str()));
        let found = match found.collect::<Vec<_>>().as_slice() {
            [] => "none of them".to_owned(),
            several => listed(several),
        };
        let expected = listed(names);
        Err(Problem::new(format!(
            "expected one of {expected}, and no other of them, found {found}"
        )))
    }

    /// Takes a member that may be absent, and reads it.
    pub(crate) fn take<T: for<'a> Deserialize<'a>>(
        &mut self,
        name: &str,
    ) -> Result<Option<T>, Problem> {
        let member = self.0.remove(name);
        let read = |member: Json| {
            let mut deserializer = serde_json::Deserializer::from_str(member.as_str());
            let read = serde_path_to_error::deserialize(&mut deserializer);
            read.map_err(|error| {
                let within = steps(error.path());
                let steps = [Step::Member(name.to_owned())].into_iter().chain(within);
                Problem::at(steps.collect(), error.inner())
            })
        };
        member.map(read).transpose()
    }

    /// Takes a member that must be there, and reads it.
    pub(crate) fn require<T: for<'a> Deserialize<'a>>(&mut self, name: &str) -> Result<T, Problem> {
        let missing = || Problem::new(format!("`{name}` is missing"));
        self.take(name)?.ok_or_else(missing)
    }

    /// Reads the members as one value.
    pub(crate) fn read<T: for<'a> Deserialize<'a>>(&self) -> Result<T, Problem> {
        tracked(self.into_deserializer(), 0)
    }

    /// Reads the members as the fields of the variant `tag` of an externally tagged enum.
    pub(crate) fn read_variant<T: for<'a> Deserialize<'a>>(&self, tag: &str) -> Result<T, Problem> {
        let variant = MapDeserializer::new([(tag, self)].into_iter());
        tracked(MapAccessDeserializer::new(variant), 1)
    }

    /// Reads the member `tag` as what the variant of an externally tagged enum holds.
    pub(crate) fn read_one<T: for<'a> Deserialize<'a>>(&self, tag: &str) -> Result<T, Problem> {
        let member = self.0.iter().filter(|(name, _)| *name == tag);
        let variant = MapDeserializer::new(member.map(|(name, value)| (name.as_str(), &*value.0)));
        tracked(MapAccessDeserializer::new(variant), 0)
    }
}

impl<'de> IntoDeserializer<'de, serde_json::Error> for &'de Members {
    type Deserializer =
        MapDeserializer<'de, vec::IntoIter<(&'de str, &'de RawValue)>, serde_json::Error>;

    fn into_deserializer(self) -> Self::Deserializer {
        let members = self.0.iter();
        let members = members.map(|(name, value)| (name.as_str(), &*value.0));
        MapDeserializer::new(members.collect::<Vec<_>>().into_iter())
    }
}

/// Reads a field that is an object. Serde by itself would take an array of its values for one.
pub(crate) fn object<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    Object::deserialize(deserializer).map(|Object(value)| value)
}

/// Reads a field that is a list of objects.
pub(crate) fn objects<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<Vec<T>>, D::Error> {
    let objects = Vec::<Object<T>>::deserialize(deserializer)?;
    Ok(Some(
        objects.into_iter().map(|Object(value)| value).collect(),
    ))
}

/// Reads a field that is an object, as it is written, or null.
pub(crate) fn written_object<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Json>, D::Error> {
    let written = Option::<Json>::deserialize(deserializer)?;
    match written {
        Some(value) if !value.as_str().starts_with('{') => {
            let found = value.as_str();
            Err(D::Error::custom(format!(
                "invalid type: `{found}`, expected an object"
            )))
        }
        written => Ok(written),
    }
}

struct Object<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectVisitor(PhantomData))
    }
}

struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
    type Value = Object<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Object<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(members)).map(Object)
    }
}

/// The outermost object of a message. Its verbatim members are only looked at for their grammar, so that they may be as
/// deep and as large as they like.
struct Outermost(Nulls);

impl<'de> DeserializeSeed<'de> for Outermost {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Outermost {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<(), A::Error> {
        look_at_members(members, self.0, VERBATIM)
    }
}

/// A value within another one.
struct Within<'a> {
    nulls: Nulls,
    /// The member that it is, or is in.
    name: &'a str,
}

impl<'de> DeserializeSeed<'de> for &Within<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for &Within<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        match self.nulls {
            Nulls::Allowed => Ok(()),
            Nulls::Refused => Err(E::custom(format!(
                "`{}` is null: expected a value, or no such field",
                self.name
            ))),
        }
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element_seed(self)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<(), A::Error> {
        let verbatim = match self.nulls {
            Nulls::Allowed => VERBATIM_OUT,
            Nulls::Refused => &[],
        };
        look_at_members(members, self.nulls, verbatim)
    }
}

fn look_at_members<'de, A: MapAccess<'de>>(
    mut members: A,
    nulls: Nulls,
    verbatim: &[&str],
) -> Result<(), A::Error> {
    let mut seen = BTreeSet::new();
    while let Some(name) = members.next_key::<String>()? {
        if verbatim.contains(&name.as_str()) {
            members.next_value::<IgnoredAny>()?;
        } else if !seen.contains(&name) {
            members.next_value_seed(&Within { nulls, name: &name })?;
        }
        if let Some(name) = seen.replace(name) {
            return Err(A::Error::custom(format!("the key {name:?} appears twice")));
        }
    }
    Ok(())
}

fn tracked<'de, T, D>(deserializer: D, skipped: usize) -> Result<T, Problem>
where
    T: Deserialize<'de>,
    D: Deserializer<'de, Error = serde_json::Error>,
{
    let read = serde_path_to_error::deserialize(deserializer);
    read.map_err(|error| Problem::at(steps(error.path()).skip(skipped).collect(), error.inner()))
}

/// Names in backquotes, with commas between them.
pub(crate) fn listed(names: &[impl AsRef<str>]) -> String {
    let quoted = names.iter().map(|name| format!("`{}`", name.as_ref()));
    quoted.collect::<Vec<_>>().join(", ")
}

fn steps(path: &Path) -> impl Iterator<Item = Step> {
    path.iter().filter_map(|segment| match segment {
        Segment::Seq { index } => Some(Step::Element(*index)),
        Segment::Map { key: name } | Segment::Enum { variant: name } => {
            Some(Step::Member(name.clone()))
        }
        Segment::Unknown => None,
    })
}

/// Where in a message, such as `action.risk_level`.
fn place(steps: &[Step]) -> String {
    let further = |place: String, step: &Step| match step {
        Step::Element(index) => format!("{place}[{index}]"),
        Step::Member(name) => joined(&place, name),
    };
    steps.iter().fold(String::new(), further)
}

/// What is at the end of these steps.
fn value_at<'a>(value: &'a mut Value, steps: &[Step]) -> Option<&'a mut Value> {
    steps.iter().try_fold(value, |value, step| match step {
        Step::Member(name) => value.get_mut(name),
        Step::Element(index) => value.get_mut(index),
    })
}

fn joined(place: &str, name: &str) -> String {
    match place {
        "" => name.to_owned(),
        _ => format!("{place}.{name}"),
    }
}

/// The id of a line that is otherwise no message, if it is a JSON object with one.
pub(crate) fn id_of(line: &[u8]) -> Option<u64> {
    #[derive(Deserialize)]
    struct Identified {
        id: u64,
    }
    let is_object = line.trim_ascii_start().starts_with(b"{");
    let read = || serde_json::from_slice(line).ok();
    is_object.then(read).flatten().map(|Identified { id }| id)
}

/// What the parser says, and the column by itself: every message is one line.
fn said_at(error: &serde_json::Error) -> (String, usize) {
    let (line, column) = (error.line(), error.column());
    let message = error.to_string();
    let position = format!(" at line {line} column {column}");
    let said = message.strip_suffix(&position).unwrap_or(&message);
    (said.to_owned(), column)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verbatim_field_stands_for_its_text_or_for_the_text_that_it_holds() {
        for (written, text) in [
            (r#"{ "a" : 1e400 }"#, r#"{ "a" : 1e400 }"#),
            (r#""{ \"a\" : 1 }""#, r#"{ "a" : 1 }"#),
            (r#""\ud800""#, r#""\ud800""#),
            ("[1,\t2]", "[1,\t2]"),
        ] {
            let value: Json = serde_json::from_str(&format!(" {written} ")).unwrap();
            assert_eq!((value.as_str(), &*value.text()), (written, text));
            assert_eq!(serde_json::to_string(&value).unwrap(), written);
        }
        assert_eq!(Json::holding("{\n").text(), "{\n");
    }

    #[test]
    fn a_long_message_keeps_its_two_ends() {
        for (length, kept) in [
            (1_023, 1_023),
            (1_024, 1_024),
            (1_025, 1_025),
            (1_026, 1_025),
        ] {
            let Problem { message, .. } = Problem::new("é".repeat(length));
            assert_eq!(message.chars().count(), kept);
            assert_eq!(message.contains('…'), length > 1_024);
        }
    }
}
