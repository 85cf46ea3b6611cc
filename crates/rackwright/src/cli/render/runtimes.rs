//! Runtimes, as a table and one by one.

use serde_json::Value;

use super::layout::{Fact, Table, facts};
use super::racks::group_of;
use crate::cli::answer::{field, field_or_dash, is_true, items, segment_after};
use crate::cli::screen::{Sheet, Tone};

pub fn runtime_table(runtimes: &[Value]) -> Table {
    let mut table = Table::new(&["VERSION", "KUBERNETES", "SYSTEM", "IMAGE", "SIZE", "BOOT", "MACHINES", "CURRENT"]);
    for runtime in runtimes {
        table.row(
            Tone::Plain,
            [
                field_or_dash(runtime, "/name"),
                field_or_dash(runtime, "/properties/kubernetesVersion"),
                field_or_dash(runtime, "/properties/osName"),
                digest(runtime, "/properties/osImage"),
                size(runtime, "/properties/osImage"),
                ways(runtime),
                field_or_dash(runtime, "/rackwright/machines"),
                if is_true(runtime, "/rackwright/isClusterVersion") { "yes" } else { "-" }.to_owned(),
            ],
        );
    }
    table
}

pub fn runtime_sheet(runtime: &Value) -> Sheet {
    let text = |pointer| field_or_dash(runtime, pointer);
    let id = field_or_dash(runtime, "/id");
    let cluster = segment_after(&id, "clusters").unwrap_or("-");
    let use_of = if is_true(runtime, "/rackwright/isClusterVersion") { ", which runs this version" } else { "" };
    let mut lines: Vec<Fact<'_>> = vec![
        (Tone::Strong, "runtime", text("/name")),
        (Tone::Plain, "cluster", format!("{cluster}, resource group {}{use_of}", group_of(runtime))),
        (Tone::Plain, "machines", format!("{} have it from us", text("/rackwright/machines"))),
        (Tone::Plain, "Kubernetes", text("/properties/kubernetesVersion")),
        (Tone::Plain, "system", text("/properties/osName")),
    ];
    let parts = [
        ("image", "/properties/osImage"),
        ("virtual media", "/properties/boot/agentImage"),
        ("UEFI HTTP", "/properties/boot/http"),
        ("PXE", "/properties/boot/pxe"),
    ];
    for (name, pointer) in parts.into_iter().filter(|(_, pointer)| runtime.pointer(pointer).is_some()) {
        let url = field_or_dash(runtime, &format!("{pointer}/url"));
        let packed = packed(runtime, pointer);
        lines.push((Tone::Plain, name, format!("{url}, {}, sha256 {}{packed}", size(runtime, pointer), digest(runtime, pointer))));
    }
    for (n, floor) in items(runtime, "/properties/firmware").iter().enumerate() {
        let of = |pointer| field_or_dash(floor, pointer);
        let line = format!("{}: {} {} or later", of("/model"), of("/component"), of("/minimum"));
        lines.push((Tone::Plain, if n == 0 { "firmware" } else { "" }, line));
    }
    let user_data = runtime.pointer("/properties/userData").and_then(Value::as_object);
    for (n, (role, template)) in user_data.into_iter().flatten().enumerate() {
        let lines_of = template.as_str().unwrap_or_default().lines().count();
        lines.push((Tone::Plain, if n == 0 { "user data" } else { "" }, format!("{role}: {lines_of} lines")));
    }
    facts(&lines)
}

/// The ways by which a machine can be started for it.
fn ways(runtime: &Value) -> String {
    let ways = [("agentImage", "media"), ("http", "http"), ("pxe", "pxe")];
    let boot = &runtime["properties"]["boot"];
    ways.into_iter().filter(|(name, _)| boot.get(name).is_some()).map(|(_, word)| word).collect::<Vec<_>>().join(",")
}

/// The first digits, which are enough to tell two apart.
fn digest(runtime: &Value, pointer: &str) -> String {
    let digest = field(runtime, &format!("{pointer}/sha256"));
    digest.map_or_else(|| "-".to_owned(), |digest| digest.chars().take(12).collect())
}

/// How it is packed on its way, if it is.
fn packed(runtime: &Value, pointer: &str) -> String {
    let pointer = format!("{pointer}/packed");
    let format = field(runtime, &format!("{pointer}/format"));
    format.map_or_else(String::new, |format| format!("; as {format} {}, sha256 {}", size(runtime, &pointer), digest(runtime, &pointer)))
}

fn size(runtime: &Value, pointer: &str) -> String {
    const UNITS: [(&str, u64); 3] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    let Some(bytes) = runtime.pointer(&format!("{pointer}/bytes")).and_then(Value::as_u64) else { return "-".to_owned() };
    match UNITS.into_iter().find(|(_, unit)| bytes >= *unit) {
        Some((name, unit)) => format!("{}.{} {name}", bytes / unit, bytes % unit * 10 / unit),
        None => format!("{bytes} B"),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use serde_json::json;

    use super::*;

    fn runtime() -> Value {
        let artefact =
            |name: &str, bytes: u64| json!({ "url": format!("http://images/{name}"), "sha256": "ab".repeat(32), "bytes": bytes });
        json!({
            "id": "/subscriptions/s1/resourceGroups/g1/providers/Microsoft.NetworkCloud/clusters/site1/runtimes/4.9.2",
            "name": "4.9.2",
            "properties": {
                "osName": "Azure Linux 3.0", "kubernetesVersion": "v1.33.7", "osImage": artefact("os.img", 3_400_000_000),
                "boot": { "agentImage": artefact("agent.iso", 40_000_000), "http": artefact("boot.efi", 900) },
                "firmware": [{ "model": "PowerEdge R750", "component": "BIOS", "minimum": "1.10.2" }],
                "userData": { "Compute": "a\nb\n", "ControlPlane": "a\n", "Management": "a\n" },
            },
            "rackwright": { "isClusterVersion": true, "machines": 3 },
        })
    }

    #[test]
    fn runtimes_are_listed_and_shown() {
        expect![[r#"
            VERSION  KUBERNETES  SYSTEM           IMAGE         SIZE     BOOT        MACHINES  CURRENT
            4.9.2    v1.33.7     Azure Linux 3.0  abababababab  3.1 GiB  media,http  3         yes
        "#]]
        .assert_eq(&runtime_table(&[runtime()]).plain());
        expect![[r#"
            runtime        4.9.2
            cluster        site1, resource group g1, which runs this version
            machines       3 have it from us
            Kubernetes     v1.33.7
            system         Azure Linux 3.0
            image          http://images/os.img, 3.1 GiB, sha256 abababababab
            virtual media  http://images/agent.iso, 38.1 MiB, sha256 abababababab
            UEFI HTTP      http://images/boot.efi, 900 B, sha256 abababababab
            firmware       PowerEdge R750: BIOS 1.10.2 or later
            user data      Compute: 2 lines
                           ControlPlane: 1 lines
                           Management: 1 lines
        "#]]
        .assert_eq(&runtime_sheet(&runtime()).plain());
    }

    #[test]
    fn a_packed_image_is_shown_as_what_it_is_and_as_what_is_sent() {
        let mut runtime = runtime();
        runtime["properties"]["osImage"]["packed"] = json!({ "format": "zstd", "sha256": "cd".repeat(32), "bytes": 1_100_000_000 });
        let shown = runtime_sheet(&runtime).plain();
        let line = "http://images/os.img, 3.1 GiB, sha256 abababababab; as zstd 1.0 GiB, sha256 cdcdcdcdcdcd";
        assert!(shown.contains(line), "{shown}");
    }
}
