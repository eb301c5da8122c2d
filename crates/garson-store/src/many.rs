//! Statements about many things at once: always of the same few lengths, so that each is prepared once.

/// The marks of so many parameters from a number on: `?3, ?4, ?5`.
pub fn marks(first: usize, count: usize) -> String {
    let marks: Vec<String> = (first..first + count).map(|n| format!("?{n}")).collect();
    marks.join(", ")
}

/// Things for so many marks; the last one stands in for those that are missing.
pub fn filled<T>(things: &[T], count: usize) -> impl Iterator<Item = &T> {
    things.iter().chain(things.last().into_iter().cycle()).take(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_stood_in_for() {
        assert_eq!(marks(3, 2), "?3, ?4");
        assert_eq!(filled(&[1, 2], 4).collect::<Vec<_>>(), [&1, &2, &2, &2]);
        assert_eq!(filled(&[1, 2, 3], 2).collect::<Vec<_>>(), [&1, &2]);
        assert_eq!(filled::<u8>(&[], 2).count(), 0);
    }
}
