//! What a token is bound to: the canonical form of an operation and its critical parameters, after RFC 8785.
//!
//! The one thing to know: two calls have the same canonical form exactly when they mean the same, so that neither the
//! order of keys nor the spelling of a number or a character makes a difference, and nothing else goes unnoticed
//! (AQL-3.2-3). A whole number is bound to the digit, also where RFC 8785 would round it; what has no one meaning is refused:
//! see [`NotCanonical`].

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Serialize, Serializer};

use super::digest::ParametersHash;
use super::vocabulary::OperationName;
use crate::canonical::{NumberOutOfRange, write_members, write_string, write_value};
use crate::json::{self, Node, NotJson, Value};
use crate::number;

/// The most bytes that parameters may have. How deep they are nested has no limit.
pub const MAX_PARAMS_BYTES: usize = 1024 * 1024;

/// The parameters of a call, as received: the bytes of a JSON value, mostly of an object, or whatever the client sent instead.
///
/// Written as JSON they are that value, or a string that holds the bytes: where it is a string itself, and where JSON within
/// JSON could not carry it to every reader (a key twice, a large number, more than [`json::MAX_DEPTH`] levels).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Parameters(Arc<[u8]>);

/// Why parameters have no canonical form. It names what is wrong and where, never what stands there (AQL-6.3-1).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotCanonical {
    /// Too long to be read at all.
    #[error("longer than {MAX_PARAMS_BYTES} bytes")]
    TooLong,
    /// Not one JSON value, or one that says two things at once. Never [`NotJson::TooDeep`].
    #[error(transparent)]
    NotJson(#[from] NotJson),
    /// A number stands for the double next to it in RFC 8785, and a whole number that is written in full for itself. This one
    /// is neither, and readers differ on what it is: it has a fraction or an exponent, and lies beyond 2^53 where the
    /// shortest form of its double is another number, or beyond every double, or is so small that the double is zero.
    #[error(
        "a number that readers differ on: write a large whole number in full, and no other beyond the range of a double"
    )]
    NumberOutOfRange,
}

impl From<NumberOutOfRange> for NotCanonical {
    fn from(NumberOutOfRange: NumberOutOfRange) -> Self {
        Self::NumberOutOfRange
    }
}

impl Parameters {
    /// The parameters that those bytes are.
    pub fn new(bytes: impl AsRef<[u8]>) -> Self {
        Self(Arc::from(bytes.as_ref()))
    }

    /// The bytes as received.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl ParametersHash {
    /// SHA-256 of the canonical form of the operation and its critical parameters (AQL-3.2-1, AQL-3.2-2, AQL-4.3-1).
    ///
    /// # Errors
    ///
    /// [`NotCanonical`] where the parameters have no canonical form.
    pub fn of_call(
        operation: &OperationName,
        params: &Parameters,
        critical: Option<&BTreeSet<String>>,
    ) -> Result<Self, NotCanonical> {
        let form = canonical_form(operation, params, critical)?;
        Ok(Self::of_canonical(&form))
    }
}

/// `{"operation": …, "params": …}` in canonical form. `critical` lists the names of what is bound. All of the call is bound where no
/// list is, where the list names none of its parameters, and where they are no object, for then they have no names (AQL-3.2-1).
///
/// What is critical has to have a canonical form. The rest only has to be JSON without a key twice, for what it means
/// must not depend on who reads it either.
///
/// # Errors
///
/// [`NotCanonical`] where the parameters have no canonical form.
pub fn canonical_form(
    operation: &OperationName,
    params: &Parameters,
    critical: Option<&BTreeSet<String>>,
) -> Result<String, NotCanonical> {
    if params.0.len() > MAX_PARAMS_BYTES {
        return Err(NotCanonical::TooLong);
    }
    let tree = json::parse(&params.0)?;
    let value = tree.value();
    // AQL-3.2-4: what bears on the impact, and not the rest. AQL-3.2-1: a list that names nothing of it leaves nothing to bind.
    let is_listed = |name: &str| critical.is_some_and(|critical| critical.contains(name));
    let lists_any = value.members().any(|(name, _)| is_listed(name));
    let is_bound = |name: &str| !lists_any || is_listed(name);
    let mut form = String::with_capacity(params.0.len() + 64);
    form.push_str("{\"operation\":");
    write_string(&mut form, operation.as_str());
    form.push_str(",\"params\":");
    write_members(&mut form, value, is_bound, number::to_the_digit)?;
    form.push('}');
    Ok(form)
}

/// The value where JSON carries it to every reader, nothing is lost and it is no string, else a string that holds the bytes.
impl Serialize for Parameters {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match json::parse_shallow(&self.0) {
            Ok(tree) if is_carried(tree.value()) => tree.value().serialize(serializer),
            Ok(_) | Err(_) => serializer.serialize_str(&String::from_utf8_lossy(&self.0)),
        }
    }
}

/// Whether every reader of JSON takes the numbers in it for what they are. A string would pass for one that holds the bytes.
fn is_carried(value: Value<'_, '_>) -> bool {
    match value.node() {
        Node::String(_) => false,
        Node::Null
        | Node::Boolean(_)
        | Node::Number(_)
        | Node::Array { .. }
        | Node::Object { .. } => write_value(&mut String::new(), value, number::canonical).is_ok(),
    }
}
