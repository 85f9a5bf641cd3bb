//! What the judge, who is told of every step of the model and knows no rule, finds.

use countersign_model::judged::{Limit, search};
use countersign_model::specification::{Modelled, Specification};

/// Checks that there is nothing to find in any run.
pub fn assert_nothing_is_found<T: Modelled>(model: &Specification<T>) {
    let searched = search(model, Limit::default(), |_| {});
    assert!(searched.exhaustive);
    assert!(searched.found.is_empty(), "{:#?}", searched.found);
}
