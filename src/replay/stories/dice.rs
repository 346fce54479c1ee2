//! Dice that fall the same way on every machine and in every version.
//!
//! A library's seeded generator may change its stream with a release; a story must not change with it. This
//! is `SplitMix64` (Steele, Lea, Flood 2014): ten lines, and more than random enough to tell a story.

/// A seeded source of choices.
#[derive(Clone, Debug)]
pub(super) struct Dice(u64);

/// Ranks drawn by Zipf's law: rank k has weight 1/k.
#[derive(Clone, Debug)]
pub(super) struct Zipf(Vec<f64>);

// === impl Dice ===

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`, or 0 if `n` is 0.
    pub(super) fn below(&mut self, n: usize) -> usize {
        let wide = u128::from(self.roll()) * n as u128;
        usize::try_from(wide >> 64).unwrap_or(0)
    }

    /// True in so many of a hundred cases.
    pub(super) fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }

    pub(super) fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }

    /// In [0, 1).
    pub(super) fn fraction(&mut self) -> f64 {
        (self.roll() >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub(super) fn shuffle<T>(&mut self, list: &mut [T]) {
        for end in (1..list.len()).rev() {
            list.swap(end, self.below(end + 1));
        }
    }

    /// So many hexadecimal digits.
    pub(super) fn hex(&mut self, digits: usize) -> String {
        format!("{:016x}", self.roll())[..digits.min(16)].to_owned()
    }
}

// === impl Zipf ===

impl Zipf {
    pub(super) fn new(ranks: usize) -> Self {
        let mut sum = 0.0;
        Self(
            (1..=ranks)
                .map(|rank| {
                    sum += 1.0 / rank as f64;
                    sum
                })
                .collect(),
        )
    }

    /// A rank from 0.
    pub(super) fn draw(&self, dice: &mut Dice) -> usize {
        let total = self.0.last().copied().unwrap_or(0.0);
        let at = dice.fraction() * total;
        self.0.partition_point(|sum| *sum <= at).min(self.0.len().saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dice_fall_as_published() {
        // The first outputs of SplitMix64 for seed 0.
        let mut dice = Dice::new(0);
        assert_eq!([dice.roll(), dice.roll()], [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4]);
    }

    #[test]
    fn a_first_rank_is_drawn_about_twice_as_often_as_the_second() {
        let (mut dice, zipf, mut seen) = (Dice::new(1), Zipf::new(10), [0_u32; 10]);
        for _ in 0..20_000 {
            seen[zipf.draw(&mut dice)] += 1;
        }
        let ratio = f64::from(seen[0]) / f64::from(seen[1]);
        assert!((1.85..2.15).contains(&ratio), "{seen:?}");
    }
}
