//! What breaks: one upstream or its network at a time, for a moment, and then it works again.

use std::time::Duration;

use evermoor_tests::fakes::program::Program;
use evermoor_tests::fakes::single_version::upstream::SingleVersionUpstream;
use evermoor_tests::fakes::upstream::Upstream;
use evermoor_tests::network::proxy::Proxy;
use evermoor_tests::oracle::faults::InjectedFault;
use evermoor_tests::oracle::random::Dice;
use tokio::time::sleep;

/// Longer than a call is held.
const TOO_LONG: Duration = Duration::from_millis(2_500);

/// An upstream that can be broken.
pub(crate) enum Breakable {
    /// Every fault, of the server and of its network.
    Scripted(Upstream, Proxy),
    /// Killed and started again.
    SingleVersionUpstream(SingleVersionUpstream),
    /// Killed; the gateway starts it again.
    Program(Program),
}

impl Breakable {
    /// Breaks it in a random way. It works again at the end, after a short rest.
    pub(crate) async fn break_once(&mut self, dice: &mut Dice) {
        let (lasts, rest) = (dice.millis(20, 400), dice.millis(5, 200));
        match self {
            Self::Scripted(upstream, network) => {
                let fault = dice.pick(&InjectedFault::all());
                fault.inject(upstream, network, dice, TOO_LONG).await;
            }
            Self::SingleVersionUpstream(upstream) => {
                upstream.kill().await;
                sleep(lasts).await;
                upstream.start_again().await;
            }
            Self::Program(program) => {
                let newest = program.instance(program.starts().max(1)).await;
                kill(newest);
                sleep(lasts).await;
            }
        }
        sleep(rest).await;
    }
}

#[cfg(unix)]
fn kill(pid: u32) {
    let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    if let Some(pid) = pid {
        // It may have exited already.
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
}

/// Without a signal, the program is left alone.
#[cfg(windows)]
fn kill(_pid: u32) {}
