//! Seeded faults, each with the test that finds it.
//!
//! `spec-trace/faults/*.toml` lists each with the text of a source and what to put there, so that the rule is
//! broken, and the test that then fails. `every_fault_fails_its_test` puts them in one by one; it takes long and is run at
//! night.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::ClauseId;

/// One change of a source that breaks a rule.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// The clauses that are then broken.
    pub clauses: Vec<ClauseId>,
    /// The source, seen from the root of the workspace.
    pub file: String,
    /// What stands there, once.
    pub find: String,
    /// What is to stand there.
    pub replace: String,
    /// The test that then fails: its package, target and path.
    pub test: String,
    /// What random tests are to find within a minute, of which this is an example: `.ci/teeth` measures it.
    pub timed: Option<String>,
}

/// Every fault, in the order of the files.
pub fn all() -> &'static [Fault] {
    &FAULTS
}

/// The files of `spec-trace/faults/`.
const FILES: [(&str, &str); 12] = [
    ("aaep.toml", include_str!("../../faults/aaep.toml")),
    ("mcp-aql.toml", include_str!("../../faults/mcp-aql.toml")),
    (
        "pending-action.toml",
        include_str!("../../faults/pending-action.toml"),
    ),
    (
        "model_aaep.toml",
        include_str!("../../faults/model_aaep.toml"),
    ),
    (
        "model_mcp_aql.toml",
        include_str!("../../faults/model_mcp_aql.toml"),
    ),
    (
        "model_pending_action.toml",
        include_str!("../../faults/model_pending_action.toml"),
    ),
    (
        "wide_aaep.toml",
        include_str!("../../faults/wide_aaep.toml"),
    ),
    (
        "wide_mcp_aql.toml",
        include_str!("../../faults/wide_mcp_aql.toml"),
    ),
    (
        "wide_pending_action.toml",
        include_str!("../../faults/wide_pending_action.toml"),
    ),
    ("live.toml", include_str!("../../faults/live.toml")),
    (
        "lint_streams.toml",
        include_str!("../../faults/lint_streams.toml"),
    ),
    (
        "lint_transcripts.toml",
        include_str!("../../faults/lint_transcripts.toml"),
    ),
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    fault: Vec<Fault>,
}

static FAULTS: LazyLock<Vec<Fault>> = LazyLock::new(|| {
    let read = |(name, text): (&str, &str)| {
        // The files are part of the program, and a test reads them: what is wrong with them cannot reach a user.
        let file: File = toml::from_str(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        file.fault
    };
    FILES.into_iter().flat_map(read).collect()
});
