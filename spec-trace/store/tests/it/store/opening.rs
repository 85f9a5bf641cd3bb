//! What the store says of files that it cannot open, and what a crash while it is made leaves.

use std::fs;
use std::path::{Path, PathBuf};

use countersign_store::{OpenError, Store};
use redb::{Database, TableDefinition};
use tempfile::TempDir;

use super::stage::{Stage, actions, words};

fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("actions.store");
    (folder, path)
}

fn says(path: &Path, complaint: &str) {
    let said = words(Store::open(path));
    assert_eq!(said, format!("{}: {complaint}", path.display()));
}

fn filled(path: &Path) -> Vec<u8> {
    Stage::on(Store::open(path).expect("a store")).fill(40);
    fs::read(path).expect("the store's file")
}

#[test]
fn no_file_and_an_empty_file_become_an_empty_store() {
    let (_folder, path) = folder();
    for _ in 0..2 {
        drop(Store::open(&path).expect("a store"));
        assert!(actions(&Store::open(&path).expect("a store")).is_empty());
        fs::write(&path, "").expect("an empty file");
    }
}

/// Arguments may be nobody else's business.
#[cfg(unix)]
#[test]
fn a_store_in_the_place_of_an_empty_file_is_as_private_as_that() {
    use std::os::unix::fs::PermissionsExt as _;

    let (_folder, path) = folder();
    fs::write(&path, "").expect("an empty file");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("our own file");
    drop(Store::open(&path).expect("a store"));
    let mode = fs::metadata(&path).expect("the store").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_file_that_is_no_store_is_left_as_it_is() {
    let (_folder, path) = folder();
    for text in ["x", "a text file\n", &"\0".repeat(1 << 20)] {
        fs::write(&path, text).expect("a file");
        says(&path, "not a store of pending actions");
        assert_eq!(fs::read(&path).expect("the file"), text.as_bytes());
    }
}

#[test]
fn a_database_of_something_else_is_no_store() {
    let (_folder, path) = folder();
    let database = Database::create(&path).expect("a database");
    let writing = database.begin_write().expect("a transaction");
    let other: TableDefinition<u64, u64> = TableDefinition::new("journal");
    writing.open_table(other).expect("a table");
    writing.commit().expect("a commit");
    drop(database);
    says(&path, "not a store of pending actions");
}

#[test]
fn a_store_of_another_version_is_named_with_both_versions() {
    let (_folder, path) = folder();
    drop(Store::open(&path).expect("a store"));
    let database = Database::open(&path).expect("a database");
    let writing = database.begin_write().expect("a transaction");
    let format: TableDefinition<(), u64> = TableDefinition::new("countersign pending actions");
    let mut table = writing.open_table(format).expect("a table");
    table.insert((), 2).expect("a row");
    drop(table);
    writing.commit().expect("a commit");
    drop(database);
    says(&path, "a store of version 2; this program reads version 1");
}

#[test]
fn a_store_that_is_open_cannot_be_opened_again() {
    let (_folder, path) = folder();
    let open = Store::open(&path).expect("a store");
    says(&path, "another process has this store open");
    drop(open);
    Store::open(&path).expect("nobody has it open any more");
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let (folder, _) = folder();
    let path = folder.path().join("nowhere/actions.store");
    let error = Store::open(&path).expect_err("no such folder");
    assert!(matches!(error, OpenError::Unreachable { .. }), "{error}");
    assert!(error.to_string().contains("nowhere"), "{error}");
}

/// What is no file is as long as an empty one, and is not replaced by a store.
#[cfg(unix)]
#[test]
fn what_is_no_file_is_left_alone() {
    use std::os::unix::fs::FileTypeExt;

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("actions.store");
    let _socket = std::os::unix::net::UnixListener::bind(&path).unwrap();
    says(&path, "not a store of pending actions");
    assert!(path.metadata().unwrap().file_type().is_socket());
}

/// What somebody else has done to the file is noticed; what they did to unused parts of it need not be.
#[test]
fn a_damaged_file_is_reported_or_harmless_and_never_misread() {
    let (folder, path) = folder();
    let whole = filled(&path);
    let before = actions(&Store::open(&path).expect("a store"));
    let damaged = folder.path().join("damaged.store");
    let mut reported = 0;
    for at in (0..whole.len()).step_by(499) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x55;
        fs::write(&damaged, bytes).expect("a file");
        match Store::open(&damaged) {
            Ok(store) => assert_eq!(actions(&store), before, "byte {at}"),
            Err(error) => {
                reported += 1;
                let said = error.to_string();
                assert!(said.starts_with(&damaged.display().to_string()), "{said}");
            }
        }
    }
    assert!(reported > 0, "none of the faults hit the journal");
}

#[test]
fn a_file_that_was_cut_short_is_reported() {
    let (folder, path) = folder();
    let whole = filled(&path);
    let cut = folder.path().join("cut.store");
    for length in [1, 8, 9, 319, 320, 4_095, 4_096, 20_000] {
        fs::write(&cut, &whole[..length]).expect("a file");
        let error = Store::open(&cut).expect_err("half a store");
        let is_named = matches!(error, OpenError::NotAStore(_) | OpenError::Damaged { .. });
        assert!(is_named, "{length}: {error}");
    }
}

/// A store is made under another name. Whatever a crash has left under it is no hindrance, and no store either.
#[test]
fn a_crash_while_a_store_is_made_leaves_no_store() {
    let (folder, path) = folder();
    let draft = folder.path().join("actions.store.new");
    let whole = filled(&path);
    for length in [0, 1, 320, 4_096, 20_000, whole.len()] {
        fs::remove_file(&path).expect("the last store");
        fs::write(&draft, &whole[..length]).expect("half a draft");
        let store = Store::open(&path).expect("a new store");
        assert!(actions(&store).is_empty(), "{length}");
        assert!(!draft.exists(), "{length}");
    }
}
