mod founding;
mod gate;
mod schedule;
mod simulation;

use super::*;
use crate::domain::{GpuIdle, Score};

fn known(idle: f32, running: u32, waiting: u32) -> Load {
    Load::Known { idle: GpuIdle(Score::new(idle).unwrap()), waiting, running }
}

fn gate(config: Config) -> GpuGate {
    config.check().unwrap();
    GpuGate::new(config, Meter::new())
}

fn task(name: &str) -> TaskName {
    TaskName::new(name)
}
