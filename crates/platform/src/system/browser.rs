//! Opens a page in the user's browser, without a shell.

use crate::system::System;

/// Opens `url`. Returns whether the system accepted it.
pub async fn open_in_browser(url: &str) -> bool {
    let Some((program, args)) = command_line(System::HERE, url) else {
        return false;
    };
    let status = crate::process::spawn::command(program).args(args).status();
    let status = tokio::time::timeout(std::time::Duration::from_secs(5), status).await;
    matches!(status, Ok(Ok(status)) if status.success())
}

/// Accepts only http and https URLs, each passed as a single argument.
fn command_line(system: System, url: &str) -> Option<(&'static str, Vec<&str>)> {
    let web = url.starts_with("http://") || url.starts_with("https://");
    if !web || url.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return None;
    }
    Some(match system {
        System::MacOs => ("open", vec![url]),
        System::Linux => ("xdg-open", vec![url]),
        System::Windows => ("rundll32", vec!["url.dll,FileProtocolHandler", url]),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_system_has_its_own_command() {
        for (system, program) in
            [(System::MacOs, "open"), (System::Linux, "xdg-open"), (System::Windows, "rundll32")]
        {
            let (found, args) = command_line(system, "http://127.0.0.1:7420/#code=x").unwrap();
            assert_eq!((found, *args.last().unwrap()), (program, "http://127.0.0.1:7420/#code=x"));
        }
    }

    #[test]
    fn only_web_pages_are_opened() {
        for bad in
            ["file:///etc/passwd", "javascript:alert(1)", "-flag", "http://x/\n", "http://x/ y"]
        {
            assert_eq!(command_line(System::Linux, bad), None, "{bad}");
        }
    }
}
