//! What can be read off a token by whoever looks at it (AQL-6.3-3).
//!
//! The one thing to know: texts shorter than [`SHORTEST`] are not looked for, as they come up in identifiers that are drawn at random.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_model::mcp_aql::judge::words::Readable;

/// How many bytes a text has to have: of 7 no form comes up by chance.
const SHORTEST: usize = 7;

/// What is looked for, each in the forms in which it may stand in a token.
#[derive(Clone)]
pub(super) struct Readables(Vec<(Readable, Forms)>);

/// A text in the clear, in hex, and in base64 wherever it begins among the bytes that were encoded.
type Forms = [String; 5];

impl Readables {
    /// These names, and these values of parameters.
    pub(super) fn of<const VALUES: usize>(
        names: impl IntoIterator<Item = String>,
        values: [&str; VALUES],
    ) -> Self {
        let names = names.into_iter().map(|it| (Readable::Name, it));
        let values = values.map(|it| (Readable::Value, it.to_owned()));
        let long = names.chain(values).filter(|(_, it)| it.len() >= SHORTEST);
        Self(long.map(|(what, text)| (what, forms(&text))).collect())
    }

    /// The most that can be read off an identifier.
    pub(super) fn in_identifier(&self, identifier: &str) -> Option<Readable> {
        let lower = identifier.to_ascii_lowercase();
        let url_safe = identifier.replace('+', "-").replace('/', "_");
        let is_read = |forms: &Forms| {
            let [plain, hex, encoded @ ..] = forms;
            lower.contains(plain)
                || lower.contains(hex)
                || encoded.iter().any(|it| url_safe.contains(it))
        };
        let read = self.0.iter().filter(|(_, forms)| is_read(forms));
        read.map(|(what, _)| *what).max()
    }
}

fn forms(text: &str) -> Forms {
    let hex: Vec<String> = text.bytes().map(|byte| format!("{byte:02x}")).collect();
    let hex = hex.concat();
    let [first, second, third] = [0, 1, 2].map(|before| encoded(text, before));
    [text.to_ascii_lowercase(), hex, first, second, third]
}

/// The characters of base64 that the text alone decides, behind so many other bytes.
fn encoded(text: &str, before: usize) -> String {
    let bytes: Vec<u8> = std::iter::repeat_n(0, before).chain(text.bytes()).collect();
    let characters = URL_SAFE_NO_PAD.encode(&bytes);
    characters[(8 * before).div_ceil(6)..8 * bytes.len() / 6].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// AQL-6.3-3: a name and a value are read in each form, wherever they stand, and nothing is read where nothing stands.
    #[test]
    fn what_stands_in_a_token_is_read_off_it_in_each_form() {
        let names = ["operation-1", "short"];
        let readables = Readables::of(names.map(str::to_owned), ["secret-a"]);
        let read = |identifier: &str| readables.in_identifier(identifier);
        for (what, text) in [(Readable::Name, names[0]), (Readable::Value, "secret-a")] {
            for before in ["", "x", "xy", "xyz"] {
                let whole = format!("{before}{text}{before}");
                let hex: Vec<String> = whole.bytes().map(|byte| format!("{byte:02X}")).collect();
                let hex = hex.concat();
                assert_eq!(read(&whole.to_uppercase()), Some(what), "{whole}");
                assert_eq!(read(&hex), Some(what), "{hex}");
                for engine in [
                    base64::engine::general_purpose::STANDARD,
                    base64::engine::general_purpose::URL_SAFE,
                ] {
                    let encoded = engine.encode(&whole);
                    assert_eq!(read(&encoded), Some(what), "{encoded}");
                }
            }
        }
        assert_eq!(read("operation-1_secret-a"), Some(Readable::Value));
        assert_eq!(read("short_operation-secret-"), None);
        assert_eq!(read(&"0123456789abcdef".repeat(4)), None);
    }
}
