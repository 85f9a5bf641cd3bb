//! The suite that `diff` plays first, held against the reference. Which seeded faults show in it, the tests of `diff` say.

use std::process::Command;

use serde_json::Value;

/// Status 0 means that every MUST of what is declared was tried: the suite is enough for that.
#[test]
fn the_suite_alone_exercises_all_that_binds_the_reference() {
    let served: [&[&str]; 4] = [
        &["pending-action"],
        &["mcp-aql"],
        &["mcp-aql", "--signed"],
        &["aaep"],
    ];
    for arguments in served {
        let [protocol, settings @ ..] = arguments else {
            panic!("it is of a protocol")
        };
        let binary = env!("CARGO_BIN_EXE_countersign");
        let kept = tempfile::tempdir().expect("a folder");
        let mut command = Command::new(binary);
        command.args([
            "diff", protocol, "--runs", "0", "--format", "json", "--save",
        ]);
        command
            .arg(kept.path())
            .args(["--", binary, "serve", protocol, "--stdio"]);
        let output = command.args(settings).output().expect("it runs");
        let text = String::from_utf8_lossy(&output.stdout);
        let document: Value = serde_json::from_str(&text).expect("a JSON document");
        assert_eq!(document["untried"], serde_json::json!([]), "{arguments:?}");
        assert_eq!(document["runs"], 0);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {text}");
    }
}
