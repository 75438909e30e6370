//! Writes a value in a random style that its format allows.

use crate::format::tree::Tree;

/// A writer whose random choices depend only on the seed.
pub(super) struct Generator {
    seed: u64,
    pub(super) nl: &'static str,
    unit: String,
}

impl Generator {
    pub(super) fn new(seed: u64) -> Self {
        let mut generator = Self { seed: seed | 1, nl: "\n", unit: String::new() };
        generator.nl = if generator.one_in(3) { "\r\n" } else { "\n" };
        generator.unit = ["  ", "    ", "\t", " "][generator.dice(4)].to_owned();
        generator
    }

    pub(super) fn dice(&mut self, sides: usize) -> usize {
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        usize::try_from(self.seed >> 33).unwrap() % sides
    }

    /// True once in `sides` times on average.
    pub(super) fn one_in(&mut self, sides: usize) -> bool {
        self.dice(sides) == 0
    }

    fn json_blank(&mut self) -> &'static str {
        ["", "", "", " ", "  ", "/* c, } */ ", "\t"][self.dice(7)]
    }

    pub(super) fn json(&mut self, tree: &Tree, indent: &str) -> String {
        let (open, close, items) = match tree {
            Tree::Map(pairs) => (
                '{',
                '}',
                pairs.iter().map(|(name, value)| (Some(name), value)).collect::<Vec<_>>(),
            ),
            Tree::List(items) => ('[', ']', items.iter().map(|value| (None, value)).collect()),
            Tree::Text(text) => return serde_json::Value::from(text.as_str()).to_string(),
            Tree::Bare(text) => return text.clone(),
            Tree::Bool(value) => return value.to_string(),
            Tree::Null => return "null".to_owned(),
        };
        let lines = self.one_in(2);
        let inner = format!("{indent}{}", self.unit);
        let mut text = format!("{open}{}", self.json_blank());
        let count = items.len();
        for (index, (name, value)) in items.into_iter().enumerate() {
            if lines {
                if self.one_in(5) {
                    text += &format!(" // c \" {{{}{inner}", self.nl);
                } else {
                    text += &format!("{}{inner}", self.nl);
                }
            }
            if let Some(name) = name {
                text += &format!(
                    "{}{}:{}",
                    serde_json::Value::from(name.as_str()),
                    self.json_blank(),
                    self.json_blank()
                );
            }
            text += &self.json(value, &inner);
            text += self.json_blank();
            if index + 1 < count || self.one_in(4) {
                text += ",";
                text += self.json_blank();
            }
            if lines && self.one_in(6) {
                text += &format!("// x{}{inner}", self.nl);
            }
        }
        if lines {
            text += &format!("{}{indent}", self.nl);
        }
        format!("{text}{}{close}", self.json_blank())
    }

    fn toml_value(&mut self, tree: &Tree) -> String {
        match tree {
            Tree::Map(pairs) => {
                let pairs: Vec<String> = pairs
                    .iter()
                    .map(|(name, value)| format!("{} = {}", toml_key(name), self.toml_value(value)))
                    .collect();
                format!("{{ {} }}", pairs.join(", "))
            }
            Tree::List(items) => {
                let items: Vec<String> = items.iter().map(|item| self.toml_value(item)).collect();
                if self.one_in(3) {
                    format!("[{}{} # c{}]", self.nl, items.join(", "), self.nl)
                } else {
                    format!("[ {} ]", items.join(", "))
                }
            }
            Tree::Text(text) => toml_edit::Value::from(text.as_str()).to_string(),
            Tree::Bare(text) => text.clone(),
            Tree::Bool(value) => value.to_string(),
            Tree::Null => "''".to_owned(),
        }
    }

    fn toml_gap(&mut self) -> String {
        let nl = self.nl;
        [
            String::new(),
            String::new(),
            nl.to_owned(),
            format!("# c [x]{nl}"),
            format!("{nl}  # \"{nl}{nl}"),
        ][self.dice(5)]
        .clone()
    }

    /// A table with its header; subtables with theirs, or inline.
    pub(super) fn toml(&mut self, path: &[String], pairs: &[(String, Tree)]) -> String {
        let nl = self.nl;
        let (mut own, mut below) = (String::new(), String::new());
        for (name, value) in pairs {
            let inner: Vec<String> = path.iter().cloned().chain([name.clone()]).collect();
            let apart = !self.one_in(3);
            match value.as_map().filter(|_| apart) {
                Some(pairs) => {
                    let header: Vec<String> = inner.iter().map(|name| toml_key(name)).collect();
                    below += &format!(
                        "{}[{}]{}{nl}{}",
                        self.toml_gap(),
                        header.join("."),
                        ["", " # h"][self.dice(2)],
                        self.toml(&inner, pairs)
                    );
                }
                None => {
                    own += &format!(
                        "{}{} = {}{}{nl}",
                        self.toml_gap(),
                        toml_key(name),
                        self.toml_value(value),
                        ["", " # v"][self.dice(2)]
                    )
                }
            }
        }
        own + &below + &self.toml_gap()
    }

    fn yaml_gap(&mut self, column: usize) -> String {
        let nl = self.nl;
        [
            String::new(),
            String::new(),
            String::new(),
            nl.to_owned(),
            format!("{}# c: x{nl}", " ".repeat(column)),
            format!("# d{nl}"),
        ][self.dice(6)]
        .clone()
    }

    fn yaml_scalar(&mut self, text: &str) -> String {
        let single = text.chars().all(|c| !c.is_control());
        match self.dice(3) {
            0 if single => format!("'{}'", text.replace('\'', "''")),
            1 if text.len() > 2
                && text.chars().all(|c| c.is_ascii_alphabetic())
                && !["true", "false", "null", "yes", "off"]
                    .contains(&text.to_lowercase().as_str()) =>
            {
                text.to_owned()
            }
            _ => serde_json::Value::from(text).to_string(),
        }
    }

    fn yaml_flow(&mut self, tree: &Tree) -> String {
        match tree {
            Tree::Text(text) => self.yaml_scalar(text),
            Tree::Bare(text) => text.clone(),
            Tree::Bool(value) => value.to_string(),
            Tree::Null => "null".to_owned(),
            Tree::List(items) => {
                let items: Vec<String> = items.iter().map(|item| self.yaml_flow(item)).collect();
                format!("[{}]", items.join(", "))
            }
            Tree::Map(pairs) => {
                let pairs: Vec<String> = pairs
                    .iter()
                    .map(|(name, value)| {
                        format!(
                            "{}: {}",
                            serde_json::Value::from(name.as_str()),
                            self.yaml_flow(value)
                        )
                    })
                    .collect();
                format!("{{{}}}", pairs.join(", "))
            }
        }
    }

    /// The lines of a block. The first has no indentation, because it may follow a dash.
    pub(super) fn yaml(&mut self, tree: &Tree, column: usize) -> String {
        let nl = self.nl;
        let step = 2 + self.dice(3);
        let mut text = String::new();
        match tree {
            Tree::Map(pairs) => {
                for (index, (name, value)) in pairs.iter().enumerate() {
                    let indent = if index == 0 {
                        String::new()
                    } else {
                        format!("{}{}", self.yaml_gap(column), " ".repeat(column))
                    };
                    text += &format!("{indent}{}:", self.yaml_scalar(name));
                    text += &self.yaml_inner(value, column, step);
                }
            }
            Tree::List(items) => {
                for (index, item) in items.iter().enumerate() {
                    let indent = if index == 0 {
                        String::new()
                    } else {
                        format!("{}{}", self.yaml_gap(column), " ".repeat(column))
                    };
                    let block = matches!(item, Tree::Map(pairs) if !pairs.is_empty());
                    text += &match block {
                        true => format!(
                            "{indent}-{}{}",
                            " ".repeat(step - 1),
                            self.yaml(item, column + step)
                        ),
                        false => format!("{indent}- {}{nl}", self.yaml_flow(item)),
                    };
                }
            }
            Tree::Null | Tree::Bool(_) | Tree::Bare(_) | Tree::Text(_) => {}
        }
        text
    }

    fn yaml_inner(&mut self, value: &Tree, column: usize, step: usize) -> String {
        let nl = self.nl;
        let comment = ["", "", " # c"][self.dice(3)];
        let is_block = |value: &Tree| match value {
            Tree::Map(pairs) => !pairs.is_empty(),
            Tree::List(items) => !items.is_empty(),
            Tree::Null | Tree::Bool(_) | Tree::Bare(_) | Tree::Text(_) => false,
        };
        match value {
            value if is_block(value) && !self.one_in(4) => {
                let flush = matches!(value, Tree::List(_)) && self.one_in(2);
                let column = if flush { column } else { column + step };
                let gap = self.yaml_gap(column);
                format!("{comment}{nl}{gap}{}{}", " ".repeat(column), self.yaml(value, column))
            }
            Tree::Text(text)
                if self.one_in(3)
                    && !text.is_empty()
                    && text.chars().all(|c| c.is_ascii_alphanumeric()) =>
            {
                // A block scalar ends with its line.
                format!(" |-{nl}{}{text}{nl}", " ".repeat(column + step))
            }
            Tree::Null if self.one_in(2) => format!("{comment}{nl}"),
            Tree::Null
            | Tree::Bool(_)
            | Tree::Bare(_)
            | Tree::Text(_)
            | Tree::List(_)
            | Tree::Map(_) => {
                format!(" {}{comment}{nl}", self.yaml_flow(value))
            }
        }
    }
}

fn toml_key(name: &str) -> String {
    toml_edit::Value::from(name).to_string().replace('\n', "\\n")
}
