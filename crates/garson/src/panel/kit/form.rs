//! The fields of a form as they are shown: label, value, hint and what is wrong with it. `parts.html` draws them.

/// What a field is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An input of this type.
    Input(&'static str),
    /// Several lines.
    Area,
    /// One of these.
    Select(Vec<Choice>),
    /// A box to tick.
    Tick(bool),
}

/// Something that can be chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    pub value: String,
    pub name: String,
    pub is_chosen: bool,
}

impl Choice {
    pub fn new(value: impl Into<String>, name: impl Into<String>, is_chosen: bool) -> Self {
        Self {
            value: value.into(),
            name: name.into(),
            is_chosen,
        }
    }
}

/// A field of a form. Passwords and other secrets are given no value: what is kept is never shown again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    pub name: String,
    pub label: String,
    pub kind: Kind,
    pub value: String,
    pub hint: String,
    /// What is wrong with what was sent.
    pub error: String,
    pub is_required: bool,
    /// What browsers and password managers know it as.
    pub autocomplete: &'static str,
    pub longest: Option<usize>,
    pub shortest: Option<usize>,
}

impl Field {
    pub fn new(name: impl Into<String>, label: impl Into<String>, kind: Kind) -> Self {
        Self {
            name: name.into(),
            label: label.into(),
            kind,
            value: String::new(),
            hint: String::new(),
            error: String::new(),
            is_required: false,
            autocomplete: "off",
            longest: None,
            shortest: None,
        }
    }

    pub fn text(name: impl Into<String>, label: impl Into<String>) -> Self {
        Self::new(name, label, Kind::Input("text"))
    }

    pub fn password(name: impl Into<String>, label: impl Into<String>) -> Self {
        Self::new(name, label, Kind::Input("password"))
    }

    #[must_use]
    pub fn value(mut self, value: impl Into<String>) -> Self {
        self.value = value.into();
        self
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }

    #[must_use]
    pub fn error(mut self, error: Option<&str>) -> Self {
        self.error = error.unwrap_or_default().to_owned();
        self
    }

    #[must_use]
    pub fn required(mut self) -> Self {
        self.is_required = true;
        self
    }

    #[must_use]
    pub fn autocomplete(mut self, known_as: &'static str) -> Self {
        self.autocomplete = known_as;
        self
    }

    /// How many characters it may have.
    #[must_use]
    pub fn between(mut self, shortest: usize, longest: usize) -> Self {
        (self.shortest, self.longest) = ((shortest > 0).then_some(shortest), Some(longest));
        self
    }
}

/// The ways to the pages before and after this one of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pager {
    pub newer: Option<String>,
    pub older: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::panel::kit::frame::Frame;
    use crate::panel::kit::lang::Lang;
    use askama::Template;

    /// Every piece of `parts.html` with everything that it can show.
    #[derive(Template)]
    #[template(
        ext = "html",
        source = r#"{% import "parts.html" as parts %}
            <form>{% call parts::csrf(frame) %}{% endcall %}
            {% for field in fields %}{% call parts::field(frame, field) %}{% endcall %}{% endfor %}</form>
            <dl class="facts">{% call parts::fact("<dt>", "<dd>") %}{% endcall %}</dl>
            {% call parts::notice("bad", "<bad>") %}{% endcall %}
            {% call parts::empty("<none>", "<yet>", "/restaurants", "<go>") %}{% endcall %}
            {% call parts::pager(frame, pager) %}{% endcall %}
            {% call parts::sure(frame, "/delete", "<delete>", "<sure>") %}{% endcall %}"#
    )]
    struct Sample {
        frame: Frame,
        fields: Vec<Field>,
        pager: Pager,
    }

    fn sample(lang: Lang) -> String {
        let full = |kind| {
            Field::new("n", "<label>", kind)
                .value("<value>")
                .hint("<hint>")
                .error(Some("<error>"))
                .required()
                .between(2, 9)
        };
        let choices = vec![
            Choice::new("<1>", "<one>", false),
            Choice::new("<2>", "<two>", true),
        ];
        let sample = Sample {
            frame: Frame::bare(lang),
            fields: vec![
                full(Kind::Input("text")),
                full(Kind::Area),
                full(Kind::Select(choices)),
                full(Kind::Tick(true)),
                Field::password("p", "<secret>"),
            ],
            pager: Pager {
                newer: Some("?newer=<1>".to_owned()),
                older: Some("?older=<2>".to_owned()),
            },
        };
        sample.render().unwrap_or_default()
    }

    #[test]
    fn pieces_show_everything_and_escape_it() {
        let (tr, en) = (sample(Lang::Tr), sample(Lang::En));
        for page in [&tr, &en] {
            for text in [
                "label", "value", "hint", "error", "one", "two", "dt", "dd", "bad", "none", "yet", "go",
                "delete", "sure", "secret",
            ] {
                assert!(page.contains(&format!("&#60;{text}&#62;")), "{text} in {page}");
            }
            for mark in [
                "required",
                "minlength=\"2\"",
                "maxlength=\"9\"",
                " selected>",
                " checked>",
                "aria-invalid=\"true\"",
                "aria-describedby=\"e-n h-n\"",
                "role=\"alert\"",
                "autocomplete=\"off\"",
            ] {
                assert!(page.contains(mark), "{mark} in {page}");
            }
        }
        assert!(tr.contains("Daha eski") && en.contains("Older"));
    }
}
