//! 48 bytes as the 64 characters that an identifier may have (AQL-2.2-1): base64 for URLs, RFC 4648 section 5.
//!
//! The one thing to know: 48 bytes fill 64 characters exactly. There is no padding and there are no spare bits, so
//! each identifier stands for one value and each value has one identifier.

/// How many bytes there are.
pub(super) const BYTES: usize = 48;

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Three bytes are four characters.
pub(super) fn encode(bytes: &[u8; BYTES]) -> String {
    let (groups, _) = bytes.as_chunks::<3>();
    let sextets = groups.iter().flat_map(|&[first, second, third]| {
        let group = u32::from_be_bytes([0, first, second, third]);
        [18, 12, 6, 0].map(|shift| group >> shift & 0x3f)
    });
    sextets
        .map(|sextet| char::from(ALPHABET[sextet as usize]))
        .collect()
}

/// The bytes of 64 characters of the alphabet.
pub(super) fn decode(text: &str) -> Option<[u8; BYTES]> {
    let (groups, []) = text.as_bytes().as_chunks::<4>() else {
        return None;
    };
    let mut bytes = Vec::with_capacity(BYTES);
    for group in groups {
        let mut value = 0_u32;
        for character in group {
            let sextet = ALPHABET.iter().position(|letter| letter == character)?;
            value = value << 6 | u32::try_from(sextet).ok()?;
        }
        bytes.extend_from_slice(&value.to_be_bytes()[1..]);
    }
    bytes.try_into().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// AQL-2.2-1: by the digits of RFC 4648.
    #[test]
    fn bytes_are_written_in_the_alphabet_of_urls() {
        let mut bytes = [0; BYTES];
        bytes[..3].copy_from_slice(b"foo");
        bytes[45..].copy_from_slice(&[0xfb, 0xff, 0xfe]);
        let text = format!("Zm9v{}-__-", "A".repeat(56));
        assert_eq!(encode(&bytes), text);
        assert_eq!(decode(&text), Some(bytes));
    }

    /// AQL-2.2-1: nothing shorter or longer, and no other character.
    #[test]
    fn what_is_not_64_characters_of_the_alphabet_is_nothing() {
        for length in [0, 4, 60, 63, 65, 68] {
            assert_eq!(decode(&"A".repeat(length)), None, "{length}");
        }
        for bad in ["+", "/", "=", " ", "é"] {
            let text = format!("{bad}{}", "A".repeat(64 - bad.len()));
            assert_eq!(decode(&text), None, "{bad}");
        }
    }

    proptest! {
        /// AQL-2.2-1, AQL-2.2-3: one value, one text.
        #[test]
        fn every_value_has_one_text(text in "[A-Za-z0-9_-]{64}") {
            let bytes = decode(&text).expect("in the alphabet");
            prop_assert_eq!(encode(&bytes), text);
        }
    }
}
