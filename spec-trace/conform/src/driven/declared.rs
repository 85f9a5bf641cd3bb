//! Which clauses say nothing of an implementation that does not declare a capability, or does not show a kind of output.

use std::collections::BTreeSet;

use countersign_protocol::{Greeting, Kind};

use crate::spoken::{Spoken, Wire};

/// The clauses that are not supported by one that declares this, each with what it would have to declare.
pub fn unsupported<P: Spoken>(
    greeting: &Greeting<Wire<P>>,
) -> BTreeSet<(&'static str, &'static str)> {
    let shown = KINDS.iter().filter(|kind| greeting.shows(**kind));
    let shown = shown.map(serde_json::to_value);
    let shown = shown.filter_map(|it| it.ok()?.as_str().map(str::to_owned));
    let declared: BTreeSet<String> = greeting.declared().chain(shown).collect();
    let needs = P::CLAUSES
        .iter()
        .flat_map(|it| it.needs.iter().map(|need| (it.id, *need)));
    needs
        .filter(|(_, need)| !declared.contains(*need))
        .collect()
}

/// The kinds of output that need not be shown.
const KINDS: [Kind; 5] = [
    Kind::Notify,
    Kind::Respond,
    Kind::Answer,
    Kind::Audit,
    Kind::InDoubt,
];
