//! Which parts of two sequences differ? For people who read an explanation; the guard itself needs no alignment.

use std::ops::Range;

/// Sequences with more pairs than this are shown as one difference, in cells of the table.
const LARGEST: usize = 1 << 20;

/// The ranges in which two sequences differ, in order: the longest common subsequence lies between them.
pub(super) fn differences<T: PartialEq>(a: &[T], b: &[T]) -> Vec<(Range<usize>, Range<usize>)> {
    let front = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let back = a[front..].iter().rev().zip(b[front..].iter().rev()).take_while(|(x, y)| x == y).count();
    let (a_end, b_end) = (a.len() - back, b.len() - back);
    if front == a_end && front == b_end {
        return Vec::new();
    }
    if (a_end - front).saturating_mul(b_end - front) > LARGEST {
        return vec![(front..a_end, front..b_end)];
    }
    let common = common_lengths(&a[front..a_end], &b[front..b_end]);
    let (mut at, mut bt) = (front, front);
    let mut found: Vec<(Range<usize>, Range<usize>)> = Vec::new();
    while at < a_end || bt < b_end {
        let here = |i: usize, j: usize| common[i - front][j - front];
        if at < a_end && bt < b_end && a[at] == b[bt] {
            (at, bt) = (at + 1, bt + 1);
            continue;
        }
        if found.last().is_none_or(|(x, y)| x.end != at || y.end != bt) {
            found.push((at..at, bt..bt));
        }
        if bt == b_end || (at < a_end && here(at + 1, bt) >= here(at, bt + 1)) {
            at += 1;
        } else {
            bt += 1;
        }
        if let Some((x, y)) = found.last_mut() {
            (x.end, y.end) = (at, bt);
        }
    }
    found
}

/// `table[i][j]`: length of the longest common subsequence of `a[i..]` and `b[j..]`.
fn common_lengths<T: PartialEq>(a: &[T], b: &[T]) -> Vec<Vec<u32>> {
    let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            table[i][j] = if a[i] == b[j] { table[i + 1][j + 1] + 1 } else { table[i + 1][j].max(table[i][j + 1]) };
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_lies_between_what_is_common() {
        let words = |text: &'static str| text.split(' ').collect::<Vec<_>>();
        assert_eq!(differences(&words("a b c d"), &words("a x c d y")), [(1..2, 1..2), (4..4, 4..5)]);
        assert_eq!(differences(&words("a b"), &words("a b")), []);
        assert_eq!(differences(&words("a b c"), &words("c a b")), [(0..0, 0..1), (2..3, 3..3)]);
    }
}
