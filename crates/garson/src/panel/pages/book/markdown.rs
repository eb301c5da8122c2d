//! Markdown to HTML: headings with anchors, tables that become lists on phones, samples with a button to copy them.

use crate::panel::words::{BookWords, Lang};
use garson_core::search::folded;
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use std::collections::HashMap;
use std::fmt::Write;

/// A page without its frame, and what the search finds in it.
pub struct Rendered {
    pub html: String,
    pub sections: Vec<Section>,
}

/// A heading with the text below it, up to the next one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    pub level: u8,
    /// Its anchor; the title of the page has none.
    pub id: String,
    pub title: String,
    pub text: String,
}

pub fn render(source: &str, lang: Lang) -> Rendered {
    let mut writer = Writer::new(lang);
    for event in Parser::new_ext(source, Options::ENABLE_TABLES) {
        writer.take(event);
    }
    Rendered {
        html: writer.html,
        sections: writer.sections,
    }
}

/// The anchor of a heading: its words in plain small letters. Error codes and settings keep their underscores.
fn anchor(title: &str) -> String {
    let plain: String = title
        .chars()
        .map(|letter| match letter {
            '_' => "_".to_owned(),
            letter if letter.is_alphanumeric() => folded(letter.encode_utf8(&mut [0; 4])),
            _ => " ".to_owned(),
        })
        .collect();
    plain.split_whitespace().collect::<Vec<_>>().join("-")
}

pub fn escape(text: &str, to: &mut String) {
    for letter in text.chars() {
        match letter {
            '&' => to.push_str("&amp;"),
            '<' => to.push_str("&lt;"),
            '>' => to.push_str("&gt;"),
            '"' => to.push_str("&quot;"),
            other => to.push(other),
        }
    }
}

struct Writer {
    lang: Lang,
    html: String,
    sections: Vec<Section>,
    anchors: HashMap<String, u32>,
    /// Where the HTML of the heading begins that is being written, and its level.
    heading: Option<(usize, u8)>,
    title: String,
    columns: Vec<String>,
    /// The number of the cell in its row, while a table is written; the head is collected.
    cell: usize,
    is_head: bool,
    samples: u32,
}

impl Writer {
    fn new(lang: Lang) -> Self {
        Self {
            lang,
            html: String::new(),
            sections: Vec::new(),
            anchors: HashMap::new(),
            heading: None,
            title: String::new(),
            columns: Vec::new(),
            cell: 0,
            is_head: false,
            samples: 0,
        }
    }

    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.open(tag),
            Event::End(tag) => self.close(tag),
            Event::Text(text) => self.write_text(&text),
            Event::Code(text) => {
                self.html.push_str("<code>");
                self.write_text(&text);
                self.html.push_str("</code>");
            }
            Event::SoftBreak | Event::HardBreak => self.write_text("\n"),
            Event::Rule => self.html.push_str("<hr>"),
            // The pages have no HTML of their own; what looks like it is shown as it is written.
            Event::Html(text) | Event::InlineHtml(text) => self.write_text(&text),
            _ => {}
        }
    }

    fn write_text(&mut self, text: &str) {
        escape(text, &mut self.html);
        if self.heading.is_some() {
            self.title.push_str(text);
        } else if let Some(section) = self.sections.last_mut() {
            section.text.push_str(text);
        }
        if self.is_head
            && let Some(column) = self.columns.last_mut()
        {
            column.push_str(text);
        }
    }

    /// Words of different paragraphs, items and cells must not become one.
    fn separate(&mut self) {
        if let Some(section) = self.sections.last_mut() {
            section.text.push(' ');
        }
    }

    fn open(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph => self.html.push_str("<p>"),
            Tag::Heading { level, .. } => {
                self.heading = Some((self.html.len(), level_number(level)));
                self.title.clear();
            }
            Tag::BlockQuote(_) => self.html.push_str("<div class=\"notice warn\">"),
            Tag::CodeBlock(kind) => self.open_sample(&kind),
            Tag::List(Some(_)) => self.html.push_str("<ol>"),
            Tag::List(None) => self.html.push_str("<ul>"),
            Tag::Item => self.html.push_str("<li>"),
            Tag::Table(_) => {
                self.columns.clear();
                self.html
                    .push_str("<div class=\"card flush\"><table class=\"stacks\">");
            }
            Tag::TableHead => {
                self.is_head = true;
                self.html.push_str("<thead><tr>");
            }
            Tag::TableRow => {
                self.cell = 0;
                self.html.push_str("<tr>");
            }
            Tag::TableCell => self.open_cell(),
            Tag::Emphasis => self.html.push_str("<em>"),
            Tag::Strong => self.html.push_str("<strong>"),
            Tag::Link { dest_url, .. } => {
                let target = self.target(&dest_url);
                self.html.push_str("<a href=\"");
                escape(&target, &mut self.html);
                self.html.push_str("\">");
            }
            _ => {}
        }
    }

    fn close(&mut self, tag: TagEnd) {
        let end = match tag {
            TagEnd::Paragraph => "</p>",
            TagEnd::Heading(_) => {
                self.close_heading();
                ""
            }
            TagEnd::BlockQuote(_) => "</div>",
            TagEnd::CodeBlock => {
                self.close_sample();
                ""
            }
            TagEnd::List(true) => "</ol>",
            TagEnd::List(false) => "</ul>",
            TagEnd::Item => "</li>",
            TagEnd::Table => "</tbody></table></div>",
            TagEnd::TableHead => {
                self.is_head = false;
                "</tr></thead><tbody>"
            }
            TagEnd::TableRow => "</tr>",
            TagEnd::TableCell if self.is_head || self.cell == 1 => "</th>",
            TagEnd::TableCell => "</td>",
            TagEnd::Emphasis => "</em>",
            TagEnd::Strong => "</strong>",
            TagEnd::Link => "</a>",
            _ => "",
        };
        self.html.push_str(end);
        if !matches!(tag, TagEnd::Emphasis | TagEnd::Strong | TagEnd::Link) {
            self.separate();
        }
    }

    fn open_cell(&mut self) {
        if self.is_head {
            self.columns.push(String::new());
            self.html.push_str("<th scope=\"col\">");
            return;
        }
        self.cell += 1;
        if self.cell == 1 {
            self.html.push_str("<th scope=\"row\">");
            return;
        }
        let column = self.columns.get(self.cell - 1).cloned().unwrap_or_default();
        self.html.push_str("<td data-label=\"");
        escape(&column, &mut self.html);
        self.html.push_str("\">");
    }

    fn close_heading(&mut self) {
        let Some((start, level)) = self.heading.take() else {
            return;
        };
        let inner = self.html.split_off(start);
        let title = std::mem::take(&mut self.title);
        let id = match level {
            1 => String::new(),
            _ => self.new_anchor(&title),
        };
        // Writing to a string does not fail.
        let _ = match level {
            1 => write!(self.html, "<h1>{inner}</h1>"),
            _ => write!(
                self.html,
                "<h{level} id=\"{id}\"><a href=\"#{id}\">{inner}</a></h{level}>"
            ),
        };
        self.sections.push(Section {
            level,
            id,
            title,
            text: String::new(),
        });
    }

    fn new_anchor(&mut self, title: &str) -> String {
        let plain = anchor(title);
        let count = self.anchors.entry(plain.clone()).or_default();
        *count += 1;
        match *count {
            1 => plain,
            number => format!("{plain}-{number}"),
        }
    }

    fn open_sample(&mut self, kind: &CodeBlockKind<'_>) {
        self.samples += 1;
        let (number, t) = (self.samples, BookWords::of(self.lang));
        let label = match kind {
            CodeBlockKind::Fenced(info) if info.starts_with("sh") => t.commands,
            _ => t.sample,
        };
        let _ = write!(
            self.html,
            "<div class=\"sample\"><pre tabindex=\"0\" id=\"sample-{number}\" aria-label=\"{label} {number}\"><code>"
        );
    }

    fn close_sample(&mut self) {
        let (number, t) = (self.samples, BookWords::of(self.lang));
        let _ = write!(
            self.html,
            "</code></pre><button type=\"button\" data-copy=\"sample-{number}\" data-done=\"{}\" hidden>{}</button></div>",
            t.copied, t.copy
        );
    }

    /// Pages link to each other by their files, so that the links also work where the files are read.
    fn target(&self, link: &str) -> String {
        let (file, rest) = match link.find('#') {
            Some(at) => link.split_at(at),
            None => (link, ""),
        };
        match file.strip_suffix(".md") {
            Some(name) => format!("/docs/{}/{name}{rest}", self.lang.code()),
            None => link.to_owned(),
        }
    }
}

fn level_number(level: HeadingLevel) -> u8 {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}
