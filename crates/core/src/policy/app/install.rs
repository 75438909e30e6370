//! Where an app may be installed, and how it can be launched.
//!
//! This decides which paths to look for; the caller checks whether they exist. The rules of every
//! operating system can be tested on any of them.

use crate::preset::{Os, PlatformSpec};

/// How an app is installed, which determines how it is launched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LaunchMethod {
    /// macOS: an app by its bundle id, wherever it is installed.
    Bundle(String),
    /// macOS: an app by its path.
    App(String),
    Snap(String),
    Flatpak(String),
    /// Linux: a desktop file, by its id.
    Desktop(String),
    /// Windows: an app from the Microsoft Store.
    Store(String),
    Program {
        path: String,
        args: Vec<String>,
    },
    /// A URL that starts it. It does not prove that the app is installed.
    Url(String),
}

/// A file or folder whose existence proves that the app is installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstallMarker {
    pub path: String,
    /// How to launch it then; `None` if this proves only that it is installed.
    pub launch_method: Option<LaunchMethod>,
}

/// The paths to look for, the preferred ones first.
pub fn install_markers(
    os: Os,
    on: &PlatformSpec,
    env: impl Fn(&str) -> Option<String>,
) -> Vec<InstallMarker> {
    let set = |name: &str| env(name).filter(|value| !value.is_empty());
    let mut found = match os {
        Os::MacOs => bundles(on, &set),
        Os::Linux => packages(on, &set),
        Os::Windows => Vec::new(),
    };
    for program in &on.programs {
        let paths = match is_bare_name(os, program) {
            true => search(os, program, &set),
            false => os.expand(program, set).into_iter().collect(),
        };
        found.extend(paths.into_iter().map(|path| InstallMarker {
            launch_method: Some(LaunchMethod::Program {
                path: path.clone(),
                args: on.args.clone(),
            }),
            path,
        }));
    }
    let more = on.signs.iter().filter_map(|path| os.expand(path, set));
    found.extend(more.map(|path| InstallMarker { path, launch_method: None }));
    found
}

/// The ways to launch it, the best first. `found` are those whose path exists, and `seen` is the
/// program that was last seen running.
pub fn launch_methods(
    os: Os,
    on: &PlatformSpec,
    found: Vec<LaunchMethod>,
    seen: Option<&str>,
) -> Vec<LaunchMethod> {
    let mut launch_methods = Vec::new();
    let mut add = |launch_method: LaunchMethod| {
        if !launch_methods.contains(&launch_method) {
            launch_methods.push(launch_method);
        }
    };
    // Launch Services may know a bundle in a folder that was not searched.
    if let (Os::MacOs, Some(id)) = (os, &on.bundle) {
        add(LaunchMethod::Bundle(id.clone()));
    }
    found.into_iter().for_each(&mut add);
    if let (Os::Windows, Some(id)) = (os, &on.store) {
        add(LaunchMethod::Store(id.clone()));
    }
    // On macOS a program inside a bundle must not be started directly, and on Linux one inside a
    // snap or flatpak cannot be.
    if let (Os::Windows, Some(path)) = (os, seen) {
        add(LaunchMethod::Program { path: path.to_owned(), args: on.args.clone() });
    }
    if let Some(url) = &on.url {
        add(LaunchMethod::Url(url.clone()));
    }
    launch_methods
}

fn bundles(on: &PlatformSpec, set: &impl Fn(&str) -> Option<String>) -> Vec<InstallMarker> {
    let Some(app) = &on.app else { return Vec::new() };
    let own = set("HOME").map(|home| format!("{}/Applications", home.trim_end_matches('/')));
    let folders = ["/Applications".to_owned()].into_iter().chain(own);
    folders
        .map(|folder| format!("{folder}/{app}"))
        .map(|path| InstallMarker { launch_method: Some(LaunchMethod::App(path.clone())), path })
        .collect()
}

fn packages(on: &PlatformSpec, set: &impl Fn(&str) -> Option<String>) -> Vec<InstallMarker> {
    let home = set("HOME").map(|home| home.trim_end_matches('/').to_owned());
    let own_data = set("XDG_DATA_HOME")
        .filter(|folder| folder.starts_with('/'))
        .or_else(|| home.map(|home| format!("{home}/.local/share")));
    let mut signs = Vec::new();
    let mut add = |path: String, launch_method: LaunchMethod| {
        signs.push(InstallMarker { path, launch_method: Some(launch_method) })
    };
    if let Some(name) = &on.snap {
        for folder in ["/snap/bin", "/var/lib/snapd/snap/bin"] {
            add(format!("{folder}/{name}"), LaunchMethod::Snap(name.clone()));
        }
    }
    if let Some(id) = &on.flatpak {
        let own = own_data.iter().map(|data| format!("{data}/flatpak/app/{id}"));
        for path in [format!("/var/lib/flatpak/app/{id}")].into_iter().chain(own) {
            add(path, LaunchMethod::Flatpak(id.clone()));
        }
    }
    if let Some(id) = &on.desktop {
        let shared =
            set("XDG_DATA_DIRS").unwrap_or_else(|| "/usr/local/share:/usr/share".to_owned());
        let folders = own_data.iter().map(String::as_str).chain(shared.split(':'));
        for folder in folders.filter(|folder| folder.starts_with('/')) {
            let folder = folder.trim_end_matches('/');
            add(format!("{folder}/applications/{id}.desktop"), LaunchMethod::Desktop(id.clone()));
        }
    }
    signs
}

/// Whether a program is a name to look up in `PATH` and not a path.
fn is_bare_name(os: Os, program: &str) -> bool {
    match os {
        Os::MacOs | Os::Linux => !program.contains('/'),
        Os::Windows => !program.contains(['/', '\\']),
    }
}

fn search(os: Os, program: &str, set: &impl Fn(&str) -> Option<String>) -> Vec<String> {
    let (separator, slash) = match os {
        Os::MacOs | Os::Linux => (':', '/'),
        Os::Windows => (';', '\\'),
    };
    let path = set("PATH").unwrap_or_default();
    let folders = path.split(separator).filter(|folder| folder.contains(slash));
    folders.map(|folder| format!("{}{slash}{program}", folder.trim_end_matches(slash))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preset::PresetSet;

    fn env(name: &str) -> Option<String> {
        let value = match name {
            "HOME" => "/home/a",
            "PATH" => "/usr/bin:relative:/bin/",
            "LOCALAPPDATA" => r"C:\L",
            _ => return None,
        };
        Some(value.to_owned())
    }

    fn paths(os: Os, on: &PlatformSpec) -> Vec<String> {
        install_markers(os, on, env).into_iter().map(|sign| sign.path).collect()
    }

    #[test]
    fn pieces_os_is_searched_for_on_each_system() {
        let presets = PresetSet::bundled();
        let pieces = presets.get("pieces-os").unwrap();
        let on = |os| pieces.on(os).unwrap();
        assert_eq!(
            paths(Os::MacOs, on(Os::MacOs)),
            ["/Applications/Pieces OS.app", "/home/a/Applications/Pieces OS.app"]
        );
        assert_eq!(
            paths(Os::Linux, on(Os::Linux)),
            ["/snap/bin/pieces-os", "/var/lib/snapd/snap/bin/pieces-os"]
        );
        assert_eq!(
            paths(Os::Windows, on(Os::Windows)),
            [r"C:\L\Mesh Intelligent Technologies, Inc\Pieces OS"]
        );
    }

    #[test]
    fn linux_looks_for_packages_desktop_files_and_programs_on_the_path() {
        let on = PlatformSpec {
            flatpak: Some("org.x.Y".into()),
            desktop: Some("y".into()),
            programs: vec!["y".into(), "/opt/y/y".into()],
            args: vec!["--quiet".into()],
            ..PlatformSpec::default()
        };
        assert_eq!(
            paths(Os::Linux, &on),
            [
                "/var/lib/flatpak/app/org.x.Y",
                "/home/a/.local/share/flatpak/app/org.x.Y",
                "/home/a/.local/share/applications/y.desktop",
                "/usr/local/share/applications/y.desktop",
                "/usr/share/applications/y.desktop",
                "/usr/bin/y",
                "/bin/y",
                "/opt/y/y",
            ]
        );
        let last = install_markers(Os::Linux, &on, env).pop().unwrap().launch_method;
        let program =
            LaunchMethod::Program { path: "/opt/y/y".into(), args: vec!["--quiet".into()] };
        assert_eq!(last, Some(program));
    }

    #[test]
    fn an_existing_program_comes_first_and_a_url_last() {
        let presets = PresetSet::bundled();
        let pieces = presets.get("pieces-os").unwrap();
        let linux = pieces.on(Os::Linux).unwrap();
        let url = LaunchMethod::Url("pieces://launch".into());
        let snap = LaunchMethod::Snap("pieces-os".into());
        assert_eq!(
            launch_methods(Os::Linux, linux, vec![snap.clone()], Some("/snap/x/os_server")),
            [snap, url.clone()]
        );
        let windows =
            launch_methods(Os::Windows, pieces.on(Os::Windows).unwrap(), vec![], Some(r"C:\p.exe"));
        assert_eq!(windows[0], LaunchMethod::Program { path: r"C:\p.exe".into(), args: vec![] });
        let mac = launch_methods(Os::MacOs, pieces.on(Os::MacOs).unwrap(), vec![], None);
        assert_eq!(mac[0], LaunchMethod::Bundle("com.pieces.os".into()));
        assert_eq!(mac[1], url);
    }
}
