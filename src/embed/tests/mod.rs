//! The engine with a scripted model, the self-test with unfit ones, and everything with the real one.

mod engine;
mod fitness;
mod real;

use std::time::Duration;

use super::*;
use crate::meter::Meter;
use crate::vector::Embedding;

/// A budget that no healthy run reaches, on whatever machine.
const PATIENT: Duration = Duration::from_secs(10);

/// A vector that depends on every byte of the text and says nothing else about it.
fn noise(text: &str) -> Embedding {
    let hash = blake3::hash(text.as_bytes());
    Embedding::new(&hash.as_bytes().map(|byte| f32::from(byte) - 127.5)).unwrap()
}
