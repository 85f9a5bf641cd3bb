//! What commands need of MCP-AQL: names, and words for a run.

use countersign_model::engine::model::Environment;
use countersign_model::facade::run::{Step, describe};
use countersign_model::mcp_aql::McpAql;
use countersign_model::mcp_aql::alphabet::{Call, Op};
use countersign_model::mcp_aql::environment::Bounds;
use countersign_model::mcp_aql::guarantees::History;

use crate::common::facade::assert_named;

#[test]
fn every_name_means_one_thing() {
    assert_named::<McpAql>();
}

/// Whatever can happen has words.
#[test]
fn a_run_is_described() {
    let mut run = Vec::new();
    for (_, bounds) in Bounds::WORLDS {
        let around = McpAql::surroundings(&bounds);
        McpAql::calls(&bounds, &around, &History::default(), &mut |call: Call| {
            run.push(Step::Call {
                call,
                outputs: Vec::new(),
                lost: 0,
            });
        });
    }
    let texts = describe::<McpAql>(&run);
    assert_eq!(texts.len(), run.len());
    for (text, step) in texts.iter().zip(&run) {
        let is_restart =
            matches!(step, Step::Call { call, .. } if matches!(call.op, Op::Restart(_)));
        assert_eq!(text.to.is_none(), is_restart, "{text:?}");
        assert!(!text.action.is_empty());
    }
    assert!(
        texts
            .iter()
            .any(|it| it.action
                == "calls operation 1 (destructive) of adapter 3 with parameters 111")
    );
}
