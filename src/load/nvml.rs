//! The GPUs of this machine, by NVML. The library is opened at the first reading, if there is one.

use std::sync::{Arc, OnceLock};

use futures_util::future::BoxFuture;
use nvml_wrapper::Nvml;
use nvml_wrapper::error::NvmlError;
use tokio::sync::Semaphore;

use super::{LoadError, LoadSource, Reading};

/// Mean utilisation of all GPUs of this machine.
#[derive(Debug)]
pub struct NvmlSource {
    library: Arc<OnceLock<Nvml>>,
    /// One place: a driver that hangs takes one thread and no more.
    asking: Arc<Semaphore>,
}

// === impl NvmlSource ===

impl Default for NvmlSource {
    fn default() -> Self {
        Self::new()
    }
}

impl NvmlSource {
    /// Opens nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self { library: Arc::default(), asking: Arc::new(Semaphore::new(1)) }
    }

    async fn ask(&self) -> Result<Reading, LoadError> {
        let Ok(turn) = Arc::clone(&self.asking).try_acquire_owned() else { return Err(LoadError::Timeout) };
        let library = Arc::clone(&self.library);
        // Driver calls block, for milliseconds as a rule.
        let asked = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            mean_utilisation(&library).map_err(|error| LoadError::NoNvml(error.to_string()))
        });
        let gpu_use = asked.await.map_err(|error| LoadError::NoNvml(error.to_string()))??;
        Ok(Reading { gpu_use: Some(gpu_use), ..Reading::default() })
    }
}

impl LoadSource for NvmlSource {
    fn read(&self) -> BoxFuture<'_, Result<Reading, LoadError>> {
        Box::pin(self.ask())
    }
}

fn mean_utilisation(library: &OnceLock<Nvml>) -> Result<f64, NvmlError> {
    let nvml = if let Some(nvml) = library.get() {
        nvml
    } else {
        let opened = Nvml::init()?;
        library.get_or_init(|| opened)
    };
    let devices = nvml.device_count()?;
    let mut total = 0.0;
    for index in 0..devices {
        total += f64::from(nvml.device_by_index(index)?.utilization_rates()?.gpu) / 100.0;
    }
    if devices == 0 { Err(NvmlError::NotFound) } else { Ok(total / f64::from(devices)) }
}
