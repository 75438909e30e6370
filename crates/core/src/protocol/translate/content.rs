//! Content that an older editor cannot read, converted to content that it can.
//!
//! Newer protocol versions added kinds of content. An editor that does not know one may reject the
//! whole result, so the block is converted to text and nothing is dropped silently. A result that
//! needs no conversion, by the versions or by a search of its bytes, is not parsed.

use crate::protocol::json::Raw;
use crate::protocol::mcp::{SessionVersion, method};

use crate::protocol::version::ProtocolVersion;

/// Wraps structured content that is not an object, for editors that expect an object.
const WRAPPED: &str = "result";

/// Converts a result of version `from` for an editor of version `to`. `None` if it stays the same.
pub(super) fn downgraded(
    called: &str,
    result: &Raw,
    from: ProtocolVersion,
    to: ProtocolVersion,
) -> Option<Raw> {
    let ProtocolVersion::Session(revision) = to else { return None };
    if to >= from {
        return None;
    }
    match called {
        method::TOOLS_CALL | "tasks/result" => tool_result(result, revision),
        method::PROMPTS_GET => prompt(result, revision),
        method::TOOLS_LIST => tools(result),
        _ => None,
    }
}

fn tool_result(result: &Raw, to: SessionVersion) -> Option<Raw> {
    let structured = mentions(result, "structuredContent");
    if !structured && !has_newer_blocks(result, to) {
        return None;
    }
    let blocks = result.member("content").and_then(|content| content.elements());
    let blocks = blocks.unwrap_or_default();
    let mut converted: Vec<Raw> = blocks.iter().map(|one| block(one, to)).collect();
    let mut downgraded = result.clone();
    if let Some(data) = result.member("structuredContent") {
        let has_text = blocks.iter().any(|one| kind(one).as_deref() == Some("text"));
        if !has_text {
            converted.push(text(data.as_str()));
        }
        if data.entries().is_none() {
            let wrapped = Raw::of(&serde_json::json!({})).with(WRAPPED, &data);
            downgraded = downgraded.with("structuredContent", &wrapped);
        }
    }
    if converted != blocks || result.member("content").is_none() {
        downgraded = downgraded.with("content", &Raw::of(&converted));
    }
    (downgraded != *result).then_some(downgraded)
}

fn prompt(result: &Raw, to: SessionVersion) -> Option<Raw> {
    if !has_newer_blocks(result, to) {
        return None;
    }
    let messages = result.member("messages")?.elements()?;
    let converted: Vec<Raw> = messages
        .iter()
        .map(|message| match message.member("content") {
            Some(content) => message.with("content", &block(&content, to)),
            None => message.clone(),
        })
        .collect();
    (converted != messages).then(|| result.with("messages", &Raw::of(&converted)))
}

/// Up to 2025-11-25 the output of a tool is an object. Older editors reject the whole list if a
/// schema is of another type, so such a schema is removed.
fn tools(result: &Raw) -> Option<Raw> {
    if !mentions(result, "outputSchema") {
        return None;
    }
    let tools = result.member("tools")?.elements()?;
    let converted: Vec<Raw> = tools
        .iter()
        .map(|tool| match tool.member("outputSchema") {
            Some(schema) if schema.text_member("type").as_deref() != Some("object") => {
                tool.without(&["outputSchema"])
            }
            Some(_) | None => tool.clone(),
        })
        .collect();
    (converted != tools).then(|| result.with("tools", &Raw::of(&converted)))
}

fn block(block: &Raw, to: SessionVersion) -> Raw {
    let converted = match kind(block).as_deref() {
        Some("resource_link") if to < SessionVersion::V2025_06_18 => text(&link(block)),
        Some("audio") if to < SessionVersion::V2025_03_26 => text(&audio(block)),
        Some(_) | None => return block.clone(),
    };
    match block.member("annotations") {
        Some(annotations) => converted.with("annotations", &annotations),
        None => converted,
    }
}

fn link(block: &Raw) -> String {
    let field = |key: &str| block.text_member(key).filter(|text| !text.is_empty());
    let name = field("title").or_else(|| field("name")).unwrap_or_else(|| "resource".into());
    let mut text = format!("{name}: {}", field("uri").unwrap_or_default());
    if let Some(kind) = field("mimeType") {
        text += &format!(" ({kind})");
    }
    if let Some(description) = field("description") {
        text += &format!("\n{description}");
    }
    text
}

fn audio(block: &Raw) -> String {
    let kind = block.text_member("mimeType").unwrap_or_else(|| "audio".into());
    // Four characters of Base64 encode three bytes.
    let bytes =
        block.text_member("data").map_or(0, |data| data.trim_end_matches('=').len() * 3 / 4);
    format!(
        "[Audio ({kind}, {bytes} bytes) omitted: this client's MCP version does not support audio.]"
    )
}

fn has_newer_blocks(result: &Raw, to: SessionVersion) -> bool {
    (to < SessionVersion::V2025_06_18 && result.as_str().contains("resource_link"))
        || (to < SessionVersion::V2025_03_26 && result.as_str().contains("audio"))
}

/// Whether the bytes contain this name, so that the result may have such a member.
fn mentions(result: &Raw, member: &str) -> bool {
    result.as_str().contains(member)
}

fn kind(block: &Raw) -> Option<String> {
    block.text_member("type")
}

fn text(text: &str) -> Raw {
    Raw::of(&serde_json::json!({ "type": "text", "text": text }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn converted(called: &str, result: &Value, from: ProtocolVersion, to: SessionVersion) -> Value {
        let result = Raw::of(result);
        let converted =
            downgraded(called, &result, from, ProtocolVersion::Session(to)).unwrap_or(result);
        converted.read().unwrap()
    }

    fn call(result: &Value, to: SessionVersion) -> Value {
        converted("tools/call", result, ProtocolVersion::Stateless, to)
    }

    #[test]
    fn a_resource_link_becomes_text_for_older_editors() {
        let link = json!({ "type": "resource_link", "uri": "file:///a", "name": "a", "mimeType": "text/plain",
            "description": "The first.", "annotations": { "priority": 1 } });
        let result =
            json!({ "content": [{ "type": "text", "text": "x" }, link], "isError": false });
        for to in [SessionVersion::V2024_11_05, SessionVersion::V2025_03_26] {
            let blocks = &call(&result, to)["content"];
            assert_eq!(blocks[0], result["content"][0]);
            assert_eq!(
                blocks[1],
                json!({ "type": "text", "text": "a: file:///a (text/plain)\nThe first.", "annotations": { "priority": 1 } })
            );
        }
        for to in [SessionVersion::V2025_06_18, SessionVersion::V2025_11_25] {
            assert_eq!(call(&result, to), result);
        }
    }

    #[test]
    fn audio_becomes_text_for_older_editors() {
        let result =
            json!({ "content": [{ "type": "audio", "data": "AAAA", "mimeType": "audio/wav" }] });
        let old = call(&result, SessionVersion::V2024_11_05);
        let text = old["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("audio/wav, 3 bytes"), "{text}");
        assert_eq!(call(&result, SessionVersion::V2025_03_26), result);
        let prompt = json!({ "messages": [{ "role": "user", "content": result["content"][0] }] });
        let old = converted(
            "prompts/get",
            &prompt,
            ProtocolVersion::Stateless,
            SessionVersion::V2024_11_05,
        );
        assert_eq!(old["messages"][0]["content"]["type"], "text");
        assert_eq!(old["messages"][0]["role"], "user");
    }

    #[test]
    fn structured_content_gets_a_text_and_is_wrapped_in_an_object() {
        let bare = json!({ "content": [], "structuredContent": { "a": 1 } });
        for to in SessionVersion::ALL {
            let seen = call(&bare, to);
            assert_eq!(seen["content"], json!([{ "type": "text", "text": "{\"a\":1}" }]));
            assert_eq!(seen["structuredContent"], json!({ "a": 1 }));
            let list = call(&json!({ "structuredContent": [1, 2] }), to);
            assert_eq!(list["structuredContent"], json!({ "result": [1, 2] }));
            assert_eq!(list["content"][0]["text"], "[1,2]");
        }
        let with_text = json!({ "content": [{ "type": "text", "text": "One." }], "structuredContent": { "a": 1 } });
        assert_eq!(call(&with_text, SessionVersion::V2024_11_05), with_text);
    }

    #[test]
    fn an_output_schema_that_is_no_object_is_removed_for_older_editors() {
        let tools = json!({ "tools": [
            { "name": "list", "outputSchema": { "type": "array" } },
            { "name": "object", "outputSchema": { "type": "object" } },
        ] });
        let seen = converted(
            "tools/list",
            &tools,
            ProtocolVersion::Stateless,
            SessionVersion::V2025_11_25,
        );
        assert_eq!(seen["tools"][0], json!({ "name": "list" }));
        assert_eq!(seen["tools"][1], tools["tools"][1]);
    }

    #[test]
    fn an_editor_of_the_same_or_a_newer_version_gets_the_original_bytes() {
        let result = Raw::of(&json!({ "content": [{ "type": "audio" }], "structuredContent": 1 }));
        for from in ProtocolVersion::ALL {
            for to in ProtocolVersion::ALL.into_iter().filter(|to| *to >= from) {
                assert_eq!(downgraded("tools/call", &result, from, to), None);
            }
        }
    }

    fn blocks() -> impl Strategy<Value = Vec<Value>> {
        let one = prop_oneof![
            any::<String>().prop_map(|text| json!({ "type": "text", "text": text })),
            any::<String>()
                .prop_map(|name| json!({ "type": "resource_link", "uri": "x://1", "name": name })),
            any::<String>()
                .prop_map(|data| json!({ "type": "audio", "data": data, "mimeType": "audio/wav" })),
            Just(json!({ "type": "image", "data": "", "mimeType": "image/png" })),
        ];
        prop::collection::vec(one, 0..5)
    }

    proptest! {
        #[test]
        fn every_block_keeps_its_position_and_can_be_read(blocks in blocks(), revision in 0..4_usize) {
            let to = SessionVersion::ALL[revision];
            let seen = call(&json!({ "content": blocks.clone() }), to);
            let seen = seen["content"].as_array().unwrap().clone();
            prop_assert_eq!(seen.len(), blocks.len());
            for (seen, block) in seen.iter().zip(&blocks) {
                let known = match block["type"].as_str().unwrap() {
                    "resource_link" => to >= SessionVersion::V2025_06_18,
                    "audio" => to >= SessionVersion::V2025_03_26,
                    _ => true,
                };
                match known {
                    true => prop_assert_eq!(seen, block),
                    false => prop_assert_eq!(&seen["type"], &json!("text")),
                }
            }
        }
    }
}
