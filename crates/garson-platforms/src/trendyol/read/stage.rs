//! A package's status, in the platform's words.

#[derive(Clone, Copy, PartialEq)]
pub enum Stage {
    Created,
    Picking,
    Invoiced,
    Shipped,
    Delivered,
    Cancelled,
    Unsupplied,
}

impl Stage {
    /// An unknown status leaves the order new, so that it is shown and not lost.
    pub fn of(status: &str) -> Self {
        let is = |name: &str| status.trim().eq_ignore_ascii_case(name);
        match () {
            () if is("Picking") => Self::Picking,
            () if is("Invoiced") => Self::Invoiced,
            () if is("Shipped") => Self::Shipped,
            // Only what was delivered is returned.
            () if is("Delivered") || is("Returned") => Self::Delivered,
            () if is("Cancelled") => Self::Cancelled,
            () if is("UnSupplied") => Self::Unsupplied,
            () => Self::Created,
        }
    }
}
