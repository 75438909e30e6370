//! What a person reads in each notice.

use super::displayed::Entry;
use super::kind::Kind;
use super::notification::{Button, Notice, Place};
use super::outage::About;
use super::timing::Times;
use crate::failure::{Code, Failure};
use crate::policy::app::policy::MOST;

/// The trouble of one upstream.
pub(super) fn alone(about: &About, kind: Kind, failure: &Failure, times: &Times) -> Notice {
    let About { title, name, restartable } = about;
    let restart = restartable.then_some(Button::Restart);
    let (title, body, buttons) = match kind {
        Kind::Gone => {
            let next = match restartable {
                true => "Restart it now?",
                false => "It is connected again as soon as it runs.",
            };
            let body = format!("Your editors keep working without it. {next}");
            let buttons = restart.into_iter().chain([Button::Details]).collect();
            (format!("{title} quit unexpectedly"), body, buttons)
        }
        Kind::Unreachable => {
            let seconds = times.unreachable / 1000;
            let body = match (failure.code, restartable) {
                (Code::Timeout, true) => {
                    format!("Running but not answering for {seconds} seconds.")
                }
                (Code::Timeout, false) => format!("No answer for {seconds} seconds."),
                (_, _) => failure.what.clone(),
            };
            let buttons = restart.into_iter().chain([Button::IgnoreForToday]).collect();
            (format!("{title} {}", failure.code.predicate()), body, buttons)
        }
        Kind::NotReady => {
            let buttons = restart.into_iter().chain([Button::IgnoreForToday]).collect();
            (format!("{title} does not get ready"), failure.what.clone(), buttons)
        }
        Kind::SignIn => {
            let body = "Its tools are back as soon as you have.".to_owned();
            (format!("{title} needs you to sign in"), body, vec![Button::SignIn])
        }
        Kind::NotBack => {
            let body = format!("{} {}", failure.what, failure.remedy);
            let buttons = vec![Button::Restart, Button::Details];
            (format!("{title} did not come back"), body, buttons)
        }
        Kind::CrashLoop => {
            let body = match restartable {
                true => format!("Stopped restarting after {MOST} tries."),
                false => failure.what.clone(),
            };
            (format!("{title} keeps crashing"), body, vec![Button::OpenLog])
        }
        Kind::Gateway => {
            let body = format!("{} {}", failure.what, failure.remedy);
            (format!("{title} stopped working"), body, vec![Button::Details])
        }
    };
    let leads_to = match kind {
        Kind::Gateway => Place::Overview,
        Kind::SignIn => Place::Upstream(name.clone()),
        Kind::CrashLoop => Place::Log(name.clone()),
        Kind::Gone | Kind::Unreachable | Kind::NotReady | Kind::NotBack => {
            Place::Restart(name.clone())
        }
    };
    let about = if kind == Kind::Gateway { vec![] } else { vec![name.clone()] };
    Notice { title, body, buttons, about, leads_to, quiet: false }
}

/// Several that went down together.
pub(super) fn several(entries: &[&Entry]) -> Notice {
    let titles: Vec<&str> = entries.iter().map(|entry| entry.about.title.as_str()).collect();
    let restart = entries.iter().any(|entry| entry.about.restartable);
    let restart = restart.then_some(Button::RestartAll);
    Notice {
        title: format!("{} apps stopped responding", entries.len()),
        body: format!("{}. Your editors keep working without them.", list(&titles)),
        buttons: restart.into_iter().chain([Button::Details]).collect(),
        about: entries.iter().map(|entry| entry.about.name.clone()).collect(),
        leads_to: Place::Overview,
        quiet: false,
    }
}

/// All that a notice spoke of is well again.
pub(super) fn are_back(entries: &[Entry]) -> Notice {
    let (title, body) = match entries {
        [one] => (format!("{} is back", one.about.title), one.back.clone().unwrap_or_default()),
        several => {
            let titles: Vec<&str> = several.iter().map(|it| it.about.title.as_str()).collect();
            (format!("{} apps are back", several.len()), format!("{}.", list(&titles)))
        }
    };
    let about: Vec<String> = entries.iter().map(|entry| entry.about.name.clone()).collect();
    let leads_to = match about.as_slice() {
        [one] if one != super::GATEWAY => Place::Upstream(one.clone()),
        _ => Place::Overview,
    };
    Notice { title, body, buttons: vec![], about, leads_to, quiet: true }
}

pub(super) fn tools_are_back(tools: u32) -> String {
    match tools {
        0 => "It answers again.".into(),
        1 => "1 tool is available again.".into(),
        tools => format!("{tools} tools are available again."),
    }
}

pub(super) fn gateway_is_back() -> String {
    "Your editors are connected again.".into()
}

/// There was too much trouble in the last hour for one notice each.
pub(super) fn summary(title: &str) -> Notice {
    let body = format!("Now: {title}. Evermoor is silent about more of this for a while.");
    Notice {
        title: "Several apps are having trouble".into(),
        body,
        buttons: vec![Button::Details],
        about: vec![],
        leads_to: Place::Overview,
        quiet: false,
    }
}

pub(super) fn moved(endpoint: &str) -> Notice {
    Notice {
        title: "Evermoor has another address".into(),
        body: format!("Editors reach it at {endpoint} now."),
        buttons: vec![Button::Details],
        about: vec![],
        leads_to: Place::Editors,
        quiet: true,
    }
}

pub(super) fn update_is_ready(version: &str) -> Notice {
    Notice {
        title: format!("Evermoor {version} is ready"),
        body: "Restart Evermoor to update; your editors stay connected.".into(),
        buttons: vec![Button::Details],
        about: vec![],
        leads_to: Place::Settings,
        quiet: true,
    }
}

/// Names in a sentence.
fn list(titles: &[&str]) -> String {
    match titles {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
