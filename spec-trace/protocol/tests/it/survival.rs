//! Whatever a message can say survives to be written and read.

use std::fmt::Debug;

use arbitrary::{Arbitrary, Unstructured};
use countersign_protocol::aaep::Aaep;
use countersign_protocol::mcp_aql::McpAql;
use countersign_protocol::pending_action::PendingAction;
use countersign_protocol::{Protocol, Request, Response, schema};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// So many messages of each sort.
const SEEDS: u64 = 3_000;

/// Pieces of the texts that names, reasons and messages are made of.
const PIECES: [&str; 12] = [
    "a",
    "null",
    "\"",
    "\\",
    "\n",
    "\r",
    "\0",
    "/",
    "\u{7f}",
    "\u{2028}",
    "é",
    "\u{1f600}",
];

/// Numbers that look random, by the seed alone (splitmix64).
fn numbers(seed: u64) -> impl Iterator<Item = u64> {
    let mut state = seed;
    std::iter::repeat_with(move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    })
}

/// Bytes to make a message up from: numbers and texts, as they come.
fn bytes(seed: u64) -> Vec<u8> {
    let mut numbers = numbers(seed);
    let mut bytes = Vec::new();
    while bytes.len() < 2_048 {
        let number = numbers.next().unwrap();
        let piece = usize::try_from(number % 24).unwrap();
        match PIECES.get(piece) {
            Some(piece) => bytes.extend(piece.as_bytes()),
            None => bytes.extend(number.to_le_bytes()),
        }
    }
    bytes
}

/// Checks many messages; all that they say.
fn survive<T>(read: impl Fn(&[u8]) -> Result<T, String>) -> String
where
    T: Debug + PartialEq + Serialize + DeserializeOwned + for<'a> Arbitrary<'a>,
{
    let mut all = String::new();
    for seed in 0..SEEDS {
        let bytes = bytes(seed);
        let message = T::arbitrary(&mut Unstructured::new(&bytes)).unwrap();
        let line = serde_json::to_string(&message).unwrap();
        assert!(!line.contains(['\n', '\r']), "seed {seed}: {line}");
        let reread = read(line.as_bytes());
        assert_eq!(reread.as_ref(), Ok(&message), "seed {seed}: {line}");
        let reread: T = serde_json::from_str(&line).unwrap();
        assert_eq!(reread, message, "seed {seed}: {line}");
        all += &line;
    }
    all
}

/// What is easily lost on the way.
const HARD: [&str; 3] = ["1e400", "\\uD800", "123456789012345678901234567890"];

fn assert_said<'a>(all: &str, words: impl IntoIterator<Item = &'a str>) {
    for word in words {
        assert!(all.contains(word), "{word}");
    }
}

/// The names of all ops, or of all outputs, by the schema.
fn names(message: &str, pointer: &str) -> Vec<String> {
    let schema = &schema()["$defs"][message];
    let variants = schema.pointer(pointer).unwrap().as_array().unwrap();
    let name = |variant: &Value| {
        let op = variant["properties"]["op"]["const"].as_str();
        let kind = variant["required"][0].as_str();
        format!("\"{}\"", op.or(kind).unwrap())
    };
    variants.iter().map(name).collect()
}

fn requests<P: Protocol>() -> String {
    let all = survive(|line| Request::<P>::read(line).map_err(|it| it.to_string()));
    let ops = names(&format!("{}.request", P::NAME), "/oneOf");
    assert_said(&all, ops.iter().map(String::as_str));
    all
}

fn responses<P: Protocol>() {
    let all = survive(|line| Response::<P>::read(line).map_err(|it| it.to_string()));
    let outputs = "/oneOf/1/properties/outputs/items/oneOf";
    let kinds = names(&format!("{}.response", P::NAME), outputs);
    let answers = ["\"shows\":[", "\"error\":", "\"unsupported\":true"];
    let words = kinds.iter().map(String::as_str).chain(answers);
    assert_said(&all, words.chain(HARD));
}

#[test]
fn every_request_survives_to_be_written_and_read() {
    requests::<Aaep>();
    assert_said(&requests::<McpAql>(), HARD);
    assert_said(&requests::<PendingAction>(), HARD);
}

#[test]
fn every_response_survives_to_be_written_and_read() {
    responses::<Aaep>();
    responses::<McpAql>();
    responses::<PendingAction>();
}
