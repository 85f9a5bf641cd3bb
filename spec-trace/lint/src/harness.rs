//! What a fuzzer runs: bytes in, and a panic with the finding where something is wrong.
//!
//! The one thing to know: each function here is a target in `fuzz/`, and a test replays its corpus, so that whatever a
//! fuzzer finds is found again by `cargo test`.

/// The bytes as a recorded stream: the judge must not panic, and must say the same when it is asked again.
///
/// # Panics
///
/// Where two readings of the same bytes differ.
pub fn lint_stream(bytes: &[u8]) {
    let judge = || crate::lint(bytes, "fuzzed").map(|report| report.to_json());
    assert_eq!(judge().ok(), judge().ok(), "the judge is deterministic");
}
