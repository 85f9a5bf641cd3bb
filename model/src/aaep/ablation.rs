//! Each rule of the chapter left out in turn.

use super::Aaep;
use super::bounds::{Bounds, BoundsError};
use super::rules::{Guard, GuardRow};
use crate::ablation;

pub use crate::ablation::LONGEST;

/// What leaving out one rule does.
pub type Ablation = ablation::Ablation<Guard>;

/// Leaves out every guard in turn; `progress` is told how many have been done.
///
/// # Errors
///
/// A bound that is out of its range.
pub fn ablate(bounds: Bounds, progress: impl FnMut(usize)) -> Result<Vec<Ablation>, BoundsError> {
    Ok(ablation::ablate(&Aaep::new(bounds)?, progress))
}

/// Leaves out one guard, and a second one if the first breaks nothing.
pub fn leave_out(specification: &Aaep, row: &'static GuardRow) -> Ablation {
    ablation::leave_out(specification, row)
}
