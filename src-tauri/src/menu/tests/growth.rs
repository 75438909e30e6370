//! What stays the same when the menu changes: its maximum length and the rows that did not change.

use proptest::prelude::*;

use super::*;

fn none_replaced(shown: &[Item], wanted: &[Item]) -> bool {
    MenuChange::between(shown, wanted).is_text_only()
}

#[test]
fn upstreams_that_do_not_fit_move_into_a_submenu() {
    let mut upstreams: Vec<UpstreamStatus> =
        (1..=9).map(|n| upstream(&format!("Server {n}"), n, connected())).collect();
    upstreams[8].link = down(Code::Timeout, "Server 9 does not answer.");
    let mut state = serving(upstreams);
    state.update = Update::Available { version: "1.4.0".into() };
    assert_eq!(count(&items(&state)), ROWS);
    let page = drawn(&state);
    let tops: Vec<&str> = page.lines().filter(|line| !line.starts_with(' ')).collect();
    let wanted = [
        "Server 9 is not responding [show #/upstreams/server 9]",
        "Restart Server 9 [restart server 9]",
        "---",
        "Server 9 — Not responding >",
        "Server 1 — Connected >",
        "7 more >",
    ];
    assert_eq!(&tops[..6], wanted);
    assert!(page.contains("  Server 2 — Connected >\n"), "{page}");
}

#[test]
fn a_changed_text_replaces_no_row() {
    let state = serving(vec![upstream("PiecesOS", 12, connected())]);
    let later = TrayState { now: NOW + 60 * MINUTE, ..state.clone() };
    let more = serving(vec![upstream("PiecesOS", 13, connected())]);
    let ticked = TrayState { login: true, ..state.clone() };
    for other in [later, more, ticked] {
        assert_ne!(items(&state), items(&other));
        assert!(none_replaced(&items(&state), &items(&other)));
    }
}

#[test]
fn an_outage_replaces_only_the_rows_it_affects() {
    let two = |first| serving(vec![upstream("A", 1, first), upstream("B", 1, connected())]);
    let well = items(&two(connected()));
    let ill = items(&two(down(Code::Timeout, "It does not answer.")));
    // The headline opens another page, a Restart button appears, and the upstream's row changes.
    assert_eq!(MenuChange::between(&well, &ill), MenuChange { at: 0, remove: 3, insert: 4 });
    assert_eq!(MenuChange::between(&ill, &well), MenuChange { at: 0, remove: 4, insert: 3 });
}

fn any_link() -> impl Strategy<Value = UpstreamState> {
    prop_oneof![
        Just(UpstreamState::Off),
        Just(UpstreamState::Connecting),
        Just(connected()),
        Just(down(Code::Timeout, "It does not answer.")),
        Just(down(Code::NotInstalled, "It is not here.")),
        Just(UpstreamState::Paused { since: 1 }),
    ]
}

fn any_known() -> impl Strategy<Value = TrayState> {
    let update = prop_oneof![
        Just(Update::None),
        Just(Update::Available { version: "1.4.0".into() }),
        Just(Update::Waiting { version: "1.4.0".into() }),
    ];
    let links = proptest::collection::vec(any_link(), 0..20);
    (links, update, any::<bool>()).prop_map(|(links, update, login)| {
        let named = links.into_iter().enumerate();
        let upstreams = named.map(|(n, link)| upstream(&format!("Server {n}"), 1, link)).collect();
        TrayState { update, login, ..serving(upstreams) }
    })
}

proptest! {
    #[test]
    fn no_state_has_more_than_twelve_rows(state in any_known()) {
        prop_assert!(count(&items(&state)) <= ROWS);
    }

    #[test]
    fn every_upstream_has_a_row(state in any_known()) {
        let page = drawn(&state);
        for upstream in &state.status().unwrap().upstreams {
            let row = format!("{} — {} >\n", upstream.title, upstream.word());
            prop_assert!(page.contains(&row), "{} is missing in\n{}", row, page);
        }
    }

    #[test]
    fn applying_a_change_turns_one_menu_into_the_other(one in any_known(), other in any_known()) {
        let (shown, wanted) = (items(&one), items(&other));
        let change = MenuChange::between(&shown, &wanted);
        let mut rows = shown.clone();
        let new = wanted[change.at..change.at + change.insert].iter().cloned();
        rows.splice(change.at..change.at + change.remove, new);
        prop_assert_eq!(rows.len(), wanted.len());
        prop_assert!(none_replaced(&rows, &wanted));
    }
}
