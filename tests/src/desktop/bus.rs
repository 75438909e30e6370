//! A session bus that activates no services: no keyring, no settings service, no portal.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use super::program::DesktopProgram;

pub(crate) struct PrivateBus {
    address: String,
    _daemon: DesktopProgram,
}

impl PrivateBus {
    pub(crate) async fn start(home: &Path) -> Self {
        let settings = home.join("bus.xml");
        fs::write(&settings, configuration(&home.join("run"))).expect("the bus can be configured");
        let mut daemon = DesktopProgram::start(Path::new("dbus-daemon"), |command| {
            command.arg("--config-file").arg(settings).args(["--nofork", "--print-address=1"]);
            command.stdout(Stdio::piped()).stderr(Stdio::null());
        });
        let address = daemon.first_line().await;
        Self { address, _daemon: daemon }
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }
}

fn configuration(folder: &Path) -> String {
    let folder = folder.display();
    format!(
        r#"<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-PrivateBus PrivateBus Configuration 1.0//EN"
  "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:dir={folder}</listen>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
"#
    )
}
