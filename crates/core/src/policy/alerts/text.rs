//! The texts of the alerts.

use super::alert::{Alert, AlertButton, AlertTarget};
use super::displayed::OutageEntry;
use super::kind::ProblemKind;
use super::outage::Subject;
use super::timing::AlertTiming;
use crate::failure::{Code, Failure};
use crate::policy::app::auto_restart::MAX_RESTARTS;

/// The problem of one upstream.
pub(super) fn alone(
    subject: &Subject,
    kind: ProblemKind,
    failure: &Failure,
    timing: &AlertTiming,
) -> Alert {
    let Subject { title, name, restartable } = subject;
    let restart = restartable.then_some(AlertButton::Restart);
    let explanation = format!("{} {}", failure.what, failure.remedy);
    let (title, body, buttons) = match kind {
        ProblemKind::Exited => {
            let (what, next) = match restartable {
                true => ("quit unexpectedly", "Restart it now?"),
                false => ("is not running", "Evermoor reconnects automatically."),
            };
            let body = format!("Your editors keep working without it. {next}");
            let buttons = restart.into_iter().chain([AlertButton::Details]).collect();
            (format!("{title} {what}"), body, buttons)
        }
        ProblemKind::Unreachable => {
            let seconds = timing.unreachable_grace / 1000;
            let body = match (failure.code, restartable) {
                (Code::Timeout, true) => {
                    format!("No reply for {seconds} s. If this continues, restart it.")
                }
                (Code::Timeout, false) => {
                    format!("No reply for {seconds} s. Evermoor reconnects automatically.")
                }
                (_, _) => explanation,
            };
            let buttons = restart.into_iter().chain([AlertButton::IgnoreForToday]).collect();
            (format!("{title} {}", failure.code.predicate()), body, buttons)
        }
        ProblemKind::NotReady => {
            let buttons = restart.into_iter().chain([AlertButton::IgnoreForToday]).collect();
            (format!("{title} is taking too long to start"), explanation, buttons)
        }
        ProblemKind::SignInRequired => {
            let body = "Sign in to use its tools again.".to_owned();
            (format!("{title} {}", failure.code.predicate()), body, vec![AlertButton::SignIn])
        }
        ProblemKind::RestartFailed => {
            let buttons = vec![AlertButton::Restart, AlertButton::Details];
            (format!("{title} did not restart"), explanation, buttons)
        }
        ProblemKind::CrashLoop => {
            let body = match restartable {
                true => format!(
                    "Evermoor stopped restarting it after {MAX_RESTARTS} attempts. Check its log."
                ),
                false => explanation,
            };
            (format!("{title} keeps crashing"), body, vec![AlertButton::OpenLog])
        }
        ProblemKind::GatewayDown => {
            (format!("{title} stopped working"), explanation, vec![AlertButton::Details])
        }
    };
    let target = match kind {
        ProblemKind::GatewayDown => AlertTarget::Overview,
        ProblemKind::SignInRequired => AlertTarget::Upstream(name.clone()),
        ProblemKind::CrashLoop => AlertTarget::Log(name.clone()),
        ProblemKind::Exited
        | ProblemKind::Unreachable
        | ProblemKind::NotReady
        | ProblemKind::RestartFailed => AlertTarget::Restart(name.clone()),
    };
    let about = if kind == ProblemKind::GatewayDown { vec![] } else { vec![name.clone()] };
    Alert { title, body, buttons, about, target, quiet: false }
}

/// Several upstreams that went down together.
pub(super) fn several(entries: &[&OutageEntry]) -> Alert {
    let titles: Vec<&str> = entries.iter().map(|entry| entry.subject.title.as_str()).collect();
    let restart = entries.iter().any(|entry| entry.subject.restartable);
    let restart = restart.then_some(AlertButton::RestartAll);
    Alert {
        title: format!("{} servers are down", entries.len()),
        body: format!("{}. Your editors keep working without them.", list(&titles)),
        buttons: restart.into_iter().chain([AlertButton::Details]).collect(),
        about: entries.iter().map(|entry| entry.subject.name.clone()).collect(),
        target: AlertTarget::Overview,
        quiet: false,
    }
}

/// Every upstream in an alert recovered.
pub(super) fn are_back(entries: &[OutageEntry]) -> Alert {
    let (title, body) = match entries {
        [one] => {
            (format!("{} is back", one.subject.title), one.recovery.clone().unwrap_or_default())
        }
        several => {
            let titles: Vec<&str> = several.iter().map(|it| it.subject.title.as_str()).collect();
            let body = format!("{} are available again.", list(&titles));
            (format!("{} servers are back", several.len()), body)
        }
    };
    let about: Vec<String> = entries.iter().map(|entry| entry.subject.name.clone()).collect();
    let target = match about.as_slice() {
        [one] if one != super::GATEWAY => AlertTarget::Upstream(one.clone()),
        _ => AlertTarget::Overview,
    };
    Alert { title, body, buttons: vec![], about, target, quiet: true }
}

pub(super) fn tools_are_back(tools: u32) -> String {
    match tools {
        0 => "It is available again.".into(),
        1 => "1 tool is available again.".into(),
        tools => format!("{tools} tools are available again."),
    }
}

pub(super) fn gateway_is_back() -> String {
    "Your editors are connected again.".into()
}

/// The rate limit is reached; `title` is the alert that it holds back.
pub(super) fn summary(title: &str) -> Alert {
    Alert {
        title: "Several servers are having problems".into(),
        body: format!("Latest: {title}. Further alerts are paused for a while."),
        buttons: vec![AlertButton::Details],
        about: vec![],
        target: AlertTarget::Overview,
        quiet: false,
    }
}

pub(super) fn moved(endpoint: &str) -> Alert {
    Alert {
        title: "Evermoor has a new address".into(),
        body: format!("Editors now connect to {endpoint}."),
        buttons: vec![AlertButton::Details],
        about: vec![],
        target: AlertTarget::Editors,
        quiet: true,
    }
}

pub(super) fn update_ready(version: &str) -> Alert {
    Alert {
        title: format!("Evermoor {version} is ready to install"),
        body: "Restart Evermoor to update. Your editors stay connected.".into(),
        buttons: vec![AlertButton::Details],
        about: vec![],
        target: AlertTarget::Settings,
        quiet: true,
    }
}

/// Joins names: "A, B and C".
fn list(titles: &[&str]) -> String {
    match titles {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
