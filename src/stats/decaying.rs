//! Means that forget.

/// Exponentially weighted moving average over equally spaced samples.
#[derive(Clone, Copy, Debug)]
pub struct Ewma {
    alpha: f64,
    value: Option<f64>,
}

/// A quotient of two sums (cost and time, say) in which old samples fade. Averaging the sums and not
/// the quotients keeps it unbiased when samples are of unequal length.
#[derive(Clone, Copy, Debug)]
pub struct DecayingMean {
    memory: f64,
    amount: f64,
    weight: f64,
}

// === impl Ewma ===

impl Ewma {
    /// The newest sample weighs `alpha` (clamped to 0..=1).
    #[must_use]
    pub fn new(alpha: f64) -> Self {
        Self { alpha: alpha.clamp(0.0, 1.0), value: None }
    }

    /// Takes in a sample and returns the new average; the first sample is the first average.
    pub fn note(&mut self, sample: f64) -> f64 {
        let value = self.value.map_or(sample, |old| old + self.alpha * (sample - old));
        self.value = Some(value);
        value
    }

    /// The average, once there is a sample.
    #[must_use]
    pub fn get(&self) -> Option<f64> {
        self.value
    }
}

// === impl DecayingMean ===

impl DecayingMean {
    /// Samples fade with the time constant `memory`, in units of weight.
    #[must_use]
    pub fn new(memory: f64) -> Self {
        Self { memory: memory.max(f64::MIN_POSITIVE), amount: 0.0, weight: 0.0 }
    }

    /// Takes in `amount` that came with `weight` (0 is allowed).
    pub fn note(&mut self, amount: f64, weight: f64) {
        let kept = (-weight / self.memory).exp();
        self.amount = self.amount * kept + amount;
        self.weight = self.weight * kept + weight;
    }

    /// Amount by weight; `None` until any weight is there.
    #[must_use]
    pub fn get(&self) -> Option<f64> {
        (self.weight > 0.0).then(|| self.amount / self.weight)
    }

    /// Scales what is remembered, as if every sample had been that much larger.
    pub fn scale(&mut self, by: f64) {
        self.amount *= by;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_average_moves_by_alpha_of_the_difference() {
        let mut ewma = Ewma::new(0.3);
        assert_eq!(ewma.get(), None);
        assert!((ewma.note(1.0) - 1.0).abs() < 1e-12);
        assert!((ewma.note(0.0) - 0.7).abs() < 1e-12);
    }

    #[test]
    fn long_and_short_samples_weigh_by_their_length() {
        let mut mean = DecayingMean::new(1e9);
        mean.note(90.0, 9.0);
        mean.note(0.0, 1.0);
        assert!((mean.get().unwrap() - 9.0).abs() < 1e-6);
    }

    #[test]
    fn old_samples_fade() {
        let mut mean = DecayingMean::new(10.0);
        mean.note(1000.0, 10.0);
        for _ in 0..100 {
            mean.note(5.0, 1.0);
        }
        assert!((mean.get().unwrap() - 5.0).abs() < 0.1);
    }
}
