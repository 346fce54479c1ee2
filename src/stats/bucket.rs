//! The lazy token bucket.
//!
//! Nothing runs in the background: the refill since the last look is computed when somebody looks.
//! Levels are integers, in millionths of a millionth of a thousandth of a token: a rate in
//! micro-tokens per second times nanoseconds is exact in that unit, so no schedule of looks, however
//! dense, gains or loses anything by rounding. A change of rate first settles the time before it at the
//! old rate, and a change of capacity never raises the level: reconfiguring refills nobody.

use std::time::Duration;

use crate::domain::Tick;

/// Level units in a micro-token: the nanoseconds of a second.
const UNITS: i128 = 1_000_000_000;

/// An amount of tokens, in millionths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct MicroTokens(pub u64);

/// A refill rate in micro-tokens per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rate(u64);

/// Tokens that grow with time up to a capacity. The level may be in debt down to minus the capacity,
/// if what was taken turned out to cost more.
#[derive(Clone, Debug)]
pub struct Bucket {
    capacity: MicroTokens,
    rate: Rate,
    level: i128,
    settled: Tick,
}

// === impl MicroTokens ===

impl MicroTokens {
    /// Whole tokens.
    #[must_use]
    pub const fn whole(tokens: u32) -> Self {
        Self(tokens as u64 * 1_000_000)
    }

    /// The nearest amount to `tokens`; nothing for what is negative or not a number.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "float casts saturate, which is meant")]
    pub fn nearest(tokens: f64) -> Self {
        Self((tokens * 1e6).round() as u64)
    }

    /// As tokens.
    #[must_use]
    pub fn tokens(self) -> f64 {
        self.0 as f64 / 1e6
    }

    fn units(self) -> i128 {
        i128::from(self.0) * UNITS
    }
}

// === impl Rate ===

impl Rate {
    /// The nearest rate to so many tokens per second; zero for what is negative or not a number.
    #[must_use]
    pub fn per_second(tokens: f64) -> Self {
        Self(MicroTokens::nearest(tokens).0)
    }

    /// As tokens per second.
    #[must_use]
    pub fn tokens_per_second(self) -> f64 {
        MicroTokens(self.0).tokens()
    }
}

// === impl Bucket ===

impl Bucket {
    /// A full bucket.
    #[must_use]
    pub fn full(capacity: MicroTokens, rate: Rate, now: Tick) -> Self {
        Self { capacity, rate, level: capacity.units(), settled: now }
    }

    /// An empty bucket.
    #[must_use]
    pub fn empty(capacity: MicroTokens, rate: Rate, now: Tick) -> Self {
        Self { capacity, rate, level: 0, settled: now }
    }

    /// Takes `cost`, or nothing; says when it could succeed if the rate stays ([`Duration::MAX`] after
    /// the start means never). A cost above the capacity is charged as the capacity. Returns the charge.
    pub fn take(&mut self, now: Tick, cost: MicroTokens) -> Result<MicroTokens, Tick> {
        self.settle(now);
        let charge = cost.min(self.capacity);
        if self.level >= charge.units() {
            self.level -= charge.units();
            return Ok(charge);
        }
        Err(self.ready_at(charge.units()))
    }

    /// Whether [`Self::take`] would succeed now.
    #[must_use]
    pub fn covers(&self, now: Tick, cost: MicroTokens) -> bool {
        self.level_at(now) >= cost.min(self.capacity).units()
    }

    /// Takes `cost` as far as it is there: for who may not be stopped but shall be seen. Returns the charge.
    pub fn take_some(&mut self, now: Tick, cost: MicroTokens) -> MicroTokens {
        self.settle(now);
        let there = MicroTokens(u64::try_from(self.level.max(0) / UNITS).unwrap_or(u64::MAX));
        let charge = cost.min(there);
        self.level -= charge.units();
        charge
    }

    /// Corrects a charge once the `real` cost is known: the rest comes back, or a debt is made.
    pub fn correct(&mut self, now: Tick, charged: MicroTokens, real: MicroTokens) {
        self.settle(now);
        let bound = self.capacity.units();
        // A debt older than the present capacity is not forgiven by the bound.
        let floor = self.level.min(-bound);
        self.level = (self.level + charged.units() - real.units()).clamp(floor, bound);
    }

    /// From now on the bucket refills at `rate`.
    pub fn set_rate(&mut self, now: Tick, rate: Rate) {
        self.settle(now);
        self.rate = rate;
    }

    /// From now on the bucket holds at most `capacity`. The level is cut to it, never raised.
    pub fn set_capacity(&mut self, now: Tick, capacity: MicroTokens) {
        self.settle(now);
        self.capacity = capacity;
        self.level = self.level.min(capacity.units());
    }

    /// Tokens in the bucket; negative in debt.
    #[must_use]
    pub fn level(&self, now: Tick) -> f64 {
        self.level_at(now) as f64 / UNITS as f64 / 1e6
    }

    /// What it holds at most.
    #[must_use]
    pub fn capacity(&self) -> MicroTokens {
        self.capacity
    }

    /// The refill rate.
    #[must_use]
    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// How long the refill of `amount` takes.
    #[must_use]
    pub fn time_for(&self, amount: MicroTokens) -> Duration {
        match amount.units().checked_div(i128::from(self.rate.0)) {
            Some(nanos) => u64::try_from(nanos).map_or(Duration::MAX, Duration::from_nanos),
            None => Duration::MAX,
        }
    }

    fn level_at(&self, now: Tick) -> i128 {
        let nanos = i128::try_from(now.since(self.settled).as_nanos()).unwrap_or(i128::MAX);
        let grown = self.level.saturating_add(nanos.saturating_mul(i128::from(self.rate.0)));
        grown.min(self.capacity.units())
    }

    fn settle(&mut self, now: Tick) {
        self.level = self.level_at(now);
        self.settled = self.settled.max(now);
    }

    fn ready_at(&self, units: i128) -> Tick {
        let missing = units - self.level;
        if self.rate.0 == 0 {
            return Tick(Duration::MAX);
        }
        let rate = i128::from(self.rate.0);
        let nanos = (missing + rate - 1) / rate;
        u64::try_from(nanos).map_or(Tick(Duration::MAX), |nanos| self.settled + Duration::from_nanos(nanos))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(millis: u64) -> Tick {
        Tick(Duration::from_millis(millis))
    }

    fn tokens(n: u32) -> MicroTokens {
        MicroTokens::whole(n)
    }

    #[test]
    fn refill_is_computed_when_somebody_takes() {
        let mut bucket = Bucket::full(tokens(200), Rate::per_second(100.0), Tick::START);
        assert!(bucket.take(at(0), tokens(200)).is_ok());
        assert_eq!(bucket.take(at(0), tokens(50)), Err(at(500)));
        assert!(bucket.take(at(500), tokens(50)).is_ok(), "exactly when it said");
        assert!(bucket.take(at(500), tokens(1)).is_err());
    }

    #[test]
    fn a_bucket_never_holds_more_than_its_capacity() {
        let bucket = Bucket::full(tokens(200), Rate::per_second(100.0), Tick::START);
        assert!((bucket.level(at(3_600_000)) - 200.0).abs() < 1e-9);
    }

    #[test]
    fn a_cost_above_the_capacity_is_charged_as_the_capacity() {
        let mut bucket = Bucket::full(tokens(200), Rate::per_second(100.0), Tick::START);
        assert_eq!(bucket.take(at(0), tokens(405)), Ok(tokens(200)));
    }

    #[test]
    fn a_change_of_rate_settles_the_time_before_it_at_the_old_rate() {
        let mut bucket = Bucket::empty(tokens(200), Rate::per_second(100.0), Tick::START);
        bucket.set_rate(at(1000), Rate::per_second(20.0));
        assert!((bucket.level(at(1000)) - 100.0).abs() < 1e-9);
        assert!((bucket.level(at(2000)) - 120.0).abs() < 1e-9);
    }

    #[test]
    fn a_change_of_capacity_cuts_but_never_refills() {
        let mut bucket = Bucket::full(tokens(200), Rate::per_second(0.0), Tick::START);
        bucket.set_capacity(at(0), tokens(1000));
        assert!((bucket.level(at(0)) - 200.0).abs() < 1e-9);
        bucket.set_capacity(at(0), tokens(50));
        assert!((bucket.level(at(0)) - 50.0).abs() < 1e-9);
    }

    #[test]
    fn a_corrected_charge_comes_back_or_becomes_a_debt() {
        let mut bucket = Bucket::full(tokens(200), Rate::per_second(10.0), Tick::START);
        let charged = bucket.take(at(0), tokens(100)).unwrap();
        bucket.correct(at(0), charged, tokens(5));
        assert!((bucket.level(at(0)) - 195.0).abs() < 1e-9);
        let charged = bucket.take(at(0), tokens(195)).unwrap();
        bucket.correct(at(0), charged, tokens(215));
        assert!((bucket.level(at(0)) + 20.0).abs() < 1e-9);
        assert_eq!(bucket.take(at(0), tokens(10)), Err(at(3000)));
    }

    #[test]
    fn without_refill_the_wait_never_ends() {
        let mut bucket = Bucket::empty(tokens(1), Rate::default(), Tick::START);
        assert_eq!(bucket.take(at(5), tokens(1)), Err(Tick(Duration::MAX)));
        assert_eq!(bucket.time_for(tokens(1)), Duration::MAX);
    }

    #[test]
    fn who_may_not_be_stopped_is_charged_what_is_there() {
        let mut bucket = Bucket::full(tokens(3), Rate::default(), Tick::START);
        assert_eq!(bucket.take_some(at(0), tokens(2)), tokens(2));
        assert_eq!(bucket.take_some(at(0), tokens(2)), tokens(1));
    }

    #[derive(Clone, Copy, Debug)]
    enum Step {
        Advance(u64),
        Take(u64),
        SetRate(u64),
        SetCapacity(u64),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            3 => (0u64..3_000_000_000).prop_map(Step::Advance),
            4 => (0u64..300_000_000).prop_map(Step::Take),
            1 => (0u64..200_000_000).prop_map(Step::SetRate),
            1 => (1u64..400_000_000).prop_map(Step::SetCapacity),
        ]
    }

    proptest! {
        #[test]
        fn no_schedule_of_take_advance_and_reconfigure_over_issues(steps in prop::collection::vec(step(), 1..200)) {
            let (mut capacity, mut rate, mut now) = (200_000_000_u64, 100_000_000_u64, Tick::START);
            let mut bucket = Bucket::full(MicroTokens(capacity), Rate(rate), now);
            // What may have been issued at most: the first filling and all that time has brought.
            let (mut issued, mut allowed) = (0_i128, i128::from(capacity) * UNITS);
            for step in steps {
                match step {
                    Step::Advance(nanos) => {
                        now = now + Duration::from_nanos(nanos);
                        allowed += i128::from(nanos) * i128::from(rate);
                    }
                    Step::Take(cost) => match bucket.take(now, MicroTokens(cost)) {
                        Ok(charge) => {
                            prop_assert_eq!(charge.0, cost.min(capacity));
                            issued += charge.units();
                        }
                        Err(ready) => {
                            prop_assert!(ready > now);
                            if ready != Tick(Duration::MAX) {
                                prop_assert!(bucket.covers(ready, MicroTokens(cost)), "not ready when it said");
                                let sooner = ready - Duration::from_nanos(1);
                                prop_assert!(!bucket.covers(sooner, MicroTokens(cost)), "ready before it said");
                            }
                        }
                    },
                    Step::SetRate(new) => {
                        rate = new;
                        bucket.set_rate(now, Rate(new));
                    }
                    Step::SetCapacity(new) => {
                        capacity = new;
                        bucket.set_capacity(now, MicroTokens(new));
                    }
                }
                prop_assert!(issued <= allowed);
                prop_assert!(bucket.level(now) <= MicroTokens(capacity).tokens() + 1e-9);
            }
        }
    }
}
