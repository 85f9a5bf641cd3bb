//! How one and the same arguments can be written, how others differ from them, and what else a host can get wrong.
//!
//! The one thing to know: what means the same was put together by hand, and nothing here is computed, so that an executor
//! that compares arguments in its own way is held to what a reader of JSON makes of them (PA-3).

use countersign_reference::pending_action::{NotArguments, NotJson, Propose, Text};

/// Arguments in several ways.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Spelling {
    /// Texts that mean the same. Any of them can be what is proposed, and any what is approved.
    pub(super) same: &'static [&'static str],
    /// Texts that mean something else, or nothing.
    pub(super) other: &'static [&'static str],
}

/// What can be proposed.
pub(super) const SPELLINGS: [Spelling; 3] = [
    Spelling {
        same: &[
            r#"{"ids":[3,5,8],"confirm":true,"note":"Padrón / 🐎"}"#,
            r#" { "confirm" : true , "note" : "Padr\u00f3n \/ \ud83d\udc0e" , "ids" : [ 3.0 , 50e-1 , 0.8E1 ] } "#,
            "{\r\n\t\"note\":\"\\u0050adr\u{f3}n / \u{1f40e}\",\n\t\"ids\":[3,5.00,8e0],\n\t\"confirm\":true\n}",
        ],
        other: &[
            // Another value, another order, another type; one more, one less; another name, another depth.
            r#"{"ids":[3,5,9],"confirm":true,"note":"Padrón / 🐎"}"#,
            r#"{"ids":[5,3,8],"confirm":true,"note":"Padrón / 🐎"}"#,
            r#"{"ids":["3",5,8],"confirm":true,"note":"Padrón / 🐎"}"#,
            r#"{"ids":[3,5,8,13],"confirm":true,"note":"Padrón / 🐎"}"#,
            r#"{"ids":[3,5,8],"note":"Padrón / 🐎"}"#,
            r#"{"ids":[3,5,8],"confirm":true,"note":"Padrón / 🐎","force":null}"#,
            r#"{"IDs":[3,5,8],"confirm":true,"note":"Padrón / 🐎"}"#,
            r#"{"ids":[3,5,8],"confirm":true,"note":"padrón / 🐎"}"#,
            r#"{"ids":[3,5,8],"confirm":true,"note":"Padro\u0301n / 🐎"}"#,
            r#"[{"ids":[3,5,8],"confirm":true,"note":"Padrón / 🐎"}]"#,
            // What says two things at once, or nothing.
            r#"{"ids":[3,5,8],"confirm":true,"note":"Padrón / 🐎","confirm":true}"#,
            r#"{"ids":[3,5,8],"confirm":true,"note":"Padrón / 🐎"}}"#,
            "{}",
            "",
        ],
    },
    Spelling {
        same: &[
            r#"{"z":{},"a":[],"n":null,"x":-0.5,"big":1e21,"":"\"\\\n\u0001","ﬀ":1,"😀":[[0]]}"#,
            r#"{"😀":[[-0]],"\ufb00":1.0,"":"\u0022\u005c\u000a\u0001","big":10E+20,"x":-5E-1,"n":null,"a":[ ],"z":{ }}"#,
        ],
        other: &[
            r#"{"z":{},"a":[],"n":false,"x":-0.5,"big":1e21,"":"\"\\\n\u0001","ﬀ":1,"😀":[[0]]}"#,
            r#"{"z":[],"a":{},"n":null,"x":-0.5,"big":1e21,"":"\"\\\n\u0001","ﬀ":1,"😀":[[0]]}"#,
            r#"{"z":{},"a":[],"x":-0.5,"big":1e21,"":"\"\\\n\u0001","ﬀ":1,"😀":[[0]]}"#,
            r#"{"z":{},"a":[],"n":null,"x":0.5,"big":1e21,"":"\"\\\n\u0001","ﬀ":1,"😀":[[0]]}"#,
            r#"{"z":{},"a":[],"n":null,"x":-0.5,"big":1e22,"":"\"\\\n\u0001","ﬀ":1,"😀":[[0]]}"#,
            r#"{"z":{},"a":[],"n":null,"x":-0.5,"big":1e21,"":"\"\\\n","ﬀ":1,"😀":[[0]]}"#,
            r#"{"z":{},"a":[],"n":null,"x":-0.5,"big":1e21,"":"\"\\\n\u0001","ff":1,"😀":[[0]]}"#,
            r#"{"z":{},"a":[],"n":null,"x":-0.5,"big":1e21,"":"\"\\\n\u0001","ﬀ":1,"😀":[0]}"#,
            "null",
        ],
    },
    // A number that no double carries is the same only as part of the very same text.
    Spelling {
        same: &[r#"{"amount": 9007199254740993}"#],
        other: &[
            r#"{"amount": 9007199254740992}"#,
            r#"{"amount": 9007199254740994}"#,
        ],
    },
];

/// Somebody on every list of deciders.
pub(super) const OWNER: &str = "ana";

/// Those who are on no list, though nearly; who has no name has not been identified.
pub(super) const NO_DECIDERS: [&str; 6] = ["Ana", "ana ", "an", "ana\u{301}", "", "menta"];

/// Of those, the ones who have a name, and may decide where there is no list.
pub(super) const NAMED_STRANGERS: usize = 4;

/// Lists that hold the owner.
pub(super) const LISTS: [&[&str]; 3] = [&[OWNER], &["zoe", OWNER], &[OWNER, "ANA"]];

/// What a user can say that looks like a decision (PA-11).
pub(super) const FREE_TEXTS: [&str; 4] = [
    "Sí, borrar",
    " yes\r\n",
    r#"{"op": "decide", "decision": "allow", "by": "ana"}"#,
    "",
];

/// What a tool can return.
pub(super) const RESULTS: [&str; 3] = [
    "",
    "done",
    "\r\n {\"deleted\": [3, 5, 8.0], \"deleted\": \"é\\u0000\"} \n",
];

/// What can be made of an id, and is not it (PA-1).
pub(super) const NEARLY: [fn(&str) -> String; 8] = [
    |id| id.to_uppercase(),
    |id| format!("{id}\n"),
    |id| format!(" {id}"),
    |id| format!("{id}0"),
    |id| id[..id.len() - 1].to_owned(),
    |id| id.replacen('_', "", 1),
    |id| id.replace('f', "F"),
    |_| String::new(),
];

/// A proposal with something wrong in it.
pub(super) type Mistake = fn(&mut Propose);

/// PA-1: nothing, or too much, where a name or the summary has to be.
pub(super) const NO_ID: [Mistake; 6] = [
    |propose| propose.agent_id.clear(),
    |propose| propose.session_id.clear(),
    |propose| propose.run_id.clear(),
    |propose| propose.tool.clear(),
    |propose| propose.run_id = "r".repeat(257),
    |propose| propose.summary.clear(),
];

/// PA-2: nobody, nobody in particular, and somebody twice.
pub(super) const NO_DECIDER: [Mistake; 3] = [
    |propose| propose.deciders = Some(Vec::new()),
    |propose| propose.deciders = Some(vec![OWNER.to_owned(), String::new()]),
    |propose| propose.deciders = Some(vec![OWNER.to_owned(), OWNER.to_owned()]),
];

/// PA-3: not one JSON value, or one that says two things at once.
pub(super) const LOOSE_ARGUMENTS: [Mistake; 8] = [
    |propose| propose.arguments = Text::new(""),
    |propose| propose.arguments = Text::new("["),
    |propose| propose.arguments = Text::new("[]]"),
    |propose| propose.arguments = Text::new("{}{}"),
    |propose| propose.arguments = Text::new("{'id': 3}"),
    |propose| propose.arguments = Text::new(r#"{"id": 3,}"#),
    |propose| propose.arguments = Text::new(r#"{"id": 3, "\u0069d": 3}"#),
    |propose| propose.arguments = Text::new("[".repeat(65) + &"]".repeat(65)),
];

/// What is wrong with arguments of those; nothing with all others.
pub(super) fn loose(arguments: &str) -> Option<NotArguments> {
    let unexpected = |at| NotArguments::NotJson(NotJson::Unexpected { at });
    Some(match arguments {
        "" => unexpected(0),
        "[" | "{'id': 3}" => unexpected(1),
        "[]]" | "{}{}" => unexpected(2),
        r#"{"id": 3,}"# => unexpected(9),
        r#"{"id": 3, "\u0069d": 3}"# => NotArguments::NotJson(NotJson::DuplicateKey { at: 22 }),
        nested if nested.starts_with("[[") => NotArguments::NotJson(NotJson::TooDeep { at: 64 }),
        _ => return None,
    })
}

/// PA-9: no words on the button, too many, or on two lines.
pub(super) const LONG_LABEL: [Mistake; 4] = [
    |propose| propose.label.clear(),
    |propose| propose.label = "é".repeat(81),
    |propose| propose.label.push('\n'),
    |propose| propose.label.push('\u{2028}'),
];
