//! The store: what it keeps, what it says of files that are no stores, and what a torn write leaves of it.

mod keeping;
mod opening;
mod stage;
mod torn;
