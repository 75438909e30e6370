//! What is worth knowing although nothing is broken.

use std::net::SocketAddr;

use evermoor_core::config;
use evermoor_core::failure::{Code, Failure};

/// The warnings of a gateway that was started with `started` and runs with `now`. `mistake` is
/// what is wrong with the file since then.
pub(crate) fn of(
    started: SocketAddr,
    now: &config::Gateway,
    mistake: Option<&Failure>,
) -> Vec<Failure> {
    let token = (!now.require_token).then(|| {
        let what = "Every program on this machine may use your tools: the token is turned off.";
        Failure::new(Code::TokenOff, what, "Remove `require_token = false` from config.toml.")
    });
    let moved = (now.listen != started).then(|| {
        let what = format!(
            "config.toml says `listen = \"{}\"`, and the gateway still listens where it did.",
            now.listen
        );
        Failure::new(Code::Configuration, what, "Restart the gateway to use the new address.")
    });
    [token, moved, mistake.cloned()].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use evermoor_core::config::Config;

    fn codes(text: &str, mistake: Option<&Failure>) -> Vec<Code> {
        let (started, now) = (Config::default().gateway, Config::parse(text).unwrap().gateway);
        of(started.listen, &now, mistake).into_iter().map(|warning| warning.code).collect()
    }

    #[test]
    fn a_gateway_as_it_should_be_warns_of_nothing() {
        assert_eq!(codes("", None), []);
    }

    #[test]
    fn each_thing_worth_knowing_is_said() {
        let text = "[gateway]\nrequire_token = false\nlisten = \"127.0.0.1:1\"\n";
        let mistake = Failure::new(Code::Configuration, "It is wrong.", "Write it right.");
        assert_eq!(
            codes(text, Some(&mistake)),
            [Code::TokenOff, Code::Configuration, Code::Configuration]
        );
    }
}
