//! The text of MCP-AQL over its driver protocol, and the reference as a party of its search.

mod words;
