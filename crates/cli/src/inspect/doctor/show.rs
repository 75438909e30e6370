//! Prints the results of the checks: a mark, the title, the result, and what to do.

use std::time::Duration;

use evermoor_core::api::{Check, CheckState};
use evermoor_core::history::incident::text::format_duration;
use serde_json::json;

use super::Repair;
use crate::terminal::{self, Palette};

/// Below this width, a result is printed below its title.
const NARROW: usize = 60;

pub(super) fn all(checks: &[Check], repairs: &[Repair], took: Duration) {
    if terminal::options().json {
        let fixed = repairs.iter().map(|repair| match &repair.done {
            Ok(what) => json!({ "id": repair.id, "what": what }),
            Err(failure) => json!({ "id": repair.id, "error": failure }),
        });
        let fixed: Vec<serde_json::Value> = fixed.collect();
        let data = json!({ "checks": checks, "fixed": fixed, "ms": took.as_millis() as u64 });
        return terminal::print_json(data);
    }
    let colours = Palette::for_output();
    for repair in repairs {
        print_repair(repair, colours);
    }
    if !repairs.is_empty() {
        terminal::print(&"");
    }
    let widest = checks.iter().map(|check| check.title.chars().count()).max().unwrap_or(0);
    let quiet = terminal::options().quiet;
    for check in checks.iter().filter(|check| !quiet || check.is_bad()) {
        line(check, widest, colours);
    }
    let summary =
        terminal::indented(&summary(checks, took, !repairs.is_empty()), 0, terminal::width());
    terminal::print_message(&format_args!("\n{summary}"));
}

fn print_repair(repair: &Repair, colours: Palette) {
    let (mark, style, what) = match &repair.done {
        Ok(what) => ("✓", colours.good, what.clone()),
        Err(why) => ("✗", colours.bad, why.to_string()),
    };
    let mark = format!("{style}{mark}{style:#}");
    terminal::print(&terminal::about(&mark, &format!("{}: {what}", repair.title), ""));
}

fn line(check: &Check, widest: usize, colours: Palette) {
    let (mark, style) = match check.state {
        CheckState::Good => ("✓", colours.good),
        CheckState::Bad => ("✗", colours.bad),
        CheckState::Skipped => ("–", colours.quiet),
    };
    let (width, quiet, strong) = (terminal::width(), colours.quiet, colours.strong);
    let text = match check.state {
        CheckState::Skipped => quiet,
        CheckState::Good | CheckState::Bad => anstyle::Style::new(),
    };
    let narrow = width < NARROW;
    let indent = if narrow { 2 } else { widest + 5 };
    let detail = terminal::indented(&check.detail, indent, width);
    match narrow {
        true => terminal::print(&format_args!(
            "{style}{mark}{style:#} {}\n{text}{detail}{text:#}",
            terminal::fit(&check.title, width - 2)
        )),
        false => terminal::print(&format_args!(
            "{style}{mark}{style:#} {:<widest$}   {text}{}{text:#}",
            check.title,
            detail.trim_start()
        )),
    }
    if let Some(remedy) = check.remedy.as_ref().filter(|_| check.is_bad()) {
        let remedy = terminal::indented(remedy, indent + 2, width);
        let arrow = format!("{}→ ", " ".repeat(indent));
        terminal::print(&format_args!("{arrow}{strong}{}{strong:#}", remedy.trim_start()));
    }
}

/// The last line. Suggests `--fix` unless it was just used.
fn summary(checks: &[Check], took: Duration, tried: bool) -> String {
    let bad = checks.iter().filter(|check| check.is_bad()).count();
    let fixable = checks.iter().filter(|check| check.is_bad() && check.fixable).count();
    let took = format_duration(u64::try_from(took.as_millis()).unwrap_or(u64::MAX));
    let counted = match checks.len() {
        1 => format!("1 check in {took}"),
        many => format!("{many} checks in {took}"),
    };
    let found = match bad {
        0 => return format!("{counted}, no problems."),
        1 => "1 problem".to_owned(),
        many => format!("{many} problems"),
    };
    match fixable {
        0 => format!("{counted}, {found}."),
        _ if tried => format!("{counted}, {found}."),
        one_or_more => {
            format!(
                "{counted}, {found}. To fix {one_or_more} of them, run `evermoor doctor --fix`."
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_says_what_there_is_to_do() {
        let took = Duration::from_millis(140);
        let (good, bad) = (Check::good("a", "A", "a"), Check::bad("b", "B", "b", "c"));
        assert_eq!(
            summary(std::slice::from_ref(&good), took, false),
            "1 check in 140 ms, no problems."
        );
        assert_eq!(summary(&[good, bad.clone()], took, false), "2 checks in 140 ms, 1 problem.");
        let shown = summary(&[bad.clone().fixable()], took, false);
        assert!(shown.ends_with("To fix 1 of them, run `evermoor doctor --fix`."), "{shown}");
        assert_eq!(summary(&[bad.fixable()], took, true), "1 check in 140 ms, 1 problem.");
    }
}
