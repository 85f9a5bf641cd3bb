//! The adapters in Python, as those who drive them start them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

/// Where the adapters lie.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../adapters")
}

/// The program and the arguments of an adapter in Python, or none, where there is no Python to run it.
pub fn adapter(program: &str, arguments: &[&str]) -> Option<Vec<String>> {
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
    let path = folder().join("python").join(program).with_extension("py");
    PYTHON.as_ref().map(|python| {
        let mut command = vec![python.clone(), "-B".to_owned(), path.display().to_string()];
        command.extend(arguments.iter().map(|it| (*it).to_owned()));
        command
    })
}
