//! The task for the Windows Task Scheduler.
//!
//! A user can create a logon task for themselves without an administrator. `conhost --headless` runs a
//! console program without a window.

use crate::startup::service::Service;
use crate::startup::xml::escaped;

/// A task that starts at logon, has no time limit and restarts after a failure.
pub(super) fn text(service: &Service, words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| quote_for_windows(word)).collect();
    let arguments = escaped(&format!("--headless {}", words.join(" ")));
    let account = escaped(&service.account);
    format!(
        r#"<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>Evermoor, one local endpoint for every MCP server</Description>
  </RegistrationInfo>
  <Triggers>
    <LogonTrigger>
      <UserId>{account}</UserId>
    </LogonTrigger>
  </Triggers>
  <Principals>
    <Principal id="Author">
      <UserId>{account}</UserId>
      <LogonType>InteractiveToken</LogonType>
      <RunLevel>LeastPrivilege</RunLevel>
    </Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <Priority>5</Priority>
    <RestartOnFailure>
      <Interval>PT1M</Interval>
      <Count>255</Count>
    </RestartOnFailure>
  </Settings>
  <Actions Context="Author">
    <Exec>
      <Command>conhost.exe</Command>
      <Arguments>{arguments}</Arguments>
    </Exec>
  </Actions>
</Task>
"#
    )
}

/// Quotes a word of a command line for Windows. Paths there contain no quotes.
fn quote_for_windows(word: &str) -> String {
    if word.contains([' ', '\t']) { format!("\"{word}\"") } else { word.to_owned() }
}

/// UTF-16 with a byte order mark, as the Task Scheduler itself writes tasks.
pub(super) fn encoded(text: &str) -> Vec<u8> {
    let text = text.replace('\n', "\r\n");
    std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
}
