//! A minimal HTML parser for forms, links and texts of the panel's pages.

use super::Reply;

/// A page as it came.
#[derive(Clone, Debug)]
pub struct Page {
    pub path: String,
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub html: String,
}

/// A tag with its attributes, and where it ends.
#[derive(Clone, Debug)]
struct Tag {
    name: String,
    attributes: Vec<(String, String)>,
    end: usize,
}

/// A form with the names and values that a browser would send.
#[derive(Clone, Debug)]
pub struct Form {
    pub action: String,
    /// It changes something; the others only look.
    pub is_post: bool,
    /// Every field that is in it, with its value; of buttons only the pressed one is sent.
    pub fields: Vec<(String, String)>,
    /// Boxes that are not ticked, which send something only when they are.
    pub boxes: Vec<(String, String)>,
    /// Names and values of its buttons.
    pub buttons: Vec<(String, String)>,
}

fn unescape(text: &str) -> String {
    text.replace("&#60;", "<")
        .replace("&#62;", ">")
        .replace("&#34;", "\"")
        .replace("&#39;", "'")
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&#38;", "&")
        .replace("&amp;", "&")
}

/// Every opening and closing tag, in order; closing ones begin with a slash.
fn tags(html: &str) -> Vec<Tag> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = html[at..].find('<').map(|n| at + n) {
        let rest = &html[start + 1..];
        let is_tag = rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/');
        if !is_tag {
            at = start + 1;
            continue;
        }
        let (tag, length) = tag(rest);
        at = start + 1 + length;
        found.push(Tag { end: at, ..tag });
    }
    found
}

/// Reads a tag after its `<`, and says how long it is.
fn tag(text: &str) -> (Tag, usize) {
    let name_end = text.find([' ', '>', '\n']).unwrap();
    let mut tag = Tag {
        name: text[..name_end].to_owned(),
        attributes: Vec::new(),
        end: 0,
    };
    let mut at = name_end;
    loop {
        let rest = text[at..].trim_start();
        at = text.len() - rest.len();
        if rest.starts_with('>') {
            return (tag, at + 1);
        }
        let end = rest.find(['=', ' ', '>', '\n']).unwrap();
        let name = rest[..end].to_owned();
        at += end;
        let Some(quoted) = rest[end..].strip_prefix("=\"") else {
            // Without a value; an unquoted one would be ours to mend.
            assert!(!rest[end..].starts_with('='), "an unquoted attribute: {name}");
            tag.attributes.push((name, String::new()));
            continue;
        };
        let length = quoted.find('"').unwrap();
        tag.attributes.push((name, unescape(&quoted[..length])));
        at += 2 + length + 1;
    }
}

impl Tag {
    fn get(&self, name: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|(n, _)| n == name);
        found.map(|(_, value)| value.as_str())
    }
}

impl Page {
    pub fn new(path: String, reply: &Reply) -> Self {
        Self {
            path,
            status: reply.status,
            headers: reply.headers.clone(),
            html: reply.text(),
        }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(n, _)| n == name);
        found.map(|(_, value)| value.as_str())
    }

    pub fn has(&self, text: &str) -> bool {
        self.text().contains(text)
    }

    /// What can be read on it, without markup.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let mut from = 0;
        for tag in tags(&self.html) {
            let before = &self.html[from..tag.end];
            text.push_str(&before[..before.rfind('<').unwrap_or(0)]);
            text.push(' ');
            from = tag.end;
        }
        text.push_str(&self.html[from..]);
        let words: Vec<&str> = text.split_whitespace().collect();
        unescape(&words.join(" "))
    }

    /// All forms that lead somewhere.
    pub fn forms(&self) -> Vec<Form> {
        let mut forms: Vec<Form> = Vec::new();
        let (mut is_inside, mut select) = (false, None::<(String, Option<String>)>);
        let all = tags(&self.html);
        for tag in &all {
            match tag.name.as_str() {
                "form" => {
                    is_inside = true;
                    forms.push(Form {
                        action: tag.get("action").unwrap().to_owned(),
                        is_post: tag.get("method") == Some("post"),
                        fields: Vec::new(),
                        boxes: Vec::new(),
                        buttons: Vec::new(),
                    });
                }
                "/form" => is_inside = false,
                _ if !is_inside => {}
                "input" => forms.last_mut().unwrap().input(tag),
                "textarea" => {
                    let text = &self.html[tag.end..];
                    let value = unescape(&text[..text.find("</textarea>").unwrap()]);
                    let name = tag.get("name").unwrap().to_owned();
                    forms.last_mut().unwrap().fields.push((name, value));
                }
                "button" => {
                    let text = |name| tag.get(name).unwrap_or_default().to_owned();
                    forms
                        .last_mut()
                        .unwrap()
                        .buttons
                        .push((text("name"), text("value")));
                }
                "select" => select = Some((tag.get("name").unwrap().to_owned(), None)),
                "option" => {
                    let (_, chosen) = select.as_mut().unwrap();
                    if chosen.is_none() || tag.get("selected").is_some() {
                        *chosen = Some(tag.get("value").unwrap().to_owned());
                    }
                }
                "/select" => {
                    let (name, chosen) = select.take().unwrap();
                    let value = chosen.unwrap_or_default();
                    forms.last_mut().unwrap().fields.push((name, value));
                }
                _ => {}
            }
        }
        forms
    }

    /// The first form that leads there.
    #[track_caller]
    pub fn form(&self, action: &str) -> Form {
        let found = self.forms().into_iter().find(|form| form.action == action);
        found.unwrap_or_else(|| panic!("no form to {action} in {}", self.html))
    }

    /// The first value of an attribute.
    #[track_caller]
    pub fn attribute(&self, name: &str) -> String {
        let all = tags(&self.html);
        let found = all.iter().find_map(|tag| tag.get(name));
        found.unwrap_or_else(|| panic!("no {name}")).to_owned()
    }

    /// Where its links lead.
    pub fn links(&self) -> Vec<String> {
        let links = tags(&self.html);
        let links = links.iter().filter(|tag| tag.name == "a");
        links
            .filter_map(|tag| tag.get("href").map(str::to_owned))
            .collect()
    }

    /// The part of a page that begins with this id and ends with its element.
    #[track_caller]
    pub fn within(&self, id: &str, element: &str) -> Self {
        let start = self.html.find(&format!("id=\"{id}\""));
        let start = start.unwrap_or_else(|| panic!("no {id} in {}", self.html));
        let start = self.html[..start].rfind('<').unwrap();
        let end = self.html[start..].find(&format!("</{element}>")).unwrap();
        Self {
            html: self.html[start..start + end].to_owned(),
            ..self.clone()
        }
    }
}

impl Form {
    fn input(&mut self, tag: &Tag) {
        let text = |name| tag.get(name).unwrap_or_default().to_owned();
        let is_choice = matches!(tag.get("type"), Some("checkbox" | "radio"));
        let sent = (text("name"), text("value"));
        if is_choice && tag.get("checked").is_none() {
            self.boxes.push(sent)
        } else {
            self.fields.push(sent)
        }
    }

    #[track_caller]
    pub fn value(&self, name: &str) -> &str {
        let found = self.fields.iter().find(|(n, _)| n == name);
        found.map_or_else(|| panic!("no {name} in {self:?}"), |(_, value)| value.as_str())
    }

    /// What is sent when these are filled in, or pressed; a field that is not in the form is not sent by any browser.
    #[track_caller]
    pub fn body(&self, filled: &[(&str, &str)]) -> String {
        let mut sent = self.fields.clone();
        for (name, value) in filled {
            let pressed = ((*name).to_owned(), (*value).to_owned());
            if let Some(field) = sent.iter_mut().find(|(n, _)| n == name) {
                field.1 = pressed.1;
            } else {
                let is_there = self.buttons.contains(&pressed) || self.boxes.contains(&pressed);
                assert!(is_there, "no {name} in {self:?}");
                sent.push(pressed);
            }
        }
        encode(&sent)
    }

    /// The same with one field more or less than the form has: what no honest browser sends.
    pub fn forged(&self, name: &str, value: Option<&str>) -> String {
        let mut sent = self.fields.clone();
        sent.retain(|(n, _)| n != name);
        sent.extend(value.map(|value| (name.to_owned(), value.to_owned())));
        encode(&sent)
    }
}

fn encode(fields: &[(String, String)]) -> String {
    let escape = |text: &str| -> String {
        text.bytes()
            .map(|b| match b {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => char::from(b).to_string(),
                _ => format!("%{b:02X}"),
            })
            .collect()
    };
    let pairs: Vec<String> = fields
        .iter()
        .map(|(name, value)| format!("{}={}", escape(name), escape(value)))
        .collect();
    pairs.join("&")
}
