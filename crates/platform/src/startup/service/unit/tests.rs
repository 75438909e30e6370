//! The exact definitions and commands for each system.

use super::*;

fn service(program: &str, home: Option<&str>) -> Service {
    Service {
        program: program.into(),
        home: home.map(PathBuf::from),
        output: "/Users/a/Library/Logs/Evermoor/gateway.out".into(),
        account: r"DESK\a & b".into(),
        address: None,
    }
}

#[test]
fn systemd_gets_a_unit() {
    let text = text(System::Linux, &service("/usr/bin/evermoor", None));
    assert_eq!(
        text,
        "[Unit]
Description=Evermoor, one local endpoint for every MCP server
StartLimitIntervalSec=0

[Service]
Type=exec
ExecStart=/usr/bin/evermoor serve --takeover --background
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
    );
}

#[test]
fn special_characters_in_paths_are_escaped() {
    let odd = service("/opt/my apps/100%/$x\"y/evermoor", Some("/home/a b"));
    let text = text(System::Linux, &odd);
    let wanted = r#"ExecStart="/opt/my apps/100%%/$$x\"y/evermoor" serve --takeover --background --home "/home/a b""#;
    assert!(text.contains(wanted), "{text}");
    let text = super::text(System::MacOs, &service("/Applications/R&D <1>/evermoor", None));
    assert!(text.contains("<string>/Applications/R&amp;D &lt;1&gt;/evermoor</string>"));
    let windows = super::text(System::Windows, &service(r"C:\My Apps\evermoor.exe", None));
    let wanted = "<Arguments>--headless &quot;C:\\My Apps\\evermoor.exe&quot; serve --takeover --background</Arguments>";
    assert!(windows.contains(wanted), "{windows}");
}

#[test]
fn windows_gets_a_task_of_one_user_that_restarts_after_a_failure() {
    let service = service(r"C:\evermoor.exe", Some(r"C:\a & b"));
    let text = text(System::Windows, &service);
    assert_eq!(text.matches(r"<UserId>DESK\a &amp; b</UserId>").count(), 2, "{text}");
    for wanted in [
        "<LogonTrigger>",
        "<RunLevel>LeastPrivilege</RunLevel>",
        "<RestartOnFailure>",
        "<ExecutionTimeLimit>PT0S</ExecutionTimeLimit>",
        r"--home &quot;C:\a &amp; b&quot;</Arguments>",
    ] {
        assert!(text.contains(wanted), "{wanted} in {text}");
    }
    let written = bytes(System::Windows, &service);
    let units: Vec<u16> =
        written.chunks_exact(2).map(|two| u16::from_le_bytes([two[0], two[1]])).collect();
    let read = String::from_utf16(&units).unwrap();
    assert_eq!(read.strip_prefix('\u{feff}').unwrap().replace("\r\n", "\n"), text);
}

#[test]
fn launchd_gets_a_property_list() {
    let text = text(System::MacOs, &service("/usr/local/bin/evermoor", Some("/tmp/e")));
    assert_eq!(
        text,
        r#"<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>dev.evermoor.gateway</string>
	<key>AssociatedBundleIdentifiers</key>
	<string>dev.evermoor.app</string>
	<key>ProgramArguments</key>
	<array>
		<string>/usr/local/bin/evermoor</string>
		<string>serve</string>
		<string>--takeover</string>
		<string>--background</string>
		<string>--home</string>
		<string>/tmp/e</string>
	</array>
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
	<string>/Users/a/Library/Logs/Evermoor/gateway.out</string>
	<key>StandardErrorPath</key>
	<string>/Users/a/Library/Logs/Evermoor/gateway.out</string>
</dict>
</plist>
"#
    );
}

#[test]
fn launchd_opens_the_socket_of_the_gateway() {
    let with = |address: &str| {
        let address = Some(address.parse().unwrap());
        text(System::MacOs, &Service { address, ..service("/usr/local/bin/evermoor", None) })
    };
    let wanted = "\t<key>Sockets</key>
\t<dict>
\t\t<key>Listener</key>
\t\t<dict>
\t\t\t<key>SockNodeName</key>
\t\t\t<string>127.0.0.1</string>
\t\t\t<key>SockServiceName</key>
\t\t\t<string>7420</string>
\t\t\t<key>SockFamily</key>
\t\t\t<string>IPv4</string>
\t\t\t<key>SockType</key>
\t\t\t<string>stream</string>
\t\t</dict>
\t</dict>
";
    assert!(with("127.0.0.1:7420").contains(wanted), "{}", with("127.0.0.1:7420"));
    assert!(with("[::1]:7420").contains("<string>::1</string>"));
    assert!(with("[::1]:7420").contains("<string>IPv6</string>"));
}

#[test]
fn a_gateway_that_the_user_stopped_is_not_started_by_a_connection() {
    let release = |system| steps(system, ManagerAction::Release, 501, None);
    let [step] = &release(System::MacOs)[..] else { panic!("one command") };
    assert_eq!(step.args, ["bootout", "gui/501/dev.evermoor.gateway"]);
    assert!(release(System::Linux).is_empty() && release(System::Windows).is_empty());
}

#[test]
fn each_service_manager_gets_its_own_commands() {
    let commands = |system, act| -> Vec<String> {
        let file = path(system, |name| (name == "HOME").then(|| "/h".into()));
        let steps = steps(system, act, 501, file.as_deref());
        let line = |step: &ManagerCommand| format!("{} {}", step.program, step.args.join(" "));
        // A path that is joined on Windows has backslashes.
        let line = |step| match system {
            System::MacOs | System::Linux => line(step).replace('\\', "/"),
            System::Windows => line(step),
        };
        steps.iter().map(line).collect()
    };
    assert_eq!(
        commands(System::MacOs, ManagerAction::Install),
        [
            "launchctl bootout gui/501/dev.evermoor.gateway",
            "launchctl enable gui/501/dev.evermoor.gateway",
            "launchctl bootstrap gui/501 /h/Library/LaunchAgents/dev.evermoor.gateway.plist"
        ]
    );
    assert_eq!(
        commands(System::Linux, ManagerAction::Install),
        [
            "systemctl --user daemon-reload",
            "systemctl --user enable evermoor.service",
            "systemctl --user restart evermoor.service"
        ]
    );
    assert_eq!(
        commands(System::Linux, ManagerAction::Uninstall),
        ["systemctl --user disable --now evermoor.service"]
    );
    assert_eq!(
        commands(System::Windows, ManagerAction::Uninstall),
        [
            "schtasks /End /TN Evermoor Gateway",
            r"reg delete HKCU\Software\Microsoft\Windows\CurrentVersion\Run /v Evermoor Gateway /f",
            "schtasks /Delete /TN Evermoor Gateway /F"
        ]
    );
}

#[test]
fn the_definition_is_where_the_service_manager_looks() {
    let on = |system, variables: &[(&str, &str)]| {
        let found = path(system, |name| {
            variables.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into())
        });
        found.map(|path| path.to_string_lossy().replace('\\', "/"))
    };
    let home = ("HOME", "/h");
    assert_eq!(
        on(System::Linux, &[home]).as_deref(),
        Some("/h/.config/systemd/user/evermoor.service")
    );
    assert_eq!(
        on(System::Linux, &[home, ("XDG_CONFIG_HOME", "/c")]).as_deref(),
        Some("/c/systemd/user/evermoor.service")
    );
    assert_eq!((on(System::Windows, &[home]), on(System::MacOs, &[])), (None, None));
    let windows = on(System::Windows, &[("LOCALAPPDATA", "C:/U/a/L")]);
    assert_eq!(windows.as_deref(), Some("C:/U/a/L/Evermoor/service.xml"));
}

/// Checks the unit with systemd-analyze, if it is installed.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn systemd_accepts_the_unit() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(UNIT);
    let program = std::env::current_exe().unwrap();
    std::fs::write(&file, text(System::Linux, &service(&program.to_string_lossy(), None))).unwrap();
    let args = ["--user", "verify", &file.to_string_lossy()].map(str::to_owned);
    let within = std::time::Duration::from_secs(20);
    let Some(result) = crate::process::run::output("systemd-analyze", &args, within).await else {
        return;
    };
    // It also reports problems of other units.
    let ours: Vec<&str> = result.stderr.lines().filter(|line| line.contains(UNIT)).collect();
    assert!(ours.is_empty(), "{ours:?}");
}

/// Checks the property list with plutil.
#[cfg(target_os = "macos")]
#[tokio::test]
async fn macos_accepts_the_property_list() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.plist");
    std::fs::write(&file, text(System::MacOs, &service("/usr/bin/true", None))).unwrap();
    let args = ["-lint".to_owned(), file.to_string_lossy().into_owned()];
    let within = std::time::Duration::from_secs(20);
    let result = crate::process::run::output("plutil", &args, within).await.unwrap();
    assert!(result.success, "{result:?}");
}
