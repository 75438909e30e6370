//! The unit of the gateway for systemd.

pub(super) fn text(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    let command = words.join(" ");
    // 78: the configuration is wrong, so a restart would not help. systemd never gives up otherwise, and keeps
    // the listening socket meanwhile, so that connections wait for the next start.
    format!(
        "[Unit]
Description=Evermoor, one local endpoint for every MCP server
StartLimitIntervalSec=0

[Service]
Type=exec
ExecStart={command}
Environment=EVERMOOR_SUPERVISED=systemd
Restart=on-failure
RestartSec=500ms
RestartPreventExitStatus=78
TimeoutStopSec=30
NotifyAccess=main
FileDescriptorStoreMax=1

[Install]
WantedBy=default.target
"
    )
}

/// A word of a command line, quoted if systemd needs it.
fn quoted(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+=:@".contains(&byte);
    if !word.is_empty() && word.bytes().all(plain) {
        return word.to_owned();
    }
    let escaped = word.replace('\\', r"\\").replace('"', "\\\"");
    let escaped = escaped.replace('%', "%%").replace('$', "$$").replace('\n', r"\n");
    format!("\"{escaped}\"")
}
