//! A value of any of the formats: in the order of its file, with numbers as they were written.
//!
//! Two readings of a file are compared as trees, so that a change of any other value is seen.

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tree {
    Null,
    Bool(bool),
    /// A number, a date, or anything else that is no text and stands for itself.
    Bare(String),
    Text(String),
    List(Vec<Tree>),
    /// In the order of the file. A name that stands there twice is here twice.
    Map(Vec<(String, Tree)>),
}

impl Tree {
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Null | Self::Bool(_) | Self::Bare(_) | Self::List(_) | Self::Map(_) => None,
        }
    }

    /// The text, or a number or truth as a person would write it.
    pub fn to_plain(&self) -> Option<String> {
        match self {
            Self::Text(text) | Self::Bare(text) => Some(text.clone()),
            Self::Bool(truth) => Some(truth.to_string()),
            Self::Null | Self::List(_) | Self::Map(_) => None,
        }
    }

    pub fn as_list(&self) -> Option<&[Tree]> {
        match self {
            Self::List(items) => Some(items),
            Self::Null | Self::Bool(_) | Self::Bare(_) | Self::Text(_) | Self::Map(_) => None,
        }
    }

    pub fn as_map(&self) -> Option<&[(String, Tree)]> {
        match self {
            Self::Map(pairs) => Some(pairs),
            Self::Null | Self::Bool(_) | Self::Bare(_) | Self::Text(_) | Self::List(_) => None,
        }
    }

    /// The value of a name. Where it stands twice, readers take the last.
    pub fn get(&self, name: &str) -> Option<&Tree> {
        let found = self.as_map()?.iter().rev().find(|(key, _)| key == name);
        found.map(|(_, value)| value)
    }

    /// The value at the end of a way of names.
    pub fn at<'a>(&'a self, way: &[String]) -> Option<&'a Tree> {
        way.iter().try_fold(self, |tree, name| tree.get(name))
    }

    fn get_mut(&mut self, name: &str) -> Option<&mut Tree> {
        let Self::Map(pairs) = self else {
            return None;
        };
        pairs.iter_mut().rev().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// Puts a value under a name, in the place of one that is there.
    pub fn put(&mut self, name: &str, value: Tree) {
        if let Some(there) = self.get_mut(name) {
            *there = value;
        } else if let Self::Map(pairs) = self {
            pairs.push((name.to_owned(), value));
        }
    }

    /// Without what an editor's servers are called by: these entries, and what is empty without them.
    pub fn without(mut self, servers: &Servers, names: &[&str]) -> Self {
        self.take_out(&servers.way, servers.list, names);
        self
    }

    fn take_out(&mut self, way: &[String], list: bool, names: &[&str]) {
        let Some((first, rest)) = way.split_first() else {
            match self {
                Self::Map(pairs) if !list => {
                    pairs.retain(|(name, _)| !names.contains(&name.as_str()))
                }
                Self::List(items) if list => {
                    items.retain(|item| {
                        !item
                            .get("name")
                            .and_then(Tree::as_text)
                            .is_some_and(|name| names.contains(&name))
                    });
                }
                Self::Null
                | Self::Bool(_)
                | Self::Bare(_)
                | Self::Text(_)
                | Self::List(_)
                | Self::Map(_) => {}
            }
            return;
        };
        if let Some(inner) = self.get_mut(first) {
            inner.take_out(rest, list, names);
            let empty = match inner {
                Self::Null => true,
                Self::List(items) => items.is_empty(),
                Self::Map(pairs) => pairs.is_empty(),
                Self::Bool(_) | Self::Bare(_) | Self::Text(_) => false,
            };
            if empty && let Self::Map(pairs) = self {
                pairs.retain(|(name, _)| name != first);
            }
        }
    }
}

/// Where in a file the servers are, and in which shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Servers {
    /// The names that lead to them.
    pub way: Vec<String>,
    /// A list whose items have a name inside, instead of a map from names.
    pub list: bool,
}

impl Servers {
    /// The entries that are there, by name.
    pub fn entries<'a>(&self, file: &'a Tree) -> Vec<(String, &'a Tree)> {
        match file.at(&self.way) {
            Some(Tree::Map(pairs)) if !self.list => {
                pairs.iter().map(|(name, entry)| (name.clone(), entry)).collect()
            }
            Some(Tree::List(items)) if self.list => {
                let named = |item: &'a Tree| Some((item.get("name")?.to_plain()?, item));
                items.iter().filter_map(named).collect()
            }
            Some(_) | None => Vec::new(),
        }
    }

    pub fn entry<'a>(&self, file: &'a Tree, name: &str) -> Option<&'a Tree> {
        self.entries(file).into_iter().rev().find(|(key, _)| key == name).map(|(_, entry)| entry)
    }
}
