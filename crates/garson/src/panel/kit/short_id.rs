//! Long ids of platforms, shortened for tables: `0gEz3WAD…vk9f`.

/// Ids up to this length are shown whole.
const WHOLE: usize = 14;
const FIRST: usize = 8;
const LAST: usize = 4;

/// An id and its short form; the markup is the macro `short_id`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShortId {
    pub whole: String,
}

impl ShortId {
    pub fn new(whole: impl Into<String>) -> Self {
        Self { whole: whole.into() }
    }

    pub fn is_shortened(&self) -> bool {
        self.whole.chars().nth(WHOLE).is_some()
    }

    pub fn short(&self) -> String {
        if !self.is_shortened() {
            return self.whole.clone();
        }
        let first: String = self.whole.chars().take(FIRST).collect();
        let mut last: Vec<char> = self.whole.chars().rev().take(LAST).collect();
        last.reverse();
        format!("{first}…{}", last.into_iter().collect::<String>())
    }
}

#[cfg(test)]
mod tests {
    use super::ShortId;

    #[test]
    fn only_long_ids_are_shortened() {
        for (whole, short) in [
            ("", ""),
            ("948123456789", "948123456789"),
            ("12345678901234", "12345678901234"),
            ("123456789012345", "12345678…2345"),
            (
                "0gEz3WADJ0H5HRYUrKESAtlw8uMRtLA0BGCIqFLC34MARhlsz8qoKE7ETIivk9nf",
                "0gEz3WAD…k9nf",
            ),
            ("şğüöçıİŞĞÜÖÇşğü", "şğüöçıİŞ…Çşğü"),
        ] {
            let id = ShortId::new(whole);
            assert_eq!(id.short(), short);
            assert_eq!(id.is_shortened(), whole != short, "{whole}");
        }
    }
}
