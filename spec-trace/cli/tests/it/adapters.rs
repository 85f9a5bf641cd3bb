//! The adapters to copy, in `spec-trace/adapters/`, each as a process of its own behind the driver protocol.
//!
//! The one thing to know: a recorded conversation is requests and responses by turns. Ids and tokens in it stand for those that
//! the implementation makes up which is asked now, and its own words are not compared; all else is.

use crate::adapter;

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::LazyLock;

use adapter::folder;
use jsonschema::Validator;
use serde_json::{Map, Value, json};

/// The protocols of which there is an adapter, and the name of its program and of its conversation.
const ADAPTERS: [(&str, &str); 3] = [
    ("aaep", "aaep"),
    ("mcp-aql", "mcp_aql"),
    ("pending-action", "pending_action"),
];

/// The ops of capabilities that an adapter does not declare.
const NOT_DECLARED: [&str; 3] = ["handoff", "output", "tool"];

/// The members whose text an implementation makes up.
const MADE_UP: [&str; 10] = [
    "action_id",
    "confirmation_token",
    "event_id",
    "message_id",
    "nonce",
    "reply_token",
    "snapshot",
    "token",
    "token_id",
    "tool_call_id",
];

/// The members that hold an implementation's own words, by what they are in.
const OWN_WORDS: [(&str, &[&str]); 7] = [
    ("", &["name", "supports", "shows", "error"]),
    (
        "audit",
        &[
            "action",
            "failure_reason",
            "reason",
            "reply_token",
            "text",
            "tool_call_id",
        ],
    ),
    ("details", &["confirmation_message", "problem", "reasons"]),
    ("emit", &["extensions", "producer", "summary_normal"]),
    ("error", &["message"]),
    ("progress", &["description"]),
    ("refused", &["clause", "reason"]),
];

/// The faults that no answer of the conversation shows, as they lie in the form of what is made up.
const UNSEEN: [&str; 2] = ["tokens-tell-parameters", "short-tokens"];

/// The command of an adapter in Python, or none, where there is no Python to run it.
fn adapter(program: &str, arguments: &[&str]) -> Option<Command> {
    let words = adapter::adapter(program, arguments)?;
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]);
    Some(command)
}

fn reference(protocol: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
    command.args(["serve", protocol, "--stdio"]);
    command
}

/// The schema of each message, by its name.
static MESSAGES: LazyLock<BTreeMap<String, Validator>> = LazyLock::new(|| {
    let schema = countersign_protocol::schema();
    let of_message = |name: &String| {
        let mut schema = schema.clone();
        schema["anyOf"] = json!([{"$ref": format!("#/$defs/{name}")}]);
        let options = jsonschema::options().should_validate_formats(true);
        (name.clone(), options.build(&schema).unwrap())
    };
    let names = schema["$defs"].as_object().unwrap().keys();
    names.map(of_message).collect()
});

fn fits(protocol: &str, message: &str, value: &Value) -> bool {
    MESSAGES[&format!("{protocol}.{message}")].is_valid(value)
}

/// Requests and responses by turns, one a line.
fn conversation(text: &str) -> Vec<(Value, Value)> {
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect();
    let turns = lines.chunks_exact(2);
    assert!(turns.remainder().is_empty(), "each request has a response");
    turns
        .map(|turn| (turn[0].clone(), turn[1].clone()))
        .collect()
}

/// An implementation that is asked.
struct Implementation {
    process: Child,
    requests: ChildStdin,
    responses: BufReader<ChildStdout>,
    protocol: String,
    /// What it has made up, by what stands for it in the conversation.
    made_up: BTreeMap<String, String>,
}

impl Implementation {
    fn started(mut command: Command, protocol: &str) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let requests = process.stdin.take().unwrap();
        let responses = BufReader::new(process.stdout.take().unwrap());
        Self {
            process,
            requests,
            responses,
            protocol: protocol.to_owned(),
            made_up: BTreeMap::new(),
        }
    }

    /// Sends one request and gives its response, which has its form and its id.
    fn ask(&mut self, request: &Value) -> Result<Value, String> {
        writeln!(self.requests, "{request}").map_err(|error| error.to_string())?;
        let mut line = String::new();
        self.responses
            .read_line(&mut line)
            .map_err(|error| error.to_string())?;
        let response: Value = serde_json::from_str(&line)
            .map_err(|error| format!("{error}: {line:?} to {request}"))?;
        let is_answer =
            fits(&self.protocol, "response", &response) && response["id"] == request["id"];
        is_answer
            .then_some(response)
            .ok_or_else(|| format!("no response: {line} to {request}"))
    }

    /// Goes through the whole conversation, or says where it went another way.
    fn holds(&mut self, conversation: &[(Value, Value)]) -> Result<(), String> {
        for (request, expected) in conversation {
            let request = self.filled(request);
            let response = self.ask(&request)?;
            self.is_like(expected, &response, "").map_err(|difference| {
                format!("{difference}\n  asked    {request}\n  expected {expected}\n  came     {response}")
            })?;
        }
        Ok(())
    }

    /// The request with what this implementation has made up: a text as a whole, or one within quotes in a message.
    fn filled(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => {
                let quoted = |text: String, (stands, made): (&String, &String)| {
                    text.replace(&format!("\"{stands}\""), &format!("\"{made}\""))
                };
                let whole = self.made_up.get(text).cloned();
                Value::from(whole.unwrap_or_else(|| self.made_up.iter().fold(text.clone(), quoted)))
            }
            Value::Array(items) => items.iter().map(|item| self.filled(item)).collect(),
            Value::Object(members) => {
                let members = members.iter();
                Value::Object(
                    members
                        .map(|(name, item)| (name.clone(), self.filled(item)))
                        .collect(),
                )
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }

    /// Whether what came is what was expected, in a member of this name.
    fn is_like(&mut self, expected: &Value, came: &Value, name: &str) -> Result<(), String> {
        match (expected, came) {
            (Value::Object(expected), Value::Object(came)) => {
                let [expected, came] = [expected, came].map(|members| compared(members, name));
                let names = |members: &[(&String, &Value)]| -> Vec<String> {
                    members.iter().map(|(name, _)| (*name).clone()).collect()
                };
                if names(&expected) != names(&came) {
                    return Err(format!(
                        "in `{name}`: {:?}, and not {:?}",
                        names(&came),
                        names(&expected)
                    ));
                }
                let mut pairs = expected.into_iter().zip(came);
                pairs.try_for_each(|((name, expected), (_, came))| {
                    self.is_like(expected, came, name)
                })
            }
            (Value::Array(expected), Value::Array(came)) if expected.len() == came.len() => {
                let mut pairs = expected.iter().zip(came);
                pairs.try_for_each(|(expected, came)| self.is_like(expected, came, name))
            }
            (Value::String(expected), Value::String(came)) if MADE_UP.contains(&name) => {
                let is_of_another =
                    |(stands, made): (&String, &String)| made == came && stands != expected;
                if self.made_up.iter().any(is_of_another) {
                    return Err(format!("`{name}`: {came} once more"));
                }
                let made = self
                    .made_up
                    .entry(expected.clone())
                    .or_insert_with(|| came.clone());
                (made == came)
                    .then_some(())
                    .ok_or_else(|| format!("`{name}`: {came}, and not {made}"))
            }
            _ if expected == came => Ok(()),
            _ => Err(format!("`{name}`: {came}, and not {expected}")),
        }
    }

    /// Ends the input; the implementation ends by itself, without a further word.
    fn hang_up(self) {
        let Self {
            mut process,
            requests,
            mut responses,
            ..
        } = self;
        drop(requests);
        let mut rest = String::new();
        responses.read_line(&mut rest).unwrap();
        assert_eq!(rest, "");
        assert!(process.wait().unwrap().success());
    }
}

/// The members that are compared, in order of their names.
fn compared<'a>(members: &'a Map<String, Value>, of: &str) -> Vec<(&'a String, &'a Value)> {
    let own = OWN_WORDS.iter().find(|(kind, _)| *kind == of);
    let is_own = |name: &str| own.is_some_and(|(_, words)| words.contains(&name));
    let sorted: BTreeMap<&String, &Value> =
        members.iter().filter(|(name, _)| !is_own(name)).collect();
    sorted.into_iter().collect()
}

/// The examples of the pages on the driver protocol: a conversation for each `hello`.
fn examples() -> Vec<(String, Vec<(Value, Value)>)> {
    let mut conversations: Vec<(String, Vec<(Value, Value)>)> = Vec::new();
    let pages = pages();
    let said: Vec<&str> = pages
        .lines()
        .filter_map(|line| line.strip_prefix(['→', '←']))
        .collect();
    for (request, response) in conversation(&said.join("\n")) {
        if request["op"] == "hello" {
            let protocol = request["protocol"].as_str().unwrap();
            conversations.push((protocol.to_owned(), Vec::new()));
        }
        conversations
            .last_mut()
            .unwrap()
            .1
            .push((request, response));
    }
    conversations
}

/// The page of a protocol.
fn page(program: &str) -> String {
    let name = format!("../docs/DRIVER_{}.md", program.to_uppercase());
    fs::read_to_string(folder().join(name)).unwrap()
}

/// The page of what they share.
fn shared() -> String {
    fs::read_to_string(folder().join("../docs/DRIVER.md")).unwrap()
}

/// All of them.
fn pages() -> String {
    ADAPTERS.map(|(_, program)| page(program)).join("\n") + &shared()
}

fn recorded(program: &str) -> Vec<(Value, Value)> {
    let path = folder()
        .join("conversations")
        .join(program)
        .with_extension("jsonl");
    conversation(&fs::read_to_string(path).unwrap())
}

#[test]
fn each_adapter_holds_its_recorded_conversation() {
    for (protocol, program) in ADAPTERS {
        let Some(command) = adapter(program, &[]) else {
            return;
        };
        let mut implementation = Implementation::started(command, protocol);
        implementation
            .holds(&recorded(program))
            .unwrap_or_else(|difference| panic!("{difference}"));
        implementation.hang_up();
    }
}

/// What the adapters say is what the reference says, so that neither is right by its own account alone.
#[test]
fn the_reference_holds_the_same_conversations() {
    for (protocol, program) in ADAPTERS {
        let mut implementation = Implementation::started(reference(protocol), protocol);
        implementation
            .holds(&recorded(program))
            .unwrap_or_else(|difference| panic!("{difference}"));
        implementation.hang_up();
    }
}

/// The pages are true: the reference answers each example as it stands there, in the form of the schema.
#[test]
fn the_reference_answers_the_examples_of_the_pages() {
    for (protocol, turns) in examples() {
        let mut implementation = Implementation::started(reference(&protocol), &protocol);
        implementation
            .holds(&turns)
            .unwrap_or_else(|difference| panic!("{difference}"));
        implementation.hang_up();
        for (request, response) in &turns {
            assert!(fits(&protocol, "response", response), "{response}");
            assert!(
                is_bad(response) || fits(&protocol, "request", request),
                "{request}"
            );
        }
    }
}

/// A page is whole: it has an example of every op and of every output, and names every field and every capability.
#[test]
fn each_page_has_every_op_output_field_and_capability() {
    let (shared, schema) = (shared(), countersign_protocol::schema());
    let examples = examples();
    let of = |message: &str| schema["$defs"][message].clone();
    for (protocol, program) in ADAPTERS {
        let page = page(program);
        let (_, turns) = examples
            .iter()
            .find(|(name, _)| name == protocol)
            .expect(protocol);
        for request in of(&format!("{protocol}.request"))["oneOf"]
            .as_array()
            .unwrap()
        {
            let op = &request["properties"]["op"]["const"];
            assert!(
                turns.iter().any(|(request, _)| request["op"] == *op),
                "{protocol}: no example of {op}"
            );
            for field in request["properties"].as_object().unwrap().keys() {
                let quoted = format!("`{field}`");
                let is_told = page.contains(&quoted) || shared.contains(&quoted);
                assert!(is_told, "{op}: no `{field}`");
            }
        }
        let response = of(&format!("{protocol}.response"));
        let kinds = response["oneOf"][1]["properties"]["outputs"]["items"]["oneOf"]
            .as_array()
            .unwrap();
        for kind in kinds {
            let kind = kind["required"][0].as_str().unwrap();
            let is_shown = |response: &Value| {
                response["outputs"]
                    .as_array()
                    .is_some_and(|outputs| outputs.iter().any(|it| it.get(kind).is_some()))
            };
            assert!(
                turns.iter().any(|(_, response)| is_shown(response)),
                "{protocol}: no example of {kind}"
            );
        }
        let capabilities = response["oneOf"][0]["properties"]["supports"]["items"]["oneOf"]
            .as_array()
            .unwrap();
        for capability in capabilities {
            let capability = capability["const"].as_str().unwrap();
            assert!(
                page.contains(&format!("`{capability}`")),
                "{protocol}: no `{capability}`"
            );
        }
    }
}

/// Whether the response is that the request is not understood or has a value that is not allowed.
fn is_bad(response: &Value) -> bool {
    let text = response.to_string();
    text.contains("\"error\":\"") || text.contains("\"refused\"")
}

/// What is asked is a request by the schema, unless the answer is that it is not understood or has a value that is not allowed.
#[test]
fn what_is_asked_fits_the_schema() {
    for (protocol, program) in ADAPTERS {
        for (request, response) in recorded(program) {
            assert!(
                is_bad(&response) || fits(protocol, "request", &request),
                "{request}"
            );
        }
    }
}

/// A conversation that leaves an op or an output out says nothing about it.
#[test]
fn each_conversation_has_every_op_and_every_output_of_its_adapter() {
    for (protocol, program) in ADAPTERS {
        let turns = recorded(program);
        let greeting = &turns[0].1;
        let responses: String = turns
            .iter()
            .map(|(_, response)| response.to_string())
            .collect();
        for kind in greeting["shows"].as_array().unwrap() {
            assert!(
                responses.contains(&format!("{{{kind}:")),
                "{protocol}: no {kind}"
            );
        }
        let ops: Vec<&Value> = turns.iter().map(|(request, _)| &request["op"]).collect();
        let schema = countersign_protocol::schema();
        let requests = schema["$defs"][format!("{protocol}.request")]["oneOf"]
            .as_array()
            .unwrap();
        for request in requests {
            let op = &request["properties"]["op"]["const"];
            let is_left_out = NOT_DECLARED.iter().any(|name| op == name);
            assert_ne!(ops.contains(&op), is_left_out, "{protocol}: {op}");
        }
    }
}

/// The list that an adapter prints of its faults or of its variants.
fn list(program: &str, argument: &str) -> Option<Vec<Value>> {
    let output = adapter(program, &[argument])?.output().unwrap();
    assert!(output.status.success(), "{program} {argument}");
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

/// Each entry names a clause and a reading that there are and says in a sentence what is different, and the adapter starts with it.
#[test]
#[ignore = "night: starts every adapter a hundred times"]
fn every_fault_and_every_variant_starts() {
    let mut variants = 0;
    for (protocol, program) in ADAPTERS {
        for (argument, at_least) in [("fault", 15), ("variant", 7)] {
            let Some(entries) = list(program, &format!("--list-{argument}s")) else {
                return;
            };
            assert!(
                entries.len() >= at_least,
                "{program}: {} {argument}s",
                entries.len()
            );
            variants += usize::from(argument == "variant") * entries.len();
            for entry in entries {
                let [name, clause, what] =
                    ["name", "clause", "what"].map(|member| entry[member].as_str().unwrap());
                countersign_clauses::get(clause).unwrap_or_else(|_| panic!("{name}: {clause}"));
                assert!(what.ends_with('.'), "{name}: {what}");
                if let Some(reading) = entry["reading"].as_str() {
                    assert!(is_reading(protocol, reading), "{name}: {reading}");
                }
                let command = adapter(program, &[&format!("--{argument}"), name]).unwrap();
                let mut implementation = Implementation::started(command, protocol);
                let greeting = json!({"id": 1, "op": "hello", "driver": 1, "protocol": protocol});
                assert!(
                    implementation.ask(&greeting).unwrap()["name"].is_string(),
                    "{name}"
                );
                let reset = json!({"id": 2, "op": "reset", "now": "2026-05-24T14:22:20Z"});
                assert_eq!(
                    implementation.ask(&reset).unwrap()["outputs"],
                    json!([]),
                    "{name}"
                );
                implementation.hang_up();
            }
        }
    }
    assert!(variants >= 20, "{variants} variants");
}

/// Whether the model knows the reading: the complaint is about the one that stands behind it.
fn is_reading(protocol: &str, reading: &str) -> bool {
    // Those that are no readings of the text stand in the pages on the driver protocol.
    let page = pages();
    let (place, choice) = reading.split_once('=').expect("a choice");
    if page.contains(&format!("`{place}`")) && page.contains(&format!("`{choice}`")) {
        return true;
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
    command.args([
        "check",
        protocol,
        "--reading",
        reading,
        "--reading",
        "nothing=so",
    ]);
    let complaint = command.output().unwrap().stderr;
    String::from_utf8_lossy(&complaint).contains("unknown reading `nothing`")
}

/// A fault is one: some answer of the conversation is another than that of the correct adapter.
#[test]
#[ignore = "night: talks with every faulty adapter"]
fn every_fault_shows_in_the_conversation() {
    let mut unseen = Vec::new();
    for (protocol, program) in ADAPTERS {
        let Some(faults) = list(program, "--list-faults") else {
            return;
        };
        for fault in faults {
            let name = fault["name"].as_str().unwrap();
            let command = adapter(program, &["--fault", name]).unwrap();
            let mut implementation = Implementation::started(command, protocol);
            if implementation.holds(&recorded(program)).is_ok() {
                unseen.push(name.to_owned());
            }
            implementation.hang_up();
        }
    }
    assert_eq!(unseen, UNSEEN);
}
