//! A single static page: everything in one file, and a policy that lets it load nothing.
//!
//! The one thing to know: texts are escaped by the template language, data for scripts goes through [`data`], and the
//! policy names style and script by their hashes. So even a text that slipped through could run nothing.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde::Serialize;
use sha2::{Digest, Sha256};

/// What all pages look like: colours, type, focus, controls.
const COMMON: &str = include_str!("page.css");

/// One page.
pub struct Page<'a> {
    /// Its title.
    pub title: &'a str,
    /// Its own style, behind the common one.
    pub style: &'a str,
    /// Its script.
    pub script: &'a str,
    /// What is in it.
    pub body: Markup,
}

impl Page<'_> {
    /// The whole document.
    pub fn render(&self) -> String {
        let style = format!("{COMMON}{}", self.style);
        let policy = format!(
            "default-src 'none'; style-src {}; script-src {}; base-uri 'none'; form-action 'none'",
            hash(&style),
            hash(self.script)
        );
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta http-equiv="Content-Security-Policy" content=(policy);
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    meta name="referrer" content="no-referrer";
                    title { (self.title) }
                    style { (PreEscaped(style)) }
                }
                body {
                    (self.body)
                    script { (PreEscaped(self.script)) }
                }
            }
        };
        page.into_string() + "\n"
    }
}

/// How a policy names a style or script that is part of the page.
fn hash(source: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(source)))
}

/// Data for the page's script, as an element that runs nothing. No text in it can end the element.
///
/// # Panics
///
/// Never, for plain data.
pub fn data(id: &str, data: &impl Serialize) -> Markup {
    let json = serde_json::to_string(data).expect("plain data");
    let json = json
        .replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026");
    html! { script type="application/json" id=(id) { (PreEscaped(json)) } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_cannot_end_its_element_and_reads_as_it_was() {
        let hostile = "</script><!--<script>&amp;";
        let element = data("d", &hostile).into_string();
        let inner = element
            .strip_prefix("<script type=\"application/json\" id=\"d\">")
            .and_then(|rest| rest.strip_suffix("</script>"))
            .expect("one element");
        assert!(!inner.contains(['<', '>', '&']));
        assert_eq!(serde_json::from_str::<String>(inner).unwrap(), hostile);
    }

    #[test]
    fn a_page_allows_its_own_style_and_script_and_nothing_else() {
        let page = Page {
            title: "a < b",
            style: "b{}",
            script: "let a;",
            body: html! { p { "<i>" } },
        };
        let text = page.render();
        assert!(
            text.contains("default-src &#39;none&#39;") || text.contains("default-src 'none'"),
            "{text}"
        );
        assert!(
            text.contains(&hash("let a;").replace('\'', "&#39;")) || text.contains(&hash("let a;")),
            "{text}"
        );
        assert!(
            text.contains("<title>a &lt; b</title>") && text.contains("<p>&lt;i&gt;</p>"),
            "{text}"
        );
        assert!(
            !text.contains("http:") && !text.contains("https:"),
            "nothing is loaded: {text}"
        );
    }
}
