//! Near misses: values that are almost those of a request, by the type of each value alone.
//!
//! A neighbour of a request is the same with one value replaced, at any depth, also in the JSON that a text holds. No protocol is known
//! here: where a neighbour is a request of the protocol, its text says what has to come of it, and nothing comes of any other.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use arbitrary::{Result, Unstructured};
use countersign_protocol::{Json, Protocol, schema};
use countersign_reference::time::Timestamp;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::driven::Step;
use crate::spoken::random;

/// How a name differs from the one that it resembles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Each letter in the other case.
    Case,
    /// Without its last character.
    Prefix,
    /// With one character more.
    Longer,
    /// With another last character.
    Last,
    /// With a blank behind it.
    Blank,
    /// With a character that looks like its last.
    Alike,
}

impl Change {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Case,
        Self::Prefix,
        Self::Longer,
        Self::Last,
        Self::Blank,
        Self::Alike,
    ];

    /// As a placeholder has it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Case => "case",
            Self::Prefix => "prefix",
            Self::Longer => "longer",
            Self::Last => "last",
            Self::Blank => "blank",
            Self::Alike => "alike",
        }
    }

    /// The one that a placeholder calls so.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }

    /// The changed text.
    pub fn of(self, text: &str) -> String {
        let last = text.chars().next_back();
        let begin = &text[..text.len() - last.map_or(0, char::len_utf8)];
        match (self, last) {
            (Self::Case, _) => text.chars().map(other_case).collect(),
            (Self::Prefix, _) => begin.to_owned(),
            (Self::Longer, _) | (_, None) => format!("{text}0"),
            (Self::Last, Some(last)) => format!("{begin}{}", next_to(last)),
            (Self::Blank, _) => format!("{text} "),
            (Self::Alike, Some('\u{e9}')) => format!("{begin}e\u{301}"),
            (Self::Alike, Some('!'..='~')) => {
                let wide = last.and_then(|it| char::from_u32(u32::from(it) + WIDE));
                format!("{begin}{}", wide.unwrap_or_default())
            }
            (Self::Alike, Some(_)) => format!("{text}\u{200b}"),
        }
    }
}

/// So far behind a character of ASCII stands the wide one that looks like it.
const WIDE: u32 = 0xfee0;

const fn other_case(it: char) -> char {
    if it.is_ascii_lowercase() {
        it.to_ascii_uppercase()
    } else {
        it.to_ascii_lowercase()
    }
}

/// Another character of the same kind.
const fn next_to(it: char) -> char {
    match it {
        'z' => 'a',
        'Z' => 'A',
        '9' => '0',
        'a'..='y' | 'A'..='Y' | '0'..='8' => (it as u8 + 1) as char,
        _ => 'x',
    }
}

/// One of each kind of blank that there is (DRIVER.md).
const BLANKS: [char; 11] = [
    ' ', '\t', '\n', '\u{1}', '\u{a0}', '\u{ad}', '\u{200b}', '\u{202e}', '\u{2060}', '\u{3000}',
    '\u{feff}',
];

/// Words that are taken for others.
pub(crate) const WORDS: [&str; 10] = [
    "yes", "Yes", "S\u{ed}", "ok", "true", "null", "ALLOW", "accepted", "no", "later",
];

/// Numbers that are read otherwise than they are written, and those around the ends of a type.
const NUMBERS: [&str; 7] = [
    "-0.0",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551616",
    "1e400",
    "1e-400",
];

/// Of what a text is made longer: characters of one byte, two, four, and one that is six where it is escaped.
const UNITS: [char; 4] = ['x', '\u{e9}', '\u{1f4b6}', '\u{1}'];

/// The greatest arguments, in bytes, and the deepest, in levels.
const MOST_BYTES: usize = 1 << 20;
const MOST_LEVELS: usize = 64;

/// The longest texts that the schema of the driver protocol has not, by member.
const LONGEST: [(&str, i64); 5] = [
    ("session_id", 69),
    ("subscription_id", 68),
    ("reply_token", 68),
    ("decided_by", 256),
    ("decision_rationale", 4_096),
];

/// The lengths and numbers at which it changes what may stand in a member, by its name.
static LIMITS: LazyLock<BTreeMap<String, BTreeSet<i64>>> = LazyLock::new(|| {
    let mut limits: BTreeMap<String, BTreeSet<i64>> = BTreeMap::new();
    for (name, limit) in LONGEST {
        limits.entry(name.to_owned()).or_default().insert(limit);
    }
    add_limits("", &schema(), &mut limits);
    limits
});

fn add_limits(name: &str, schema: &Value, limits: &mut BTreeMap<String, BTreeSet<i64>>) {
    let Value::Object(members) = schema else {
        let all = schema.as_array().into_iter().flatten();
        all.for_each(|it| add_limits(name, it, limits));
        return;
    };
    for (word, held) in members {
        match (word.as_str(), held) {
            ("properties", Value::Object(properties)) => {
                for (name, schema) in properties {
                    add_limits(name, schema, limits);
                }
            }
            ("minimum" | "maximum" | "minLength" | "maxLength", limit) => {
                let limit = limit.as_i64();
                limits.entry(name.to_owned()).or_default().extend(limit);
            }
            (_, schema) => add_limits(name, schema, limits),
        }
    }
}

/// A value by its type, as it is written.
enum Kind<'a> {
    Object(Vec<(String, &'a RawValue)>),
    Array(Vec<&'a RawValue>),
    Text(String),
    Number,
    Truth,
    Null,
    /// A text that no reader has, or an object.
    Other,
}

fn kind(written: &str) -> Kind<'_> {
    let written = written.trim_ascii();
    let read = match written.as_bytes().first() {
        Some(b'{') => members(written).map(Kind::Object),
        Some(b'[') => serde_json::from_str(written).ok().map(Kind::Array),
        Some(b'"') => serde_json::from_str(written).ok().map(Kind::Text),
        Some(b't' | b'f') => Some(Kind::Truth),
        Some(b'n') => Some(Kind::Null),
        Some(_) => Some(Kind::Number),
        None => None,
    };
    read.unwrap_or(Kind::Other)
}

/// The members of an object in their order, also those that are in it twice.
fn members(written: &str) -> Option<Vec<(String, &RawValue)>> {
    struct Members<'a>(Vec<(String, &'a RawValue)>);
    struct InOrder;
    impl<'de> serde::de::Visitor<'de> for InOrder {
        type Value = Members<'de>;
        fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            formatter.write_str("an object")
        }
        fn visit_map<A: serde::de::MapAccess<'de>>(
            self,
            mut members: A,
        ) -> std::result::Result<Members<'de>, A::Error> {
            let mut all = Vec::new();
            while let Some(member) = members.next_entry()? {
                all.push(member);
            }
            Ok(Members(all))
        }
    }
    impl<'de> serde::Deserialize<'de> for Members<'de> {
        fn deserialize<D: serde::Deserializer<'de>>(
            deserializer: D,
        ) -> std::result::Result<Self, D::Error> {
            deserializer.deserialize_map(InOrder)
        }
    }
    serde_json::from_str(written).ok().map(|Members(all)| all)
}

fn quoted(text: &str) -> String {
    Json::holding(text).as_str().to_owned()
}

fn object(members: &[(String, &str)], comma: &str, colon: &str) -> String {
    let members = members
        .iter()
        .map(|(name, value)| format!("{}{colon}{value}", quoted(name)));
    format!("{{{}}}", members.collect::<Vec<_>>().join(comma))
}

fn array(items: &[&str]) -> String {
    format!("[{}]", items.join(","))
}

/// The text with an escape in the place of its first character, and with half of a surrogate pair at its end.
fn spelled(text: &str) -> Vec<String> {
    let mut rest = text.chars();
    let first = rest.next().map(|it| {
        let units = it.encode_utf16(&mut [0; 2]).to_vec();
        let units = units.iter().map(|it| format!("\\u{it:04X}"));
        let rest = quoted(rest.as_str());
        format!("\"{}{}", units.collect::<String>(), &rest[1..])
    });
    let whole = quoted(text);
    let half = format!("{}\\ud800\"", &whole[..whole.len() - 1]);
    first.into_iter().chain([half]).collect()
}

/// The neighbours of a value, of each sort in a list of its own. The first sort is the likeliest.
type Sorts = Vec<Vec<String>>;

fn all<T: AsRef<str>>(written: impl IntoIterator<Item = T>) -> Vec<String> {
    let written = written.into_iter();
    written.map(|it| it.as_ref().to_owned()).collect()
}

/// What a run has held so far.
#[derive(Default)]
pub(crate) struct Near {
    /// Values that are neither objects nor arrays, as they are written, each with the name of its member. The latest comes last.
    seen: Vec<(String, String)>,
}

/// So many values are remembered.
const SEEN: usize = 64;

impl Near {
    /// A neighbour of a step. None, where the one that is drawn is no other step.
    pub(crate) fn of<P: Protocol>(&self, seed: u64, step: &Step<P>) -> Option<Step<P>> {
        let request = step.request().ok()?;
        let near = self.written(seed, request.as_str());
        // The driver protocol does not say of which type half a surrogate pair is.
        let is_of_no_type = |it: &Step<P>| it.ask.op().is_none() && near.contains("\\ud800\"");
        let is_other = |it: &Step<P>| it != step && !is_of_no_type(it);
        Step::reading(step.now, &near).filter(is_other)
    }

    /// Remembers what a step holds.
    pub(crate) fn see<P: Protocol>(&mut self, step: &Step<P>) {
        if let Ok(request) = step.request() {
            self.remember("", request.as_str());
        }
        let beyond = self.seen.len().saturating_sub(SEEN);
        self.seen.drain(..beyond);
    }

    fn remember(&mut self, name: &str, written: &str) {
        match kind(written) {
            Kind::Object(members) => {
                for (name, value) in members {
                    self.remember(&name, value.get());
                }
            }
            Kind::Array(items) => items.iter().for_each(|it| self.remember(name, it.get())),
            Kind::Text(text) if holds_json(&text) => self.remember(name, &text),
            Kind::Text(_) | Kind::Number => {
                let value = (name.to_owned(), written.to_owned());
                self.seen.retain(|it| *it != value);
                self.seen.push(value);
            }
            Kind::Truth | Kind::Null | Kind::Other => {}
        }
    }

    /// A neighbour of JSON, which it may be itself.
    fn written(&self, seed: u64, written: &str) -> String {
        let bytes: Vec<u8> = random(seed).take(BYTES).collect();
        let near = self.value(&mut Unstructured::new(&bytes), "", written);
        near.unwrap_or_else(|_| written.to_owned())
    }

    fn value(&self, u: &mut Unstructured<'_>, name: &str, written: &str) -> Result<String> {
        let is_within = u.ratio(7, 8_u8)?;
        match kind(written) {
            Kind::Object(members) if is_within && !members.is_empty() => {
                let mut place = u.choose_index(members.len())?;
                // That another op is asked, or at another time, is rarer.
                if ["op", "now"].contains(&members[place].0.as_str()) {
                    place = u.choose_index(members.len())?;
                }
                let (name, value) = &members[place];
                let near = self.value(u, name, value.get())?;
                let mut members: Vec<_> = with_text(&members);
                members[place].1 = &near;
                Ok(object(&members, ",", ":"))
            }
            Kind::Array(items) if is_within && !items.is_empty() => {
                let place = u.choose_index(items.len())?;
                let near = self.value(u, name, items[place].get())?;
                let mut items: Vec<_> = items.iter().map(|it| it.get()).collect();
                items[place] = &near;
                Ok(array(&items))
            }
            Kind::Text(text) if is_within && holds_json(&text) => Ok(if u.ratio(1, 48_u8)? {
                quoted(&great(u, &text)?)
            } else {
                quoted(&self.value(u, name, &text)?)
            }),
            Kind::Text(text) => {
                let limits = LIMITS.get(name).into_iter().flatten();
                let limits: Vec<_> = limits.filter_map(|it| usize::try_from(*it).ok()).collect();
                if !limits.is_empty() && u.ratio(1, 8_u8)? {
                    let limit = *u.choose(&limits)?;
                    return long(u, &text, limit).map(|it| quoted(&it));
                }
                chosen(u, &self.sorts(name, written))
            }
            Kind::Object(_)
            | Kind::Array(_)
            | Kind::Number
            | Kind::Truth
            | Kind::Null
            | Kind::Other => chosen(u, &self.sorts(name, written)),
        }
    }

    /// The neighbours of a value that differ from it as a whole, and not within.
    fn sorts(&self, name: &str, written: &str) -> Sorts {
        let mut sorts = match kind(written) {
            Kind::Object(members) => of_object(&members),
            Kind::Array(items) => of_array(&items),
            Kind::Text(text) => self.of_text(name, &text),
            Kind::Number => self.of_number(name, written),
            Kind::Truth => {
                let other = if written == "true" { "false" } else { "true" };
                let number = if written == "true" { "1" } else { "0" };
                vec![all([other]), all([number, &quoted(written), "\"yes\""])]
            }
            Kind::Null => vec![all(["0", "\"\"", "{}", "false"])],
            Kind::Other => vec![all(["\"\""])],
        };
        sorts.push(all(["null", "true", "0", "[]", "{}"]));
        sorts.push(vec![
            array(&[written]),
            format!("{{\"x\":{written}}}"),
            quoted(written),
        ]);
        for sort in &mut sorts {
            sort.retain(|it| it != written);
        }
        sorts.retain(|it| !it.is_empty());
        sorts
    }

    fn of_text(&self, name: &str, text: &str) -> Sorts {
        // The name that stands in the place of this is changed when it is known.
        let placed = text.strip_suffix('}').filter(|it| it.starts_with("${"));
        let placed = placed.filter(|it| !it.contains(':'));
        let changed = Change::ALL.map(|it| match placed {
            Some(placed) => format!("{placed}:{}}}", it.name()),
            None => it.of(text),
        });
        let mut sorts = Vec::new();
        if let Ok(time) = Timestamp::parse(text) {
            sorts.push(self.times(time.millis()));
            sorts.push(all(forms_of_time(text).map(|it| quoted(&it))));
        }
        let blanks = BLANKS.map(|it| format!("{it}{text}"));
        sorts.extend([
            all(changed.map(|it| quoted(&it))),
            all(["\"\""]),
            all(BLANKS.map(|it| quoted(&it.to_string()))),
            all(blanks.map(|it| quoted(&it))),
            self.earlier(|it| it == name),
            self.earlier(|it| it != name),
            all(WORDS.map(quoted)),
            spelled(text),
        ]);
        if holds_json(text) {
            sorts.push(all([text]));
        }
        sorts
    }

    fn of_number(&self, name: &str, written: &str) -> Sorts {
        let forms = ["0", ".0", "e0", "E+0", ".5"].map(|it| format!("{written}{it}"));
        let mut sorts = Vec::new();
        if let Ok(number) = written.parse::<i64>() {
            let beside = |it: i64| [it.saturating_sub(1), it, it.saturating_add(1)];
            let limits = LIMITS.get(name).into_iter().flatten();
            let limits = limits.flat_map(|it| beside(*it));
            sorts.push(all(beside(number).map(|it| it.to_string())));
            sorts.push(all(
                [0, -1, number.saturating_neg()].map(|it| it.to_string())
            ));
            sorts.push(all(limits.map(|it| it.to_string())));
        }
        sorts.extend([
            all(forms),
            all(NUMBERS),
            self.earlier(|it| it == name),
            vec![quoted(written)],
        ]);
        sorts
    }

    /// What other members held, or the same.
    fn earlier(&self, is_wanted: impl Fn(&str) -> bool) -> Vec<String> {
        let seen = self.seen.iter().filter(|(name, _)| is_wanted(name));
        all(seen.map(|(_, value)| value))
    }

    /// Times beside every one that the run has named.
    fn times(&self, time: i64) -> Vec<String> {
        let seen = self.seen.iter();
        let known = seen.filter_map(|(_, it)| serde_json::from_str::<String>(it).ok());
        let known = known.filter_map(|it| Some(Timestamp::parse(&it).ok()?.millis()));
        let known: BTreeSet<i64> = known.chain([time]).collect();
        let beside = known.iter().flat_map(|it| [it - 1, *it, it + 1]);
        let beside: BTreeSet<i64> = beside.collect();
        all(beside
            .into_iter()
            .map(|it| quoted(&Timestamp::from_millis(it).to_string())))
    }
}

/// So many bytes choose a neighbour.
const BYTES: usize = 64;

/// What chooses a neighbour, in two bytes.
pub(crate) fn seed(u: &mut Unstructured<'_>) -> Result<u64> {
    u.arbitrary::<u16>().map(u64::from)
}

/// A neighbour of a JSON text, or of a text that is none.
pub(crate) fn json(seed: u64, text: &str) -> String {
    let written = if holds_json(text) {
        text.to_owned()
    } else {
        quoted(text)
    };
    let near = Near::default().written(seed, &written);
    let text: Option<String> = serde_json::from_str(&near).ok();
    text.unwrap_or(near)
}

/// A text that is almost this one.
pub(crate) fn text(seed: u64, text: &str) -> String {
    let bytes: Vec<u8> = random(seed).take(BYTES).collect();
    let mut sorts = Near::default().of_text("", text);
    sorts.retain(|it| !it.is_empty());
    let near = chosen(&mut Unstructured::new(&bytes), &sorts);
    let near = near.ok().and_then(|it| serde_json::from_str(&it).ok());
    near.unwrap_or_else(|| Change::Longer.of(text))
}

fn chosen(u: &mut Unstructured<'_>, sorts: &Sorts) -> Result<String> {
    let likeliest = sorts.first().filter(|_| u.ratio(1, 3_u8).unwrap_or(true));
    let sort = match likeliest {
        Some(sort) => sort,
        None => u.choose(sorts)?,
    };
    u.choose(sort).cloned()
}

/// Whether a text is an object or an array.
fn holds_json(text: &str) -> bool {
    matches!(kind(text), Kind::Object(_) | Kind::Array(_))
}

/// Members, each with its text.
type Named<'a> = Vec<(String, &'a str)>;

fn with_text<'a>(members: &[(String, &'a RawValue)]) -> Named<'a> {
    let members = members.iter();
    members
        .map(|(name, value)| (name.clone(), value.get()))
        .collect()
}

fn of_object(members: &[(String, &RawValue)]) -> Sorts {
    let members = with_text(members);
    let written = |members: &[(String, &str)]| object(members, ",", ":");
    let of_each = |change: &dyn Fn(&mut Named<'_>, usize)| {
        let places = 0..members.len();
        let changed = places.map(|place| {
            let mut members = members.clone();
            change(&mut members, place);
            written(&members)
        });
        changed.collect::<Vec<_>>()
    };
    let twice = |value: Option<&'static str>| {
        of_each(&move |all, place| {
            let (name, first) = all[place].clone();
            all.push((name, value.unwrap_or(first)));
        })
    };
    let reversed: Vec<_> = members.iter().rev().cloned().collect();
    let beside = [("x".to_owned(), "1")];
    vec![
        of_each(&|all, place| {
            all.remove(place);
        }),
        of_each(&|all, place| all[place].1 = "null"),
        [twice(None), twice(Some("0"))].concat(),
        vec![
            written(&[&members[..], &beside].concat()),
            written(&[&beside, &members[..]].concat()),
        ],
        vec![written(&reversed), object(&members, " ,\t", " :\n")],
        of_each(&|all, place| all[place].0 = Change::Case.of(&all[place].0)),
        of_each(&|all, place| all[place].0 = Change::Longer.of(&all[place].0)),
        with_escaped_name(&members),
    ]
}

/// The object with the first character of its first name escaped, and with that name twice, of which one is.
fn with_escaped_name(members: &[(String, &str)]) -> Vec<String> {
    let Some(((name, value), others)) = members.split_first() else {
        return Vec::new();
    };
    let escaped = spelled(name).remove(0);
    [others, members]
        .map(|rest| {
            let rest = object(rest, ",", ":");
            let comma = if rest == "{}" { "" } else { "," };
            format!("{{{escaped}:{value}{comma}{}", &rest[1..])
        })
        .to_vec()
}

fn of_array(items: &[&RawValue]) -> Sorts {
    let items: Vec<&str> = items.iter().map(|it| it.get()).collect();
    let reversed: Vec<&str> = items.iter().rev().copied().collect();
    let [first @ .., _] = &items[..] else {
        return vec![all(["[null]", "[0]", "[\"\"]"])];
    };
    let with = |more: &str| array(&[&items[..], &[more]].concat());
    vec![
        vec![array(&reversed)],
        vec![array(first), array(&items[1..])],
        vec![with(items[0])],
        vec![with("null"), with("\"\"")],
        all([items[0]]),
    ]
}

/// Other forms of a time, and texts that are almost one.
fn forms_of_time(text: &str) -> [String; 7] {
    let local = text.trim_end_matches(['Z', 'z']);
    [
        text.to_ascii_lowercase(),
        format!("{local}999Z"),
        format!("{local}+00:00"),
        format!("{local}-00:00"),
        text.replace('T', " "),
        local.to_owned(),
        text.chars().take(10).collect(),
    ]
}

/// A text that is as long as it may be at most, or one character more or less, counted in characters or in bytes.
fn long(u: &mut Unstructured<'_>, text: &str, limit: usize) -> Result<String> {
    let unit = *u.choose(&UNITS)?;
    let wanted = (limit + 1).saturating_sub(u.int_in_range(0..=2)?);
    if u.arbitrary()? {
        let padding = std::iter::repeat(unit);
        return Ok(text.chars().chain(padding).take(wanted).collect());
    }
    let mut long: String = text.chars().take(wanted / 4).collect();
    let left = wanted.saturating_sub(long.len());
    long.extend(std::iter::repeat_n(unit, left / unit.len_utf8()));
    long.extend(std::iter::repeat_n('x', left % unit.len_utf8()));
    Ok(long)
}

/// JSON that means the same and is as large as it may be, or holds the same as deep as it may be; one byte or level more or less.
fn great(u: &mut Unstructured<'_>, text: &str) -> Result<String> {
    let beside = u.int_in_range(0..=2)?;
    if u.ratio(1, 4_u8)? {
        let blanks = (MOST_BYTES + 1).saturating_sub(beside + text.len());
        return Ok(format!("{text}{}", " ".repeat(blanks)));
    }
    let levels = MOST_LEVELS - beside;
    Ok(format!(
        "{}{text}{}",
        "[".repeat(levels),
        "]".repeat(levels)
    ))
}

#[cfg(test)]
mod tests {
    use countersign_protocol::pending_action::PendingAction;

    use super::*;

    /// What is near a value, each sort in its own list, without the sorts that every value has.
    fn near(seen: &[(&str, &str)], name: &str, written: &str) -> Sorts {
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let seen = seen.iter().map(own).collect();
        let mut sorts = Near { seen }.sorts(name, written);
        sorts.truncate(sorts.len() - 2);
        sorts
    }

    #[test]
    fn a_text_is_near_what_resembles_it_what_was_said_before_and_words() {
        let seen = [("by", "\"p2\""), ("label", "\"Yes\""), ("by", "\"p1\"")];
        let sorts = near(&seen, "by", "\"p1\"");
        assert_eq!(
            sorts[0],
            [
                "\"P1\"",
                "\"p\"",
                "\"p10\"",
                "\"p2\"",
                "\"p1 \"",
                "\"p\u{ff11}\""
            ]
        );
        assert_eq!(sorts[1], ["\"\""]);
        assert!(
            sorts[2].contains(&"\" \"".to_owned()) && sorts[2].contains(&"\"\u{feff}\"".to_owned())
        );
        assert!(
            sorts[3].contains(&"\" p1\"".to_owned())
                && sorts[3].contains(&"\"\u{200b}p1\"".to_owned())
        );
        assert_eq!(sorts[4..6], [vec!["\"p2\""], vec!["\"Yes\""]]);
        assert_eq!(sorts[6], WORDS.map(quoted));
        assert_eq!(sorts[7], [r#""\u00701""#, r#""p1\ud800""#]);
    }

    #[test]
    fn two_forms_of_one_character_are_near() {
        assert_eq!(Change::Alike.of("p\u{e9}"), "pe\u{301}");
    }

    /// What stands for a name is changed when the name is known.
    #[test]
    fn a_placeholder_is_near_its_changes() {
        let sorts = near(&[], "nonce", "\"${nonce-1}\"");
        let changed = Change::ALL.map(|it| format!("\"${{nonce-1:{}}}\"", it.name()));
        assert_eq!(sorts[0], changed);
    }

    #[test]
    fn a_number_is_near_others_other_forms_limits_and_its_text() {
        let sorts = near(&[("max_uses", "7")], "max_uses", "2");
        assert_eq!(sorts[0], ["1", "3"]);
        assert_eq!(sorts[1], ["0", "-1", "-2"]);
        let limits = ["0", "1", "4294967294", "4294967295", "4294967296"];
        assert_eq!(sorts[2], limits);
        assert_eq!(sorts[3], ["20", "2.0", "2e0", "2E+0", "2.5"]);
        assert_eq!(sorts[4], NUMBERS);
        assert_eq!(sorts[5..], [vec!["7"], vec!["\"2\""]]);
    }

    #[test]
    fn a_truth_is_near_the_other_and_what_is_taken_for_it() {
        let sorts = near(&[], "idempotent", "true");
        assert_eq!(sorts, [vec!["false"], vec!["1", "\"true\"", "\"yes\""]]);
    }

    #[test]
    fn a_time_is_near_known_times_and_other_forms() {
        let known = "\"2026-05-24T14:22:20.000Z\"";
        let sorts = near(
            &[("expires_at", known)],
            "now",
            "\"2026-05-24T14:22:21.000Z\"",
        );
        let beside = [
            "\"2026-05-24T14:22:19.999Z\"",
            known,
            "\"2026-05-24T14:22:20.001Z\"",
            "\"2026-05-24T14:22:20.999Z\"",
            "\"2026-05-24T14:22:21.001Z\"",
        ];
        assert_eq!(sorts[0], beside);
        assert!(sorts[1].contains(&"\"2026-05-24T14:22:21.000+00:00\"".to_owned()));
        assert!(sorts[1].contains(&"\"2026-05-24\"".to_owned()));
    }

    #[test]
    fn an_object_is_near_others_by_its_members() {
        let sorts = near(&[], "arguments", r#"{"a":1,"b":[2]}"#);
        let expected: [&[&str]; 8] = [
            &[r#"{"b":[2]}"#, r#"{"a":1}"#],
            &[r#"{"a":null,"b":[2]}"#, r#"{"a":1,"b":null}"#],
            &[
                r#"{"a":1,"b":[2],"a":1}"#,
                r#"{"a":1,"b":[2],"b":[2]}"#,
                r#"{"a":1,"b":[2],"a":0}"#,
                r#"{"a":1,"b":[2],"b":0}"#,
            ],
            &[r#"{"a":1,"b":[2],"x":1}"#, r#"{"x":1,"a":1,"b":[2]}"#],
            &[r#"{"b":[2],"a":1}"#, "{\"a\" :\n1 ,\t\"b\" :\n[2]}"],
            &[r#"{"A":1,"b":[2]}"#, r#"{"a":1,"B":[2]}"#],
            &[r#"{"a0":1,"b":[2]}"#, r#"{"a":1,"b0":[2]}"#],
            &[r#"{"\u0061":1,"b":[2]}"#, r#"{"\u0061":1,"a":1,"b":[2]}"#],
        ];
        assert_eq!(sorts, expected);
    }

    #[test]
    fn an_array_is_near_others_by_its_elements() {
        let sorts = near(&[], "arguments", "[1,2,3]");
        let expected: [&[&str]; 5] = [
            &["[3,2,1]"],
            &["[1,2]", "[2,3]"],
            &["[1,2,3,1]"],
            &["[1,2,3,null]", "[1,2,3,\"\"]"],
            &["1"],
        ];
        assert_eq!(sorts, expected);
    }

    /// A value is changed at any depth, also in the JSON that a text holds, in the way in which it is written.
    #[test]
    fn a_neighbour_differs_at_any_depth() {
        let text = r#"{"a":[1,{"b":"x"}],"long":"................................"}"#;
        let near: BTreeSet<String> = (0..2_000).map(|seed| json(seed, text)).collect();
        for expected in [
            r#"{"a":[1,{"b":"X"}],"long":"................................"}"#,
            r#"{"a":[2,{"b":"x"}],"long":"................................"}"#,
            r#"{"a":[{"b":"x"},1],"long":"................................"}"#,
            r#"{"a":[1,{"b":"x"}],"long":"...............................x"}"#,
        ] {
            assert!(near.contains(expected), "{expected}: {near:#?}");
        }
    }

    /// The longest text of a member is of the schema of the protocol, or of its messages.
    #[test]
    fn a_text_is_near_the_longest_that_there_may_be() {
        let bytes = |seed| random(seed).take(BYTES).collect::<Vec<u8>>();
        let long =
            |seed, limit| long(&mut Unstructured::new(&bytes(seed)), "q1", limit).expect("long");
        for (name, limit) in [("label", 80), ("summary", 4_096), ("question", 16_384)] {
            assert!(LIMITS[name].contains(&i64::from(limit)), "{name}");
        }
        let lengths: BTreeSet<usize> = (0..200)
            .map(|seed| long(seed, 80).chars().count())
            .collect();
        assert!(
            [79, 80, 81].iter().all(|it| lengths.contains(it)),
            "{lengths:?}"
        );
        let lengths: BTreeSet<usize> = (0..200).map(|seed| long(seed, 80).len()).collect();
        assert!(
            [79, 80, 81].iter().all(|it| lengths.contains(it)),
            "{lengths:?}"
        );
    }

    /// A neighbour of a step is one that is judged as any other, or one that the protocol does not have; the same seed gives the same.
    #[test]
    fn a_step_has_neighbours_of_both_sorts() {
        let step = r#"{"op":"decide","now":"2026-05-28T20:26:40.000Z","action_id":"${action_id-1}","by":"p1","decision":"allow"}"#;
        let step: Step<PendingAction> = serde_json::from_str(step).expect("a step");
        let near = |seed| Near::default().of(seed, &step);
        let all: Vec<_> = (0..4_000).filter_map(near).collect();
        assert_eq!(all, (0..4_000).filter_map(near).collect::<Vec<_>>());
        let (typed, raw): (Vec<_>, Vec<_>) = all.iter().partition(|it| it.ask.op().is_some());
        assert!(
            typed.len() > 500 && raw.len() > 500,
            "{} {}",
            typed.len(),
            raw.len()
        );
        let written: Vec<String> = all
            .iter()
            .map(|it| serde_json::to_string(it).expect("it can be written"))
            .collect();
        for expected in [
            r#""action_id":"${action_id-1:prefix}""#,
            r#""by":"P1""#,
            r#""by":"""#,
            r#""decision":"yes""#,
            r#""by":null"#,
            r#""x":1"#,
        ] {
            assert!(written.iter().any(|it| it.contains(expected)), "{expected}");
        }
        for (step, written) in all.iter().zip(&written) {
            let read: Step<PendingAction> = serde_json::from_str(written).expect("a step");
            assert_eq!(read, *step, "{written}");
        }
    }
}
