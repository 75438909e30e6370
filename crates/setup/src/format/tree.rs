//! A value of any format, in file order, with numbers as they are written in the file.
//!
//! Comparing the values before and after an edit shows whether anything else changed.

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tree {
    Null,
    Bool(bool),
    /// A number, a date, or any other unquoted value, as written.
    Bare(String),
    Text(String),
    List(Vec<Tree>),
    /// In file order. A duplicate name is here twice.
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

    /// The text, or a number or boolean as text.
    pub fn to_plain(&self) -> Option<String> {
        match self {
            Self::Text(text) | Self::Bare(text) => Some(text.clone()),
            Self::Bool(value) => Some(value.to_string()),
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

    /// The value of a name. Of duplicates, the last one counts.
    pub fn get(&self, name: &str) -> Option<&Tree> {
        let found = self.as_map()?.iter().rev().find(|(key, _)| key == name);
        found.map(|(_, value)| value)
    }

    /// The value at a path of names.
    pub fn at<'a>(&'a self, path: &[String]) -> Option<&'a Tree> {
        path.iter().try_fold(self, |tree, name| tree.get(name))
    }

    fn get_mut(&mut self, name: &str) -> Option<&mut Tree> {
        let Self::Map(pairs) = self else {
            return None;
        };
        pairs.iter_mut().rev().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// Sets the value of a name, replacing an existing one.
    pub fn put(&mut self, name: &str, value: Tree) {
        if let Some(there) = self.get_mut(name) {
            *there = value;
        } else if let Self::Map(pairs) = self {
            pairs.push((name.to_owned(), value));
        }
    }

    /// The value without these server entries, and without containers that are empty then.
    pub fn without(mut self, servers: &ServersPath, names: &[&str]) -> Self {
        self.remove_entries(&servers.path, servers.list, names);
        self
    }

    fn remove_entries(&mut self, path: &[String], list: bool, names: &[&str]) {
        let Some((first, rest)) = path.split_first() else {
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
            inner.remove_entries(rest, list, names);
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

/// Where the servers are in a file, and in which shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServersPath {
    /// The names on the path from the root to the servers.
    pub path: Vec<String>,
    /// Whether it is a list whose items have a `name`, instead of a map by name.
    pub list: bool,
}

impl ServersPath {
    /// The entries in a file, with their names.
    pub fn entries<'a>(&self, file: &'a Tree) -> Vec<(String, &'a Tree)> {
        match file.at(&self.path) {
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
