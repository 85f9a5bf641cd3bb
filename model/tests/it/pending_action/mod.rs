//! The model of pending actions: its size, its quotient, its rules and its steps.

mod ablation;
mod acceptance;
mod bisimulation;
mod compare;
mod counts;
mod durability;
mod facade;
mod freedoms;
mod graph;
mod guarantees;
mod judge;
mod judged;
mod mutations;
mod numbers;
mod readings;
mod run;
mod search;
mod steps;
mod text;
mod wire;
