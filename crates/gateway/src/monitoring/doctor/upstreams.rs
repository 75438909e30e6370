//! Every upstream's whole path: set up, reached, understood, of use.

use std::time::{SystemTime, UNIX_EPOCH};

use evermoor_core::api::{Check, Link, Status, Upstream};
use evermoor_core::failure::{Code, Failure};
use evermoor_core::history::incident::text::length;

/// That a gateway serves, and what it would like to be asked about.
pub(super) fn gateway(status: &Status) -> Check {
    let said = format!("{} serves at {}.", status.version, status.endpoint);
    Check::good("gateway", "Gateway", said)
}

pub(super) fn all(status: &Status) -> Vec<Check> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
    let checks = status.upstreams.iter().map(|upstream| check(upstream, now));
    checks.chain(status.warnings.iter().enumerate().map(warning)).collect()
}

/// What the gateway warns of is failed_check by the check of the configuration only if it stands in the file.
fn warning((number, warning): (usize, &Failure)) -> Check {
    let id = format!("warning.{}", number + 1);
    Check::bad(id, "Warning", warning.what.clone(), warning.remedy.clone())
}

fn check(upstream: &Upstream, now: u64) -> Check {
    let (id, title) = (format!("upstream.{}", upstream.name), upstream.title.clone());
    match &upstream.link {
        Link::Off => Check::skipped(id, title, "It is turned off."),
        Link::Paused { .. } => {
            let detail = format!("It is paused. `evermoor resume {}` ends that.", upstream.name);
            Check::skipped(id, title, detail)
        }
        Link::Connecting => Check::skipped(id, title, "It is being connected to."),
        Link::Connected { .. } if upstream.tools == 0 => {
            let detail = "It is reached and understood, and offers no tools.";
            let remedy =
                "Look at what it says of itself: it may need to be set up or signed in to.";
            Check::bad(id, title, detail, remedy)
        }
        Link::Connected { since, .. } => {
            let since = length(now.saturating_sub(*since));
            let detail = format!("Connected for {since}, {}.", upstream.tool_count());
            Check::good(id, title, detail)
        }
        Link::Down { failure, .. } => {
            let detail = format!("{} {}", stage(failure.code), failure.what);
            let found = Check::bad(id, title, detail, failure.remedy.clone());
            if can_retry(failure.code) { found.fixable() } else { found }
        }
    }
}

/// How far one came on the way to it.
fn stage(code: Code) -> &'static str {
    match code {
        Code::Configuration => "Set up wrongly.",
        Code::ConnectionRefused
        | Code::DnsFailure
        | Code::ConnectTimeout
        | Code::NotInstalled
        | Code::NotRunning
        | Code::Starting
        | Code::Crashed
        | Code::Quit
        | Code::CrashLoop => "Set up, but not reached.",
        Code::Tls => "Reached, but not trusted.",
        Code::AuthRequired => "Reached, but it wants to know who asks.",
        Code::Refused | Code::NotMcp => "Reached, but not understood.",
        Code::KeychainLocked | Code::KeychainMissing | Code::SecretMissing => {
            "Set up, but its secret is not there."
        }
        Code::ConnectionLost
        | Code::SessionLost
        | Code::Timeout
        | Code::Paused
        | Code::TokenOff
        | Code::PortTaken
        | Code::NotFound
        | Code::Forbidden
        | Code::Internal => "Reached before, but not now.",
    }
}

/// Whether another attempt can do what the last one did not.
fn can_retry(code: Code) -> bool {
    !matches!(code, Code::Configuration | Code::NotInstalled | Code::AuthRequired | Code::Paused)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn upstream(link: Link, tools: u32) -> Upstream {
        Upstream {
            name: "notes".into(),
            title: "Notes".into(),
            target: String::new(),
            endpoint: String::new(),
            link,
            tools,
            hidden: 0,
            app: None,
            touched: None,
        }
    }

    fn down(code: Code) -> Check {
        let failure = Failure::new(code, "It is so.", "Do this.");
        check(&upstream(Link::Down { since: 0, retry_at: 0, attempts: 1, failure }, 1), 0)
    }

    #[test]
    fn an_upstream_that_is_down_says_how_far_one_came() {
        let refused = down(Code::ConnectionRefused);
        assert_eq!(refused.detail, "Set up, but not reached. It is so.");
        assert_eq!((refused.remedy.as_deref(), refused.fixable), (Some("Do this."), true));
        assert!(!down(Code::AuthRequired).fixable, "trying again asks the same question");
    }

    #[test]
    fn an_upstream_is_well_when_it_is_of_use() {
        let connected = || Link::Connected { since: 0, server: String::new() };
        let well = check(&upstream(connected(), 3), 61_000);
        assert_eq!(well.detail, "Connected for 1 min 1 s, 3 tools.");
        assert!(!well.is_bad());
        assert!(check(&upstream(connected(), 0), 0).is_bad());
        assert!(!check(&upstream(Link::Off, 0), 0).is_bad());
    }
}
