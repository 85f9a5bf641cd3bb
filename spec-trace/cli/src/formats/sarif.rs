//! For code hosts: SARIF 2.1.0, as code-scanning pages take it. The schema is `tests/schemas/sarif-2.1.0.schema.json`.
//!
//! Each clause with a finding is a rule; files are named relative to where the command runs, so that a page that shows the
//! repository finds them.
//!
//! It is written here because `serde-sarif` 0.8 makes its types anew in each build, with `schemafy_lib`, `syn` and
//! `prettyplease`; the few objects here are shorter as JSON, and the tests hold them against the schema.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Component, Path};

use serde_json::{Value, json};

use crate::answer::Status;

/// What one run of a command has to tell.
#[derive(Debug)]
pub struct Log {
    /// How it ended.
    pub status: Status,
    /// The findings.
    pub results: Vec<Outcome>,
    /// What kept it from finding more, as SARIF has it. See [`notification`].
    pub notifications: Vec<Value>,
}

/// One finding.
#[derive(Debug)]
pub struct Outcome {
    /// The clause that it goes against.
    pub clause: &'static str,
    /// `error` or `warning`.
    pub level: &'static str,
    /// What is wrong.
    pub message: String,
    /// Where, as SARIF has it. See [`place`].
    pub place: Option<Value>,
    /// What tells it from others of its kind in a later run.
    pub fingerprint: Option<String>,
    /// Why it does not count, if it does not.
    pub suppressed: Option<String>,
    /// What else belongs to it: each message, with its place.
    pub related: Vec<(String, Value)>,
}

impl Log {
    /// The SARIF log.
    pub fn document(&self) -> Value {
        let rules: BTreeSet<&str> = self.results.iter().map(|it| it.clause).collect();
        let rules: Vec<&str> = rules.into_iter().collect();
        let results = self.results.iter().map(|it| it.json(&rules));
        json!({
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [{
                "tool": {"driver": {
                    "name": "countersign",
                    "version": env!("CARGO_PKG_VERSION"),
                    "semanticVersion": env!("CARGO_PKG_VERSION"),
                    "rules": rules.iter().map(|id| rule(id)).collect::<Vec<_>>(),
                }},
                "columnKind": "unicodeCodePoints",
                "invocations": [{
                    "executionSuccessful": self.notifications.is_empty(),
                    "exitCode": self.status.code(),
                    "toolExecutionNotifications": self.notifications,
                }],
                "results": results.collect::<Vec<_>>(),
            }],
        })
    }
}

impl Outcome {
    fn json(&self, rules: &[&str]) -> Value {
        let mut result = json!({
            "ruleId": self.clause,
            "ruleIndex": rules.iter().position(|id| *id == self.clause),
            "level": self.level,
            "message": {"text": self.message},
        });
        if let Some(place) = &self.place {
            result["locations"] = json!([{"physicalLocation": place}]);
        }
        if let Some(fingerprint) = &self.fingerprint {
            result["partialFingerprints"] = json!({"countersign/v1": fingerprint});
        }
        if let Some(reason) = &self.suppressed {
            result["suppressions"] = json!([{"kind": "external", "justification": reason}]);
        }
        if !self.related.is_empty() {
            let related = (1..).zip(&self.related);
            let related = related.map(|(id, (text, place))| {
                json!({"id": id, "message": {"text": text}, "physicalLocation": place})
            });
            result["relatedLocations"] = related.collect();
        }
        result
    }
}

fn rule(id: &str) -> Value {
    let Ok(clause) = countersign_clauses::get(id) else {
        return json!({"id": id});
    };
    let protocol = id.split('-').next();
    json!({
        "id": id,
        "shortDescription": {"text": clause.gist},
        "fullDescription": {"text": format!("{} {}", clause.level.as_str(), clause.gist)},
        "help": {"text": format!("{}\nSource: {}\ncountersign clauses {id}", clause.gist, clause.source)},
        "properties": {"tags": [protocol, clause.level.as_str()]},
    })
}

/// A place in a file: all of it, or the region with these properties.
pub fn place(file: &str, region: Option<Value>) -> Value {
    let mut place = json!({"artifactLocation": {"uri": uri(file)}});
    if let Some(region) = region {
        place["region"] = region;
    }
    place
}

/// Something that kept the command from finding more, and the place where it met that.
pub fn notification(message: &str, place: Option<&Value>) -> Value {
    let mut notification = json!({"level": "error", "message": {"text": message}});
    if let Some(place) = place {
        notification["locations"] = json!([{"physicalLocation": place}]);
    }
    notification
}

/// A URI for the file: relative where the file lies below the working directory, with what a URI cannot hold escaped.
fn uri(file: &str) -> String {
    let path = Path::new(file);
    let working = std::env::current_dir().unwrap_or_default();
    let relative = path.strip_prefix(&working).unwrap_or(path);
    let mut uri = String::new();
    if relative.is_absolute() {
        uri.push_str("file://");
    }
    for component in relative.components() {
        let name = match component {
            Component::Normal(name) => name.to_string_lossy(),
            Component::ParentDir => "..".into(),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => continue,
        };
        if !uri.is_empty() {
            uri.push('/');
        }
        for byte in name.bytes() {
            if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
                uri.push(char::from(byte));
            } else {
                write!(uri, "%{byte:02X}").expect("writing to a string cannot fail");
            }
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_relative_to_the_working_directory_where_they_lie_below_it() {
        let below = std::env::current_dir().unwrap().join("a b/ü.jsonl");
        assert_eq!(uri(below.to_str().unwrap()), "a%20b/%C3%BC.jsonl");
        assert_eq!(uri("./x/../y.jsonl"), "x/../y.jsonl");
        assert_eq!(uri("/elsewhere/y:1.jsonl"), "file:///elsewhere/y%3A1.jsonl");
        assert_eq!(uri("<stdin>"), "%3Cstdin%3E");
    }
}
