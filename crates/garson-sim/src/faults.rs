//! Faults that were ordered: which call or push fails next, and how.

use crate::{
    call::Route,
    platform::Platform,
    views::{Fault, FaultRequest},
};

pub(crate) const PUSH: &str = "push";
const MANY: usize = 1_000;

#[derive(Debug, Default)]
pub(crate) struct Faults {
    ordered: Vec<FaultRequest>,
}

impl Faults {
    /// Adds a fault. `known` are the operations of its platform.
    pub(crate) fn order(&mut self, request: FaultRequest, known: &[&str]) -> Result<(), String> {
        let on_push = request.on == PUSH;
        if !on_push && request.on != "*" && !known.contains(&request.on.as_str()) {
            return Err(format!(
                "{} has no operation {}; it has {}",
                request.platform,
                request.on,
                known.join(", ")
            ));
        }
        let fits = match request.fault {
            Fault::Duplicate | Fault::Reorder => on_push,
            Fault::Malformed | Fault::Drop | Fault::Latency { .. } => true,
            _ => !on_push,
        };
        if !fits {
            return Err(format!("{:?} cannot happen on {}", request.fault, request.on));
        }
        if let Fault::Status { status, .. } = request.fault
            && !(200..600).contains(&status)
        {
            return Err(format!("{status} is no status of an answer"));
        }
        if self.ordered.len() >= MANY {
            return Err("there are too many faults already".to_owned());
        }
        self.ordered.push(request);
        Ok(())
    }

    /// Takes the fault that applies to this call.
    pub(crate) fn on_call(&mut self, platform: Platform, route: &Route) -> Option<Fault> {
        self.take(platform, |request| {
            let on = request.on.as_str();
            (on == "*" || on == route.operation || on == route.family)
                && (request.order.is_none() || request.order == route.order)
        })
    }

    pub(crate) fn on_push(&mut self, platform: Platform) -> Option<Fault> {
        self.take(platform, |request| request.on == PUSH)
    }

    fn take(&mut self, platform: Platform, meets: impl Fn(&FaultRequest) -> bool) -> Option<Fault> {
        let found = self
            .ordered
            .iter()
            .position(|fault| fault.platform == platform && meets(fault))?;
        let request = self.ordered.get_mut(found)?;
        let fault = request.fault.clone();
        if let Some(times) = &mut request.times {
            *times = times.saturating_sub(1);
            if *times == 0 {
                self.ordered.remove(found);
            }
        }
        Some(fault)
    }

    pub(crate) fn list(&self) -> &[FaultRequest] {
        &self.ordered
    }

    pub(crate) fn clear(&mut self) {
        self.ordered.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[&str] = &["verify", "prepare"];

    fn request(on: &str, fault: Fault, times: Option<u64>) -> FaultRequest {
        FaultRequest {
            platform: Platform::Getir,
            on: on.to_owned(),
            fault,
            order: None,
            times,
        }
    }

    #[test]
    fn a_fault_happens_as_often_as_ordered() {
        let mut faults = Faults::default();
        faults
            .order(request("verify", Fault::Drop, Some(2)), KNOWN)
            .unwrap();
        let verify = Route::new("verify", None);
        assert_eq!(
            faults.on_call(Platform::Getir, &Route::new("prepare", None)),
            None
        );
        assert_eq!(faults.on_call(Platform::Migros, &verify), None);
        assert_eq!(faults.on_call(Platform::Getir, &verify), Some(Fault::Drop));
        assert_eq!(faults.on_call(Platform::Getir, &verify), Some(Fault::Drop));
        assert_eq!(faults.on_call(Platform::Getir, &verify), None);
        faults.order(request("*", Fault::Malformed, None), KNOWN).unwrap();
        assert!((0..10).all(|_| faults.on_call(Platform::Getir, &verify).is_some()));
        assert_eq!(faults.on_push(Platform::Getir), None);
    }

    #[test]
    fn what_cannot_happen_is_refused() {
        let mut faults = Faults::default();
        assert!(faults.order(request("fly", Fault::Drop, None), KNOWN).is_err());
        assert!(
            faults
                .order(request("push", Fault::ExpiredToken, None), KNOWN)
                .is_err()
        );
        assert!(
            faults
                .order(request("verify", Fault::Reorder, None), KNOWN)
                .is_err()
        );
        assert!(
            faults
                .order(
                    request(
                        "verify",
                        Fault::Status {
                            status: 99,
                            body: None
                        },
                        None
                    ),
                    KNOWN
                )
                .is_err()
        );
        assert!(faults.list().is_empty());
    }
}
