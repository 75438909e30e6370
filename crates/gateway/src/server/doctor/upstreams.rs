//! Checks every upstream: configured, reached, understood, and offering tools.

use evermoor_core::api::{Check, Status, UpstreamState, UpstreamStatus};
use evermoor_core::failure::{Code, Failure};
use evermoor_core::history::incident::text::format_duration;
use evermoor_platform::clock;

/// Reports the gateway's version and address.
pub(super) fn gateway(status: &Status) -> Check {
    let said = format!("Version {} serves at {}.", status.version, status.endpoint);
    Check::good("gateway", "Gateway", said)
}

pub(super) fn all(status: &Status) -> Vec<Check> {
    let now = clock::unix_millis();
    let checks = status.upstreams.iter().map(|upstream| check(upstream, now));
    checks.chain(status.warnings.iter().enumerate().map(warning)).collect()
}

/// A warning of the gateway. The configuration check reports only what is in the file.
fn warning((number, warning): (usize, &Failure)) -> Check {
    let id = format!("warning.{}", number + 1);
    Check::bad(id, "Warning", warning.what.clone(), warning.remedy.clone())
}

fn check(upstream: &UpstreamStatus, now: u64) -> Check {
    let (id, title) = (format!("upstream.{}", upstream.name), upstream.title.clone());
    match &upstream.link {
        UpstreamState::Off => Check::skipped(id, title, "Turned off."),
        UpstreamState::Paused { .. } => {
            let detail = format!("Paused. Run `evermoor resume {}` to resume it.", upstream.name);
            Check::skipped(id, title, detail)
        }
        UpstreamState::Connecting => Check::skipped(id, title, "Connecting."),
        UpstreamState::Connected { .. } if upstream.tools == 0 => {
            let detail = "Connected, but it offers no tools.";
            let remedy = "Check its documentation: it may need to be configured or signed in to.";
            Check::bad(id, title, detail, remedy)
        }
        UpstreamState::Connected { since, .. } => {
            let since = format_duration(now.saturating_sub(*since));
            let detail = format!("Connected for {since}, {}.", upstream.tool_count());
            Check::good(id, title, detail)
        }
        UpstreamState::Down { failure, .. } => {
            let detail = format!("{} {}", stage(failure.code), failure.what);
            let found = Check::bad(id, title, detail, failure.remedy.clone());
            if can_retry(failure.code) { found.fixable() } else { found }
        }
    }
}

/// How far the connection attempt got.
fn stage(code: Code) -> &'static str {
    match code {
        Code::Configuration => "Misconfigured.",
        Code::ConnectionRefused
        | Code::DnsFailure
        | Code::ConnectTimeout
        | Code::NotInstalled
        | Code::NotRunning
        | Code::Starting
        | Code::Crashed
        | Code::Quit
        | Code::CrashLoop => "Configured, but not reached.",
        Code::Tls => "Reached, but its certificate is not trusted.",
        Code::AuthRequired => "Reached, but it needs sign-in.",
        Code::Refused | Code::NotMcp => "Reached, but it does not answer as an MCP server.",
        Code::KeychainLocked
        | Code::KeychainRefused
        | Code::KeychainMissing
        | Code::SecretMissing => "Configured, but its secret is unavailable.",
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

/// Whether another attempt may succeed.
fn can_retry(code: Code) -> bool {
    !matches!(code, Code::Configuration | Code::NotInstalled | Code::AuthRequired | Code::Paused)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn upstream(link: UpstreamState, tools: u32) -> UpstreamStatus {
        UpstreamStatus {
            name: "notes".into(),
            title: "Notes".into(),
            kind: None,
            target: String::new(),
            endpoint: String::new(),
            link,
            tools,
            hidden: 0,
            app: None,
            touched: None,
            sign_in: None,
        }
    }

    fn down(code: Code) -> Check {
        let failure = Failure::new(code, "It is so.", "Do this.");
        check(&upstream(UpstreamState::Down { since: 0, retry_at: 0, attempts: 1, failure }, 1), 0)
    }

    #[test]
    fn an_upstream_that_is_down_says_how_far_the_attempt_got() {
        let refused = down(Code::ConnectionRefused);
        assert_eq!(refused.detail, "Configured, but not reached. It is so.");
        assert_eq!((refused.remedy.as_deref(), refused.fixable), (Some("Do this."), true));
        assert!(!down(Code::AuthRequired).fixable, "another attempt would fail the same way");
    }

    #[test]
    fn an_upstream_is_healthy_when_it_offers_tools() {
        let connected = || UpstreamState::Connected { since: 0, server: String::new() };
        let well = check(&upstream(connected(), 3), 61_000);
        assert_eq!(well.detail, "Connected for 1 min 1 s, 3 tools.");
        assert!(!well.is_bad());
        assert!(check(&upstream(connected(), 0), 0).is_bad());
        assert!(!check(&upstream(UpstreamState::Off, 0), 0).is_bad());
    }
}
