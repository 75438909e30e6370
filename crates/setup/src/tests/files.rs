//! Realistic and hostile configuration files.

use crate::format::Format;
use crate::table::{ConfigLanguage, EditorSpec};

/// Named texts for one editor.
pub(super) fn of(client: &EditorSpec) -> Vec<(&'static str, String)> {
    let key = client.servers.path[0].as_str();
    match client.language {
        ConfigLanguage::Of(Format::Json) => json(key),
        ConfigLanguage::Of(Format::Toml) => toml(key),
        ConfigLanguage::Of(Format::Yaml) => yaml(key, client.servers.list),
        ConfigLanguage::Elisp => Vec::new(),
    }
}

fn filled(texts: &[(&'static str, &str)], key: &str) -> Vec<(&'static str, String)> {
    texts.iter().map(|(name, text)| (*name, text.replace("KEY", key))).collect()
}

fn json(key: &str) -> Vec<(&'static str, String)> {
    let deep =
        format!("{{\"deep\":{}{}}}", "[{\"a\":".repeat(60), "0".to_owned() + &"}]".repeat(60));
    let mut texts = filled(
        &[
            (
                "realistic",
                "{\n  \"theme\": \"dark\",\n  \"numStartups\": 412,\n  \"KEY\": {\n    \"github\": {\n      \"command\": \"npx\",\n      \"args\": [\"-y\", \"server\"],\n      \"env\": { \"TOKEN\": \"ghp_x\" }\n    },\n    \"notes\": { \"url\": \"http://localhost:1/mcp\" }\n  },\n  \"projects\": { \"/home/a\": { \"history\": [\"a\", \"b\"] } }\n}\n",
            ),
            ("settings without servers", "{\n    \"editor.fontSize\": 14,\n    \"files\": {}\n}\n"),
            (
                "hostile",
                "\u{feff}// head\r\n{\r\n\t/* a */ \"x\": [1, 2,], // b\r\n\t\"KEY\": { // c\r\n\t\t\"other\": { \"command\": \"x\", }, // d\r\n\t\t// e\r\n\t}, // f\r\n}\r\n// tail",
            ),
            (
                "comments before every brace",
                "{ // a\n  \"KEY\": { // b\n    \"other\": {} // c\n    // d\n  } // e\n  /* f */\n}",
            ),
            ("minified", "{\"a\":{\"b\":[{}]},\"KEY\":{\"other\":{\"command\":\"x\"}}}"),
            ("minified without servers", "{\"a\":{\"b\":[{}],\"c\":null}}"),
            ("minified with empty servers", "{\"KEY\":{}}"),
            ("one line with spaces", "{ \"KEY\": { \"other\": { \"url\": \"u\" } }, \"a\": 1 }\n"),
            ("one line with a trailing comma", "{ \"KEY\": { \"other\": {}, }, }\n"),
            ("one line with a comment", "{ \"KEY\": { \"other\": {} /* x */ } // y\n}\n"),
            ("an empty file", ""),
            ("only whitespace", "  \n\n"),
            ("only a comment", "// nothing yet"),
            ("an empty object", "{}"),
            ("an empty object with a blank", "{ }\n"),
            ("an empty object with a line", "{\n}\n"),
            ("an empty object with a comment", "{ /* c */ }"),
            ("an empty object with a line comment", "{ // c\n}\n"),
            ("empty servers", "{\n\t\"KEY\": {}\n}\n"),
            ("empty servers with a line", "{\r\n\t\"KEY\": {\r\n\t}\r\n}"),
            ("empty servers with a comment", "{\n  \"KEY\": {\n    // \"old\": {}\n  }\n}"),
            ("servers twice", "{\n  \"KEY\": { \"a\": {} },\n  \"KEY\": { \"b\": {} }\n}"),
            (
                "numbers that must stay as written",
                "{\"n\": [1e400, 0.10, -0, 123456789012345678901234567890], \"KEY\": {\"x\": {\"timeout\": 1.0}}}",
            ),
            (
                "odd names",
                "{\n  \"\\u00e9\\\"\\\\\": \"\\ud83d\\ude00\",\n  \"KEY\": { \"a b\": {}, \"\": {} },\n  \"\": null\n}",
            ),
            (
                "single quotes and bare names",
                "{\n  'a': 'b',\n  c: 0x1F,\n  \"KEY\": { other: { url: 'u' } }\n}",
            ),
            (
                "unusual indentation",
                "{\n        \"a\": 1,\n   \"KEY\": {\n \"other\": {\n}\n   }\n}\n",
            ),
            ("everything on the first line", "{\"a\": 1,\n\"KEY\": {\"other\": {}}, \"b\": 2\n}"),
            (
                "strings that look like Evermoor's entry",
                "{\"text\": \"evermoor\", \"KEY\": {\"other\": {\"env\": {\"evermoor\": \"// no\"}}}, \"s\": \"/* } */\"}",
            ),
        ],
        key,
    );
    texts.push(("deep", deep));
    texts
}

fn toml(key: &str) -> Vec<(&'static str, String)> {
    filled(
        &[
            (
                "realistic",
                "model = \"o9\"\napproval_policy = \"on-request\"\n\n[KEY.github]\ncommand = \"npx\"\nargs = [\"-y\", \"server\"]\n\n[KEY.github.env]\nTOKEN = \"ghp_x\"\n\n[projects.\"/home/a\"]\ntrust_level = \"trusted\"\n",
            ),
            (
                "hostile",
                "\u{feff}# head\r\nmodel='x'   # m\r\n\r\n  [ KEY . 'other' ] # o\r\n\turl = 'u' # u\r\n# tail",
            ),
            ("an empty file", ""),
            ("no line ending", "a = 1"),
            ("only a comment", "# nothing yet\n"),
            ("an empty header", "[KEY]\n"),
            (
                "a header with inline entries",
                "[KEY]\nother = { command = \"x\" } # c\n\n[next]\na = 1\n",
            ),
            ("inline servers", "KEY = { other = { command = \"x\" } } # c\nb = 2\n"),
            ("empty inline servers", "KEY = {}\n"),
            ("dotted keys", "KEY.other.command = \"x\"\na.b.c = 1\n"),
            (
                "a text that contains Evermoor's header",
                "text = '''\n[KEY.evermoor]\nurl = \"no\"\n'''\n[[list]]\na = 1\n[[list]]\na = 2\n",
            ),
            (
                "dates and numbers",
                "d = 1979-05-27T07:32:00Z\nf = 1.0e3\nn = 0xFF\nb = [1, 2, # c\n 3, ]\n\n\n",
            ),
        ],
        key,
    )
}

fn yaml(key: &str, list: bool) -> Vec<(&'static str, String)> {
    let mut texts = filled(
        &[
            ("an empty file", ""),
            ("only a comment", "# nothing yet\n"),
            ("an empty document", "---\n"),
            ("another setting", "GOOSE_MODEL: x"),
            ("a key without a value", "KEY:\n"),
            ("a key without a value and a comment", "a: 1\nKEY: # none\nb: 2\n"),
            ("servers that are null", "KEY: ~ # none\n"),
            ("a block scalar at the end", "a: |\n  KEY:\n    evermoor: no\n"),
            ("block scalars with trailing lines", "a: |+\n  x\n\n\nb: >-\n  y\n  z\n"),
            ("brackets", "{a: 1, b: [x, 'y']}\n"),
            ("an indented root", "  a: 1\n  b: 2\n"),
        ],
        key,
    );
    let more: &[(&'static str, &str)] = if list {
        &[
            (
                "realistic",
                "name: Local\nversion: 1.0.0\nschema: v1\nmodels:\n  - name: big\n    provider: x\n    roles: [chat, edit]\nmcpServers:\n  - name: SQLite\n    command: npx\n    args:\n      - \"-y\"\n      - server\nrules: []\n",
            ),
            (
                "hostile",
                "\u{feff}# head\r\nname: x # n\r\nmcpServers: # m\r\n- name: 'a' # a\r\n  command: \"x\"\r\n  # inside\r\n- {name: b, url: u}\r\n# tail\r\nmodels: &m [1]\r\nmore: *m",
            ),
            ("an empty list", "mcpServers: [] # none\nb: 2\n"),
            ("brackets with items", "mcpServers: [{name: a, command: b}]\nb: 2\n"),
            (
                "deeper dashes",
                "mcpServers:\n    -   name: a\n        env:\n          A: 'it''s'\nx: 1",
            ),
        ]
    } else {
        &[
            (
                "realistic",
                "GOOSE_PROVIDER: openai\nextensions:\n  developer:\n    bundled: true\n    enabled: true\n    name: developer\n    timeout: 300\n    type: builtin\nKEY:\n  fetch:\n    cmd: uvx\n    args:\n    - server\n    envs: {}\nGOOSE_MODEL: gpt\n",
            ),
            (
                "hostile",
                "\u{feff}# head\r\nx: 1 # x\r\nKEY: # e\r\n    a: &a # a\r\n        cmd: \"x\"\r\n        text: |\r\n          evermoor:\r\n            no: 1\r\n    # inside\r\n    b: *a\r\n# tail\r\n'y': [1,\r\n  2]\r\n",
            ),
            ("an empty map", "KEY: {} # none\nb: 2\n"),
            ("brackets with entries", "KEY: {a: {cmd: b}, 'c': {}}\nb: 2\n"),
            ("brackets over lines", "KEY: {\n  a: {cmd: b}\n  }\nb: 2\n"),
            ("a last value without text", "KEY:\n  a:\n    cmd:\n"),
            (
                "a last value over lines",
                "KEY:\n  a:\n    cmd: \"x\n      y\"\n    t: >\n      folded\n      text\n",
            ),
        ]
    };
    let realistic_twice = |(name, _): &(&str, String)| key == "extensions" && *name == "realistic";
    texts.extend(filled(more, key));
    // In this text, `extensions` is a setting besides the servers. For the editor that keeps its servers
    // under `extensions`, that setting gets another name.
    for (_, text) in texts.iter_mut().filter(|text| realistic_twice(text)) {
        *text = text.replacen("extensions:\n  developer:", "other:\n  developer:", 1);
    }
    texts
}
