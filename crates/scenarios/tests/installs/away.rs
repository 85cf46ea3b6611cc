//! The control plane is away for a while in the middle of an installation: that costs time, and nothing else.

use std::time::Duration;

use serde_json::Value;

use crate::hand::{COMPUTE, ended, is_report, operation_of, post, site, unguarded, until_fact};

fn is_seen(fact: &Value, step: &str) -> bool {
    fact["kind"] == "seen" && fact["step"] == step
}

#[tokio::test(start_paused = true)]
async fn an_installation_outlives_an_absence_of_twenty_minutes_wherever_it_falls() {
    for moment in ["bootAgent", "agentOn", "exchange", "written", "systemOn"] {
        let mut house = site(4).await;
        let data = house.site.volumes(COMPUTE).unwrap()[1..].to_vec();
        let id = operation_of(&post(&house, COMPUTE, "reimage", &unguarded()).await);
        until_fact(&house, &id, |fact| is_seen(fact, moment) || is_report(fact, moment)).await;
        house.crash().await;
        tokio::time::sleep(Duration::from_secs(1_200)).await;
        house.start_control_plane().await;
        house.settle().await;
        let operation = ended(&house, &id).await;
        assert_eq!(operation["status"], "Succeeded", "away from {moment}: {operation:#}");
        let volumes = house.site.volumes(COMPUTE).unwrap();
        assert!(volumes[0].1.starts_with("system f97dd") && volumes[1..] == data, "away from {moment}: {volumes:?}");
        house.check_log().await;
        house.close().await;
    }
}
