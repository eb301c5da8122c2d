//! The list of pages beside every page of the book and beside the API reference.

use super::contents::{PAGES, Page, Part};
use super::markdown::Section;
use crate::panel::words::Lang;

pub struct Navigation {
    pub parts: Vec<PartLinks>,
}

pub struct PartLinks {
    pub title: &'static str,
    pub has_reference: bool,
    pub pages: Vec<PageLink>,
}

pub struct PageLink {
    pub path: String,
    pub title: &'static str,
    pub is_current: bool,
    /// The sections of the current page, by id and title.
    pub sections: Vec<(String, String)>,
}

impl Navigation {
    /// The list on a page that has these sections.
    pub fn at(lang: Lang, current: &Page, sections: &[Section]) -> Self {
        Self::with(lang, |page| {
            let is_current = page.name == current.name;
            let shown = sections.iter().filter(|section| is_current && section.level == 2);
            (
                is_current,
                shown
                    .map(|section| (section.id.clone(), section.title.clone()))
                    .collect(),
            )
        })
    }

    /// The list where no page of the book is shown.
    pub fn of(lang: Lang) -> Self {
        Self::with(lang, |_| (false, Vec::new()))
    }

    fn with(lang: Lang, state: impl Fn(&Page) -> (bool, Vec<(String, String)>)) -> Self {
        let link = |page: &Page| {
            let (is_current, sections) = state(page);
            PageLink {
                path: page.path(lang),
                title: page.title(lang),
                is_current,
                sections,
            }
        };
        let links = |part| PartLinks {
            title: Part::title(part, lang),
            has_reference: part == Part::Lists,
            pages: PAGES.iter().filter(|page| page.part == part).map(link).collect(),
        };
        Self {
            parts: Part::ALL.into_iter().map(links).collect(),
        }
    }
}
