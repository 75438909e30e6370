//! What Windows is told about a toast and about the application that shows it. Pure functions.

use std::path::Path;

use evermoor_core::policy::alerts::Alert;

/// The id under which the application is registered. The installer's shortcut has the same one.
pub(super) const APPLICATION: &str = "dev.evermoor.app";

/// The key of the registry, below that of the user, in which Windows looks for the application.
pub(super) fn registration_key() -> String {
    format!(r"Software\Classes\AppUserModelId\{APPLICATION}")
}

/// The values of that key: the name and the picture that a toast shows.
pub(super) fn registration(icon: &Path) -> [(&'static str, String); 2] {
    [("DisplayName", "Evermoor".to_owned()), ("IconUri", icon.to_string_lossy().into_owned())]
}

/// The toast's XML.
pub(super) fn xml(alert: &Alert) -> String {
    let buttons = alert.buttons.iter().map(|button| {
        format!("<action content=\"{}\" arguments=\"{}\"/>", button.label(), button.key())
    });
    let buttons: String = buttons.collect();
    let sound = if alert.quiet { "<audio silent=\"true\"/>" } else { "" };
    format!(
        "<toast><visual><binding template=\"ToastGeneric\"><text>{}</text><text>{}</text></binding>\
         </visual><actions>{buttons}</actions>{sound}</toast>",
        escaped(&alert.title),
        escaped(&alert.body),
    )
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use evermoor_core::policy::alerts::{AlertButton, AlertTarget};

    fn alert(quiet: bool) -> Alert {
        Alert {
            title: "\"notes\" <is> down".to_owned(),
            body: "R&D".to_owned(),
            buttons: vec![AlertButton::Restart, AlertButton::IgnoreForToday],
            about: Vec::new(),
            target: AlertTarget::Overview,
            quiet,
        }
    }

    #[test]
    fn a_toast_has_texts_and_buttons() {
        assert_eq!(
            xml(&alert(false)),
            "<toast><visual><binding template=\"ToastGeneric\">\
             <text>&quot;notes&quot; &lt;is&gt; down</text><text>R&amp;D</text></binding></visual>\
             <actions><action content=\"Restart\" arguments=\"restart\"/>\
             <action content=\"Ignore for today\" arguments=\"ignore\"/></actions></toast>"
        );
    }

    #[test]
    fn a_quiet_toast_makes_no_sound() {
        assert!(xml(&alert(true)).contains("<audio silent=\"true\"/>"));
    }

    #[test]
    fn the_application_is_registered_under_the_id_of_the_package() {
        let settings = include_str!("../../../tauri.conf.json");
        let settings: serde_json::Value = serde_json::from_str(settings).unwrap();
        assert_eq!(settings["identifier"], APPLICATION);
        assert_eq!(registration_key(), r"Software\Classes\AppUserModelId\dev.evermoor.app");
        let [name, icon] = registration(Path::new(r"C:\Users\a\icon.png"));
        assert_eq!(name, ("DisplayName", settings["productName"].as_str().unwrap().to_owned()));
        assert_eq!(icon, ("IconUri", r"C:\Users\a\icon.png".to_owned()));
    }
}
