//! Prints the result of an import.

use evermoor_core::import::{EntryOrigin, ImportPlan, ImportedServer, SkippedServer};
use evermoor_gateway::editors::import::redirect::{RedirectPreview, RedirectReport};
use evermoor_setup::user_editors::plan::unified_diff;
use serde_json::{Value, json};

use crate::terminal::{self, Palette};

/// Prints what would change, with diffs of the configuration and of the editors' files.
pub(super) fn dry_run(
    plan: &ImportPlan,
    before: &str,
    after: &str,
    pointed: &[RedirectPreview],
    as_json: bool,
) {
    let diff = unified_diff("config.toml", before, after);
    if as_json {
        let mut data = data(plan, &[]);
        data["dryRun"] = true.into();
        data["diff"] = diff.into();
        data["pointed"] = pointed.iter().map(preview).collect();
        return terminal::print_json(data);
    }
    rows(plan, "Would be imported");
    let diffs = pointed.iter().filter_map(|one| one.diff.as_deref().ok());
    for diff in std::iter::once(diff.as_str()).chain(diffs).filter(|diff| !diff.is_empty()) {
        terminal::print(&format_args!("\n{}", terminal::painted(diff)));
    }
    for RedirectPreview { title, diff, .. } in pointed {
        if let Err(trouble) = diff {
            terminal::print_note(&format_args!("{title} would stay as it is: {trouble}."));
        }
    }
    terminal::print_note(&"Nothing was changed.");
}

/// Prints what was imported.
pub(super) fn done(plan: &ImportPlan, pointed: &[RedirectReport], as_json: bool) {
    if as_json {
        return terminal::print_json(data(plan, pointed));
    }
    rows(plan, "Imported");
    let colours = Palette::for_output();
    if !pointed.is_empty() {
        terminal::print(&"");
    }
    for report in pointed {
        let RedirectReport { title, path, trouble, hint, .. } = report;
        if let Some(trouble) = trouble {
            let bad = colours.bad;
            let cross = format!("{bad}✗{bad:#}");
            terminal::print(&terminal::about(&cross, &format!("{title}: {trouble}."), ""));
        } else if let Some(path) = path {
            let good = colours.good;
            let tick = format!("{good}✓{good:#}");
            let sentence = format!("{title} now uses them through Evermoor.");
            terminal::print(&terminal::about(&tick, &sentence, &path.display().to_string()));
            terminal::print(&terminal::indented(hint, 2, terminal::width()));
        }
    }
    if plan.adopted.iter().any(|one| one.way.is_some()) {
        terminal::print_note(&"To undo this, run `evermoor import --undo`.");
    }
}

/// Prints what was undone.
pub(super) fn undone(upstreams: &[String], secrets: &[String], editors: &[String], as_json: bool) {
    if as_json {
        return terminal::print_json(
            json!({ "upstreams": upstreams, "secrets": secrets, "editors": editors }),
        );
    }
    let count = |count: usize, one: &str| match count {
        1 => format!("1 {one}"),
        count => format!("{count} {one}s"),
    };
    terminal::print(&format_args!(
        "Undone: {}, {}, {}.",
        count(upstreams.len(), "server"),
        count(secrets.len(), "secret"),
        count(editors.len(), "editor")
    ));
}

fn rows(plan: &ImportPlan, title: &str) {
    let colours = Palette::for_output();
    let (strong, quiet, busy) = (colours.strong, colours.quiet, colours.busy);
    if plan.adopted.is_empty() && plan.skipped.is_empty() {
        return terminal::print_note(&"No editor on this computer has MCP servers to import.");
    }
    if !plan.adopted.is_empty() {
        terminal::print(&format_args!("{strong}{title}{strong:#}"));
        let cells: Vec<Vec<String>> = plan.adopted.iter().map(row).collect();
        for line in terminal::columns(&cells, terminal::width().saturating_sub(2)) {
            terminal::print(&format_args!("  {line}"));
        }
    }
    if !plan.skipped.is_empty() {
        if !plan.adopted.is_empty() {
            terminal::print(&"");
        }
        terminal::print(&format_args!("{strong}Not imported{strong:#}"));
        for SkippedServer { origin, why } in &plan.skipped {
            let why = terminal::indented(why, 4, terminal::width());
            terminal::print(&format_args!("  {busy}{origin}{busy:#}\n{quiet}{why}{quiet:#}"));
        }
    }
}

fn row(adopted: &ImportedServer) -> Vec<String> {
    let from: Vec<String> = adopted.from.iter().map(ToString::to_string).collect();
    let secrets: Vec<&str> = adopted.secrets.iter().map(|(name, _)| name.as_str()).collect();
    let note = match (&adopted.way, secrets.as_slice()) {
        (None, _) => "already in config.toml".to_owned(),
        (Some(_), []) => String::new(),
        (Some(_), secrets) => format!("moved to the keychain: {}", secrets.join(", ")),
    };
    vec![adopted.name.clone(), format!("from {}", from.join(", ")), note]
}

fn preview(one: &RedirectPreview) -> Value {
    let trouble = one.diff.as_ref().err().map(|refused| format!("{refused}."));
    json!({
        "editor": one.title,
        "path": one.path,
        "diff": one.diff.as_deref().ok(),
        "trouble": trouble,
    })
}

/// An editor's entry, with the folder of its project.
fn entry(origin: &EntryOrigin) -> Value {
    json!({ "editor": origin.editor, "name": origin.name, "folder": origin.whose.folder() })
}

fn data(plan: &ImportPlan, pointed: &[RedirectReport]) -> Value {
    let adopted = |one: &ImportedServer| {
        let secrets: Vec<&String> = one.secrets.iter().map(|(name, _)| name).collect();
        let from: Vec<Value> = one.from.iter().map(entry).collect();
        json!({ "name": one.name, "isNew": one.way.is_some(), "secrets": secrets, "from": from })
    };
    let skipped = |one: &SkippedServer| {
        let mut skipped = entry(&one.origin);
        skipped["why"] = one.why.clone().into();
        skipped
    };
    let report = |one: &RedirectReport| {
        let trouble = one.trouble.as_ref().map(|refused| format!("{refused}."));
        json!({ "editor": one.title, "path": one.path, "trouble": trouble })
    };
    json!({
        "adopted": plan.adopted.iter().map(adopted).collect::<Vec<_>>(),
        "skipped": plan.skipped.iter().map(skipped).collect::<Vec<_>>(),
        "pointed": pointed.iter().map(report).collect::<Vec<_>>(),
    })
}
