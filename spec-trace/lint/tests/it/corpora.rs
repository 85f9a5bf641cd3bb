//! The corpora of the fuzz targets over the judge, replayed on stable Rust: what a fuzzer has found stays found.

use std::fs;
use std::path::{Path, PathBuf};

use countersign_lint::harness::lint_stream;

/// The files of a folder of the fuzz crate.
fn files(folder: &str) -> Vec<PathBuf> {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let entries = fs::read_dir(fuzz.join(folder)).expect("the folder is part of the project");
    let entries = entries.map(|entry| entry.expect("a readable entry").path());
    entries.collect()
}

#[test]
fn the_judge_holds_on_its_corpus() {
    let inputs = files("corpus/lint_stream");
    assert!(!inputs.is_empty(), "the target has inputs");
    for input in inputs {
        // Said only where it fails: a panic does not know its input.
        println!("{}", input.display());
        lint_stream(&fs::read(&input).expect("a readable input"));
    }
}

#[test]
fn no_other_target_is_over_the_judge() {
    let over_the_judge = files("fuzz_targets").into_iter().filter(|file| {
        let source = fs::read_to_string(file).expect("a readable source");
        source.contains("countersign_lint::harness::")
    });
    let names: Vec<PathBuf> = over_the_judge
        .filter_map(|file| file.file_name().map(PathBuf::from))
        .collect();
    assert_eq!(names, [PathBuf::from("lint_stream.rs")]);
}
