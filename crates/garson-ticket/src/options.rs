//! What a ticket is for, how wide its paper is, and in which language it is.

macro_rules! choices {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)*
        }

        impl $name {
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The word used in URLs and on the command line.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }

            #[must_use]
            pub fn named(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|it| it.as_str() == word)
            }
        }
    };
}

choices! {
    /// Who reads the ticket.
    Kind {
        Kitchen "kitchen",
        Courier "courier",
        Customer "customer",
    }
}

choices! {
    /// The paper.
    Width {
        Mm58 "58",
        Mm80 "80",
        A4 "a4",
    }
}

choices! {
    Lang {
        Tr "tr",
        En "en",
    }
}

choices! {
    /// Why a ticket is printed once more.
    Copy {
        /// A person asked for it.
        Requested "requested",
        /// It is unclear whether the printer printed it the first time.
        Uncertain "uncertain",
    }
}

impl Width {
    /// Characters in a line of the printer's standard font, or of plain text.
    #[must_use]
    pub fn columns(self) -> usize {
        match self {
            Self::Mm58 => 32,
            Self::Mm80 => 48,
            Self::A4 => 80,
        }
    }
}

/// Which ticket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    pub kind: Kind,
    pub width: Width,
    pub lang: Lang,
    pub copy: Option<Copy>,
}
