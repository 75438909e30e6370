//! Tests of the import plan.

use super::*;
use crate::config::edit::NewSignIn;
use proptest::prelude::*;

fn pairs(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn origin(editor: &str, name: &str) -> EntryOrigin {
    EntryOrigin { editor: editor.into(), whose: EntryScope::Person, name: name.into() }
}

fn server(editor: &str, name: &str, url: &str, headers: &[(&str, &str)]) -> EditorServer {
    let way = ServerSpec::Http { url: url.into(), headers: pairs(headers), sign_in: None };
    EditorServer { origin: origin(editor, name), way }
}

fn tool(editor: &str, name: &str, line: &[&str], env: &[(&str, &str)]) -> EditorServer {
    let way = ServerSpec::Program {
        command: line[0].into(),
        args: line[1..].iter().map(|word| (*word).to_owned()).collect(),
        env: pairs(env),
        cwd: None,
    };
    EditorServer { origin: origin(editor, name), way }
}

fn planned(existing: &[EditorServer]) -> ImportPlan {
    plan(existing, &Config::default(), &BTreeSet::new())
}

fn only(existing: EditorServer) -> ImportedServer {
    let plan = planned(&[existing]);
    assert_eq!((plan.adopted.len(), plan.skipped.len()), (1, 0), "{plan:?}");
    plan.adopted[0].clone()
}

fn secrets(adopted: &ImportedServer) -> Vec<(&str, &str)> {
    adopted.secrets.iter().map(|(name, secret)| (name.as_str(), secret.reveal())).collect()
}

#[test]
fn one_server_in_several_editors_becomes_one_upstream() {
    let plan = planned(&[
        tool("cursor", "Files", &["npx", "-y", "files"], &[]),
        tool("zed", "files", &["npx", "-y", "files"], &[]),
        tool("zed", "more", &["npx", "-y", "more"], &[]),
    ]);
    let names: Vec<(&str, usize)> =
        plan.adopted.iter().map(|it| (it.name.as_str(), it.from.len())).collect();
    assert_eq!(names, [("files", 2), ("more", 1)]);
}

#[test]
fn two_servers_with_one_name_get_different_names() {
    let plan = planned(&[
        server("cursor", "My Notes!", "https://one.example/mcp", &[]),
        server("zed", "my-notes", "https://two.example/mcp", &[]),
    ]);
    let names: Vec<&str> = plan.adopted.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["my-notes", "my-notes-2"]);
}

#[test]
fn the_same_server_in_several_projects_is_one_unless_it_depends_on_the_folder() {
    let of = |folder: &str, line: &[&str]| {
        let mut entry = tool("claude-code", "x", line, &[]);
        entry.origin.whose = EntryScope::UserInProject(folder.into());
        entry
    };
    let plan = planned(&[
        of("/one", &["npx", "-y", "x"]),
        of("/two", &["npx", "-y", "x"]),
        tool("cursor", "x", &["npx", "-y", "x"], &[]),
        of("/one", &["node", "x.js"]),
        of("/two", &["node", "x.js"]),
    ]);
    let counts: Vec<usize> = plan.adopted.iter().map(|it| it.from.len()).collect();
    assert_eq!(counts, [3, 1, 1]);
    let Some(ServerSpec::Program { cwd, .. }) = &plan.adopted[2].way else { panic!("{plan:?}") };
    assert_eq!(cwd.as_deref(), Some("/two"));
}

#[test]
fn secrets_move_to_the_keychain_and_are_replaced_by_references() {
    let bearer = [("Authorization", "Bearer t0ken-value"), ("X-Team", "blue")];
    let adopted = only(server("cursor", "canny", "https://canny.example/mcp", &bearer));
    let headers = pairs(&[("Authorization", "Bearer ${keyring:canny}"), ("X-Team", "blue")]);
    let url = "https://canny.example/mcp".to_owned();
    assert_eq!(adopted.way, Some(ServerSpec::Http { url, headers, sign_in: None }));
    assert_eq!(secrets(&adopted), [("canny", "t0ken-value")]);

    let env = [
        ("GITHUB_TOKEN", "ghp_0123456789abcdefghij"),
        ("LOG_LEVEL", "debug"),
        ("OTHER", "sk-0123456789abcdefghij"),
        ("DATABASE_URL", "postgres://me:pw12345@db/x"),
        ("KEY_FILE", "/home/me/key"),
        ("AUTH_ENABLED", "true"),
    ];
    let adopted = only(tool("zed", "git", &["npx", "git"], &env));
    let kept: Vec<&str> = adopted.secrets.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(kept, ["git", "git-github-token", "git-other"]);
    let Some(ServerSpec::Program { env, .. }) = &adopted.way else { panic!("{adopted:?}") };
    assert_eq!(env["LOG_LEVEL"], "debug");
    assert_eq!((env["KEY_FILE"].as_str(), env["AUTH_ENABLED"].as_str()), ("/home/me/key", "true"));
    assert_eq!(env["DATABASE_URL"], "${keyring:git}");
}

/// An entry whose editor signs in.
fn signing_in(editor: &str, url: &str, sign_in: NewSignIn) -> EditorServer {
    let way = ServerSpec::Http { url: url.into(), headers: pairs(&[]), sign_in: Some(sign_in) };
    EditorServer { origin: origin(editor, "linear"), way }
}

/// How Evermoor signs in to a server after its import.
fn sign_in_of(adopted: &ImportedServer) -> Option<&NewSignIn> {
    let Some(ServerSpec::Http { sign_in, .. }) = &adopted.way else { panic!("{adopted:?}") };
    sign_in.as_ref()
}

#[test]
fn a_server_that_an_editor_signs_in_to_is_signed_in_to_with_the_same_client() {
    let url = "https://mcp.linear.example/mcp";
    let adopted = only(signing_in("cursor", url, NewSignIn::default()));
    assert_eq!(sign_in_of(&adopted), Some(&NewSignIn::default()));
    let own = NewSignIn {
        client_id: Some("mine".into()),
        client_secret: Some("s3cret-of-mine".into()),
        scopes: vec!["read".into()],
    };
    let adopted = only(signing_in("cursor", url, own.clone()));
    let kept = NewSignIn { client_secret: Some("${keyring:linear}".into()), ..own.clone() };
    assert_eq!(sign_in_of(&adopted), Some(&kept));
    assert_eq!(secrets(&adopted), [("linear", "s3cret-of-mine")]);
    let from_env = NewSignIn { client_secret: Some("${env:LINEAR}".into()), ..own };
    let adopted = only(signing_in("cursor", url, from_env.clone()));
    assert_eq!((sign_in_of(&adopted), secrets(&adopted)), (Some(&from_env), vec![]));
}

#[test]
fn a_server_is_one_upstream_whichever_of_its_editors_says_how_to_sign_in() {
    let url = "https://mcp.linear.example/mcp";
    let own = NewSignIn { client_id: Some("mine".into()), ..NewSignIn::default() };
    let said = || signing_in("zed", url, own.clone());
    let silent = || server("cursor", "linear", url, &[]);
    for existing in [[said(), silent()], [silent(), said()]] {
        let plan = planned(&existing);
        assert_eq!((plan.adopted.len(), plan.adopted[0].from.len()), (1, 2), "{plan:?}");
        assert_eq!(sign_in_of(&plan.adopted[0]), Some(&own));
    }
}

#[test]
fn nobody_signs_in_with_a_token_or_to_an_address_with_a_secret() {
    let url = "https://x.example/mcp?api_key=abcdefgh12345678";
    assert_eq!(sign_in_of(&only(signing_in("cursor", url, NewSignIn::default()))), None);
    let mut token = server("x", "a", "https://a.example/", &[("authorization", "Bearer abcdefgh")]);
    let ServerSpec::Http { sign_in, .. } = &mut token.way else { panic!("{token:?}") };
    *sign_in = Some(NewSignIn::default());
    assert_eq!(sign_in_of(&only(token)), None);
}

#[test]
fn a_bridge_without_a_header_signs_in() {
    let bridge = |more: &[&str]| {
        let url = more.first().copied().unwrap_or("https://mcp.linear.example/sse");
        let line = ["npx", "-y", "mcp-remote@latest", url];
        let line: Vec<&str> = line.into_iter().chain(more.iter().skip(1).copied()).collect();
        only(tool("claude", "linear", &line, &[("SECRET", "s3cret-of-mine")]))
    };
    assert_eq!(sign_in_of(&bridge(&[])), Some(&NewSignIn::default()));
    let url = "https://mcp.linear.example/sse";
    assert_eq!(sign_in_of(&bridge(&[url, "--header", "X-Key: abc"])), None);
    assert_eq!(sign_in_of(&bridge(&["http://127.0.0.1:1/sse"])), None, "it rarely wants a sign-in");
    let client = r#"{"client_id":"mine","client_secret":"${SECRET}"}"#;
    let metadata = r#"{"scope":"read write"}"#;
    let more = [
        url,
        "3334",
        "--static-oauth-client-info",
        client,
        "--static-oauth-client-metadata",
        metadata,
    ];
    let adopted = bridge(&more);
    let wanted = NewSignIn {
        client_id: Some("mine".into()),
        client_secret: Some("${keyring:linear}".into()),
        scopes: vec!["read".into(), "write".into()],
    };
    assert_eq!(sign_in_of(&adopted), Some(&wanted));
    assert_eq!(secrets(&adopted), [("linear", "s3cret-of-mine")]);
    // A client in a file is not read.
    let line = ["npx", "mcp-remote", url, "--static-oauth-client-info", "@/home/me/client.json"];
    let plan = planned(&[tool("claude", "linear", &line, &[])]);
    assert_eq!((plan.adopted.len(), plan.skipped.len()), (0, 1), "{plan:?}");
}

#[test]
fn a_secret_in_an_address_is_found() {
    let url = "https://x.example/s/0a1b2c3d4e5f60718293a4b5c6/mcp?api_key=abc%2Bdef%3D&page=2";
    let adopted = only(server("cursor", "x", url, &[]));
    let Some(ServerSpec::Http { url, .. }) = &adopted.way else { panic!("{adopted:?}") };
    assert_eq!(url, "https://x.example/s/${keyring:x}/mcp?api_key=${keyring:x-api-key}&page=2");
    assert_eq!(secrets(&adopted), [("x", "0a1b2c3d4e5f60718293a4b5c6"), ("x-api-key", "abc+def=")]);
}

#[test]
fn a_server_with_a_secret_argument_is_skipped_with_the_reason() {
    for line in [
        &["x", "--api-key", "abcdefgh"][..],
        &["x", "--token=abcdefgh"],
        &["x", "ghp_0123456789abcdefghij"],
    ] {
        let plan = planned(&[tool("cursor", "x", line, &[])]);
        assert!(plan.adopted.is_empty() && plan.skipped[0].why.contains("`env`"), "{plan:?}");
        assert!(!plan.skipped[0].why.contains("abcdefgh"));
    }
    only(tool(
        "cursor",
        "x",
        &["x", "--key-file", "/home/me/key", "-y", "@scope/server-auth"],
        &[],
    ));
}

#[test]
fn environment_variables_are_translated_and_editor_variables_are_not() {
    for written in ["${API}", "${env:API}", "{env:API}", "$API", "${API:-none}"] {
        let adopted = only(server("x", "a", "https://a.example/", &[("X-Api-Key", written)]));
        let Some(ServerSpec::Http { headers, .. }) = &adopted.way else { panic!("{adopted:?}") };
        assert_eq!(headers["X-Api-Key"], "${env:API}", "{written}");
        assert!(adopted.secrets.is_empty());
    }
    for written in ["${input:key}", "${{ secrets.KEY }}", "${workspaceFolder}", "${cmd: pass}"] {
        let plan = planned(&[server("x", "a", "https://a.example/", &[("X-Api-Key", written)])]);
        assert!(plan.adopted.is_empty(), "{plan:?}");
        assert!(plan.skipped[0].why.contains("only the editor"), "{plan:?}");
    }
    let plan = planned(&[tool("x", "a", &["run", "${workspaceFolder}"], &[])]);
    assert!(plan.skipped[0].why.contains("${workspaceFolder}"), "{plan:?}");
}

#[test]
fn every_entry_of_pieces_becomes_the_preset() {
    let plan = planned(&[
        tool("cursor", "Pieces", &["/opt/bin/pieces", "mcp", "start"], &[]),
        server(
            "zed",
            "pieces",
            "http://localhost:39300/model_context_protocol/2024-11-05/sse",
            &[],
        ),
        tool(
            "x",
            "p",
            &["npx", "mcp-remote", "http://127.0.0.1:39301/model_context_protocol/2025-03-26/mcp"],
            &[],
        ),
    ]);
    assert_eq!(plan.adopted.len(), 1, "{plan:?}");
    assert_eq!(plan.adopted[0].way, Some(ServerSpec::Preset("pieces-os".into())));
    assert_eq!((plan.adopted[0].name.as_str(), plan.adopted[0].from.len()), ("pieces", 3));
}

#[test]
fn a_bridge_is_unwrapped_if_its_options_are_supported() {
    let line = [
        "npx",
        "-y",
        "mcp-remote@latest",
        "https://a.example/sse",
        "--header",
        "Authorization: Bearer ${T}",
    ];
    let adopted = only(tool("cursor", "a", &line, &[("T", "t0ken-value")]));
    let Some(ServerSpec::Http { url, headers, .. }) = &adopted.way else { panic!("{adopted:?}") };
    assert_eq!(
        (url.as_str(), headers["Authorization"].as_str()),
        ("https://a.example/sse", "Bearer ${keyring:a}")
    );
    assert_eq!(secrets(&adopted), [("a", "t0ken-value")]);
    let line = ["npx", "mcp-remote", "https://a.example/mcp", "9696", "--auth-timeout", "60"];
    let adopted = only(tool("cursor", "a", &line, &[]));
    let Some(ServerSpec::Http { url, .. }) = &adopted.way else { panic!("{adopted:?}") };
    assert_eq!(url, "https://a.example/mcp");
    let line = ["npx", "mcp-remote", "https://a.example/sse", "--static-oauth-client-info", "x"];
    let adopted = only(tool("cursor", "a", &line, &[]));
    assert!(matches!(adopted.way, Some(ServerSpec::Program { .. })));
}

#[test]
fn entries_that_point_to_evermoor_are_not_imported() {
    let plan = planned(&[
        server("cursor", "evermoor", "http://127.0.0.1:7420/mcp", &[]),
        server("zed", "notes", "http://localhost:7420/mcp/notes", &[]),
        tool("x", "evermoor", &["/usr/bin/evermoor", "connect"], &[]),
    ]);
    assert_eq!(plan, ImportPlan::default());
}

/// The configuration after a plan was applied.
fn after(plan: &ImportPlan) -> Config {
    let mut edit = crate::config::edit::ConfigEdit::of("").unwrap();
    for adopted in &plan.adopted {
        let Some(way) = adopted.way.clone() else { continue };
        let new = crate::config::edit::NewUpstream { name: adopted.name.clone(), title: None, way };
        edit.add_upstream(&new).unwrap();
    }
    edit.done().unwrap().1
}

fn any_origin() -> impl Strategy<Value = EntryOrigin> {
    let whose = prop_oneof![
        Just(EntryScope::Person),
        Just(EntryScope::UserInProject("/one".into())),
        Just(EntryScope::Project("/two".into())),
    ];
    ("[A-Za-z ._]{0,30}", whose).prop_map(|(name, whose)| EntryOrigin {
        editor: "one".into(),
        whose,
        name,
    })
}

fn any_entry() -> impl Strategy<Value = EditorServer> {
    let value = prop_oneof![
        "[a-z]{0,8}",
        "ghp_[A-Za-z0-9]{20}",
        "Bearer [a-z0-9]{12}",
        "\\$\\{[A-Z]{1,5}\\}",
        "[ -~]{0,12}",
    ];
    let values = prop::collection::btree_map("[A-Z]{1,4}_(TOKEN|KEY|LEVEL)", value.clone(), 0..3);
    let headers = prop::collection::btree_map("X-(Api-Key|Team|Auth)", "[a-z0-9]{1,12}", 0..3);
    prop_oneof![
        (any_origin(), "[a-z]{1,5}", prop::collection::vec("[a-z@./-]{1,8}", 0..3), values)
            .prop_map(|(origin, command, args, env)| EditorServer {
                origin,
                way: ServerSpec::Program { command, args, env, cwd: None },
            }),
        (any_origin(), "[a-z]{1,4}", "[a-zA-Z0-9]{0,30}", headers).prop_map(
            |(origin, host, key, headers)| EditorServer {
                origin,
                way: ServerSpec::Http {
                    url: format!("https://{host}.example/{key}?key={key}"),
                    headers,
                    sign_in: None,
                },
            }
        ),
    ]
}

proptest! {
    // Each case reads several configurations.
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn an_import_yields_a_valid_configuration_and_importing_again_changes_nothing(
        existing in prop::collection::vec(any_entry(), 0..6),
    ) {
        let first = planned(&existing);
        let config = after(&first);
        let again = plan(&existing, &config, &BTreeSet::new());
        let fresh: Vec<&ImportedServer> = again.adopted.iter().filter(|it| it.way.is_some()).collect();
        prop_assert!(fresh.is_empty(), "{:?}", fresh);
        let stands_for = |plan: &ImportPlan| plan.adopted.iter().map(|it| it.from.len()).sum::<usize>();
        prop_assert_eq!(stands_for(&first) + first.skipped.len(), existing.len());
    }

    #[test]
    fn no_secret_is_written_to_the_configuration(token in "ghp_[A-Za-z0-9]{20}", name in "[A-Z]{1,6}") {
        let plan = planned(&[
            tool("a", "one", &["x"], &[(&name, &token)]),
            server("b", "two", &format!("https://h.example/{token}?q={token}"), &[("X-A", &token)]),
        ]);
        for adopted in &plan.adopted {
            prop_assert!(!format!("{:?}", adopted.way).contains(&token), "{:?}", adopted);
            prop_assert!(adopted.secrets.iter().any(|(_, secret)| secret.reveal() == token));
        }
    }
}
