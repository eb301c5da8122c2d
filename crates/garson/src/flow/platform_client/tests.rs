use super::*;

#[test]
fn a_limit_lets_so_many_through_and_then_makes_wait() {
    let lines = Lines::default();
    let limit = Limit {
        name: "menu",
        requests: 2,
        per_seconds: 60,
    };
    let (now, minute) = (Instant::now(), Duration::from_secs(60));
    let mut waits = Vec::new();
    for _ in 0..5 {
        waits.push(
            lines
                .wait([0; 32], &limit, now, minute)
                .map(|wait| wait.as_secs())
                .map_err(|wait| wait.as_secs()),
        );
    }
    assert_eq!(waits, [Ok(0), Ok(0), Ok(30), Ok(60), Err(90)]);
    assert_eq!(
        lines.wait([1; 32], &limit, now, minute),
        Ok(Duration::ZERO),
        "another token has its own"
    );
    let later = now + Duration::from_secs(600);
    assert_eq!(lines.wait([0; 32], &limit, later, minute), Ok(Duration::ZERO));
}
