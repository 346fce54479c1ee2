//! The only place where engines meet. (Its parts join as the engines land.)

pub mod policy;
mod served;

use std::sync::Arc;

use crate::domain::{Call, Refusal, Route, TaskName, UpstreamFailure};
use crate::meter::Meter;
use crate::upstream::Forward;

pub use crate::flights::Seat;
pub use crate::upstream::PassBody;
pub use policy::{Policies, TaskPatch, TaskPolicy};
pub use served::{Record, Reply, Served, StoredMark};

/// Answers calls.
pub struct Gateway {
    meter: Meter,
    forward: Arc<dyn Forward>,
}

impl Gateway {
    /// All metrics.
    #[must_use]
    pub fn meter(&self) -> &Meter {
        &self.meter
    }

    /// Answers one call.
    pub async fn answer(self: &Arc<Self>, _call: Call) -> Result<Served, Refusal> {
        std::future::ready(Err(Refusal::Upstream(UpstreamFailure::Unreachable))).await
    }

    /// Carries anything else to the upstream and back; the record belongs into the reply's body.
    pub async fn forward(
        &self,
        request: http::Request<PassBody>,
    ) -> Result<(http::Response<PassBody>, Record), Refusal> {
        let mut record = Record::open(self.meter(), Route::Other, &TaskName::new("default"));
        record.passes_through();
        match self.forward.forward(request).await {
            Ok(response) => Ok((response, record)),
            Err(failure) => {
                let refusal = Refusal::Upstream(failure);
                record.refuse(&refusal);
                Err(refusal)
            }
        }
    }

    /// Waits until every flight has landed.
    pub async fn drained(&self) {}

    /// Ends every running flight.
    pub fn stop(&self) {}
}
