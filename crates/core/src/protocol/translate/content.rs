//! What an older editor cannot read, in what it can.
//!
//! Kinds of content were added with the revisions. An editor that does not know one may refuse the
//! whole answer, so the block becomes a text that says the same, and nothing is left out in silence.
//! Whether there is anything to do is decided by the revisions alone and then by a glance at the
//! bytes: an answer that its editor can read is not touched.

use crate::protocol::json::Raw;
use crate::protocol::mcp::{Revision, method};

use crate::protocol::version::Spoken;

/// The member under which structured content that is no object is shown to who expects an object.
const WRAPPED: &str = "result";

/// A result of somebody who speaks `from` as an editor of `to` can read it.
pub fn readable(called: &str, result: &Raw, from: Spoken, to: Spoken) -> Option<Raw> {
    let Spoken::Session(revision) = to else { return None };
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

fn tool_result(result: &Raw, to: Revision) -> Option<Raw> {
    let structured = says(result, "structuredContent");
    if !structured && !has_newer_blocks(result, to) {
        return None;
    }
    let blocks = result.member("content").and_then(|content| content.elements());
    let blocks = blocks.unwrap_or_default();
    let mut shown: Vec<Raw> = blocks.iter().map(|one| block(one, to)).collect();
    let mut readable = result.clone();
    if let Some(data) = result.member("structuredContent") {
        let mirrored = blocks.iter().any(|one| kind(one).as_deref() == Some("text"));
        if !mirrored {
            shown.push(text(data.as_str()));
        }
        if data.entries().is_none() {
            let wrapped = Raw::of(&serde_json::json!({})).with(WRAPPED, &data);
            readable = readable.with("structuredContent", &wrapped);
        }
    }
    if shown != blocks || result.member("content").is_none() {
        readable = readable.with("content", &Raw::of(&shown));
    }
    (readable != *result).then_some(readable)
}

fn prompt(result: &Raw, to: Revision) -> Option<Raw> {
    if !has_newer_blocks(result, to) {
        return None;
    }
    let said = result.member("messages")?.elements()?;
    let shown: Vec<Raw> = said
        .iter()
        .map(|message| match message.member("content") {
            Some(content) => message.with("content", &block(&content, to)),
            None => message.clone(),
        })
        .collect();
    (shown != said).then(|| result.with("messages", &Raw::of(&shown)))
}

/// Until 2025-11-25 what a tool returns is an object. A schema of anything else makes such editors
/// refuse the whole list; without it, they take what comes.
fn tools(result: &Raw) -> Option<Raw> {
    if !says(result, "outputSchema") {
        return None;
    }
    let offered = result.member("tools")?.elements()?;
    let shown: Vec<Raw> = offered
        .iter()
        .map(|tool| match tool.member("outputSchema") {
            Some(schema) if schema.text_member("type").as_deref() != Some("object") => {
                tool.without(&["outputSchema"])
            }
            Some(_) | None => tool.clone(),
        })
        .collect();
    (shown != offered).then(|| result.with("tools", &Raw::of(&shown)))
}

fn block(block: &Raw, to: Revision) -> Raw {
    let shown = match kind(block).as_deref() {
        Some("resource_link") if to < Revision::V2025_06_18 => text(&link(block)),
        Some("audio") if to < Revision::V2025_03_26 => text(&sound(block)),
        Some(_) | None => return block.clone(),
    };
    match block.member("annotations") {
        Some(annotations) => shown.with("annotations", &annotations),
        None => shown,
    }
}

fn link(block: &Raw) -> String {
    let said = |key: &str| block.text_member(key).filter(|text| !text.is_empty());
    let name = said("title").or_else(|| said("name")).unwrap_or_else(|| "resource".into());
    let mut words = format!("{name}: {}", said("uri").unwrap_or_default());
    if let Some(kind) = said("mimeType") {
        words += &format!(" ({kind})");
    }
    if let Some(description) = said("description") {
        words += &format!("\n{description}");
    }
    words
}

fn sound(block: &Raw) -> String {
    let kind = block.text_member("mimeType").unwrap_or_else(|| "audio".into());
    // Four characters of Base64 are three bytes.
    let bytes =
        block.text_member("data").map_or(0, |data| data.trim_end_matches('=').len() * 3 / 4);
    format!(
        "[A sound ({kind}, {bytes} bytes) is not shown: this client speaks a revision of MCP without sounds.]"
    )
}

fn has_newer_blocks(result: &Raw, to: Revision) -> bool {
    (to < Revision::V2025_06_18 && result.as_str().contains("resource_link"))
        || (to < Revision::V2025_03_26 && result.as_str().contains("audio"))
}

/// Whether a member of this name may be somewhere in it.
fn says(result: &Raw, member: &str) -> bool {
    result.as_str().contains(member)
}

fn kind(block: &Raw) -> Option<String> {
    block.text_member("type")
}

fn text(words: &str) -> Raw {
    Raw::of(&serde_json::json!({ "type": "text", "text": words }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn shown(called: &str, result: &Value, from: Spoken, to: Revision) -> Value {
        let result = Raw::of(result);
        let readable = readable(called, &result, from, Spoken::Session(to)).unwrap_or(result);
        readable.read().unwrap()
    }

    fn call(result: &Value, to: Revision) -> Value {
        shown("tools/call", result, Spoken::Stateless, to)
    }

    #[test]
    fn a_link_is_a_text_for_who_knows_no_links() {
        let link = json!({ "type": "resource_link", "uri": "file:///a", "name": "a", "mimeType": "text/plain",
            "description": "The first.", "annotations": { "priority": 1 } });
        let result =
            json!({ "content": [{ "type": "text", "text": "x" }, link], "isError": false });
        for to in [Revision::V2024_11_05, Revision::V2025_03_26] {
            let blocks = &call(&result, to)["content"];
            assert_eq!(blocks[0], result["content"][0]);
            assert_eq!(
                blocks[1],
                json!({ "type": "text", "text": "a: file:///a (text/plain)\nThe first.", "annotations": { "priority": 1 } })
            );
        }
        for to in [Revision::V2025_06_18, Revision::V2025_11_25] {
            assert_eq!(call(&result, to), result);
        }
    }

    #[test]
    fn a_sound_is_named_for_who_knows_no_sounds() {
        let result =
            json!({ "content": [{ "type": "audio", "data": "AAAA", "mimeType": "audio/wav" }] });
        let old = call(&result, Revision::V2024_11_05);
        let words = old["content"][0]["text"].as_str().unwrap();
        assert!(words.contains("audio/wav, 3 bytes"), "{words}");
        assert_eq!(call(&result, Revision::V2025_03_26), result);
        let prompt = json!({ "messages": [{ "role": "user", "content": result["content"][0] }] });
        let old = shown("prompts/get", &prompt, Spoken::Stateless, Revision::V2024_11_05);
        assert_eq!(old["messages"][0]["content"]["type"], "text");
        assert_eq!(old["messages"][0]["role"], "user");
    }

    #[test]
    fn data_without_a_text_gets_one_and_what_is_no_object_becomes_one() {
        let bare = json!({ "content": [], "structuredContent": { "a": 1 } });
        for to in Revision::ALL {
            let seen = call(&bare, to);
            assert_eq!(seen["content"], json!([{ "type": "text", "text": "{\"a\":1}" }]));
            assert_eq!(seen["structuredContent"], json!({ "a": 1 }));
            let list = call(&json!({ "structuredContent": [1, 2] }), to);
            assert_eq!(list["structuredContent"], json!({ "result": [1, 2] }));
            assert_eq!(list["content"][0]["text"], "[1,2]");
        }
        let told = json!({ "content": [{ "type": "text", "text": "One." }], "structuredContent": { "a": 1 } });
        assert_eq!(call(&told, Revision::V2024_11_05), told);
    }

    #[test]
    fn a_schema_of_what_is_no_object_does_not_cost_an_older_editor_the_list() {
        let tools = json!({ "tools": [
            { "name": "list", "outputSchema": { "type": "array" } },
            { "name": "object", "outputSchema": { "type": "object" } },
        ] });
        let seen = shown("tools/list", &tools, Spoken::Stateless, Revision::V2025_11_25);
        assert_eq!(seen["tools"][0], json!({ "name": "list" }));
        assert_eq!(seen["tools"][1], tools["tools"][1]);
    }

    #[test]
    fn who_is_as_new_as_the_content_gets_the_very_bytes() {
        let result = Raw::of(&json!({ "content": [{ "type": "audio" }], "structuredContent": 1 }));
        for from in Spoken::ALL {
            for to in Spoken::ALL.into_iter().filter(|to| *to >= from) {
                assert_eq!(readable("tools/call", &result, from, to), None);
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
        fn every_block_is_there_in_its_place_and_can_be_read(blocks in blocks(), revision in 0..4_usize) {
            let to = Revision::ALL[revision];
            let seen = call(&json!({ "content": blocks.clone() }), to);
            let seen = seen["content"].as_array().unwrap().clone();
            prop_assert_eq!(seen.len(), blocks.len());
            for (seen, block) in seen.iter().zip(&blocks) {
                let known = match block["type"].as_str().unwrap() {
                    "resource_link" => to >= Revision::V2025_06_18,
                    "audio" => to >= Revision::V2025_03_26,
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
