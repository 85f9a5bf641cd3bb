//! Finds the clause ids that a Rust source cites, the item in which each of them stands, and the tests.
//!
//! The one thing to know: this module is compiled twice, into the build script, which scans the workspace with it, and
//! into the tests of the library. It therefore uses nothing but the standard library and names nothing of its crate.
//!
//! A citation in a comment or attribute before an item belongs to that item, one inside an item to the innermost function,
//! type or constant around it. Macros are read like other code, so that tests inside `proptest!` are found.

mod ids;
mod lexer;

use lexer::{Token, tokens};

/// One id in one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Citation {
    /// What is written there: a clause id, or what was meant to be one.
    pub id: String,
    /// Counted from 1.
    pub line: usize,
    /// The item's name within the file, as in `Producer::deliver`; empty for the file as a whole.
    pub item: String,
    /// Whether the item only holds other items: a file, a module, a trait or an `impl`.
    pub container: bool,
    /// Whether it is a test, or lies in a module that is compiled for tests only.
    pub test: bool,
}

/// A text in one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// What stands there.
    pub text: String,
    /// Where it begins, counted from 1.
    pub line: usize,
}

/// What one source file holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// Each citation, in the order of the file.
    pub citations: Vec<Citation>,
    /// What stands between the quotes of each string literal, escapes as written, in the order of the file.
    pub literals: Vec<Place>,
    /// Each function that is run as a test, named as within the file.
    pub tests: Vec<Place>,
}

/// Reads one source file.
pub fn scan(source: &str) -> Findings {
    let mut scanner = Scanner {
        open: vec![Item::file()],
        ..Scanner::default()
    };
    for token in tokens(source) {
        scanner.take(token);
    }
    scanner.finish()
}

/// Follows the nesting of items through a file.
#[derive(Default)]
struct Scanner {
    findings: Findings,
    /// The items around the current place, the file first.
    open: Vec<Item>,
    /// How many brackets of any kind are open.
    depth: usize,
    /// The ids in comments and attributes that wait for the item they stand before.
    waiting: Vec<(String, usize)>,
    /// Whether an attribute among them says that the item is compiled for tests only.
    waiting_test: bool,
    /// Whether one of them says that it is run as a test.
    waiting_run: bool,
    attribute: Option<Attribute>,
    /// The token before, if it was a keyword that begins an item as soon as a name follows.
    keyword: Option<Keyword>,
    /// The token before, if it was a mark.
    mark: Option<char>,
}

/// An item whose end has not come yet.
struct Item {
    name: String,
    kind: Kind,
    test: bool,
    /// How many brackets were open where it began.
    depth: usize,
    /// Whether its opening brace has come. A constant has no body: it ends with its semicolon.
    in_body: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    /// A file, a module or a trait.
    Holder,
    /// An `impl`, with the words up to its brace, from which it is named.
    Implementation(Vec<String>),
    /// A constant or static.
    Constant,
    /// A function, type or macro.
    Leaf,
}

/// An attribute that is being read.
struct Attribute {
    depth: usize,
    words: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Keyword {
    Holder,
    Constant,
    Leaf,
}

impl Keyword {
    fn of(word: &str) -> Option<Self> {
        match word {
            "mod" | "trait" => Some(Self::Holder),
            "const" | "static" => Some(Self::Constant),
            "fn" | "struct" | "enum" | "macro_rules" => Some(Self::Leaf),
            _ => None,
        }
    }

    fn kind(self) -> Kind {
        match self {
            Self::Holder => Kind::Holder,
            Self::Constant => Kind::Constant,
            Self::Leaf => Kind::Leaf,
        }
    }
}

impl Item {
    fn file() -> Self {
        Self {
            name: String::new(),
            kind: Kind::Holder,
            test: false,
            depth: 0,
            in_body: true,
        }
    }

    fn is_container(&self) -> bool {
        match self.kind {
            Kind::Holder | Kind::Implementation(_) => true,
            Kind::Constant | Kind::Leaf => false,
        }
    }
}

impl Scanner {
    fn take(&mut self, token: Token) {
        match token {
            Token::Comment { text, line, inner } => self.cite(&text, line, inner),
            Token::Literal { text, line } => {
                self.cite(&text, line, false);
                self.findings.literals.push(Place { text, line });
                self.keyword = None;
                self.mark = None;
            }
            Token::Word { text, line } => {
                self.word(text, line);
                self.mark = None;
            }
            Token::Mark(mark) => {
                self.mark(mark);
                self.mark = Some(mark);
            }
        }
    }

    /// Notes the ids in a comment or literal, for the item that it stands in or else for the one that it stands before.
    fn cite(&mut self, text: &str, line: usize, inner: bool) {
        let ids = ids::ids(text)
            .into_iter()
            .map(|(id, below)| (id, line + below));
        if self.innermost().is_container() && !inner {
            self.waiting.extend(ids);
        } else {
            self.cite_here(ids.collect());
        }
    }

    fn cite_here(&mut self, ids: Vec<(String, usize)>) {
        let item = self.path();
        let container = self.innermost().is_container();
        let test = self.open.iter().any(|item| item.test);
        self.findings
            .citations
            .extend(ids.into_iter().map(|(id, line)| Citation {
                id,
                line,
                item: item.clone(),
                container,
                test,
            }));
    }

    /// The name of the innermost item within the file.
    fn path(&self) -> String {
        let names = self.open.iter().map(|item| item.name.as_str());
        let path: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
        path.join("::")
    }

    fn word(&mut self, word: String, line: usize) {
        let keyword = self.keyword.take();
        // `'static` is a lifetime and `*const` a pointer.
        let begins = |word: &str| match self.mark {
            Some('\'' | '*') => None,
            _ => Keyword::of(word),
        };
        if let Some(attribute) = &mut self.attribute {
            attribute.words.push(word);
        } else if !self.innermost().in_body {
            // In a signature `impl` and `const` begin nothing; the words of an `impl` name it.
            self.header(word);
        } else if word == "impl" {
            self.begin(String::new(), line, Kind::Implementation(Vec::new()));
        } else if let Some(next) = begins(&word) {
            self.keyword = Some(next);
        } else if word == "mut" {
            self.keyword = keyword;
        } else if let Some(keyword) = keyword {
            self.begin(word, line, keyword.kind());
        }
    }

    fn mark(&mut self, mark: char) {
        if mark != '!' {
            self.keyword = None;
        }
        match mark {
            '(' | '[' | '{' => self.opening(mark),
            ')' | ']' | '}' => self.closing(mark),
            ';' => self.semicolon(),
            // The `>` of an arrow closes no angle.
            '<' => self.header(mark.to_string()),
            '>' if self.mark != Some('-') => self.header(mark.to_string()),
            _ => {}
        }
    }

    fn opening(&mut self, mark: char) {
        if mark == '[' && self.mark == Some('#') {
            self.attribute = Some(Attribute {
                depth: self.depth,
                words: Vec::new(),
            });
        }
        let depth = self.depth;
        let item = self.innermost_mut();
        if mark == '{' && item.depth == depth && item.kind != Kind::Constant {
            item.in_body = true;
            if let Kind::Implementation(words) = &item.kind {
                item.name = implementing_type(words);
            }
        }
        self.depth += 1;
    }

    fn closing(&mut self, mark: char) {
        self.depth = self.depth.saturating_sub(1);
        let depth = self.depth;
        if let Some(attribute) = self.attribute.take_if(|attribute| attribute.depth == depth) {
            self.waiting_test |= is_for_tests(&attribute.words);
            self.waiting_run |= attribute.words == ["test"];
        }
        let item = self.innermost();
        if mark == '}' && item.in_body && item.depth == depth {
            self.end();
        }
    }

    fn semicolon(&mut self) {
        if self.innermost().depth == self.depth && !self.innermost().in_body {
            self.end();
        } else if self.innermost().is_container() {
            // What ends here was no item that has a name, say a `use`.
            self.settle();
        }
    }

    fn header(&mut self, word: String) {
        let item = self.innermost_mut();
        if let (Kind::Implementation(words), false) = (&mut item.kind, item.in_body) {
            words.push(word);
        }
    }

    fn begin(&mut self, name: String, line: usize, kind: Kind) {
        self.open.push(Item {
            name,
            kind,
            test: std::mem::take(&mut self.waiting_test),
            depth: self.depth,
            in_body: false,
        });
        if std::mem::take(&mut self.waiting_run) {
            let text = self.path();
            self.findings.tests.push(Place { text, line });
        }
        if !self.innermost().is_container() {
            self.settle();
        }
    }

    /// Ends the innermost item; the file itself goes on whatever closes.
    fn end(&mut self) {
        self.settle();
        if self.open.len() > 1 {
            self.open.pop();
        }
    }

    /// Gives what waits to the innermost item.
    fn settle(&mut self) {
        self.waiting_test = false;
        self.waiting_run = false;
        let waiting = std::mem::take(&mut self.waiting);
        self.cite_here(waiting);
    }

    fn finish(mut self) -> Findings {
        self.settle();
        self.findings
            .citations
            .sort_by_key(|citation| citation.line);
        self.findings
    }

    fn innermost(&self) -> &Item {
        self.open.last().expect("the file is always open")
    }

    fn innermost_mut(&mut self) -> &mut Item {
        self.open.last_mut().expect("the file is always open")
    }
}

/// Whether an attribute with these words marks a test or what is compiled for tests only.
fn is_for_tests(words: &[String]) -> bool {
    let has = |wanted: &str| words.iter().any(|word| word == wanted);
    has("test") && !has("not") && !has("cfg_attr")
}

/// The type that an `impl` with this header is for: the last name outside of angle brackets, before any `where`.
fn implementing_type(header: &[String]) -> String {
    let mut angles = 0_usize;
    let mut name = "";
    for word in header {
        match word.as_str() {
            "<" => angles += 1,
            ">" => angles = angles.saturating_sub(1),
            "where" => break,
            word if angles == 0 => name = word,
            _ => {}
        }
    }
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each citation as `id item`, with a `t` in front for tests and a `c` for containers.
    fn cited(source: &str) -> Vec<String> {
        scan(source)
            .citations
            .iter()
            .map(|citation| {
                let test = if citation.test { "t " } else { "" };
                let container = if citation.container { "c " } else { "" };
                format!("{test}{container}{} {}", citation.id, citation.item)
            })
            .collect()
    }

    #[test]
    fn a_citation_belongs_to_the_innermost_item_around_it() {
        let source = "
            impl<'a, T: Fn() -> u8> fmt::Display for Producer<'a, T> where T: Copy {
                fn deliver(&self, at: impl Into<u8>) -> [u8; 4] {
                    // AAEP-6.3.4-4: late.
                    if late { ignore(\"AAEP-6.3.4-7\") }
                }
            }
            mod inner { const LIMIT: [u8; 2] = { let x = 1; [x, 2] /* PA-1 */ }; }";
        assert_eq!(
            cited(source),
            [
                "AAEP-6.3.4-4 Producer::deliver",
                "AAEP-6.3.4-7 Producer::deliver",
                "PA-1 inner::LIMIT",
            ]
        );
    }

    #[test]
    fn a_citation_before_an_item_belongs_to_that_item() {
        let source = "
            /// PA-1: a doc comment.
            #[error(\"PA-2\")]
            pub const fn first(x: &'static str, y: *const u8) -> fn(u8) { }
            // PA-3
            pub struct Second(u8);
            /// PA-4
            enum Third { A }
            /// PA-5
            static mut FOURTH: u8 = 0;
            impl X { /// PA-6
                fn method(self); }";
        assert_eq!(
            cited(source),
            [
                "PA-1 first",
                "PA-2 first",
                "PA-3 Second",
                "PA-4 Third",
                "PA-5 FOURTH",
                "PA-6 X::method"
            ]
        );
    }

    #[test]
    fn what_stands_before_no_item_belongs_to_the_container() {
        let source = "
            //! PA-1
            // PA-2
            use a::{b, c};
            /// PA-3
            pub mod elsewhere;
            mod inner { // PA-4
            }
            fn last() {}
            // PA-5";
        assert_eq!(
            cited(source),
            [
                "c PA-1 ",
                "c PA-2 ",
                "c PA-3 elsewhere",
                "c PA-4 inner",
                "c PA-5 "
            ]
        );
    }

    #[test]
    fn tests_are_told_from_other_code() {
        let source = "
            #[cfg(test)]
            use something;
            /// PA-1
            fn code() {}
            #[cfg(not(test))] fn more() { \"PA-2\" }
            #[cfg(test)]
            mod tests {
                proptest! {
                    /// PA-3
                    #[test]
                    fn generated(x in 0..5) { }
                }
                /// PA-4
                fn helper() {}
            }
            /// PA-5
            #[test]
            fn direct() { assert!(is(\"PA-6\")); }
            fn after() { \"PA-7\" }";
        assert_eq!(
            cited(source),
            [
                "PA-1 code",
                "PA-2 more",
                "t PA-3 tests::generated",
                "t PA-4 tests::helper",
                "t PA-5 direct",
                "t PA-6 direct",
                "PA-7 after",
            ]
        );
    }

    #[test]
    fn a_macro_is_an_item_and_its_variables_are_none() {
        let source = "macro_rules! rules { ($name:ident) => { fn $name() { \"PA-1\" } }; }
            fn after() { \"PA-2\" }";
        assert_eq!(cited(source), ["PA-1 rules", "PA-2 after"]);
    }

    #[test]
    fn lines_are_those_of_the_ids_and_literals() {
        let findings = scan("/* first\nPA-1 */\nfn f() {\n\"text\" }");
        assert_eq!(findings.citations[0].line, 2);
        assert_eq!(
            findings.literals,
            [Place {
                text: "text".to_owned(),
                line: 4
            }]
        );
    }

    #[test]
    fn functions_that_are_run_are_found_with_their_lines() {
        let source = "mod tests {
            #[cfg(test)] fn helper() {}
            #[test]
            fn one() {}
            proptest! {
                #![config(\"x\")]
                /// PA-1
                #[test]
                fn two(x in 0..5) { }
                #[test] #[ignore = \"long\"] fn three(sequential 1..2 => X);
            } }";
        let tests = scan(source).tests;
        let tests: Vec<_> = tests.iter().map(|it| (&*it.text, it.line)).collect();
        let expected = [("tests::one", 4), ("tests::two", 9), ("tests::three", 10)];
        assert_eq!(tests, expected);
    }

    #[test]
    fn unbalanced_source_is_read_to_its_end() {
        assert_eq!(cited("}}) ] fn f( { PA-1 \"PA-2\""), ["PA-2 f"]);
    }
}
