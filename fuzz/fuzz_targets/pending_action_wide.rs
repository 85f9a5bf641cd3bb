#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    countersign_conform::harness::pending_action_wide(bytes)
});
