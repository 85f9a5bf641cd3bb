//! Makes constants of the registry of clauses: for each text `$OUT_DIR/TEXT.rs`, with one for each clause that has a rule, and their list.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use countersign_clauses::{Level, all, protocols};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let to = env::var("OUT_DIR").expect("cargo sets it");
    for text in protocols() {
        let of_it = all().iter().filter(|it| it.protocol == text);
        let mut rows: Vec<_> = of_it
            .filter_map(|it| Some((it, it.rule.as_ref()?)))
            .collect();
        // Stable: the others stay in the order of the text.
        rows.sort_by_key(|(_, rule)| rule.last);
        let (mut constants, mut list) = (String::new(), String::new());
        for (number, (clause, rule)) in rows.into_iter().enumerate() {
            let level = match rule.read_as.unwrap_or(clause.level) {
                Level::Must | Level::MustNot => "Must",
                Level::Should | Level::ShouldNot => "Should",
                Level::May | Level::Info => "May",
            };
            let (id, asks) = (clause.id.as_str(), &rule.asks);
            let name = clause.id.constant();
            let _ = writeln!(
                constants,
                "/// {id}: {asks}.\npub const {name}: Clause = Clause({number});"
            );
            let _ = writeln!(
                list,
                "    Entry {{ id: {id:?}, level: Level::{level}, gist: {asks:?}, needs: &{:?}, aliases: &{:?}, in_samples: {:?}, free: {:?} }},",
                rule.needs, rule.aliases, rule.in_samples, rule.free
            );
        }
        let made = format!(
            "use crate::engine::clause::{{Clause, Entry, Level}};\n{constants}\n\
             /// The clauses of the text, in its order.\npub const CLAUSES: &[Entry] = &[\n{list}];\n"
        );
        let file = Path::new(&to).join(format!("{}.rs", text.replace('-', "_")));
        fs::write(file, made).expect("OUT_DIR can be written");
    }
}
