//! Login items of all three systems.

use super::*;

const ALL: [System; 3] = [System::MacOs, System::Linux, System::Windows];

fn item(program: &str) -> LoginProgram<'_> {
    LoginProgram { program: Path::new(program), arguments: &["--hidden"] }
}

fn line(entry: &str, key: &str) -> String {
    entry.lines().find_map(|line| line.strip_prefix(key)).unwrap().to_owned()
}

#[test]
fn a_path_with_spaces_stays_one_word() {
    let item = item("/opt/my apps/evermoor-tray");
    let entry = item.text(System::Linux);
    assert_eq!(line(&entry, "Exec="), r#""/opt/my apps/evermoor-tray" --hidden"#);
    assert_eq!(item.text(System::Windows), r#""/opt/my apps/evermoor-tray" --hidden"#);
    assert!(item.text(System::MacOs).contains("<string>/opt/my apps/evermoor-tray</string>"));
}

#[test]
fn special_characters_are_escaped() {
    let linux = item("/a$b\"c`d%e\\f").text(System::Linux);
    assert_eq!(line(&linux, "Exec="), r#""/a\\$b\\"c\\`d%%e\\\\f" --hidden"#);
    assert!(item("/R&D/<x>").text(System::MacOs).contains("<string>/R&amp;D/&lt;x&gt;</string>"));
}

#[test]
fn an_entry_is_enabled_until_the_system_settings_disable_it() {
    for system in ALL {
        assert!(is_enabled(system, &item("/usr/bin/evermoor-tray").text(system)), "{system:?}");
    }
    let linux = item("/x").text(System::Linux);
    assert!(!is_enabled(System::Linux, &format!("{linux}Hidden=true\n")));
    let off = linux.replace("enabled=true", "enabled=false");
    assert!(!is_enabled(System::Linux, &off));
    let mac = item("/x").text(System::MacOs);
    let off = mac.replace("<dict>", "<dict>\n  <key>Disabled</key>\n  <true/>");
    assert!(!is_enabled(System::MacOs, &off));
}

#[test]
fn an_entry_of_a_program_that_moved_is_recognized() {
    for system in ALL {
        let entry = item("/opt/a & b/evermoor-tray").text(system);
        assert!(item("/opt/a & b/evermoor-tray").is_started_by(system, &entry), "{system:?}");
        assert!(!item("/opt/a & b/evermoor").is_started_by(system, &entry), "{system:?}");
        assert!(!item("/usr/bin/evermoor-tray").is_started_by(system, &entry), "{system:?}");
    }
}

#[test]
fn the_program_of_an_entry_is_parsed_for_any_path() {
    for program in ["/usr/bin/evermoor-tray", "/opt/my apps/R&D <1>/x", "/a$b`d%e/f", r"/a\b"] {
        for system in ALL {
            let entry = item(program).text(system);
            let found = program_of(system, &entry);
            assert_eq!(found.as_deref(), Some(Path::new(program)), "{system:?}: {entry}");
        }
    }
    let plain = "[Desktop Entry]\nExec=evermoor-tray --hidden\n";
    assert_eq!(program_of(System::Linux, plain).as_deref(), Some(Path::new("evermoor-tray")));
    assert_eq!(program_of(System::Linux, "[Desktop Entry]\n"), None);
}

#[test]
fn each_system_has_its_own_path() {
    let at = |system, pairs: &[(&str, &str)]| {
        let found = entry_path(system, |name| {
            pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value))
        });
        found.map(|path| path.to_string_lossy().replace('\\', "/"))
    };
    let home = ("HOME", "/home/a");
    let linux = at(System::Linux, &[home]);
    assert_eq!(linux.as_deref(), Some("/home/a/.config/autostart/Evermoor.desktop"));
    let moved = at(System::Linux, &[home, ("XDG_CONFIG_HOME", "/cfg")]);
    assert_eq!(moved.as_deref(), Some("/cfg/autostart/Evermoor.desktop"));
    let mac = at(System::MacOs, &[home]);
    assert_eq!(mac.as_deref(), Some("/home/a/Library/LaunchAgents/Evermoor.plist"));
    assert_eq!(at(System::Windows, &[home]), None);
    assert_eq!(at(System::Linux, &[]), None);
}

/// Checks the property list with plutil, and that the system can be asked about it.
#[cfg(target_os = "macos")]
#[tokio::test]
async fn macos_accepts_the_login_item() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("Evermoor.plist");
    let item = LoginProgram { program: Path::new("/usr/bin/true"), arguments: &["--hidden"] };
    std::fs::write(&file, item.text(System::MacOs)).unwrap();
    let args = ["-lint", file.to_str().unwrap()];
    let within = std::time::Duration::from_secs(20);
    let result = crate::process::run::output("plutil", &args, within).await.unwrap();
    assert!(result.success, "{result:?}");
    assert!(approval::approval(&file).permits(true), "nobody has turned it off");
}
