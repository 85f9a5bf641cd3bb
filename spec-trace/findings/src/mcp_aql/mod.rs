//! MCP-AQL: passages, mended wordings, guarantees.
//!
//! A step is a request of the driver protocol (`op` and its members) with what came of it (`performed`, `code`, `token`, …).

use crate::run::Text;

/// What is executable of the document.
pub static TEXT: Text = Text {
    passages: &[],
    repairs: &[],
    guarantees: &[],
};
