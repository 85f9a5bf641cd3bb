//! A run of 200 steps in which a fault of the adapter in Python shows is made short with few requests.
//!
//! The one thing to know: over stdio the time is that of the requests, and their number is the same on every machine.

use crate::adapter;

use std::cell::Cell;
use std::ffi::OsString;
use std::rc::Rc;
use std::time::Duration;

use countersign_conform::driven::{Run, Search};
use countersign_conform::implementation::{Greeted, Implementation, Lost, Process};
use countersign_model::aaep::Aaep as Spec;
use countersign_protocol::aaep::Aaep;
use countersign_protocol::{Request, Response};

/// A fault, the seed of the first run in which it shows, by how many clauses it does, the steps of all the short runs together, and the
/// requests that were needed.
const SHORTENED: [(&str, u64, usize, usize, usize); 3] = [
    ("runs-before-approval", 1, 1, 2, 250),
    ("third-runs-twice", 27, 1, 19, 4_500),
    ("forgets-used", 1, 1, 5, 550),
];

const STEPS: usize = 200;

/// An implementation, and how often it was asked.
struct Counted {
    process: Process,
    asked: Rc<Cell<usize>>,
}

impl Implementation<Aaep> for Counted {
    fn start(&mut self) -> Result<(), Lost> {
        self.process.launch()
    }

    fn ask(&mut self, request: Request<Aaep>) -> Result<Response<Aaep>, Lost> {
        self.asked.set(self.asked.get() + 1);
        self.process.ask(request)
    }
}

#[test]
#[ignore = "night: drives the adapter for minutes"]
fn a_long_run_is_made_short_with_few_requests() {
    for (fault, seed, clauses, steps, requests) in SHORTENED {
        let Some(command) = adapter::adapter("aaep", &["--fault", fault]) else {
            return;
        };
        let command = command.iter().map(OsString::from).collect();
        let asked = Rc::new(Cell::new(0));
        let counted = Counted {
            process: Process::new(command, Duration::from_mins(1)),
            asked: Rc::clone(&asked),
        };
        let mut search = Search::<Spec, _>::new(Greeted::new(counted).expect("it greets"));
        search.shrinking = Duration::from_hours(1);
        search.play(&Run::seeded(seed, STEPS), seed);
        let found = search.divergences.iter();
        let lengths: Vec<_> = found.map(|it| it.run.steps.len()).collect();
        let needed = asked.get();
        println!("{fault}: {needed} requests, {lengths:?}");
        assert_eq!(lengths.len(), clauses, "{fault}");
        assert!(
            lengths.iter().sum::<usize>() <= steps,
            "{fault}: {lengths:?}"
        );
        assert!(needed <= requests, "{fault}: {needed}");
    }
}
