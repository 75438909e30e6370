//! Tools whose parameters cannot be repeated in headers.
//!
//! 2026-07-28 lets a schema mark parameters with `x-mcp-header`. Over HTTP, a client must not use a tool
//! with a mark that breaks the rules: intermediaries could see another value than the server.

use std::collections::HashSet;

use serde_json::Value;

use super::ListKind;
use super::tool_traits::MARK;
use crate::protocol::json::Raw;

/// Why a tool must not be used over HTTP, if one of its marks is invalid.
pub fn fault(tool: &Raw) -> Option<&'static str> {
    // A substring search avoids parsing most tools.
    if !tool.as_str().contains(MARK) {
        return None;
    }
    let schema: Value = tool.member("inputSchema")?.read().ok()?;
    check(&schema, SchemaPosition::Root, &mut HashSet::new()).err()
}

/// A page of a list of tools, without those that must not be used over HTTP. All other bytes are unchanged.
pub fn usable(page: &Raw) -> Raw {
    if !page.as_str().contains(MARK) {
        return page.clone();
    }
    let member = ListKind::Tools.member();
    let tools = page.member(member).and_then(|tools| tools.elements()).unwrap_or_default();
    let usable: Vec<&Raw> = tools.iter().filter(|tool| fault(tool).is_none()).collect();
    if usable.len() == tools.len() {
        return page.clone();
    }
    page.with(member, &Raw::of(&usable))
}

/// Where a schema is within the schema of a tool.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SchemaPosition {
    Root,
    /// Reached through `properties` alone.
    Property,
    /// Anywhere else, where nobody can say whether there is a value.
    Elsewhere,
}

fn check(
    schema: &Value,
    position: SchemaPosition,
    names: &mut HashSet<String>,
) -> Result<(), &'static str> {
    match schema {
        Value::Object(members) => {
            if let Some(name) = members.get(MARK) {
                if position != SchemaPosition::Property {
                    return Err("a mark is not on a property");
                }
                let name = name.as_str().filter(|name| is_token(name));
                let name = name.ok_or("a header has no valid name")?;
                if !matches!(
                    members.get("type").and_then(Value::as_str),
                    Some("string" | "integer" | "boolean")
                ) {
                    return Err("a value cannot be written in a header");
                }
                if !names.insert(name.to_ascii_lowercase()) {
                    return Err("two parameters have the same header");
                }
            }
            for (key, inner) in members {
                match (key.as_str(), inner) {
                    // These contain values, not schemas.
                    ("const" | "enum" | "default" | "examples" | MARK, _) => {}
                    ("properties", Value::Object(properties)) => {
                        let inner = match position {
                            SchemaPosition::Root | SchemaPosition::Property => {
                                SchemaPosition::Property
                            }
                            SchemaPosition::Elsewhere => SchemaPosition::Elsewhere,
                        };
                        for property in properties.values() {
                            check(property, inner, names)?;
                        }
                    }
                    (_, inner) => check(inner, SchemaPosition::Elsewhere, names)?,
                }
            }
            Ok(())
        }
        Value::Array(schemas) => {
            schemas.iter().try_for_each(|schema| check(schema, SchemaPosition::Elsewhere, names))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
    }
}

/// Whether this is a token of RFC 9110, as a header's name is.
fn is_token(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.bytes().all(allowed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(properties: Value) -> Option<&'static str> {
        let schema = json!({ "type": "object", "properties": properties });
        fault(&Raw::of(&json!({ "name": "tool", "inputSchema": schema })))
    }

    #[test]
    fn marks_on_simple_parameters_with_different_names_are_valid() {
        for kind in ["string", "integer", "boolean"] {
            assert_eq!(of(json!({ "a": { "type": kind, "x-mcp-header": "A" }, "b": {} })), None);
        }
        let nested = json!({ "type": "object", "properties": {
            "b": { "type": "string", "x-mcp-header": "B" },
        } });
        assert_eq!(of(json!({ "a": nested })), None);
        let named =
            json!({ "x-mcp-header": { "type": "string", "default": { "x-mcp-header": 1 } } });
        assert_eq!(of(named), None, "a parameter may have the name of the mark");
        assert_eq!(fault(&Raw::of(&json!({ "name": "x-mcp-header" }))), None);
    }

    #[test]
    fn a_page_loses_only_the_tools_that_must_not_be_used() {
        let tool = |name: &str, header: &str| {
            json!({ "name": name, "inputSchema": {
            "properties": { "a": { "type": "string", "x-mcp-header": header } },
        } })
        };
        let page = |tools: Value| Raw::of(&json!({ "nextCursor": "2", "tools": tools }));
        let good = page(json!([tool("good", "Region"), { "name": "plain" }]));
        assert_eq!(usable(&good), good);
        let mixed = page(json!([tool("bad", ""), tool("good", "Region"), { "name": "plain" }]));
        assert_eq!(usable(&mixed).read::<Value>().unwrap(), good.read::<Value>().unwrap());
    }

    #[test]
    fn every_other_mark_makes_a_tool_unusable() {
        let text = |name: Value| json!({ "a": { "type": "string", "x-mcp-header": name } });
        for name in ["", "My Region", "Region:Primary", "Région", "Region\t1", "a\r\nb"] {
            assert!(of(text(json!(name))).is_some(), "{name:?}");
        }
        assert!(of(text(json!(1))).is_some());
        for kind in ["object", "array", "null", "number"] {
            let marked = json!({ "a": { "type": kind, "x-mcp-header": "A" } });
            assert!(of(marked).is_some(), "{kind}");
        }
        assert!(of(json!({ "a": { "x-mcp-header": "A" } })).is_some(), "it has no type");
        for other in ["Region", "region"] {
            let twice = json!({
                "a": { "type": "string", "x-mcp-header": "Region" },
                "b": { "type": "string", "x-mcp-header": other },
            });
            assert!(of(twice).is_some(), "{other}");
        }
        let marked = json!({ "type": "string", "x-mcp-header": "A" });
        assert!(of(json!({ "a": { "type": "array", "items": marked } })).is_some());
        assert!(of(json!({ "a": { "anyOf": [marked] } })).is_some());
    }
}
