//! The languages of the panel.

/// Turkish is the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lang {
    #[default]
    Tr,
    En,
}

impl Lang {
    pub const ALL: [Self; 2] = [Self::Tr, Self::En];

    pub fn code(self) -> &'static str {
        match self {
            Self::Tr => "tr",
            Self::En => "en",
        }
    }

    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|lang| lang.code() == code)
    }

    /// The same language of a ticket.
    pub fn of_ticket(self) -> garson_ticket::Lang {
        match self {
            Self::Tr => garson_ticket::Lang::Tr,
            Self::En => garson_ticket::Lang::En,
        }
    }

    /// The language that the switch in the page header offers.
    pub fn other(self) -> Self {
        match self {
            Self::Tr => Self::En,
            Self::En => Self::Tr,
        }
    }
}
