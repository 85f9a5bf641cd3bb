//! JSON Schema for the judges of replies.

use serde_json::Value;

#[cfg(feature = "execute")]
pub(crate) use jsonschema::Validator;

/// A validator of this schema; none where it is no schema.
#[cfg(feature = "execute")]
pub(crate) fn compile(schema: &Value, assert_formats: bool) -> Option<Validator> {
    let options = jsonschema::options().should_validate_formats(assert_formats);
    options.build(schema).ok()
}

/// There is none.
#[cfg(not(feature = "execute"))]
pub(crate) enum Validator {}

#[cfg(not(feature = "execute"))]
impl Validator {
    pub(crate) fn is_valid(&self, _: &Value) -> bool {
        match *self {}
    }
}

/// Without the feature nothing is validated.
#[cfg(not(feature = "execute"))]
pub(crate) fn compile(_: &Value, _: bool) -> Option<Validator> {
    None
}
