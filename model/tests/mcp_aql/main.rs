//! The model of MCP-AQL confirmation tokens: its size, its quotient, its rules and its steps.

#[path = "../common/shape.rs"]
mod shape;
#[path = "../common/table.rs"]
mod table;

mod ablation;
mod bisimulation;
mod counts;
mod graph;
mod readings;
mod steps;
