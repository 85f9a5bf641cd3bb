//! What the identifiers of every protocol have in common.
//!
//! The one thing to know: an identifier is shared immutable text, and parsing is the only way to make one from text.

/// The most characters in a name that the host chooses freely.
const MAX_NAME: usize = 256;

/// The text is no identifier of the kind that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected}")]
pub struct InvalidIdentifier {
    /// What the text should have been, in words.
    pub expected: &'static str,
}

/// Declares an identifier type: shared immutable text whose grammar is checked when it is made.
macro_rules! identifier {
    ($(#[$documentation:meta])* $name:ident, $expected:literal, $is_valid:expr) => {
        $(#[$documentation])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, ::serde::Deserialize)]
        #[serde(try_from = "String")]
        pub struct $name(::std::sync::Arc<str>);

        impl $name {
            /// Reads an identifier, checking its grammar.
            ///
            /// # Errors
            ///
            /// [`InvalidIdentifier`] where the text does not fit the grammar.
            pub fn parse(text: &str) -> Result<Self, $crate::identifier::InvalidIdentifier> {
                let is_valid: fn(&str) -> bool = $is_valid;
                if is_valid(text) {
                    Ok(Self(::std::sync::Arc::from(text)))
                } else {
                    Err($crate::identifier::InvalidIdentifier { expected: $expected })
                }
            }

            /// The identifier as it stands on the wire.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                formatter.write_str(&self.0)
            }
        }

        impl ::std::fmt::Debug for $name {
            fn fmt(&self, formatter: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                formatter.write_str(&self.0)
            }
        }

        impl TryFrom<String> for $name {
            type Error = $crate::identifier::InvalidIdentifier;

            fn try_from(text: String) -> Result<Self, $crate::identifier::InvalidIdentifier> {
                Self::parse(&text)
            }
        }

        impl From<$name> for String {
            fn from(identifier: $name) -> Self {
                identifier.0.as_ref().to_owned()
            }
        }

        impl ::serde::Serialize for $name {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }
    };
}

pub(crate) use identifier;

/// Whether the text is a name of 1 to 256 characters.
pub(crate) fn is_name(text: &str) -> bool {
    (1..=MAX_NAME).contains(&text.chars().count())
}
