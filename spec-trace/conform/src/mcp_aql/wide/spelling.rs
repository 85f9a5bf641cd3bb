//! Parameters in real bytes, in several spellings of one meaning.

use std::collections::BTreeMap;

use countersign_model::mcp_aql::judge::words::{Parameter, Weight};

use super::step::{PARAMETERS, Parameters, VALUES};

/// The names, each plain and with an escape. The first two name a resource and widen the scope.
const NAMES: [[&str; 2]; PARAMETERS as usize] = [
    ["path", "p\\u0061th"],
    ["force", "forc\\u0065"],
    ["request_id", "request\\u005fid"],
    ["note", "\\u006eote"],
];

/// What no call has, and a list may name (AQL-3.2-1).
const ABSENT: &str = "resource";

/// The values, each in two spellings.
const WRITTEN: [[&str; 2]; VALUES as usize] = [
    ["\"secret-a\"", "\"\\u0073ecret-a\""],
    ["777001", "7.77001e5"],
    ["true", "true"],
    [
        "{\"x\":[\"secret-b\",null],\"y\":-0.5}",
        "{\"y\": -5e-1, \"x\" :[\"\\u0073ecret-b\", null]}",
    ],
];

/// What stands in values and must stand in no refusal (AQL-6.3-1).
pub(super) const SECRETS: [&str; 3] = ["secret-a", "777001", "secret-b"];

impl Parameters {
    /// As a client writes them.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let [reversed, spaced, escaped] = [1, 2, 4].map(|bit| self.spelling & bit > 0);
        let space = if spaced { " \n" } else { "" };
        let member = |(name, value): (usize, &Option<u8>)| {
            let spelled = usize::from(escaped);
            let value = WRITTEN[usize::from((*value)?) % WRITTEN.len()][spelled];
            Some(format!(
                "{space}\"{}\"{space}:{value}",
                NAMES[name][spelled]
            ))
        };
        let mut members: Vec<_> = self.values.iter().enumerate().filter_map(member).collect();
        if reversed {
            members.reverse();
        }
        let members = members.join(",");
        let text = match self.broken {
            None => format!("{space}{{{members}{space}}}"),
            Some(0) => format!("{{{members}"),
            Some(1) => "{\"path\":\"secret-a\",\"p\\u0061th\":\"secret-b\"}".to_owned(),
            Some(_) => format!("{{{members}}} {{}}"),
        };
        text.into_bytes()
    }

    /// What they mean, where they mean one thing.
    pub(super) fn meaning(&self) -> Option<BTreeMap<u32, Parameter>> {
        let parameter = |(name, value): (u32, &Option<u8>)| {
            let weight = if name < 2 {
                Weight::Impact
            } else {
                Weight::Unsaid
            };
            let value = u32::from((*value)? % VALUES);
            Some((name, Parameter { value, weight }))
        };
        let each = (0..).zip(&self.values).filter_map(parameter).collect();
        self.broken.is_none().then_some(each)
    }

    /// The names of those that are there.
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> {
        let named = NAMES.into_iter().zip(&self.values);
        named.filter_map(|([name, _], value)| value.map(|_| name))
    }

    /// The names of those whose bit is set; behind the last is one that no call has.
    pub(super) fn named(bits: u8) -> impl Iterator<Item = (u32, &'static str)> {
        let names = NAMES.into_iter().map(|[name, _]| name).chain([ABSENT]);
        (0..)
            .zip(names)
            .filter(move |(place, _)| bits & (1 << place) > 0)
    }
}
