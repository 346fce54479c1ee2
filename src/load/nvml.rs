//! The GPUs of this machine, by NVML. The library is opened at the first reading, if there is one.

use std::sync::{Arc, OnceLock};

use futures_util::future::BoxFuture;
use nvml_wrapper::Nvml;
use nvml_wrapper::error::NvmlError;

use super::{LoadError, LoadSource, Reading};

/// Mean utilisation of all GPUs of this machine.
#[derive(Debug, Default)]
pub struct NvmlSource {
    library: Arc<OnceLock<Nvml>>,
}

// === impl NvmlSource ===

impl NvmlSource {
    /// Opens nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl LoadSource for NvmlSource {
    fn read(&self) -> BoxFuture<'_, Result<Reading, LoadError>> {
        let library = Arc::clone(&self.library);
        Box::pin(async move {
            // Driver calls block, for milliseconds as a rule.
            let read = tokio::task::spawn_blocking(move || mean_utilisation(&library)).await;
            let gpu_use = read
                .map_err(|error| LoadError::NoNvml(error.to_string()))?
                .map_err(|error| LoadError::NoNvml(error.to_string()))?;
            Ok(Reading { gpu_use: Some(gpu_use), ..Reading::default() })
        })
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
