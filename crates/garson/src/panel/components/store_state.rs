//! The state of a store in words.

use crate::app::store_overview::{Progress, ShownDesired, ShownStore};
use crate::panel::kit::{explain, format};
use crate::panel::words::{Lang, StoreWords};
use garson_core::explanation::Explanation;
use garson_core::store_control::{DesiredState, StoreProblem, fitting_minutes};
use garson_core::store_status::{ReasonCode, StoreActor, StoreReason, StoreState};
use garson_core::time::{Timestamp, Zone};

/// What is said of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateText {
    /// The CSS class: good, warn, bad or none.
    pub tone: &'static str,
    /// Such as “kapalı · 18:40'a kadar”.
    pub state: String,
    /// Why it is so; may be empty.
    pub reason: String,
    /// What is being changed.
    pub pending: Option<String>,
    /// What people should know.
    pub problem: Option<String>,
}

impl StateText {
    /// `now` decides whether the day of an end is named.
    pub fn new(lang: Lang, zone: &Zone, store: &ShownStore, now: Timestamp) -> Self {
        let t = StoreWords::of(lang);
        let desired = store.desired.as_ref();
        Self {
            tone: tone(store),
            state: state(&t, lang, zone, store, now),
            reason: reason(&t, lang, store),
            pending: desired.and_then(|desired| pending(&t, lang, desired)),
            problem: problem(&t, lang, store),
        }
    }

    /// Everything in one line, for those who do not see it.
    pub fn line(&self, name: &str) -> String {
        let more = [
            Some(self.reason.clone()),
            self.pending.clone(),
            self.problem.clone(),
        ];
        let more = more.into_iter().flatten().filter(|text| !text.is_empty());
        let parts: Vec<String> = std::iter::once(format!("{name} {}", self.state))
            .chain(more)
            .collect();
        parts.join(", ")
    }
}

fn is_platforms(store: &ShownStore) -> bool {
    store.problem == Some(StoreProblem::ClosedByPlatform)
        || store.state == StoreState::Closed
            && store.by == Some(StoreActor::Platform)
            && !store.is_outside_hours()
}

fn tone(store: &ShownStore) -> &'static str {
    match store.state {
        _ if store.needs_attention() => "bad",
        StoreState::Closed if is_platforms(store) => "bad",
        StoreState::Open => "good",
        StoreState::Busy | StoreState::Closed => "warn",
        StoreState::Unknown | StoreState::Unsupported => "",
    }
}

fn state(t: &StoreWords, lang: Lang, zone: &Zone, store: &ShownStore, now: Timestamp) -> String {
    let mut text = match store.state {
        StoreState::Open => t.open.to_owned(),
        StoreState::Busy => busy(t, store),
        StoreState::Closed if is_platforms(store) => t.by_platform.to_owned(),
        StoreState::Closed => t.closed.to_owned(),
        StoreState::Unknown | StoreState::Unsupported => t.unknown.to_owned(),
    };
    let has_end = matches!(store.state, StoreState::Closed | StoreState::Busy);
    if let Some(until) = store.until.filter(|until| has_end && *until > now) {
        text.push_str(" · ");
        text.push_str(&self::until(lang, zone, until, now));
    }
    text
}

fn busy(t: &StoreWords, store: &ShownStore) -> String {
    let desired = store.desired.as_ref().filter(|it| it.state == DesiredState::Busy);
    match desired {
        Some(desired) => {
            let minutes = fitting_minutes(desired.busy_minutes, store.support.busy_minutes);
            format!("{} (+{minutes} {})", t.busy, t.minutes)
        }
        None => t.busy.to_owned(),
    }
}

fn reason(t: &StoreWords, lang: Lang, store: &ShownStore) -> String {
    if store.state == StoreState::Open {
        return String::new();
    }
    let given = match (&store.note, &store.reason) {
        (Some(note), _) => note.clone(),
        (None, Some(reason)) => reason_text(lang, reason),
        (None, None) => String::new(),
    };
    let who = match store.by {
        Some(StoreActor::Throttle) => t.by_throttle,
        Some(StoreActor::Schedule) if !store.is_outside_hours() => t.by_schedule,
        _ => return given,
    };
    if given.is_empty() {
        who.to_owned()
    } else {
        format!("{who}: {given}")
    }
}

/// A reason in the user's language; the platform's own word where it is not known.
pub fn reason_text(lang: Lang, reason: &StoreReason) -> String {
    match (&reason.word, reason.code) {
        (Some(word), ReasonCode::Unknown) => word.clone(),
        _ => code_text(lang, reason.code).to_owned(),
    }
}

pub fn code_text(lang: Lang, code: ReasonCode) -> &'static str {
    let (turkish, english) = code.texts();
    match lang {
        Lang::Tr => turkish,
        Lang::En => english,
    }
}

fn pending(t: &StoreWords, lang: Lang, desired: &ShownDesired) -> Option<String> {
    let Progress::Pending(trouble) = &desired.progress else {
        return None;
    };
    let what = match desired.state {
        DesiredState::Open => t.opening,
        DesiredState::Busy => t.becoming_busy,
        DesiredState::Closed => t.closing,
    };
    Some(match trouble {
        Some(trouble) => format!("{what}: {}", answer(lang, trouble)),
        None => format!("{what}…"),
    })
}

fn problem(t: &StoreWords, lang: Lang, store: &ShownStore) -> Option<String> {
    let desired = store.desired.as_ref();
    if let Some(ShownDesired {
        state,
        progress: Progress::Refused(message),
        ..
    }) = desired
    {
        let what = match state {
            DesiredState::Open => t.open_refused,
            DesiredState::Busy => t.busy_refused,
            DesiredState::Closed => t.close_refused,
        };
        return Some(match message {
            // That it refused is said already.
            Some(Explanation::Answered {
                status: status @ (400 | 402..=403 | 405..=409 | 422),
                said: Some(said),
            }) => format!("{what}: {said} ({status})"),
            Some(message) => format!("{what}: {}", answer(lang, message)),
            None => what.to_owned(),
        });
    }
    match (store.problem, desired.map(|it| &it.progress)) {
        (Some(StoreProblem::NotReopened), _) => Some(t.not_reopened.to_owned()),
        (Some(StoreProblem::NotClosed), _) => Some(t.not_closed.to_owned()),
        (_, Some(Progress::LeftClosed)) if store.state == StoreState::Closed => {
            Some(t.left_closed.to_owned())
        }
        // That the platform has closed it is said already.
        (None, Some(Progress::Undone)) if store.state != StoreState::Closed => Some(t.undone.to_owned()),
        _ => None,
    }
}

/// What a platform answered about a store.
pub fn answer(lang: Lang, explanation: &Explanation) -> String {
    match explanation {
        Explanation::Answered {
            status: status @ (404 | 410),
            said,
        } => {
            let what = StoreWords::of(lang).no_store;
            match said {
                Some(said) => format!("{what} ({status}): {said}"),
                None => format!("{what} ({status})"),
            }
        }
        _ => explain::platform(lang, explanation),
    }
}

/// “18:40'a kadar”, with the day if that is another one.
pub fn until(lang: Lang, zone: &Zone, at: Timestamp, now: Timestamp) -> String {
    let text = format::time_or_timestamp(lang, zone, at, now);
    match lang {
        Lang::En => format!("until {text}"),
        Lang::Tr => {
            let part = |form| zone.write(at, form).parse().unwrap_or(0);
            format!("{text}'{} kadar", dative(part("%H"), part("%M")))
        }
    }
}

/// The ending that a time of day gets in Turkish, by how its last number is spoken.
fn dative(hour: u32, minute: u32) -> &'static str {
    let last = if minute == 0 { hour } else { minute };
    match (last % 10, last / 10 % 10) {
        (0, 2 | 5) => "ye",
        // Sıfır, on, otuz, kırk.
        (0 | 9, _) => "a",
        (6, _) => "ya",
        (2 | 7, _) => "ye",
        _ => "e",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store() -> ShownStore {
        let platform = garson_platforms::find("getir").unwrap();
        ShownStore {
            state: StoreState::Open,
            ..ShownStore::new(platform.provider(), platform.capability().store.unwrap(), None)
        }
    }

    fn now() -> Timestamp {
        "2026-03-01T15:00:00Z".parse().unwrap()
    }

    fn text(lang: Lang, store: &ShownStore) -> StateText {
        StateText::new(lang, &Zone::istanbul(), store, now())
    }

    #[test]
    fn ends_have_the_ending_of_their_spoken_number() {
        for (hour, minute, ending) in [
            (18, 40, "a"),
            (18, 0, "e"),
            (18, 45, "e"),
            (18, 30, "a"),
            (18, 20, "ye"),
            (18, 50, "ye"),
            (18, 16, "ya"),
            (18, 2, "ye"),
            (9, 0, "a"),
            (20, 0, "ye"),
            (0, 0, "a"),
            (16, 0, "ya"),
        ] {
            assert_eq!(dative(hour, minute), ending, "{hour}:{minute}");
        }
    }

    #[test]
    fn closed_store_says_until_when_and_why() {
        let mut store = store();
        assert_eq!(text(Lang::Tr, &store).state, "açık");
        store.state = StoreState::Closed;
        store.by = Some(StoreActor::Account);
        store.until = Some("2026-03-01T15:40:00Z".parse().unwrap());
        store.reason = Some(ReasonCode::KitchenBusy.into());
        let shown = text(Lang::Tr, &store);
        assert_eq!(
            (shown.tone, shown.state.as_str(), shown.reason.as_str()),
            ("warn", "kapalı · 18:40'a kadar", "Mutfak çok yoğun")
        );
        assert_eq!(text(Lang::En, &store).state, "closed · until 18:40");
        store.note = Some("Fırın bozuldu".to_owned());
        assert_eq!(text(Lang::Tr, &store).reason, "Fırın bozuldu");
    }

    #[test]
    fn closing_by_the_platform_is_a_problem_with_its_reason() {
        let mut store = store();
        store.state = StoreState::Closed;
        store.by = Some(StoreActor::Platform);
        store.problem = Some(StoreProblem::ClosedByPlatform);
        store.reason = Some(ReasonCode::OrderNotAnswered.into());
        let shown = text(Lang::Tr, &store);
        assert_eq!((shown.tone, shown.state.as_str()), ("bad", "platform kapattı"));
        assert_eq!(shown.reason, "Bir siparişe zamanında yanıt verilmedi");
        assert_eq!(shown.problem, None);
    }

    #[test]
    fn refusal_is_in_the_platforms_words() {
        let mut store = store();
        store.desired = Some(ShownDesired {
            state: DesiredState::Closed,
            until: None,
            busy_minutes: None,
            by: StoreActor::Account,
            progress: Progress::Refused(Some(Explanation::answered(400, Some("kapatılamaz")))),
        });
        let shown = text(Lang::Tr, &store);
        assert_eq!(shown.tone, "bad");
        assert_eq!(
            shown.problem.unwrap(),
            "Platform kapatmayı kabul etmedi: kapatılamaz (400)"
        );
    }
}
