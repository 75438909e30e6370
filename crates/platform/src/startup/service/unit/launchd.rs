//! The property list of the gateway for launchd.

use std::net::SocketAddr;

use super::{LABEL, SOCKET, Service};
use crate::startup::xml::escaped;

pub(super) fn text(service: &Service, words: &[String]) -> String {
    let words: String =
        words.iter().map(|word| format!("\t\t<string>{}</string>\n", escaped(word))).collect();
    let sockets = service.address.map(sockets).unwrap_or_default();
    let output = escaped(&service.output.to_string_lossy());
    format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>{LABEL}</string>
	<key>AssociatedBundleIdentifiers</key>
	<string>dev.evermoor.app</string>
	<key>ProgramArguments</key>
	<array>
{words}	</array>
	<key>EnvironmentVariables</key>
	<dict>
		<key>EVERMOOR_SUPERVISED</key>
		<string>launchd</string>
	</dict>
	<key>RunAtLoad</key>
	<true/>
	<key>KeepAlive</key>
	<dict>
		<key>SuccessfulExit</key>
		<false/>
	</dict>
	<key>ThrottleInterval</key>
	<integer>10</integer>
	<key>ProcessType</key>
	<string>Interactive</string>
{sockets}	<key>StandardOutPath</key>
	<string>{output}</string>
	<key>StandardErrorPath</key>
	<string>{output}</string>
</dict>
</plist>
"#
    )
}

/// The socket that launchd opens, so that connections wait while no gateway runs.
fn sockets(address: SocketAddr) -> String {
    let family = if address.is_ipv4() { "IPv4" } else { "IPv6" };
    let (name, host, port) = (SOCKET.to_string_lossy(), address.ip(), address.port());
    format!(
        r#"	<key>Sockets</key>
	<dict>
		<key>{name}</key>
		<dict>
			<key>SockNodeName</key>
			<string>{host}</string>
			<key>SockServiceName</key>
			<string>{port}</string>
			<key>SockFamily</key>
			<string>{family}</string>
			<key>SockType</key>
			<string>stream</string>
		</dict>
	</dict>
"#
    )
}
