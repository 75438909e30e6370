//! `conformance`: what the conformance suite finds, directly and through the gateway, and what is
//! lost on the way.

use evermoor_tests::conformance::{Comparison, Era, Requirements};

#[tokio::main]
async fn main() {
    for requirements in [Requirements::Sessions, Requirements::Stateless] {
        for era in [Era::Both, Era::Legacy] {
            show(requirements, era).await;
        }
    }
}

#[expect(clippy::print_stdout, reason = "a person reads it")]
async fn show(requirements: Requirements, era: Era) {
    let Comparison { direct, through } = Comparison::make(requirements, era).await;
    let server = match era {
        Era::Both => "a server that speaks as the suite does",
        Era::Legacy => "a server that knows sessions alone",
    };
    println!("MCP {}, {server}", requirements.revision());
    println!("  directly          {}", direct.count());
    println!("  through Evermoor  {}", through.count());
    let lost = direct.lost_in(&through);
    println!("  lost on the way   {}", lost.len());
    for (check, why) in lost {
        println!("    {check}: {why}");
    }
}
