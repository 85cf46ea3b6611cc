use super::*;

const JSON: &str = r#"{"url":"http://10.0.2.2:7226","ca":null,"cluster":"c","machine":"m","operation":"o","round":2,"token":"secret-token",
    "time":"2026-11-16T12:00:00.000Z","network":{"mac":"52:54:00:12:34:56","address":"10.0.2.50/24","gateway":"10.0.2.2","dns":["10.0.2.3"]}}"#;

fn area(content: &str) -> Vec<u8> {
    let mut area = format!("{MARKER}\n{content}").into_bytes();
    area.resize(AREA_BYTES, b'\n');
    area
}

fn wrong(area: &[u8]) -> String {
    Configuration::parse(area).unwrap_err().to_string()
}

#[test]
fn a_whole_configuration_is_read() {
    let read = Configuration::parse(&area(JSON)).unwrap();
    assert_eq!((read.machine.as_str(), read.round, read.token.as_str()), ("m", 2, "secret-token"));
    assert_eq!(read.network.unwrap().dns, ["10.0.2.3"]);
    assert_eq!(read.time.unwrap().to_string(), "2026-11-16T12:00:00Z");
}

#[test]
fn a_damaged_configuration_is_told_without_its_token() {
    let cases = [
        (area(""), "nothing was put into it"),
        (area(&JSON[..150]), "it is not the JSON of a configuration: it ends too early, at line 2 column"),
        (area(&JSON.replace("\"cluster\"", "\"clutter\"")), "a value is missing or of another kind"),
        (area(&JSON.replace("\"round\":2", "\"round\":\"secret-token\"")), "a value is missing or of another kind"),
        (area(&JSON.replace("\"ca\":null", "\"ca\":\u{1}")), "it is damaged"),
        (area(&JSON.replace("http://10.0.2.2:7226", "ftp://x")), "no http or https URL"),
        (area(&JSON.replace("http://", "https://")), "no certificate to know the control plane by"),
        (area(JSON)[..1_000].to_vec(), "it ends after 1000 of 16384 bytes"),
        (b"something else".to_vec(), "does not begin with the line"),
    ];
    for (area, expected) in cases {
        let told = wrong(&area);
        assert!(told.contains(expected), "{told} instead of {expected}");
        assert!(!told.contains("secret-token"));
    }
    assert!(!format!("{:?}", Configuration::parse(&area(JSON)).unwrap()).contains("secret-token"));
}

#[test]
fn the_area_is_found_wherever_the_image_has_it() {
    for at in [0, 2_048, PIECE_BYTES - 2_048, PIECE_BYTES, 3 * PIECE_BYTES - 4_096] {
        let root = tempfile::tempdir().unwrap();
        let mut image = vec![7; at];
        image.extend_from_slice(&area(JSON));
        image.extend_from_slice(&[9; 5_000]);
        fs::write(root.path().join("iso"), image).unwrap();
        let found = read_area(&root.path().join("iso")).expect("an area");
        assert!(Configuration::parse(&found).is_ok(), "{at}");
    }
}

#[test]
fn only_the_boot_loader_and_drives_with_media_are_believed() {
    let root = tempfile::tempdir().unwrap();
    let dev = |name: &str| root.path().join("dev").join(name);
    fs::create_dir_all(root.path().join("dev")).unwrap();
    for (name, removable) in [("sda", "0"), ("sdb", "1"), ("sr0", "1")] {
        fs::create_dir_all(root.path().join("sys/block").join(name)).unwrap();
        fs::write(root.path().join("sys/block").join(name).join("removable"), removable).unwrap();
    }
    let log = Log::kept();
    let machine = || find_within(root.path(), &log, Duration::ZERO).map(|found| found.machine);
    let put = |place: PathBuf, machine: &str| fs::write(place, area(&JSON.replace("\"m\"", &format!("\"{machine}\"")))).unwrap();

    put(dev("sda"), "of-a-tenant");
    assert_eq!(machine(), None);
    put(dev("sdb"), "of-usb");
    assert_eq!(machine().as_deref(), Some("of-usb"));
    put(dev("sr0"), "of-cd");
    assert_eq!(machine().as_deref(), Some("of-cd"));
    put(root.path().join(AREA_FILE), "of-boot-loader");
    assert_eq!(machine().as_deref(), Some("of-boot-loader"));
    fs::write(root.path().join(AREA_FILE), area("{\"url\":")).unwrap();
    assert_eq!(machine().as_deref(), Some("of-cd"));
    assert!(log.text().contains("is of no use: it is not the JSON of a configuration"), "{}", log.text());
}
