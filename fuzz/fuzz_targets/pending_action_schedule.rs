#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    countersign_spec_trace::harness::pending_action_schedule(bytes)
});
