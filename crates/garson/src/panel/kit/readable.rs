//! Bodies of messages as people read them.

/// Longer messages are cut off.
const MAX_BODY: usize = 64 * 1024;

/// Adds line breaks and indentation to JSON and changes nothing else, because numbers and key order matter to support.
pub fn readable(body: &[u8]) -> String {
    if body.len() > MAX_BODY {
        let head = body.get(..MAX_BODY).unwrap_or_default();
        return format!("{}…", String::from_utf8_lossy(head));
    }
    let text = String::from_utf8_lossy(body);
    match serde_json::from_slice::<serde::de::IgnoredAny>(body) {
        Ok(_) => indented(&text),
        Err(_) => text.into_owned(),
    }
}

fn indented(json: &str) -> String {
    let mut lines = String::with_capacity(json.len() * 2);
    let (mut depth, mut is_string, mut is_escaped) = (0_usize, false, false);
    let mut last = ' ';
    for c in json.chars() {
        if is_string {
            lines.push(c);
            is_string = is_escaped || c != '"';
            is_escaped = !is_escaped && c == '\\';
            last = c;
            continue;
        }
        let is_empty_inside = matches!((last, c), ('{', '}') | ('[', ']'));
        match c {
            ' ' | '\n' | '\r' | '\t' => continue,
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                if !is_empty_inside {
                    break_line(&mut lines, depth);
                }
            }
            _ if matches!(last, '{' | '[') => break_line(&mut lines, depth),
            _ => {}
        }
        lines.push(c);
        match c {
            '"' => is_string = true,
            '{' | '[' => depth += 1,
            ',' => break_line(&mut lines, depth),
            ':' => lines.push(' '),
            _ => {}
        }
        last = c;
    }
    lines
}

fn break_line(lines: &mut String, depth: usize) {
    lines.push('\n');
    lines.extend(std::iter::repeat_n("  ", depth.min(20)));
}

#[cfg(test)]
mod tests {
    use super::readable;

    #[test]
    fn json_gets_line_breaks_and_nothing_else() {
        let json = r#"{"b":[1, 2.50,{}],"a":"x, {\"y\": [\\",  "e":[]}"#;
        let wanted = "{\n  \"b\": [\n    1,\n    2.50,\n    {}\n  ],\n  \"a\": \"x, {\\\"y\\\": [\\\\\",\n  \"e\": []\n}";
        assert_eq!(readable(json.as_bytes()), wanted);
        for other in ["not json", "{\"a\":", "<a>1</a>"] {
            assert_eq!(readable(other.as_bytes()), other);
        }
        assert_eq!(readable(&[0xff, b'a']), "\u{fffd}a");
    }
}
