//! A whole HTML page with print styles: on paper the ticket alone, on a screen with links to other tickets and a print button.

use super::layout::{Paper, Step, lay_out};
use crate::model::{Align, Block, Emphasis, Paragraph, Run, Size, Ticket};
use crate::options::{Kind, Width};
use crate::words::Words;
use qrcodegen::{QrCode, QrCodeEcc};
use std::fmt::Write as _;

/// What stands around the ticket on a screen.
#[derive(Clone, Copy, Default)]
pub struct Surroundings<'a> {
    /// The path of the script that prints.
    pub script: Option<&'a str>,
    /// The path of the page without its query, for links to other tickets.
    pub path: Option<&'a str>,
}

/// A page.
pub struct Page {
    pub html: String,
    /// The content of its `style` element, for the hash of a content security policy.
    pub style: String,
}

const STYLE: &str = include_str!("ticket.css");

#[must_use]
pub fn render(ticket: &Ticket, around: &Surroundings<'_>) -> Page {
    let options = ticket.options;
    let style = format!("{STYLE}{}", page_rule(ticket));
    let mut html = String::with_capacity(8 * 1_024);
    let (lang, title) = (options.lang.as_str(), Escaped(&ticket.title));
    // Ignored here and below: writing to a String does not fail.
    let _ = write!(
        html,
        "<!doctype html>\n<html lang=\"{lang}\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"robots\" content=\"noindex\">\n<title>{title}</title>\n<style>{style}</style>\n"
    );
    if let Some(script) = around.script {
        let _ = writeln!(html, "<script src=\"{}\" defer></script>", Escaped(script));
    }
    let _ = writeln!(
        html,
        "</head>\n<body class=\"{} w{}\" data-paper=\"{}\">",
        options.kind.as_str(),
        options.width.as_str(),
        options.width.as_str()
    );
    if let Some(path) = around.path {
        push_tools(&mut html, ticket, path, around.script.is_some());
    }
    let _ = writeln!(html, "<main class=\"ticket\">\n<h1 class=\"unseen\">{title}</h1>");
    for block in &ticket.blocks {
        push_block(&mut html, block);
    }
    html.push_str("</main>\n</body>\n</html>\n");
    Page { html, style }
}

/// Links to the other tickets of the order and the other papers, and the print button, which only the script shows.
fn push_tools(html: &mut String, ticket: &Ticket, path: &str, has_script: bool) {
    let (options, t) = (ticket.options, Words::of(ticket.options.lang));
    let link = |html: &mut String, kind: Kind, width: Width, name: &str| {
        let is_current = kind == options.kind && width == options.width;
        let current = if is_current { " aria-current=\"page\"" } else { "" };
        let _ = write!(
            html,
            "<a href=\"{}?kind={}&amp;width={}&amp;lang={}\"{current}>{}</a>",
            Escaped(path),
            kind.as_str(),
            width.as_str(),
            options.lang.as_str(),
            Escaped(name)
        );
    };
    let _ = write!(html, "<header class=\"tools\"><nav aria-label=\"{}\">", t.kinds);
    for (kind, name) in [
        (Kind::Kitchen, t.kitchen),
        (Kind::Courier, t.courier),
        (Kind::Customer, t.customer),
    ] {
        link(html, kind, options.width, name);
    }
    let _ = write!(html, "</nav><nav aria-label=\"{}\">", t.paper);
    for (width, name) in [(Width::Mm58, "58 mm"), (Width::Mm80, "80 mm"), (Width::A4, "A4")] {
        link(html, options.kind, width, name);
    }
    html.push_str("</nav>");
    if has_script {
        let _ = write!(
            html,
            "<button type=\"button\" class=\"print-now\" hidden>{}</button>",
            t.print
        );
    }
    html.push_str("</header>\n");
}

fn push_block(html: &mut String, block: &Block) {
    match block {
        Block::Text(paragraph) => push_paragraph(html, paragraph),
        Block::Pair {
            left,
            right,
            size,
            indent,
        } => {
            let _ = writeln!(
                html,
                "<p class=\"pair {}{}\"><span>{}</span> <span>{}</span></p>",
                size_class(*size),
                indent_class(*indent),
                Escaped(left),
                Escaped(right)
            );
        }
        Block::Rule => html.push_str("<hr>\n"),
        Block::Qr { data, caption } => push_qr(html, data, caption),
    }
}

fn push_paragraph(html: &mut String, paragraph: &Paragraph) {
    let centre = match paragraph.align {
        Align::Start => "",
        Align::Centre => " centre",
    };
    let size = size_class(paragraph.size);
    let _ = write!(
        html,
        "<p class=\"{size}{}{centre}\">",
        indent_class(paragraph.indent)
    );
    for run in &paragraph.runs {
        push_run(html, run);
    }
    html.push_str("</p>\n");
}

fn push_run(html: &mut String, run: &Run) {
    let text = Escaped(&run.text);
    let _ = match run.emphasis {
        Emphasis::None => write!(html, "{text}"),
        Emphasis::Strong => write!(html, "<b>{text}</b>"),
        Emphasis::Warning => write!(html, "<mark>{text}</mark>"),
    };
}

fn size_class(size: Size) -> &'static str {
    match size {
        Size::Normal => "normal",
        Size::Tall => "tall",
        Size::Large => "large",
    }
}

fn indent_class(indent: u8) -> String {
    match indent.min(4) {
        0 => String::new(),
        steps => format!(" in{steps}"),
    }
}

fn push_qr(html: &mut String, data: &str, caption: &str) {
    // Too much data for a code: the ticket is printed without it.
    let Ok(code) = QrCode::encode_text(data, QrCodeEcc::Medium) else {
        return;
    };
    let side = code.size() + 8;
    let _ = write!(
        html,
        "<figure><svg class=\"qr\" viewBox=\"0 0 {side} {side}\" aria-hidden=\"true\"><path d=\""
    );
    for y in 0..code.size() {
        for x in 0..code.size() {
            if code.get_module(x, y) {
                let _ = write!(html, "M{} {}h1v1h-1z", x + 4, y + 4);
            }
        }
    }
    let _ = writeln!(
        html,
        "\"/></svg><figcaption>{}</figcaption></figure>",
        Escaped(caption)
    );
}

/// The size of the page. Rolls have no pages, so a page is as long as the ticket; the script measures it exactly.
fn page_rule(ticket: &Ticket) -> String {
    let width = match ticket.options.width {
        Width::A4 => return "@page{size:A4;margin:12mm}".to_owned(),
        Width::Mm58 => 58,
        Width::Mm80 => 80,
    };
    format!("@page{{size:{width}mm {}mm;margin:0}}", estimated_height(ticket))
}

/// In millimetres, rather too much than too little: a second page would be a second ticket.
fn estimated_height(ticket: &Ticket) -> u32 {
    let paper = Paper {
        columns: ticket.options.width.columns() - 6,
        has_sizes: true,
        fit: &str::to_owned,
    };
    let tenths: u32 = lay_out(ticket, &paper)
        .iter()
        .map(|step| match step {
            Step::Line(line) => match line.size {
                Size::Normal => 52,
                Size::Tall => 72,
                Size::Large => 110,
            },
            Step::Rule => 35,
            Step::Qr { .. } => 330,
        })
        .sum();
    (tenths / 10 + 20).max(60)
}

/// Text for HTML.
struct Escaped<'a>(&'a str);

impl std::fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}
