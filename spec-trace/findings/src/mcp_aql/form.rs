//! How a token looks, and how much is in it: 2.2, 3.1, 6.2.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::every::{every, kept, together};
use crate::run::{Judge, Run, Step, Verdict};

/// The passages.
pub(super) const PASSAGES: &[Judge] = &[
    Judge {
        name: "2.2: grammar",
        judge: |run| instance(run, |it| is_identifier(it, 1)),
    },
    Judge {
        name: "2.2: total length",
        judge: |run| instance(run, |it| (8..=80).contains(&it.text("token").len())),
    },
    Judge {
        name: "3.1: acceptable methods",
        judge: |run| of_method(run, &["randomBytes(16)", "token_hex(16)", "uuid4"]),
    },
    Judge {
        name: "3.1: minimum",
        judge: |run| instance(run, has_128_bits),
    },
    Judge {
        name: "6.2: signed",
        judge: |run| instance_with(run, "payload_characters", carries_a_whole_signature),
    },
];

/// The mended wordings.
pub(super) const REPAIRS: &[Judge] = &[
    Judge {
        name: "AQL-F6",
        judge: |run| instance(run, |it| is_identifier(it, 22)),
    },
    Judge {
        name: "AQL-F7",
        judge: long_enough,
    },
    Judge {
        name: "AQL-F24",
        judge: |run| instance_with(run, "payload_characters", has_the_syntax_of_signed_tokens),
    },
];

/// What is said of a token that is given by itself.
fn instance(run: &Run, right: fn(&Step) -> bool) -> Verdict {
    instance_with(run, "token", right)
}

/// The same of one of which this is given.
fn instance_with(run: &Run, member: &str, right: fn(&Step) -> bool) -> Verdict {
    every(run, |number, it| {
        if it.has("token") && it.has(member) && !it.has("op") {
            kept(right(it), number)
        } else {
            Verdict::Silent
        }
    })
}

/// What follows the prefix; empty where there is none.
fn identifier(step: &Step) -> &str {
    let token = step.text("token");
    let prefixes = ["conf_", "quota_continue_"];
    let rest = prefixes
        .iter()
        .find_map(|prefix| token.strip_prefix(prefix));
    rest.unwrap_or_default()
}

/// 2.2: an identifier of at least this many characters, of letters, digits, `_` and `-`.
fn is_identifier(step: &Step, least: usize) -> bool {
    let identifier = identifier(step);
    let allowed = |it: u8| it.is_ascii_alphanumeric() || it == b'_' || it == b'-';
    (least..=64).contains(&identifier.len()) && identifier.bytes().all(allowed)
}

/// 3.1: how a token was made.
fn of_method(run: &Run, methods: &[&str]) -> Verdict {
    every(run, |number, it| {
        if it.has("method") {
            kept(methods.contains(&it.text("method")), number)
        } else {
            Verdict::Silent
        }
    })
}

/// 3.1: 128 bits, of which a place of 64 letters holds six, and a version 4 UUID has 122.
fn has_128_bits(step: &Step) -> bool {
    let places = identifier(step).len() * 6;
    let made = if step.is("method", "uuid4") {
        122
    } else {
        places
    };
    made.min(places) >= 128
}

/// 6.2: the token holds a payload, of 128 bits at least, and a signature of 256, each in base64.
fn carries_a_whole_signature(step: &Step) -> bool {
    let payload = step.get("payload_characters").as_u64();
    let payload = payload.and_then(|it| usize::try_from(it).ok());
    let parts = payload.and_then(|it| identifier(step).split_at_checked(it));
    parts.is_some_and(|(payload, signature)| {
        let bytes = |text: &str| URL_SAFE_NO_PAD.decode(text).map_or(0, |it| it.len());
        bytes(payload) >= 16 && bytes(signature.trim_start_matches('.')) == 32
    })
}

/// Mended: at least 22 characters, and made in one of the two ways that are left.
fn long_enough(run: &Run) -> Verdict {
    let made = of_method(run, &["randomBytes(16)", "token_hex(16)"]);
    together([made, instance(run, |it| is_identifier(it, 22))])
}

/// Mended: prefix, payload, a full stop and the signature, up to 1024 characters.
fn has_the_syntax_of_signed_tokens(step: &Step) -> bool {
    let whole = step.text("token").len() <= 1024;
    whole && identifier(step).contains('.') && carries_a_whole_signature(step)
}
