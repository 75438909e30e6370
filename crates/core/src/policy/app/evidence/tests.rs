//! Sample reports in the documented formats, and the causes that follow from them.

use super::*;
use proptest::prelude::*;

const CRASH: &str = r#"{"app_name":"Pieces OS","timestamp":"2026-08-22 00:14:53.00 +0300","app_version":"12.3.10","bundleID":"com.pieces.os","bug_type":"309","os_version":"macOS 15.5 (24F74)","incident_id":"13917FF0","name":"Pieces OS","platform":1}
{
  "uptime" : 420000, "procRole" : "Background", "version" : 2, "pid" : 812, "unheard" : {"of": [1]},
  "procName" : "Pieces OS", "procPath" : "\/Applications\/Pieces OS.app\/Contents\/MacOS\/Pieces OS",
  "bundleInfo" : {"CFBundleShortVersionString":"12.3.10","CFBundleIdentifier":"com.pieces.os"},
  "captureTime" : "2026-08-22 00:14:52.1234 +0300", "procLaunch" : "2026-08-19 09:00:00.0000 +0300",
  "exception" : {"codes":"0x0, 0x0","rawCodes":[0,0],"type":"EXC_CRASH","signal":"SIGABRT"},
  "termination" : {"flags":0,"code":6,"namespace":"SIGNAL","indicator":"Abort trap: 6","byProc":"Pieces OS","byPid":812},
  "asi" : {"libsystem_c.dylib":["abort() called"], "x.dylib":["cannot read /Users/jo/notes"]},
  "faultingThread" : 1,
  "threads" : [{"id":1,"frames":[]},{"triggered":true,"id":2,"frames":[
    {"imageOffset":38280,"symbol":"__pthread_kill","symbolLocation":8,"imageIndex":0},
    {"imageOffset":125104,"imageIndex":1}, {"imageOffset":1}]}],
  "usedImages" : [{"name":"libsystem_kernel.dylib"},{"path":"/x","name":"Pieces OS"}]
}"#;

const JETSAM: &str = r#"{"bug_type":"298","timestamp":"2026-08-22 10:00:00.00 +0000","os_version":"macOS 15.5"}
{"largestProcess":"Pieces OS","processes":[{"name":"launchd","pid":1,"rpages":9},
 {"name":"Pieces OS","pid":812,"rpages":170000,"reason":"per-process-limit","states":["frontmost"]}]}"#;

const JOURNAL: &str = r##"{"MESSAGE_ID":"fc2e22bc6ee647b6b90729ab34a250b1","COREDUMP_PID":"812","COREDUMP_SIGNAL":"6","COREDUMP_SIGNAL_NAME":"SIGABRT","COREDUMP_COMM":"os_server","COREDUMP_EXE":"/snap/pieces-os/x1/os_server","COREDUMP_TIMESTAMP":"1790000000000000","__REALTIME_TIMESTAMP":"1790000002000000","MESSAGE":"Process 812 (os_server) of user 1000 dumped core.\n\nStack trace of thread 812:\n#0  0x00007f21 abort (/home/jo/libc.so.6 + 0x2587)\n#1  0x0000563a n/a (os_server + 0x1a2b)"}
not json at all
{"_TRANSPORT":"kernel","__REALTIME_TIMESTAMP":"1790000001000000","MESSAGE":"Out of memory: Killed process 900 (os_server) total-vm:4100000kB, anon-rss:3000000kB"}
{"_TRANSPORT":"kernel","__REALTIME_TIMESTAMP":"1790000001000000","MESSAGE":"usb 1-1: new device"}
{"MESSAGE":[80,105]}"##;

const COREDUMPS: &str = r#"[{"time":1790000000000000,"pid":812,"uid":1000,"gid":1000,"sig":6,"corefile":"present","exe":"/snap/pieces-os/x1/os_server","size":1000},{"pid":1}]"#;

const INFO: &str = "           PID: 812 (os_server)\n           UID: 1000 (jo)\n        Signal: 11 (SEGV)\n     \
     Timestamp: Sat 2026-08-22 10:00:00 CEST (5min ago)\n    Executable: /home/jo/os_server\n       \
     Message: Process 812 (os_server) of user 1000 dumped core.\n                \n                \
     Stack trace of thread 812:\n                #0  0x00007f21 raise (/home/jo/libc.so.6 + 0x2587)\n";

const WER: &str = "Version=1\r\nEventType=APPCRASH\r\nEventTime=133721760000000000\r\nReportType=2\r\n\
     Sig[0].Name=Application Name\r\nSig[0].Value=Pieces OS.exe\r\nSig[1].Name=Application Version\r\n\
     Sig[1].Value=12.3.10.0\r\nSig[3].Name=Fault Module Name\r\nSig[3].Value=ntdll.dll\r\n\
     Sig[6].Name=Exception Code\r\nSig[6].Value=c0000005\r\nAppPath=C:\\Users\\jo\\Pieces OS.exe\r\n";

fn wide(text: &str) -> Vec<u8> {
    [0xff, 0xfe].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect()
}

fn at(text: &str) -> SystemTime {
    humantime::parse_rfc3339(text).unwrap()
}

#[test]
fn both_parts_of_a_macos_crash_report_are_read() {
    let report = ips(CRASH).pop().unwrap();
    assert_eq!((report.kind, report.pid), (ReportKind::Crash, Some(812)));
    assert_eq!(report.how, "EXC_CRASH (SIGABRT)");
    assert_eq!(report.process.as_deref(), Some("Pieces OS"));
    assert_eq!(report.bundle.as_deref(), Some("com.pieces.os"));
    assert_eq!(report.version.as_deref(), Some("12.3.10"));
    assert_eq!(report.at, Some(at("2026-08-21T21:14:52Z")));
    insta::assert_snapshot!(report.top.join("\n"), @r"
    Exception: EXC_CRASH (SIGABRT)
    Termination: SIGNAL 6, Abort trap: 6
    libsystem_c.dylib: abort() called
    0  libsystem_kernel.dylib  __pthread_kill + 8
    1  Pieces OS  0x1e8b0
    2  ???  0x1
    ");
}

#[test]
fn a_truncated_crash_report_still_says_that_something_crashed() {
    let (head, _) = CRASH.split_once('\n').unwrap();
    let report = ips(&CRASH[..head.len() + 200]).pop().unwrap();
    assert_eq!(report.kind, ReportKind::Crash);
    assert_eq!(report.process.as_deref(), Some("Pieces OS"));
    assert_eq!(report.pid, None);
    assert_eq!(report.at, Some(at("2026-08-21T21:14:53Z")));
    assert_eq!(ips("{\"bug_type\":\"211\"}\n{}"), []);
    assert_eq!(ips(""), []);
}

#[test]
fn only_the_process_that_macos_killed_for_memory_is_reported() {
    let reports = ips(JETSAM);
    assert_eq!(reports.len(), 1);
    assert_eq!((reports[0].kind, reports[0].pid), (ReportKind::OutOfMemory, Some(812)));
    assert_eq!(reports[0].how, "per-process-limit");
}

#[test]
fn the_journal_has_core_dumps_and_kernel_kills() {
    let reports = journal(JOURNAL);
    assert_eq!(reports.len(), 2);
    assert_eq!((reports[0].kind, reports[0].how.as_str()), (ReportKind::Crash, "SIGABRT"));
    assert_eq!(
        reports[0].top,
        [
            "Signal: SIGABRT",
            "#0 0x00007f21 abort (libc.so.6 + 0x2587)",
            "#1 0x0000563a n/a (os_server + 0x1a2b)"
        ]
    );
    assert_eq!((reports[1].kind, reports[1].pid), (ReportKind::OutOfMemory, Some(900)));
    assert_eq!(reports[1].process.as_deref(), Some("os_server"));
}

#[test]
fn both_formats_of_coredumpctl_are_read() {
    let reports = coredumps(COREDUMPS);
    assert_eq!(reports.len(), 1);
    assert_eq!((reports[0].pid, reports[0].how.as_str()), (Some(812), "SIGABRT"));
    assert_eq!(coredumps("No coredumps found."), []);
    let report = coredump_info(INFO).unwrap();
    assert_eq!((report.pid, report.how.as_str()), (Some(812), "SIGSEGV"));
    assert_eq!(report.top[1], "#0 0x00007f21 raise (libc.so.6 + 0x2587)");
    assert_eq!(coredump_info("nothing"), None);
}

#[test]
fn values_of_windows_error_reporting_are_found_by_name() {
    for bytes in [wide(WER), WER.as_bytes().to_vec()] {
        let report = wer(&bytes).unwrap();
        assert_eq!(
            (report.kind, report.how.as_str()),
            (ReportKind::Crash, "exception 0xC0000005 in ntdll.dll")
        );
        assert_eq!(report.process.as_deref(), Some("Pieces OS.exe"));
        assert_eq!(report.at, Some(at("2024-09-30T13:20:00Z")));
        assert!(!report.top.join("\n").contains("jo"), "{:?}", report.top);
    }
    let hang = WER.replace("APPCRASH", "AppHangB1");
    assert_eq!(wer(&wide(&hang)).unwrap().kind, ReportKind::Hang);
    assert_eq!(wer(&wide(&WER.replace("APPCRASH", "WindowsUpdateFailure"))), None);
    assert_eq!(wer(&[0xff]), None);
}

#[test]
fn only_files_that_may_be_about_the_app_are_read() {
    let names = NAMES.map(str::to_owned);
    let wanted = |os, file| is_report(os, &names, file);
    assert!(wanted(Os::MacOs, "Pieces OS-2026-08-22-001453.ips"));
    assert!(wanted(Os::MacOs, "JetsamEvent-2026-08-22-001453.ips"));
    assert!(!wanted(Os::MacOs, "Pieces OS Helper-2026-08-22-001453.ips"));
    assert!(!wanted(Os::MacOs, "Pieces OS-2026-08-22-001453.txt"));
    assert!(wanted(Os::Windows, "AppCrash_Pieces OS.exe_cf919d50_140e09f3"));
    assert!(!wanted(Os::Windows, "Kernel_0_0"));
    assert_eq!(read(Os::MacOs, CRASH.as_bytes()).len(), 1);
    assert_eq!(read(Os::Windows, &wide(WER)).len(), 1);
    assert_eq!(read(Os::Linux, CRASH.as_bytes()), []);
}

const NAMES: [&str; 2] = ["os_server", "Pieces OS"];

fn verdict(
    os: Os,
    exit: Option<ExitStatus>,
    reports: &[CrashReport],
    change: impl Fn(&mut ExitEvidence<'_>),
) -> ExitDiagnosis {
    let names = NAMES.map(str::to_owned);
    let mut ending = ExitEvidence {
        os,
        pid: 812,
        names: &names,
        at: SystemTime::UNIX_EPOCH + Duration::from_secs(1_790_000_003),
        exit,
        reports,
        would_be_reported: false,
        asked: false,
        hung: false,
    };
    change(&mut ending);
    diagnose(&ending)
}

#[test]
fn a_crash_report_decides() {
    let verdict = verdict(Os::Linux, Some(ExitStatus::Code(0)), &journal(JOURNAL), |_| {});
    assert_eq!(verdict.cause, ExitCause::Crashed { how: "SIGABRT".into() });
    assert_eq!(verdict.top[0], "Signal: SIGABRT");
}

#[test]
fn a_report_about_another_process_or_another_day_decides_nothing() {
    let reports = journal(JOURNAL);
    let other = verdict(Os::Linux, None, &reports, |ending| ending.pid = 813);
    assert_eq!(other.cause, ExitCause::Unknown);
    let late =
        verdict(Os::Linux, None, &reports, |ending| ending.at += Duration::from_secs(86_400));
    assert_eq!(late.cause, ExitCause::Unknown);
}

#[test]
fn a_crash_a_quit_a_hang_and_an_out_of_memory_kill_are_distinguished() {
    let end = |exit| verdict(Os::Linux, exit, &[], |_| {}).cause;
    assert_eq!(end(Some(ExitStatus::Signal(6))), ExitCause::Crashed { how: "SIGABRT".into() });
    assert_eq!(end(Some(ExitStatus::Signal(11))), ExitCause::Crashed { how: "SIGSEGV".into() });
    assert_eq!(
        end(Some(ExitStatus::Code(255))),
        ExitCause::Crashed { how: "exit code 255".into() }
    );
    assert_eq!(end(Some(ExitStatus::Code(0))), ExitCause::Quit);
    assert_eq!(end(Some(ExitStatus::Signal(15))), ExitCause::Quit);
    let hung = verdict(Os::Linux, Some(ExitStatus::Signal(9)), &[], |ending| ending.hung = true);
    assert_eq!(hung.cause, ExitCause::Hung);
    let memory = verdict(Os::Linux, Some(ExitStatus::Signal(9)), &journal(JOURNAL), |ending| {
        ending.pid = 900
    });
    assert_eq!(memory.cause, ExitCause::OutOfMemory);
}

#[test]
fn inconclusive_evidence_means_an_unknown_cause() {
    let nothing = verdict(Os::Linux, None, &[], |_| {});
    assert_eq!(nothing.cause, ExitCause::Unknown);
    assert_eq!(nothing.evidence.len(), 1);
    assert_eq!(
        verdict(Os::Linux, Some(ExitStatus::Signal(9)), &[], |_| {}).cause,
        ExitCause::Unknown
    );
    assert_eq!(
        verdict(Os::Windows, Some(ExitStatus::Code(1)), &[], |_| {}).cause,
        ExitCause::Unknown
    );
    let quiet = verdict(Os::MacOs, None, &[], |ending| ending.would_be_reported = true);
    assert_eq!(
        quiet.cause,
        ExitCause::Quit,
        "where crashes are reported, no report means no crash"
    );
    let asked = verdict(Os::MacOs, None, &[], |ending| ending.asked = true);
    assert_eq!(asked.cause, ExitCause::Quit);
}

#[test]
fn windows_reports_a_crash_in_the_exit_code() {
    let end = |code: u32| {
        verdict(Os::Windows, Some(ExitStatus::Code(code.cast_signed())), &[], |_| {}).cause
    };
    assert_eq!(end(0xC000_0005), ExitCause::Crashed { how: "exception 0xC0000005".into() });
    assert_eq!(end(0xC000_013A), ExitCause::Quit);
}

proptest! {
    #[test]
    fn no_input_makes_the_parsers_panic(text in ".{0,200}", bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let cut = CRASH.char_indices().map(|(index, _)| index).nth(text.len() * 7).unwrap_or(CRASH.len());
        for text in [text.as_str(), &CRASH[..cut], &format!("{}{text}", &CRASH[..cut])] {
            let _ = (ips(text), journal(text), coredumps(text), coredump_info(text));
        }
        let _ = (wer(&bytes), wer(&wide(&text)));
    }

    #[test]
    fn every_verdict_has_evidence_and_a_crash_needs_an_exit_status(
        code in any::<i32>(), signal in 1_i32..40, status in 0_u8..3,
        asked in any::<bool>(), hung in any::<bool>(), would in any::<bool>(),
    ) {
        let exit = match status { 0 => None, 1 => Some(ExitStatus::Code(code)), _ => Some(ExitStatus::Signal(signal)) };
        for os in [Os::MacOs, Os::Linux, Os::Windows] {
            let verdict = verdict(os, exit, &[], |ending| {
                (ending.asked, ending.hung, ending.would_be_reported) = (asked, hung, would);
            });
            prop_assert!(!verdict.evidence.is_empty());
            prop_assert!(!verdict.cause.is_crash() || exit.is_some());
        }
    }
}

#[test]
fn a_time_zone_that_does_not_exist_is_no_time() {
    assert!(apple_time("2026-08-22 00:14:53.00 +0300").is_some());
    for zone in ["-3333333000000000000000", "+9999999999", "+03999999999999999999", "+0"] {
        assert_eq!(apple_time(&format!("2026-08-22 00:14:53.00 {zone}")), None, "{zone}");
    }
}
