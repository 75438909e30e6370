//! `conformance`: runs MCP's conformance suite directly and through the gateway, and prints the
//! checks that only pass directly.

use evermoor_tests::conformance::{
    Comparison, ConformanceClient, LEFT_OUT, Requirements, ServerVersions, client_scenarios,
    try_client,
};

#[tokio::main]
async fn main() {
    for requirements in [Requirements::Sessions, Requirements::Stateless] {
        for versions in ServerVersions::ALL {
            show(requirements, versions).await;
        }
    }
    say(
        "The suite as the server, a client of the first TypeScript SDK, and Evermoor on its behalf",
    );
    let (mut passed, mut failed) = (0, 0);
    for scenario in client_scenarios().await.iter().filter(|scenario| scenario.is_supported()) {
        // The editor alone signs in nowhere.
        let alone = match scenario.has_sign_in() {
            true => String::new(),
            false => format!(
                "alone {:<24}",
                try_client(ConformanceClient::Editor, scenario).await.count()
            ),
        };
        let through = try_client(ConformanceClient::Evermoor, scenario).await;
        passed += through.passed().count();
        failed += through.failed().count();
        let (name, version, count) = (&scenario.name, &scenario.version, through.count());
        say(&format!("  {version} {name:<42} {alone:<30} through Evermoor {count}"));
        for check in through.failed() {
            say(&format!("    {check}: {}", through.complaint(check)));
        }
    }
    say(&format!("  through Evermoor, {passed} checks pass and {failed} fail"));
    for (scenario, why) in LEFT_OUT {
        say(&format!("  left out: {scenario}: {why}"));
    }
}

async fn show(requirements: Requirements, versions: ServerVersions) {
    let Comparison { direct, through } = Comparison::make(requirements, versions).await;
    say(&format!("MCP {}, {}", requirements.revision(), versions.described()));
    say(&format!("  directly          {}", direct.count()));
    say(&format!("  through Evermoor  {}", through.count()));
    let lost = direct.lost_in(&through);
    say(&format!("  lost on the way   {}", lost.len()));
    for (check, why) in lost {
        say(&format!("    {check}: {why}"));
    }
}

#[expect(clippy::print_stdout, reason = "a person reads it")]
fn say(line: &str) {
    println!("{line}");
}
