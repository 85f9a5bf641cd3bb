//! The `countersign` command; everything it does is in the library.

use std::process::ExitCode;

use mimalloc::MiMalloc;

/// Judging a stream takes and frees much small memory, in two threads: with this it is up to a half faster.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    countersign_cli::commands::main()
}
