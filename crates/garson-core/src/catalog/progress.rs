//! The progress of a catalog that was sent, from the platform's answer and its reports, in any order.

use super::import::{CatalogImport, CatalogState};
use crate::explanation::Explanation;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CatalogStage {
    /// It has not been sent, or not answered yet.
    Pending,
    /// The platform has it.
    Submitted,
    /// The platform is processing it.
    InProgress,
    Done,
    DoneWithErrors,
    Failed,
    /// It is unknown whether the platform has received it; only a report can show that.
    Unclear,
}

impl CatalogStage {
    const ALL: [Self; 7] = [
        Self::Pending,
        Self::Submitted,
        Self::InProgress,
        Self::Done,
        Self::DoneWithErrors,
        Self::Failed,
        Self::Unclear,
    ];

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Submitted => "submitted",
            Self::InProgress => "in_progress",
            Self::Done => "done",
            Self::DoneWithErrors => "done_with_errors",
            Self::Failed => "failed",
            Self::Unclear => "unclear",
        }
    }

    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|stage| stage.as_str() == name)
    }

    /// Is it final?
    #[must_use]
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Done | Self::DoneWithErrors | Self::Failed)
    }

    /// Does the platform have at least a part of the menu?
    #[must_use]
    pub const fn is_imported(self) -> bool {
        matches!(self, Self::Done | Self::DoneWithErrors)
    }

    const fn of(state: CatalogState) -> Option<Self> {
        match state {
            CatalogState::InProgress => Some(Self::InProgress),
            CatalogState::Done => Some(Self::Done),
            CatalogState::DoneWithErrors => Some(Self::DoneWithErrors),
            CatalogState::Failed => Some(Self::Failed),
            CatalogState::Unknown => None,
        }
    }
}

/// The state of a catalog that was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatalogProgress {
    pub stage: CatalogStage,
    /// The platform's id of the import, from its answer.
    pub import_id: Option<String>,
    /// The id from a report that arrived before the answer.
    pub reported_id: Option<String>,
    /// Why it could not be sent.
    pub message: Option<Explanation>,
    /// The platform's own words, from its report.
    pub report: Option<String>,
    pub details: Vec<String>,
}

/// The result of sending a catalog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CatalogAnswer {
    Submitted {
        import_id: String,
    },
    Refused {
        message: Explanation,
    },
    /// The platform does not have it; it can be sent again.
    NotSent {
        message: Explanation,
    },
    Unclear {
        message: Explanation,
    },
}

/// The report belongs to another import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OtherImport;

impl CatalogProgress {
    #[must_use]
    pub const fn new() -> Self {
        Self {
            stage: CatalogStage::Pending,
            import_id: None,
            reported_id: None,
            message: None,
            report: None,
            details: Vec::new(),
        }
    }

    /// The platform has answered, or the request failed. A report that arrived in the meantime takes precedence: the platform has the
    /// catalog.
    #[must_use]
    pub fn answered(self, answer: CatalogAnswer) -> Self {
        if let CatalogAnswer::Submitted { import_id } = answer {
            if self.reported_id.as_ref() == Some(&import_id) {
                return Self {
                    import_id: Some(import_id),
                    ..self
                };
            }
            return Self {
                stage: CatalogStage::Submitted,
                import_id: Some(import_id),
                ..Self::new()
            };
        }
        if self.reported_id.is_some() {
            return self;
        }
        let (stage, message) = match answer {
            CatalogAnswer::Refused { message } => (CatalogStage::Failed, message),
            CatalogAnswer::Unclear { message } => (CatalogStage::Unclear, message),
            CatalogAnswer::NotSent { message } => (CatalogStage::Pending, message),
            CatalogAnswer::Submitted { .. } => return self,
        };
        Self {
            stage,
            message: Some(message),
            ..Self::new()
        }
    }

    /// Applies a report; `None` if it changes nothing, as after the end or with an unknown value.
    pub fn reported(&self, import: &CatalogImport) -> Result<Option<Self>, OtherImport> {
        let known = self.import_id.as_ref().or(self.reported_id.as_ref());
        if known.is_some_and(|id| *id != import.import_id) {
            return Err(OtherImport);
        }
        let Some(stage) = CatalogStage::of(import.state).filter(|_| !self.stage.is_final()) else {
            return Ok(None);
        };
        let next = Self {
            stage,
            import_id: self.import_id.clone(),
            reported_id: Some(import.import_id.clone()),
            message: None,
            report: import.message.clone(),
            details: import.details.clone(),
        };
        Ok(Some(next).filter(|next| next != self))
    }
}

impl Default for CatalogProgress {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explanation::PlatformFailure;

    fn report(id: &str, state: CatalogState) -> CatalogImport {
        CatalogImport {
            import_id: id.to_owned(),
            state,
            message: Some("2 items have no image".to_owned()),
            details: vec!["{\"id\":\"1\"}".to_owned()],
        }
    }

    fn submitted(id: &str) -> CatalogAnswer {
        CatalogAnswer::Submitted {
            import_id: id.to_owned(),
        }
    }

    fn unclear() -> CatalogAnswer {
        CatalogAnswer::Unclear {
            message: PlatformFailure::OutcomeUnknown.into(),
        }
    }

    #[test]
    fn stages_are_read_as_they_are_written() {
        for stage in CatalogStage::ALL {
            assert_eq!(CatalogStage::named(stage.as_str()), Some(stage));
        }
        assert_eq!(CatalogStage::named(""), None);
    }

    #[test]
    fn report_after_the_answer_ends_the_push() {
        let sent = CatalogProgress::new().answered(submitted("i-1"));
        assert_eq!(sent.stage, CatalogStage::Submitted);
        let working = sent.reported(&report("i-1", CatalogState::InProgress)).unwrap();
        let working = working.unwrap();
        assert_eq!(working.stage, CatalogStage::InProgress);
        let ended = working.reported(&report("i-1", CatalogState::DoneWithErrors));
        let ended = ended.unwrap().unwrap();
        assert_eq!(ended.stage, CatalogStage::DoneWithErrors);
        assert_eq!(ended.details.len(), 1);
    }

    #[test]
    fn report_before_the_answer_is_kept() {
        let early = CatalogProgress::new().reported(&report("i-1", CatalogState::Done));
        let early = early.unwrap().unwrap();
        let answered = early.clone().answered(submitted("i-1"));
        assert_eq!(answered.stage, CatalogStage::Done);
        assert_eq!(answered.import_id.as_deref(), Some("i-1"));
        assert_eq!(early.clone().answered(unclear()), early);
        let refused = CatalogAnswer::NotSent {
            message: PlatformFailure::NoFreeSlot.into(),
        };
        assert_eq!(early.clone().answered(refused), early, "it is not sent again");
    }

    #[test]
    fn report_of_another_import_is_refused() {
        let sent = CatalogProgress::new().answered(submitted("i-1"));
        let other = sent.reported(&report("i-2", CatalogState::Done));
        assert_eq!(other, Err(OtherImport));
        // A report that came first was about something else, as the answer shows.
        let early = CatalogProgress::new().reported(&report("i-2", CatalogState::Done));
        let answered = early.unwrap().unwrap().answered(submitted("i-1"));
        assert_eq!(answered.stage, CatalogStage::Submitted);
        assert_eq!(answered.report, None);
    }

    #[test]
    fn repeated_and_late_reports_change_nothing() {
        let sent = CatalogProgress::new().answered(submitted("i-1"));
        let done = sent
            .reported(&report("i-1", CatalogState::Done))
            .unwrap()
            .unwrap();
        for state in [
            CatalogState::Done,
            CatalogState::InProgress,
            CatalogState::Failed,
            CatalogState::Unknown,
        ] {
            assert_eq!(done.reported(&report("i-1", state)), Ok(None));
        }
        let working = sent.reported(&report("i-1", CatalogState::InProgress)).unwrap();
        let again = working
            .unwrap()
            .reported(&report("i-1", CatalogState::InProgress));
        assert_eq!(again, Ok(None));
    }

    #[test]
    fn report_settles_an_unclear_answer() {
        let lost = CatalogProgress::new().answered(unclear());
        assert_eq!(lost.stage, CatalogStage::Unclear);
        let reported = lost
            .reported(&report("i-1", CatalogState::Done))
            .unwrap()
            .unwrap();
        assert_eq!((reported.stage, reported.message), (CatalogStage::Done, None));
    }
}
