//! Where files of this project are shown: the address of a line on a code host.

use std::str::FromStr;

/// A template with `{path}` and, where it has lines, `{line}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceUrl(String);

impl FromStr for SourceUrl {
    type Err = String;

    fn from_str(template: &str) -> Result<Self, String> {
        // What a page leads to is followed by whoever clicks on it.
        let mut schemes = ["https://", "http://"].into_iter();
        if !schemes.any(|it| {
            template
                .get(..it.len())
                .is_some_and(|own| own.eq_ignore_ascii_case(it))
        }) {
            return Err("expected an address that begins with https:// or http://".to_owned());
        }
        let rest = template.replace("{path}", "").replace("{line}", "");
        if !template.contains("{path}") {
            return Err("{path} is missing, so that all links would lead to one place".to_owned());
        }
        if rest.contains(['{', '}']) {
            return Err("the only names in braces are {path} and {line}".to_owned());
        }
        Ok(Self(template.to_owned()))
    }
}

impl SourceUrl {
    /// The address of a place such as `model/src/graph.rs:12`; nothing where it is none.
    pub fn of(&self, at: &str) -> Option<String> {
        let (path, line) = at.rsplit_once(':')?;
        line.parse::<usize>().ok()?;
        let is_plain = |it: &u8| it.is_ascii_alphanumeric() || b"-._~/".contains(it);
        let path = path.bytes().map(|it| match it {
            it if is_plain(&it) => char::from(it).to_string(),
            it => format!("%{it:02X}"),
        });
        // The line first: what stands in a path is no template.
        let address = self.0.replace("{line}", line);
        Some(address.replace("{path}", &path.collect::<String>()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_names_the_path_and_may_name_the_line() {
        let url: SourceUrl = "https://code.example/{path}#L{line}".parse().expect("one");
        let of = |at: &str| url.of(at);
        let expected = "https://code.example/a/b%20%22c.rs#L12";
        assert_eq!(of("a/b \"c.rs:12").as_deref(), Some(expected));
        assert_eq!((of("a"), of("a:b")), (None, None));
        assert!("https://code.example/{path}".parse::<SourceUrl>().is_ok());
        let wrong = [
            "https://code.example/{line}",
            "",
            "https://code.example/{path}{row}",
            "https://code.example/{path}}",
            "javascript:alert('{path}')",
            "{path}",
        ];
        for wrong in wrong {
            assert!(wrong.parse::<SourceUrl>().is_err(), "{wrong}");
        }
    }
}
