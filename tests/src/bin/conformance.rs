//! `conformance`: runs MCP's conformance suite directly and through the gateway, and prints the
//! checks that only pass directly.

use evermoor_tests::conformance::{Client, Comparison, Era, Requirements, SCENARIOS, try_client};

#[tokio::main]
async fn main() {
    for requirements in [Requirements::Sessions, Requirements::Stateless] {
        for era in Era::ALL {
            show(requirements, era).await;
        }
    }
    say(
        "The suite as the server, a client of the first TypeScript SDK, and Evermoor on its behalf",
    );
    for scenario in SCENARIOS {
        let alone = try_client(Client::Editor, scenario).await;
        let through = try_client(Client::Evermoor, scenario).await;
        say(&format!(
            "  {scenario:<34} alone {:<24} through Evermoor {}",
            alone.count(),
            through.count()
        ));
        for check in through.failed() {
            say(&format!("    {check}: {}", through.complaint(check)));
        }
    }
}

async fn show(requirements: Requirements, era: Era) {
    let Comparison { direct, through } = Comparison::make(requirements, era).await;
    say(&format!("MCP {}, {}", requirements.revision(), era.described()));
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
