//! Tests on a paused clock.

use super::*;

use bytes::Bytes;
use evermoor_core::protocol::envelope::Id;
use futures_util::FutureExt as _;

const MB: usize = 1_000_000;

fn limited(all: usize, editor: usize) -> Budgets {
    let budgets = Budgets::default();
    budgets.set_limits(BufferLimits { all: all * MB, editor: editor * MB });
    budgets
}

#[tokio::test(start_paused = true)]
async fn a_reader_waits_until_what_was_read_before_is_gone() {
    let upstream = limited(256, 64).upstream("notes", 64 * MB);
    let (first, _) = upstream.try_charge(60 * MB).unwrap().keep(Bytes::from_static(b"first"));
    let slice = first.slice(1..3);
    drop(first);
    let mut reading = Box::pin(upstream.charge(8 * MB, ROOM_LIMIT));
    assert!((&mut reading).now_or_never().is_none(), "a part of the first is still in use");
    drop(slice);
    assert_eq!(reading.await.unwrap().bytes, 8 * MB);
    assert_eq!(upstream.used(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_waited_for_too_long_is_told_why() {
    let budgets = limited(256, 64);
    let (upstream, editor) = (budgets.upstream("notes", 64 * MB), budgets.editor("cursor"));
    let _all = (upstream.try_charge(64 * MB).unwrap(), editor.try_charge(64 * MB).unwrap());
    let began = Instant::now();
    let refused = upstream.charge(1, ROOM_LIMIT).await.err().unwrap();
    assert_eq!(began.elapsed(), ROOM_LIMIT);
    assert_eq!(refused.to_string(), "64 MB of its messages are waiting to be read");
    let refused = editor.charge(1, ROOM_LIMIT).await.err().unwrap().to_string();
    assert!(refused.starts_with("this editor already has 64 MB"), "{refused}");
}

#[tokio::test(start_paused = true)]
async fn others_that_use_up_everything_leave_each_a_megabyte() {
    let budgets = limited(100, 64);
    let (one, other) = (budgets.upstream("one", 64 * MB), budgets.upstream("other", 64 * MB));
    let _one = one.try_charge(64 * MB).unwrap();
    let _other = other.try_charge(30 * MB).unwrap();
    assert!(other.try_charge(20 * MB).is_err(), "together they would have more than 100 MB");
    let quiet = budgets.upstream("quiet", 64 * MB);
    let own = quiet.try_charge(OWN).unwrap();
    let most = quiet.try_charge(20 * MB).err().unwrap();
    assert_eq!(most.to_string(), "Evermoor already holds 100 MB of messages");
    drop(own);
    assert_eq!(quiet.used(), 0);
}

#[tokio::test(start_paused = true)]
async fn the_limits_can_change_while_a_reader_waits() {
    let budgets = limited(256, 64);
    let editor = budgets.editor("cursor");
    let _used = editor.try_charge(60 * MB).unwrap();
    let mut reading = Box::pin(editor.charge(8 * MB, ROOM_LIMIT));
    assert!((&mut reading).now_or_never().is_none());
    budgets.set_limits(BufferLimits { all: 256 * MB, editor: 128 * MB });
    assert!(reading.await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_charged_to_its_upstream_and_then_to_its_editor() {
    let budgets = limited(256, 64);
    let (upstream, editor) = (budgets.upstream("notes", 64 * MB), budgets.editor("cursor"));
    let call = AnswerCharge::of(Arc::clone(&editor));
    let (answer, charge) = upstream.try_charge(8 * MB).unwrap().keep(Bytes::from_static(b"x"));
    call.arrived(Some(charge));
    call.hand_over().await.unwrap();
    assert_eq!((upstream.used(), editor.used()), (0, 8 * MB));
    drop(answer);
    assert_eq!(editor.used(), 0);
}

#[tokio::test(start_paused = true)]
async fn editors_that_do_not_read_take_half_of_an_upstream_at_most() {
    let budgets = limited(256, 64);
    let (upstream, editor) = (budgets.upstream("notes", 64 * MB), budgets.editor("cursor"));
    let unread = editor.try_charge(64 * MB).unwrap();
    let answers: Vec<_> = (0..5)
        .map(|_| {
            let call = AnswerCharge::of(Arc::clone(&editor));
            let (answer, charge) = upstream.try_charge(8 * MB).unwrap().keep(Bytes::new());
            call.arrived(Some(charge));
            (call, answer)
        })
        .collect();
    let mut waiting: Vec<_> = answers.iter().map(|(call, _)| Box::pin(call.hand_over())).collect();
    let states: Vec<_> = waiting.iter_mut().map(|one| one.now_or_never()).collect();
    assert!(states[..4].iter().all(Option::is_none), "four wait");
    assert!(matches!(states[4], Some(Err(NoRoom::Editor { .. }))), "the fifth is dropped at once");
    drop(unread);
    for one in &mut waiting[..4] {
        assert_eq!(one.await, Ok(()));
    }
    drop(waiting);
    assert_eq!((upstream.used(), editor.used()), (8 * MB, 32 * MB), "the fifth is still held here");
}

#[tokio::test(start_paused = true)]
async fn a_message_is_charged_while_it_arrives_and_small_ones_never_wait() {
    let upstream = limited(256, 64).upstream("notes", 64 * MB);
    let all = upstream.try_charge(64 * MB).unwrap();
    let mut intake = Intake::new(&upstream);
    intake.admit(SMALL).now_or_never().expect("a small message does not wait").unwrap();
    assert!(intake.admit(1).now_or_never().is_none(), "a larger one does");
    drop(all);
    let mut intake = Intake::new(&upstream);
    intake.admit(MB).await.unwrap();
    assert_eq!(upstream.used(), MB);
    let (message, _) = intake.take(Bytes::from(vec![0; MB]));
    intake.keep_only(0);
    drop(intake);
    assert_eq!(upstream.used(), MB, "until it has been passed on");
    drop(message);
    assert_eq!(upstream.used(), 0);
}

#[tokio::test(start_paused = true)]
async fn messages_that_arrive_at_once_do_not_keep_each_other_from_arriving() {
    const PART: usize = MB / 4;
    let upstream = limited(256, 64).upstream("notes", 64 * MB);
    let arriving = (0..40).map(|_| async {
        let mut intake = Intake::new(&upstream);
        for _ in 0..15 * MB / PART {
            intake.admit(PART).await?;
            tokio::task::yield_now().await;
        }
        let (message, _) = intake.take(Bytes::from(vec![0; 15 * MB]));
        intake.keep_only(0);
        // It is passed on at once.
        drop(message);
        Ok::<_, NoRoom>(())
    });
    let all = futures_util::future::join_all(arriving).await;
    assert!(all.iter().all(Result::is_ok), "{all:?}");
    assert_eq!(upstream.used(), 0);
}

/// Something that is kept in case it is needed.
struct Spare {
    kept: Mutex<Option<Charge>>,
    in_use: bool,
}

impl Droppable for Spare {
    fn drop_unused(&self) -> StillUsed {
        if self.in_use {
            return StillUsed::Yes;
        }
        drop(self.kept.lock().take());
        StillUsed::No
    }
}

#[tokio::test(start_paused = true)]
async fn what_nobody_uses_makes_room_the_oldest_first() {
    let editor = limited(256, 64).editor("cursor");
    let spare = |in_use| {
        let spare = Arc::new(Spare { kept: Mutex::new(editor.try_charge(20 * MB).ok()), in_use });
        let droppable: Arc<dyn Droppable> = Arc::<Spare>::clone(&spare);
        editor.add_droppable(Arc::downgrade(&droppable));
        spare
    };
    let (used, old, new) = (spare(true), spare(false), spare(false));
    let _more = editor.try_charge(20 * MB).unwrap();
    assert!(used.kept.lock().is_some() && old.kept.lock().is_none() && new.kept.lock().is_some());
}

#[test]
fn a_copy_of_what_nobody_is_charged_for_needs_room() {
    let editor = limited(256, 64).editor("cursor");
    let shared = Raw::of(&"x".repeat(20 * MB));
    let response = |payload: &Raw| Response::result(Id::number(1), payload.clone());
    let same = editor.keep_response(Some(&shared), response(&shared)).unwrap();
    assert_eq!(editor.used(), 0, "it is no copy");
    let copies: Vec<_> =
        (0..4).map(|_| editor.keep_response(Some(&shared), response(&shared.copied()))).collect();
    assert_eq!(copies.iter().filter(|copy| copy.is_ok()).count(), 3);
    assert!(matches!(copies[3], Err(NoRoom::Editor { .. })));
    assert!(editor.used() > 60 * MB);
    drop((same, copies));
    assert_eq!(editor.used(), 0);
}

#[test]
fn an_editor_has_as_many_connections_as_there_is_room_for() {
    let budgets = limited(256, 32);
    let open: Vec<_> = std::iter::from_fn(|| budgets.connection("cursor")).take(10_000).collect();
    assert!((100..6_000).contains(&open.len()), "{}", open.len());
    assert!(budgets.connection("zed").is_some(), "another editor has its own");
    drop(open);
    assert!(budgets.connection("cursor").is_some());
}
