//! Form fields as a page shows them: label, value, hint and error. `components.html` renders them.

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldKind {
    /// `<input>` of this type.
    Input(&'static str),
    Textarea,
    Select(Vec<Choice>),
    Checkbox(bool),
}

/// An `<option>`.
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

/// Secrets never get a value: what is stored is not shown again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    pub name: String,
    pub label: String,
    pub kind: FieldKind,
    pub value: String,
    pub hint: String,
    /// Empty if the value is valid.
    pub error: String,
    pub is_required: bool,
    pub autocomplete: &'static str,
    pub max_length: Option<usize>,
    pub min_length: Option<usize>,
}

impl Field {
    pub fn new(name: impl Into<String>, label: impl Into<String>, kind: FieldKind) -> Self {
        Self {
            name: name.into(),
            label: label.into(),
            kind,
            value: String::new(),
            hint: String::new(),
            error: String::new(),
            is_required: false,
            autocomplete: "off",
            max_length: None,
            min_length: None,
        }
    }

    pub fn text(name: impl Into<String>, label: impl Into<String>) -> Self {
        Self::new(name, label, FieldKind::Input("text"))
    }

    pub fn password(name: impl Into<String>, label: impl Into<String>) -> Self {
        Self::new(name, label, FieldKind::Input("password"))
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
    pub fn autocomplete(mut self, autocomplete: &'static str) -> Self {
        self.autocomplete = autocomplete;
        self
    }

    /// The number of characters that browsers accept.
    #[must_use]
    pub fn length(mut self, min_length: usize, max_length: usize) -> Self {
        (self.min_length, self.max_length) = ((min_length > 0).then_some(min_length), Some(max_length));
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::panel::kit::layout::Layout;
    use crate::panel::kit::paging::Pager;
    use crate::panel::words::Lang;
    use askama::Template;

    /// Every macro of `components.html` with everything that it can show.
    #[derive(Template)]
    #[template(
        ext = "html",
        source = r#"{% import "components.html" as components %}
            <form>{% call components::csrf(layout) %}{% endcall %}
            {% for field in fields %}{% call components::field(layout, field) %}{% endcall %}{% endfor %}</form>
            <dl class="facts">{% call components::fact("<dt>", "<dd>") %}{% endcall %}</dl>
            {% call components::notice("bad", "<bad>") %}{% endcall %}
            {% call components::empty("<none>", "<yet>", "/restaurants", "<go>") %}{% endcall %}
            {% call components::pager(layout, pager) %}{% endcall %}
            {% call components::confirm_button(layout, "/delete", "<delete>", "<sure>") %}{% endcall %}"#
    )]
    struct Sample {
        layout: Layout,
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
                .length(2, 9)
        };
        let choices = vec![
            Choice::new("<1>", "<one>", false),
            Choice::new("<2>", "<two>", true),
        ];
        let sample = Sample {
            layout: Layout::bare(lang),
            fields: vec![
                full(FieldKind::Input("text")),
                full(FieldKind::Textarea),
                full(FieldKind::Select(choices)),
                full(FieldKind::Checkbox(true)),
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
    fn components_show_everything_and_escape_it() {
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
