//! Parses YAML into values with their positions.

use saphyr_parser::{Event, Parser, ScalarStyle, Span};

use crate::format::text::{line_start, own_indent};
use crate::format::tree::Tree;

/// A value and its position in the text.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) what: What,
    pub(super) start: usize,
    /// After its last character. A block scalar ends where the next line starts.
    pub(super) stop: usize,
    /// Whether it is in flow style, with brackets.
    pub(super) flow: bool,
    mark: Mark,
}

#[derive(Debug)]
pub(super) enum What {
    Scalar { text: String, plain: bool },
    List(Vec<Node>),
    Map(Vec<(Node, Node)>),
    Alias(usize),
}

/// The anchor and the tag of a value.
#[derive(Debug)]
struct Mark {
    anchor: usize,
    tag: Option<String>,
}

impl Node {
    /// Whether the value is empty or `null`.
    pub(super) fn is_null(&self) -> bool {
        matches!(&self.what, What::Scalar { text, plain: true } if is_null(text))
    }

    pub(super) fn key(&self) -> Option<&str> {
        match &self.what {
            What::Scalar { text, .. } => Some(text),
            What::List(_) | What::Map(_) | What::Alias(_) => None,
        }
    }

    /// The last pair with this name.
    pub(super) fn pair(&self, name: &str) -> Option<&(Node, Node)> {
        match &self.what {
            What::Map(pairs) => pairs.iter().rev().find(|(key, _)| key.key() == Some(name)),
            What::Scalar { .. } | What::List(_) | What::Alias(_) => None,
        }
    }

    fn tree(&self) -> Tree {
        let bare = match &self.what {
            What::Scalar { text, plain: true } => plain(text),
            What::Scalar { text, plain: false } => Tree::text(text),
            What::List(items) => Tree::List(items.iter().map(Node::tree).collect()),
            What::Map(pairs) => {
                Tree::Map(pairs.iter().map(|(key, value)| (key.name(), value.tree())).collect())
            }
            What::Alias(anchor) => Tree::Bare(format!("*{anchor}")),
        };
        let marked = |mark: String, tree| Tree::List(vec![Tree::Bare(mark), tree]);
        let tagged = self.mark.tag.iter().fold(bare, |tree, tag| marked(format!("!{tag}"), tree));
        match self.mark.anchor {
            0 => tagged,
            anchor => marked(format!("&{anchor}"), tagged),
        }
    }

    fn name(&self) -> String {
        self.key().map_or_else(|| format!("? {:?}", self.tree()), str::to_owned)
    }
}

fn is_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

fn plain(text: &str) -> Tree {
    let number = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c))
            && (text.parse::<f64>().is_ok() || text.starts_with("0x") || text.starts_with("0o"))
    };
    match text {
        text if is_null(text) => Tree::Null,
        "true" | "True" | "TRUE" => Tree::Bool(true),
        "false" | "False" | "FALSE" => Tree::Bool(false),
        text if number(text) || text.starts_with(".inf") || text.starts_with(".nan") => {
            Tree::Bare(text.to_owned())
        }
        text => Tree::text(text),
    }
}

pub(super) fn read(text: &str) -> Result<Tree, String> {
    Ok(parse(text)?.map_or(Tree::Null, |node| node.tree()))
}

/// Parses a text with at most one document.
pub(super) fn parse(text: &str) -> Result<Option<Node>, String> {
    let mut reader = YamlReader {
        text,
        parser: Parser::new_from_str(text),
        // The parser reports positions in characters.
        bytes: text.char_indices().map(|(at, _)| at).chain([text.len()]).collect(),
    };
    let mut found = None;
    loop {
        match reader.next()? {
            (Event::StreamEnd, _) => return Ok(found),
            (Event::DocumentStart(_), _) if found.is_some() => {
                return Err("it contains several documents".to_owned());
            }
            (Event::DocumentStart(_), _) => {
                let (event, span) = reader.next()?;
                found = Some(reader.node(event, span)?);
            }
            _ => {}
        }
    }
}

struct YamlReader<'a> {
    text: &'a str,
    parser: Parser<'a, saphyr_parser::StrInput<'a>>,
    bytes: Vec<usize>,
}

impl<'a> YamlReader<'a> {
    fn next(&mut self) -> Result<(Event<'a>, Span), String> {
        match self.parser.next() {
            Some(Ok(event)) => Ok(event),
            Some(Err(error)) => Err(format!("{} on line {}", error.info(), error.marker().line())),
            None => Err("it ends unexpectedly".to_owned()),
        }
    }

    fn offset(&self, index: usize) -> usize {
        self.bytes.get(index).or(self.bytes.last()).copied().unwrap_or_default()
    }

    fn node(&mut self, event: Event<'a>, span: Span) -> Result<Node, String> {
        let (start, stop) = (self.offset(span.start.index()), self.offset(span.end.index()));
        let mark = |anchor, tag: Option<std::borrow::Cow<'_, saphyr_parser::Tag>>| Mark {
            anchor,
            tag: tag.map(|tag| format!("{}{}", tag.handle, tag.suffix)),
        };
        Ok(match event {
            Event::Scalar(text, style, anchor, tag) => {
                let plain = style == ScalarStyle::Plain;
                // The parser ends a block scalar at the next token, which may be indented.
                let block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
                let inside = block && own_indent(self.text, stop).is_some();
                let stop = if inside { line_start(self.text, stop).max(start) } else { stop };
                let what = What::Scalar { text: text.into_owned(), plain };
                Node { what, start, stop, flow: false, mark: mark(anchor, tag) }
            }
            Event::Alias(anchor) => {
                Node { what: What::Alias(anchor), start, stop, flow: false, mark: mark(0, None) }
            }
            Event::SequenceStart(anchor, tag) => {
                let mut items = Vec::new();
                loop {
                    match self.next()? {
                        (Event::SequenceEnd, end) => {
                            let last = items.last().map_or(stop, |item: &Node| item.stop);
                            let (flow, stop) = self.end(end, last);
                            let what = What::List(items);
                            break Node { what, start, stop, flow, mark: mark(anchor, tag) };
                        }
                        (event, span) => items.push(self.node(event, span)?),
                    }
                }
            }
            Event::MappingStart(anchor, tag) => {
                let mut pairs = Vec::new();
                loop {
                    match self.next()? {
                        (Event::MappingEnd, end) => {
                            let last = pairs.last().map_or(stop, |(key, value): &(Node, Node)| {
                                key.stop.max(value.stop)
                            });
                            let (flow, stop) = self.end(end, last);
                            let what = What::Map(pairs);
                            break Node { what, start, stop, flow, mark: mark(anchor, tag) };
                        }
                        (event, span) => {
                            let key = self.node(event, span)?;
                            let (event, span) = self.next()?;
                            pairs.push((key, self.node(event, span)?));
                        }
                    }
                }
            }
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd
            | Event::SequenceEnd
            | Event::MappingEnd => return Err("it ends unexpectedly".to_owned()),
        })
    }

    /// Only flow style has an end marker.
    fn end(&self, end: Span, last: usize) -> (bool, usize) {
        if end.is_empty() { (false, last) } else { (true, self.offset(end.end.index())) }
    }
}
