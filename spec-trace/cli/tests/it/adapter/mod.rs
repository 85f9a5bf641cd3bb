//! The adapters, as those who drive them start them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

/// Where the adapters lie.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../adapters")
}

/// The program and the arguments of an adapter of the repository in Python, or none, where there is no Python to run it.
#[allow(
    dead_code,
    reason = "not every test that drives adapters drives one of these"
)]
pub fn adapter(program: &str, arguments: &[&str]) -> Option<Vec<String>> {
    let path = folder().join("python").join(program).with_extension("py");
    let mut command = python(&path)?;
    command.extend(arguments.iter().map(|it| (*it).to_owned()));
    Some(command)
}

/// The command that runs a file of Python, or none, where there is no Python.
#[allow(
    dead_code,
    reason = "not every test that drives adapters drives one of these"
)]
pub fn python(file: &Path) -> Option<Vec<String>> {
    // Asked once where it lies, for what is called `python3` may be a script that looks for it each time.
    static PYTHON: LazyLock<Option<String>> = LazyLock::new(|| {
        let mut command = Command::new("python3");
        command.args(["-c", "import sys; print(sys.executable)"]);
        let said = command.output().ok().filter(|it| it.status.success());
        if said.is_none() {
            eprintln!("SKIPPED: there is no python3 here, so that no adapter was tried");
        }
        said.map(|it| String::from_utf8_lossy(&it.stdout).trim().to_owned())
    });
    let python = PYTHON.clone()?;
    Some(vec![python, "-B".to_owned(), file.display().to_string()])
}

/// The program and the arguments of the adapter in Perl, which takes `--fault NAME` from its environment, or none, where there is no
/// Perl to run it.
#[allow(
    dead_code,
    reason = "not every test that drives adapters drives this one"
)]
pub fn perl(arguments: &[&str]) -> Option<Vec<String>> {
    static IS_THERE: LazyLock<bool> = LazyLock::new(|| {
        let is_there = Command::new("perl").arg("-v").output().is_ok();
        if !is_there {
            eprintln!("SKIPPED: there is no perl here, so that its adapter was not tried");
        }
        is_there
    });
    let fault = match arguments {
        ["--fault", fault] => fault,
        _ => "",
    };
    let path = folder().join("perl/pending_action.pl");
    let fault = format!("FAULT={fault}");
    let command = ["env", &fault, "perl", &path.display().to_string()].map(str::to_owned);
    IS_THERE.then(|| command.to_vec())
}

/// The program and the arguments of the adapter in TypeScript, or none, where there is nothing to run it.
#[allow(
    dead_code,
    reason = "not every test that drives adapters drives this one"
)]
pub fn typescript(arguments: &[&str]) -> Option<Vec<String>> {
    static PROGRAM: LazyLock<Option<String>> = LazyLock::new(|| {
        let (folder, extension) = for_node(&folder().join("typescript"))?;
        let program = folder.join("aaep").with_extension(extension);
        Some(program.display().to_string())
    });
    let program = PROGRAM.clone()?;
    let mut command = vec!["node".to_owned(), program];
    command.extend(arguments.iter().map(|it| (*it).to_owned()));
    Some(command)
}

/// The folder and the extension by which node runs the programs in TypeScript of this folder: as they are, where node takes types, or as
/// the compiler writes them that `npm ci` puts beside them. None, where there is neither.
pub fn for_node(lies: &Path) -> Option<(PathBuf, &'static str)> {
    let found = programs(lies);
    if found.is_none() {
        eprintln!(
            "SKIPPED: there is no node >= 22.18, nor one with `npm ci` done in spec-trace/adapters/typescript, so that TypeScript was not tried"
        );
    }
    found
}

fn programs(lies: &Path) -> Option<(PathBuf, &'static str)> {
    let version = Command::new("node").arg("--version").output().ok()?;
    let version = String::from_utf8_lossy(&version.stdout).into_owned();
    let mut numbers = version.trim().trim_start_matches('v').split('.');
    let mut number = || numbers.next().and_then(|it| it.parse::<u32>().ok());
    if (number()?, number()?) >= (22, 18) {
        return Some((lies.to_owned(), "ts"));
    }
    // Several tests may compile at once, and each writes the same.
    let compiler = lies.join("node_modules/typescript/bin/tsc");
    let mut compile = Command::new("node");
    compile.arg(&compiler).arg("--project").arg(lies);
    let is_there = compiler.exists();
    let said = is_there.then(|| compile.output().expect("it runs"))?;
    let told = String::from_utf8_lossy(&said.stdout);
    assert!(said.status.success(), "tsc: {told}");
    Some((lies.join("built"), "js"))
}
