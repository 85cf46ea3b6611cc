//! The order of a stop: say so, stop listening, finish what is being answered, then let the keepers go.
//!
//! Keepers go last, because a request that is being answered needs its keeper's verdict.

use std::time::Duration;

use api::ANSWER_TIMEOUT;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// What ends one after the other.
#[derive(Clone, Debug, Default)]
pub struct Stages {
    /// Whether the API takes new connections.
    pub listening: CancellationToken,
    /// Whether sites are kept, and the cache follows the store.
    pub keeping: CancellationToken,
}

/// Waits until the process is `told` to stop, and ends its stages in order. `/readyz` says no from the first moment on, so
/// that whoever sends requests elsewhere can do so within `delay`, while we still listen.
pub async fn in_order(told: CancellationToken, delay: Duration, answering: TaskTracker, stages: Stages) {
    told.cancelled().await;
    tokio::time::sleep(delay).await;
    stages.listening.cancel();
    answering.close();
    if tokio::time::timeout(ANSWER_TIMEOUT.to_std(), answering.wait()).await.is_err() {
        tracing::warn!(unanswered = answering.len(), "requests took too long to be answered and are given up");
    }
    stages.keeping.cancel();
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::Instant;

    struct Stop {
        told: CancellationToken,
        answering: TaskTracker,
        stages: Stages,
        began: Instant,
    }

    impl Stop {
        /// A process that was told to stop just now.
        fn begin(delay: Duration) -> Stop {
            let stop =
                Stop { told: CancellationToken::new(), answering: TaskTracker::new(), stages: Stages::default(), began: Instant::now() };
            tokio::spawn(in_order(stop.told.clone(), delay, stop.answering.clone(), stop.stages.clone()));
            stop
        }

        async fn millis_until(&self, stage: &CancellationToken) -> u128 {
            stage.cancelled().await;
            self.began.elapsed().as_millis()
        }
    }

    #[tokio::test(start_paused = true)]
    async fn keepers_are_there_until_the_last_answer() {
        let stop = Stop::begin(Duration::from_secs(2));
        let answer = stop.answering.token();
        stop.told.cancel();
        assert_eq!(stop.millis_until(&stop.stages.listening).await, 2_000);
        tokio::time::sleep(Duration::from_secs(3)).await;
        assert!(!stop.stages.keeping.is_cancelled());
        drop(answer);
        assert_eq!(stop.millis_until(&stop.stages.keeping).await, 5_000);
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_never_comes_is_not_waited_for_for_ever() {
        let stop = Stop::begin(Duration::ZERO);
        let _answer = stop.answering.token();
        stop.told.cancel();
        assert_eq!(stop.millis_until(&stop.stages.keeping).await, u128::from(ANSWER_TIMEOUT.as_millis()));
    }
}
