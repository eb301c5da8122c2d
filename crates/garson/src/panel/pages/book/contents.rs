//! The pages of the book, in order.

use crate::panel::words::{BookWords, Lang};

/// A group of pages in the navigation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Start,
    Work,
    Lists,
    Operate,
}

impl Part {
    pub const ALL: [Self; 4] = [Self::Start, Self::Work, Self::Lists, Self::Operate];

    pub fn title(self, lang: Lang) -> &'static str {
        let t = BookWords::of(lang);
        match self {
            Self::Start => t.part_start,
            Self::Work => t.part_work,
            Self::Lists => t.part_lists,
            Self::Operate => t.part_operate,
        }
    }
}

/// A page: its name in addresses, and its Markdown, whose first line is its title.
pub struct Page {
    pub part: Part,
    pub name: &'static str,
    turkish: &'static str,
    english: &'static str,
}

macro_rules! pages {
    ($($part:ident $name:literal,)*) => {
        pub static PAGES: &[Page] = &[$(Page {
            part: Part::$part,
            name: $name,
            turkish: include_str!(concat!("../../../../book/tr/", $name, ".md")),
            english: include_str!(concat!("../../../../book/en/", $name, ".md")),
        },)*];
    };
}

pages! {
    Start "start",
    Start "first-order",
    Work "actions",
    Work "deadlines",
    Work "webhooks",
    Work "polling",
    Work "accounting",
    Lists "platforms",
    Lists "errors",
    Lists "settings",
    Lists "glossary",
    Operate "install",
    Operate "configure",
    Operate "tls",
    Operate "postgresql",
    Operate "backup",
    Operate "upgrade",
    Operate "monitor",
    Operate "troubleshoot",
    Operate "security",
}

pub fn find(name: &str) -> Option<&'static Page> {
    PAGES.iter().find(|page| page.name == name)
}

impl Page {
    pub fn source(&self, lang: Lang) -> &'static str {
        match lang {
            Lang::Tr => self.turkish,
            Lang::En => self.english,
        }
    }

    pub fn title(&self, lang: Lang) -> &'static str {
        let first = self.source(lang).lines().next().unwrap_or_default();
        first.trim_start_matches("# ")
    }

    pub fn path(&self, lang: Lang) -> String {
        format!("/docs/{}/{}", lang.code(), self.name)
    }

    /// The pages before and after this one.
    pub fn neighbours(&self) -> (Option<&'static Page>, Option<&'static Page>) {
        let at = PAGES.iter().position(|page| page.name == self.name).unwrap_or(0);
        (at.checked_sub(1).and_then(|at| PAGES.get(at)), PAGES.get(at + 1))
    }
}
