//! What tests print stands in files beside them.

use std::path::Path;
use std::{env, fs};

/// Where this is set, the files are written anew.
const WRITE: &str = "COUNTERSIGN_WRITE_TRACE";

/// The file in the folder of the text is this.
///
/// # Panics
///
/// Where it is not.
pub fn assert_kept(folder: &str, file: &str, text: &str) {
    let path = format!("tests/it/{folder}/{file}");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if env::var_os(WRITE).is_some() {
        fs::write(&path, text).expect("it can be written");
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, kept, "{file}: with {WRITE}=1 it is written");
}
