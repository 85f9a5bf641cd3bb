//! Finds every clause id that the workspace's sources cite, for the links that `countersign clauses` shows.
//!
//! Links are derived and never listed, so they cannot rot: this script scans the sources on every build and writes what
//! it found as Rust tables, which `src/links.rs` includes. A folder that is not there is skipped.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

#[path = "build/scan/mod.rs"]
mod scan;

/// The folders that hold sources, seen from the root of the workspace, beside those of the crates in `spec-trace`.
const FOLDERS: [&str; 7] = [
    "benches",
    "fuzz/fuzz_targets",
    "fuzz/src",
    "model/src",
    "model/tests",
    "reference/src",
    "reference/tests",
];

/// Sources that name clauses as examples of ids: what they cite says nothing about the clauses.
const EXAMPLES: [&str; 2] = ["spec-trace/clauses/", "spec-trace/cli/tests/clauses.rs"];

/// The sources of what fuzz targets run.
const HARNESSES: [&str; 2] = [
    "spec-trace/conform/src/harness",
    "spec-trace/lint/src/harness",
];

fn main() -> io::Result<()> {
    let crate_folder = PathBuf::from(variable("CARGO_MANIFEST_DIR"));
    let root = crate_folder.ancestors().nth(2).unwrap_or(&crate_folder);
    let mut citations = String::new();
    let mut names = String::new();
    let mut targets = String::new();
    let mut tests = String::new();
    for file in sources(root) {
        // A file that vanishes meanwhile, or holds no text, cites nothing.
        let Ok(source) = fs::read_to_string(root.join(&file)) else {
            continue;
        };
        let findings = scan::scan(&source);
        for citation in &findings.citations {
            write_citation(&mut citations, &file, citation);
        }
        for scan::Place { text, line } in &findings.tests {
            write_place(&mut tests, &address(&file, text), &file, *line);
        }
        if HARNESSES.iter().any(|harness| file.starts_with(harness)) {
            for (name, line) in public_functions(&source) {
                write_place(&mut targets, name, &file, line);
            }
        }
        if file.starts_with("model/src/") {
            for scan::Place { text, line } in &findings.literals {
                write_place(&mut names, text, &file, *line);
            }
        }
    }
    let generated = format!(
        "/// Every id that is cited anywhere.\n\
         pub static CITATIONS: &[Citation] = &[\n{citations}];\n\n\
         /// Every text in quotes in the sources of the model, with its file and line.\n\
         static MODEL_NAMES: &[(&str, &str, usize)] = &[\n{names}];\n\n\
         /// Every function that fuzz targets run, with its file and line.\n\
         static HARNESS: &[(&str, &str, usize)] = &[\n{targets}];\n\n\
         /// Every test by its address, with its file and line.\n\
         static TESTS: &[(&str, &str, usize)] = &[\n{tests}];\n"
    );
    fs::write(
        Path::new(&variable("OUT_DIR")).join("citations.rs"),
        generated,
    )
}

fn variable(name: &str) -> String {
    // Cargo sets both variables that this script reads; outside of cargo it has no meaning.
    env::var(name).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The Rust files below all folders, in a fixed order, with slashes whatever the platform. Tells cargo to watch them.
fn sources(root: &Path) -> Vec<String> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=build");
    // A new crate stands there.
    println!(
        "cargo:rerun-if-changed={}",
        root.join("Cargo.toml").display()
    );
    let mut files = Vec::new();
    let folders = FOLDERS.iter().map(|folder| root.join(folder));
    for folder in folders.chain(folders_of_crates(&root.join("spec-trace"))) {
        if folder.is_dir() {
            println!("cargo:rerun-if-changed={}", folder.display());
            collect(&folder, &mut files);
        }
    }
    let mut files: Vec<String> = files
        .iter()
        .filter_map(|file| file.strip_prefix(root).ok()?.to_str())
        .map(|file| file.replace('\\', "/"))
        .filter(|file| !EXAMPLES.iter().any(|example| file.starts_with(example)))
        .collect();
    files.sort();
    files
}

/// Sources and tests of the crates in a folder.
fn folders_of_crates(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let entries = entries.filter_map(|entry| Some(entry.ok()?.path()));
    entries
        .filter(|path| path.join("Cargo.toml").is_file())
        .flat_map(|path| ["src", "tests"].map(|folder| path.join(folder)))
        .collect()
}

/// Adds the Rust files in and below `folder`. A folder that cannot be read is left out.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        let hidden = path
            .file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if path.is_dir() && !hidden {
            collect(&path, files);
        } else if path.is_file() && path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// How cargo knows a test: its package, its target and its path in there.
fn address(file: &str, item: &str) -> String {
    let (folder, inside, unit) = match file.split_once("/tests/") {
        Some((folder, inside)) => (folder, inside, false),
        None => file
            .split_once("/src/")
            .map_or((file, "", true), |(folder, inside)| (folder, inside, true)),
    };
    let package = folder.rsplit('/').next().unwrap_or(folder);
    let modules = inside.trim_end_matches(".rs").split('/');
    let mut path: Vec<&str> = modules
        .filter(|module| !["lib", "main", "mod"].contains(module))
        .collect();
    let target = if unit {
        format!("countersign_{package}")
    } else if path.is_empty() {
        String::new()
    } else {
        path.remove(0).to_owned()
    };
    path.push(item);
    format!("countersign-{package} {target} {}", path.join("::"))
}

/// The functions that a source offers to others, each with its line.
fn public_functions(source: &str) -> impl Iterator<Item = (&str, usize)> {
    let lines = source.lines().enumerate();
    lines.filter_map(|(index, line)| {
        let (name, _) = line.strip_prefix("pub fn ")?.split_once('(')?;
        Some((name, index + 1))
    })
}

/// One line of a table of places.
fn write_place(table: &mut String, text: &str, file: &str, line: usize) {
    // Writing to a string cannot fail.
    let _ = writeln!(table, "    ({text:?}, {file:?}, {line}),");
}

/// One line of the table of citations.
fn write_citation(table: &mut String, file: &str, citation: &scan::Citation) {
    let scan::Citation { id, line, .. } = citation;
    let kind = kind(file, citation);
    // A test is known by its name alone; a fuzz target may be a file without any item.
    let last = citation.item.rsplit("::").next().unwrap_or_default();
    let name = match kind {
        Some("Mention") if !last.is_empty() => last.to_owned(),
        _ => name(file, &citation.item),
    };
    let kind = kind.map_or("None".to_owned(), |kind| format!("Some(Kind::{kind})"));
    // Writing to a string cannot fail.
    let _ = writeln!(
        table,
        "    Citation {{ id: {id:?}, kind: {kind}, name: {name:?}, file: {file:?}, line: {line} }},"
    );
}

/// What a citation links its clause to, judged by where it stands: a variant of `Kind`.
///
/// The heading of a file or module says nothing, only what holds code does; but a fuzz target is its whole file, and what it
/// runs stands in the harness. That a test or a target names a clause proves nothing: what they show is recorded. What the
/// model states is taken from its tables of properties and guards.
fn kind(file: &str, citation: &scan::Citation) -> Option<&'static str> {
    if citation.container && !file.starts_with("fuzz/") {
        return None;
    }
    if citation.test || file.contains("/tests/") {
        return Some("Mention");
    }
    [
        ("fuzz/", "Mention"),
        (HARNESSES[0], "Mention"),
        (HARNESSES[1], "Mention"),
        ("reference/src/", "Reference"),
        ("spec-trace/lint/src/", "Monitor"),
        ("spec-trace/conform/src/vectors", "Vector"),
    ]
    .into_iter()
    .find_map(|(folder, kind)| file.starts_with(folder).then_some(kind))
}

/// The path of an item, as code in its crate would write it: `aaep::validate::check_time`.
fn name(file: &str, item: &str) -> String {
    let module = file
        .split_once("/src/")
        .map_or(file.rsplit('/').next().unwrap_or(file), |(_, inside)| {
            inside
        });
    let module = module.trim_end_matches(".rs");
    let module = module.strip_suffix("/mod").unwrap_or(module);
    let parts = module.split('/').chain(item.split("::"));
    parts
        .filter(|part| !part.is_empty() && *part != "lib" && *part != "main")
        .collect::<Vec<_>>()
        .join("::")
}
