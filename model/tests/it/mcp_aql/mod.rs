//! The model of MCP-AQL confirmation tokens: its size, its quotient, its rules and its steps.

mod ablation;
mod bisimulation;
mod compare;
mod counts;
mod graph;
mod judge;
mod judged;
mod numbers;
mod readings;
mod steps;
mod teeth;
