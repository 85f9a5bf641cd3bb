//! The model of the AAEP confirmation protocol: its size, its quotient, its rules and its steps.

mod ablation;
mod bisimulation;
mod compare;
mod counts;
mod graph;
mod judge;
mod judged;
mod numbers;
mod readings;
mod search;
mod steps;
mod teeth;
mod teeth_of_work;
