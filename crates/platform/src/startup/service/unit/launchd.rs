//! The property list of the gateway for launchd.

use super::{LABEL, Service};
use crate::startup::xml::escaped;

pub(super) fn text(service: &Service, words: &[String]) -> String {
    let words: String =
        words.iter().map(|word| format!("\t\t<string>{}</string>\n", escaped(word))).collect();
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
	<key>StandardOutPath</key>
	<string>{output}</string>
	<key>StandardErrorPath</key>
	<string>{output}</string>
</dict>
</plist>
"#
    )
}
