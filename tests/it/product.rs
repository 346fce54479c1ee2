//! The product from outside: the real program in a process of its own, real sockets, the real model, a simulated
//! GPU server behind. What is shown at the edge's sockets (`edge`) is not shown again here.

mod keeping;
mod meaning;
mod observing;
mod passing;
mod reading;
mod running;
mod secrets;
mod settings;
mod sharing;
mod support;
mod trouble;
