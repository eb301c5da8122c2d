//! The style sheets keep to the sizes, spaces and colours of `tokens.css`, and `docs/design.md` tells the truth about them.

use super::assets::{DOCS_STYLE_SOURCE, PRODUCTS_STYLE_SOURCE, ROLES_STYLE_SOURCE, STYLE_SOURCE};
use std::collections::HashMap;

const TOKENS: &str = include_str!("../../../assets/css/tokens.css");
const DESIGN: &str = include_str!("../../../../../docs/design.md");

/// The least contrast of text, and of edges and signs that mean something.
const TEXT: f64 = 4.5;
const SIGN: f64 = 3.0;

/// What is seen on what: its name in the document, the colours, and the least contrast.
const PAIRS: &[(&str, &str, &str, f64)] = &[
    ("text on the page", "ink", "paper", TEXT),
    ("text on a card", "ink", "sheet", TEXT),
    ("text in a column, a grey label", "ink", "well", TEXT),
    ("secondary text on the page", "soft", "paper", TEXT),
    ("secondary text on a card", "soft", "sheet", TEXT),
    ("secondary text in a grey label", "soft", "well", TEXT),
    ("accept button", "main-ink", "main", TEXT),
    ("accept button, pointed at", "main-ink", "main-deep", TEXT),
    ("main button", "strong-ink", "strong", TEXT),
    ("brand mark", "brand-ink", "brand", SIGN),
    ("link on the page", "link", "paper", TEXT),
    ("link on a card", "link", "sheet", TEXT),
    ("label \"new\"", "new", "new-soft", TEXT),
    ("bar of orders out of view", "new-ink", "new", TEXT),
    ("good news", "good", "good-soft", TEXT),
    ("warning", "warn", "warn-soft", TEXT),
    ("problem", "bad", "bad-soft", TEXT),
    ("problem on a card", "bad", "sheet", TEXT),
    ("button that deletes", "bad-ink", "bad", TEXT),
    ("edge of a field", "edge", "field", SIGN),
    ("edge of a button", "edge", "sheet", SIGN),
    ("column \"new\"", "new", "well", SIGN),
    ("column \"preparing\"", "preparing", "well", SIGN),
    ("column \"on the way\"", "on-the-way", "well", SIGN),
    ("column \"closed\"", "closed", "well", SIGN),
    ("Getir", "platform-ink", "getir", TEXT),
    ("Yemeksepeti", "platform-ink", "yemeksepeti", TEXT),
    ("Trendyol Go", "platform-ink", "trendyol", TEXT),
    ("Migros Yemek", "platform-ink", "migros", TEXT),
    ("direct orders", "platform-ink", "direct", TEXT),
];

/// All style sheets but the tokens.
fn sheets() -> String {
    let common = STYLE_SOURCE.replacen(TOKENS, "", 1);
    [
        &common,
        PRODUCTS_STYLE_SOURCE,
        ROLES_STYLE_SOURCE,
        DOCS_STYLE_SOURCE,
    ]
    .concat()
}

/// Name and value of every declaration, without comments.
fn declarations(css: &str) -> Vec<(String, String)> {
    let mut rest = css;
    let mut plain = String::new();
    while let Some((before, after)) = rest.split_once("/*") {
        plain.push_str(before);
        rest = after.split_once("*/").map_or("", |(_, after)| after);
    }
    plain.push_str(rest);
    plain
        .split(['{', '}', ';'])
        .filter_map(|part| part.split_once(": "))
        .map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()))
        .collect()
}

/// The colours of the light and of the dark theme.
fn themes() -> [HashMap<String, String>; 2] {
    let (light, dark) = TOKENS.split_once("@media (prefers-color-scheme: dark)").unwrap();
    let colours = |css| -> HashMap<String, String> {
        declarations(css)
            .into_iter()
            .filter_map(|(name, value)| Some((name.strip_prefix("--")?.to_owned(), value)))
            .collect()
    };
    let mut both = colours(light);
    let light = both.clone();
    both.extend(colours(dark));
    [light, both]
}

/// Red, green and blue of `#abc` or `#aabbcc`.
fn rgb(colour: &str) -> [f64; 3] {
    let digits = colour.strip_prefix('#').unwrap();
    let part = |at: usize| {
        let text = match digits.len() {
            3 => digits[at..=at].repeat(2),
            _ => digits[2 * at..2 * at + 2].to_owned(),
        };
        f64::from(u8::from_str_radix(&text, 16).unwrap()) / 255.0
    };
    [part(0), part(1), part(2)]
}

/// The relative luminance of WCAG 2.
fn luminance(colour: &str) -> f64 {
    let linear = |part: f64| {
        if part <= 0.04045 {
            part / 12.92
        } else {
            ((part + 0.055) / 1.055).powf(2.4)
        }
    };
    let [red, green, blue] = rgb(colour).map(linear);
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}

fn contrast(one: &str, other: &str) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

#[test]
fn contrast_of_black_on_white_is_21() {
    assert!((contrast("#000", "#ffffff") - 21.0).abs() < 0.001);
    assert!((contrast("#777", "#fff") - 4.478).abs() < 0.001);
}

#[test]
fn every_pair_of_colours_has_enough_contrast_and_is_documented() {
    let themes = themes();
    let mut wrong = Vec::new();
    for (what, front, back, least) in PAIRS {
        let [light, dark] = [0, 1].map(|at| contrast(&themes[at][*front], &themes[at][*back]));
        for (theme, ratio) in [("light", light), ("dark", dark)] {
            if ratio < *least {
                wrong.push(format!("{what} in {theme}: {ratio:.2} is below {least}"));
            }
        }
        let row = format!("| {what} | `--{front}` on `--{back}` | {light:.1} | {dark:.1} | {least:.1} |");
        if !DESIGN.contains(&row) {
            wrong.push(row);
        }
    }
    let rows = DESIGN.matches("| `--").count();
    assert!(
        wrong.is_empty() && rows >= PAIRS.len(),
        "correct docs/design.md:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn text_sizes_are_of_the_scale() {
    let sizes = [
        "var(--size-13)",
        "var(--size-14)",
        "var(--size-16)",
        "var(--size-20)",
        "var(--size-28)",
    ];
    // Of a card, whose sizes depend on the density; the size of a wall screen, which scales all others.
    let derived = [
        "var(--item)",
        "var(--detail)",
        "var(--fact)",
        "var(--code)",
        "125%",
        "inherit",
    ];
    for (name, value) in declarations(&sheets()) {
        let is_derived = ["--item", "--detail", "--fact", "--code"].contains(&name.as_str());
        let is_known = match name.as_str() {
            "font-size" => sizes.contains(&value.as_str()) || derived.contains(&value.as_str()),
            "font" => false,
            _ if is_derived => sizes.contains(&value.as_str()),
            _ => true,
        };
        assert!(is_known, "{name}: {value} is not of the scale in tokens.css");
    }
    for (size, rem) in [
        (13, ".8125rem"),
        (14, ".875rem"),
        (16, "1rem"),
        (20, "1.25rem"),
        (28, "1.75rem"),
    ] {
        assert!(TOKENS.contains(&format!("--size-{size}: {rem};")));
        assert!(DESIGN.contains(&format!("| `--size-{size}` |")), "{size}");
    }
}

#[test]
fn spaces_are_of_the_scale() {
    for (name, value) in declarations(&sheets()) {
        let is_space = name.ends_with("gap") || name.starts_with("margin") || name.starts_with("padding");
        let is_raw = value.contains("rem") || value.contains("px");
        assert!(
            !is_space || !is_raw,
            "{name}: {value} is not of the scale in tokens.css"
        );
    }
}

#[test]
fn colours_are_tokens_and_orange_is_only_the_accept_button() {
    let sheets = sheets();
    for (name, value) in declarations(&sheets) {
        let is_raw = value.contains('#') || value.contains("rgb(") || value.contains("hsl(");
        assert!(!is_raw, "{name}: {value} is not a colour of tokens.css");
    }
    for line in sheets.lines().filter(|line| line.contains("var(--main")) {
        assert!(line.starts_with(".order[data-waiting] button.main"), "{line}");
    }
}

#[test]
fn tokens_are_part_of_the_style_sheet() {
    let all = [
        STYLE_SOURCE,
        PRODUCTS_STYLE_SOURCE,
        ROLES_STYLE_SOURCE,
        DOCS_STYLE_SOURCE,
    ]
    .concat()
    .len();
    assert_eq!(sheets().len() + TOKENS.len(), all);
}
