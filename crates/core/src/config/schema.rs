//! The JSON Schema of `config.toml`, for completion and validation in editors. `schema.json` is
//! written by hand; the tests compare it with the parser.
//!
//! It accepts everything that [`super::Config::parse`] accepts. Some rules, such as that the listen
//! address must be loopback, are checked only by the parser.

/// The schema, in draft 2020-12.
pub const SCHEMA: &str = include_str!("schema.json");

#[cfg(test)]
mod tests {
    use super::super::Config;
    use super::*;
    use serde_json::Value;

    /// Validates the subset of JSON Schema that this schema uses.
    fn fits(schema: &Value, root: &Value, value: &Value) -> Result<(), String> {
        let wrong = |why: &str| Err(format!("{why}: {value}"));
        if let Some(place) = schema["$ref"].as_str() {
            fits(root.pointer(place.trim_start_matches('#')).unwrap(), root, value)?;
        }
        let is = |kind: &str| match kind {
            "object" => value.is_object(),
            "array" => value.is_array(),
            "string" => value.is_string(),
            "integer" => value.is_i64() || value.is_u64(),
            "boolean" => value.is_boolean(),
            other => panic!("the schema uses {other}"),
        };
        if schema["type"].as_str().is_some_and(|kind| !is(kind)) {
            return wrong("of another type");
        }
        if schema.get("const").is_some_and(|one| one != value) {
            return wrong("another value");
        }
        if schema["enum"].as_array().is_some_and(|all| !all.contains(value)) {
            return wrong("none of the values");
        }
        let shortest = schema["minLength"].as_u64().unwrap_or(0);
        if value.as_str().is_some_and(|text| (text.len() as u64) < shortest) {
            return wrong("too short");
        }
        if value.as_i64().zip(schema["minimum"].as_i64()).is_some_and(|(is, least)| is < least) {
            return wrong("too small");
        }
        let fitting = |all: &Value| {
            let all = all.as_array().into_iter().flatten();
            all.filter(|one| fits(one, root, value).is_ok()).count()
        };
        if schema.get("anyOf").is_some_and(|all| fitting(all) == 0) {
            return wrong("none of the forms");
        }
        if schema.get("oneOf").is_some_and(|all| fitting(all) != 1) {
            return wrong("not exactly one of the forms");
        }
        for needed in schema["required"].as_array().into_iter().flatten() {
            if value.get(needed.as_str().unwrap()).is_none() {
                return wrong("something is missing");
            }
        }
        for element in value.as_array().into_iter().flatten() {
            fits(&schema["items"], root, element)?;
        }
        for (name, member) in value.as_object().into_iter().flatten() {
            let by_pattern = schema["patternProperties"].as_object().and_then(|all| {
                // The only pattern is that of upstream names.
                crate::catalog::naming::UpstreamName::parse(name).ok().and(all.values().next())
            });
            let known = schema["properties"].get(name).or(by_pattern);
            match known.or(schema.get("additionalProperties")) {
                Some(Value::Bool(false)) => return wrong(&format!("`{name}` is not known")),
                Some(inner) => fits(inner, root, member)?,
                None => {}
            }
        }
        Ok(())
    }

    fn judge(text: &str) -> Result<(), String> {
        let schema: Value = serde_json::from_str(SCHEMA).unwrap();
        let value = serde_json::to_value(toml::from_str::<toml::Table>(text).unwrap()).unwrap();
        fits(&schema, &schema, &value)
    }

    #[test]
    fn what_is_a_configuration_fits_the_schema() {
        let pages = [
            include_str!("../../../../docs/configuration.md"),
            include_str!("../../../../docs/applications.md"),
        ]
        .map(|page| page.replace("\r\n", "\n"));
        let mut examples: Vec<String> = pages
            .iter()
            .flat_map(|page| page.split("```toml\n").skip(1))
            .map(|rest| rest.split("```").next().unwrap().to_owned())
            .collect();
        let entries = [
            "url = \"https://example.com/mcp\"\nheaders = { X-Team = \"a\" }\nca_file = [\"a.pem\"]\nproxy = \"none\"",
            "url = \"http://x\"\nca_file = \"a.pem\"\ncall_timeout = 180\nkeepalive_interval = \"3m\"\nconcurrent = true",
            "url = \"http://x\"\ntools.write.retry = \"safe\"\ntools.allow = [\"a*\"]\ntrust_annotations = true",
            "url = \"http://x\"\ntools.deny.retry = \"never\"\nprompts.deny = []\nresources.allow = [\"f*\"]",
            "url = \"https://x/mcp\"\nauth = \"oauth\"",
            "url = \"https://x/mcp\"\nauth = \"oauth\"\noauth = { client_id = \"a\", client_secret = \"${env:A}\", scopes = [\"b\"], grant = \"client-credentials\", client_metadata_url = \"https://x/y\", authorization_server = \"https://z\" }",
            "command = \"npx\"\nargs = [\"-y\", \"x\"]\nenv = { A = \"b\" }\ncwd = \"~\"\nstart_timeout = \"3m\"\nsharing = \"per-client\"",
            "preset = \"pieces-os\"\nrestart = \"ask\"\nrecycle = \"when-idle\"\nmemory_alarm = \"2.5 GB\"",
            "title = \"A\"\nenabled = false\nurl = \"http://x\"",
        ];
        examples.extend(entries.iter().map(|entry| format!("[upstreams.my-one]\n{entry}\n")));
        examples.extend(
            [
                "",
                "version = 1\n[gateway]\nlisten = \"127.0.0.1:0\"\nrequire_token = false\nhold = 1\nsign_ins_file = \"~/sign-ins.json\"\n",
                "[editors.\"My Editor\"]\nupstreams.allow = [\"a\"]\ntools.deny = [\"*__x\"]\n",
            ]
            .map(str::to_owned),
        );
        assert!(examples.len() >= 12, "{}", examples.len());
        for example in examples {
            assert_eq!(Config::parse(&example).err(), None, "{example}");
            assert_eq!(judge(&example), Ok(()), "{example}");
        }
    }

    #[test]
    fn a_default_in_the_schema_is_what_the_parser_uses() {
        let schema: Value = serde_json::from_str(SCHEMA).unwrap();
        let tables = [
            (&schema["properties"]["gateway"], "[gateway]\n", [""].as_slice()),
            (&schema["properties"]["tray"], "[tray]\n", &[""]),
            (
                &schema["$defs"]["upstream"],
                "[upstreams.x]\n",
                &["url = \"http://x\"\n", "command = \"x\"\n", "preset = \"pieces-os\"\n"],
            ),
        ];
        let mut compared = 0;
        for (table, head, entries) in tables {
            for (name, setting) in table["properties"].as_object().unwrap() {
                let Some(default) = setting.get("default") else { continue };
                let pairs = entries.iter().filter_map(|entry| {
                    let without = format!("{head}{entry}");
                    let with = Config::parse(&format!("{without}{name} = {default}\n")).ok()?;
                    Some((Config::parse(&without).unwrap(), with))
                });
                let pairs: Vec<_> = pairs.collect();
                assert!(!pairs.is_empty(), "`{name}` fits no entry");
                for (without, with) in pairs {
                    assert_eq!(without, with, "{name}");
                }
                compared += 1;
            }
        }
        assert!(compared >= 15, "{compared}");
    }

    #[test]
    fn the_documents_explain_every_setting() {
        let pages = concat!(
            include_str!("../../../../docs/configuration.md"),
            include_str!("../../../../docs/applications.md")
        );
        let schema: Value = serde_json::from_str(SCHEMA).unwrap();
        let mut settings = Vec::new();
        names(&schema, &mut settings);
        assert!(settings.len() >= 25, "{settings:?}");
        for setting in settings {
            assert!(pages.contains(&setting), "no page explains `{setting}`");
        }
    }

    /// The names of all settings, at any depth.
    fn names(schema: &Value, found: &mut Vec<String>) {
        if let Some(properties) = schema["properties"].as_object() {
            found.extend(properties.keys().cloned());
        }
        for inner in schema.as_object().into_iter().flat_map(|object| object.values()) {
            names(inner, found);
        }
        for inner in schema.as_array().into_iter().flatten() {
            names(inner, found);
        }
    }

    #[test]
    fn the_schema_refuses_what_the_parser_refuses() {
        for bad in [
            "gatway = 1",
            "version = 2",
            "[gateway]\nport = 1",
            "[gateway]\nlisten = 1",
            "[upstreams.a]\ntitle = \"A\"",
            "[upstreams.a]\nurl = \"http://x\"\ncommand = \"y\"",
            "[upstreams.\"A B\"]\nurl = \"http://x\"",
            "[upstreams.a]\nurl = \"http://x\"\nsharing = \"none\"",
            "[upstreams.a]\nurl = \"http://x\"\ntools.x = { rety = \"safe\" }",
            "[upstreams.a]\nurl = \"http://x\"\nhold = 1",
            "[editors.a]\ntool.allow = []",
            "[upstreams.a]\nurl = \"https://x\"\nauth = \"basic\"",
            "[upstreams.a]\nurl = \"https://x\"\nauth = \"oauth\"\noauth.audience = \"x\"",
        ] {
            assert!(Config::parse(bad).is_err(), "{bad}");
            assert!(judge(bad).is_err(), "{bad}");
        }
    }
}
