//! The store: what it keeps, what it says of files that are no stores, and what a torn write leaves of it.

#[path = "store/keeping.rs"]
mod keeping;
#[path = "store/opening.rs"]
mod opening;
#[path = "store/stage.rs"]
mod stage;
#[path = "store/torn.rs"]
mod torn;
