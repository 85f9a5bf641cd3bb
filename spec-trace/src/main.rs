//! The `countersign` command; everything it does is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    countersign_spec_trace::cli::main()
}
