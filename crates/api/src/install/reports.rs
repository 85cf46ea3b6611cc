//! What a machine tells of itself once its session has begun: how far it is, what it has written, that it gives up; and what the
//! installed system says when it runs.

use std::collections::BTreeMap;

use axum::body::Body;
use axum::extract::{Path, RawQuery, State};
use http::{HeaderMap, StatusCode};
use model::{Digest, InstallTrouble, KEY_SETS_MAX, KeySetName, MachineReport};
use serde::Deserialize;
use ticket::Purpose;

use super::InstallFace;
use super::attempt::{Known, Named};
use super::door::{Declined, bearer, read};
use crate::submit::submit_report;

/// The longest words of an agent that gives up; longer ones are cut.
const DETAIL_MAX: usize = 1_500;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
enum Word {
    Progress {
        percent: u8,
    },
    Written {
        sha256: Digest,
    },
    Failed {
        trouble: InstallTrouble,
        #[serde(default)]
        detail: String,
    },
}

impl Word {
    fn report(self) -> Result<MachineReport, Declined> {
        match self {
            Word::Progress { percent } if percent > 100 => {
                Err(Declined::new(StatusCode::BAD_REQUEST, "`percent` is a whole number from 0 to 100"))
            }
            Word::Progress { percent } => Ok(MachineReport::Progress { percent }),
            Word::Written { sha256 } => Ok(MachineReport::Written { digest: sha256 }),
            Word::Failed { trouble, detail } => Ok(MachineReport::Failed { trouble, detail: model::cleaned(&detail, DETAIL_MAX) }),
        }
    }
}

pub(super) async fn report(
    State(face): State<InstallFace>,
    Path(named): Path<Named>,
    headers: HeaderMap,
    body: Body,
) -> Result<StatusCode, Declined> {
    let (known, installing) = face.admit(&named, Purpose::Session, bearer(&headers)?).await?;
    let report = read::<Word>(body).await?.report()?;
    face.hear_of_damage(&known, installing, &report);
    face.pass_on(&known, report).await
}

pub(super) async fn phone_home(
    State(face): State<InstallFace>,
    Path(named): Path<Named>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<StatusCode, Declined> {
    // Whatever it sends along is not read: cloud-init sends keys and ids that nobody here needs.
    let (known, _) = face.admit(&named, Purpose::System, bearer(&headers)?).await?;
    face.pass_on(&known, MachineReport::PhonedHome { key_sets: key_sets_in(query.as_deref().unwrap_or_default()) }).await
}

/// The key sets in the address that the system was given: `keysets=ops.3,dev.1`. What is none is left out.
fn key_sets_in(query: &str) -> BTreeMap<KeySetName, u64> {
    let listed = query.split('&').find_map(|pair| pair.strip_prefix("keysets=")).unwrap_or_default();
    let sets = listed.split(',').filter_map(|set| {
        let (name, edition) = set.rsplit_once('.')?;
        Some((KeySetName::new(name).ok()?, edition.parse().ok()?))
    });
    sets.take(KEY_SETS_MAX).collect()
}

impl InstallFace {
    /// Counts a request of an attempt, or declines it for the moment.
    pub(super) fn keep_pace(&self, known: &Known) -> Result<(), Declined> {
        if self.pace.allows(&known.attempt, self.api.clock.now()) {
            return Ok(());
        }
        Err(Declined::later(StatusCode::TOO_MANY_REQUESTS, "this machine reports too often"))
    }

    pub(super) async fn pass_on(&self, known: &Known, report: MachineReport) -> Result<StatusCode, Declined> {
        self.keep_pace(known)?;
        submit_report(&self.api, &known.operation, known.attempt.clone(), report).await?;
        Ok(StatusCode::NO_CONTENT)
    }
}
