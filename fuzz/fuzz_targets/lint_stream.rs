#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| countersign_lint::harness::lint_stream(bytes));
