//! What is held to be true of every run, and what has to be possible.
