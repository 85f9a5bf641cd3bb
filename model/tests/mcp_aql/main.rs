//! The model of MCP-AQL confirmation tokens: its size, its quotient, its rules and its steps.

#[expect(
    dead_code,
    reason = "the judge of this protocol is not told of the steps of its model yet"
)]
#[path = "../common/mod.rs"]
mod common;

mod ablation;
mod bisimulation;
mod counts;
mod graph;
mod judge;
mod readings;
mod steps;
