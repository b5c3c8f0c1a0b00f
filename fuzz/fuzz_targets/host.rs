#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ropeline::fuzzing::host(data));
