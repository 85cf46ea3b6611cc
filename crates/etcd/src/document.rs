//! What etcd's gateway writes, as we read it. Numbers of 64 bits stand in quotes there, and what has its default is left out.

use model::EtcdMember;
use serde_json::Value;

use crate::status::MemberStatus;

/// Why etcd did not do what it was asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// gRPC's code, if the gateway itself answered.
    pub code: Option<u64>,
    pub words: String,
}

impl Refusal {
    pub fn read(body: &[u8]) -> Refusal {
        match serde_json::from_slice::<Value>(body) {
            Ok(document) => {
                let words = document["message"].as_str().or_else(|| document["error"].as_str()).unwrap_or_default().to_owned();
                Refusal { code: document["code"].as_u64(), words }
            }
            Err(_) => Refusal { code: None, words: String::from_utf8_lossy(body).trim().to_owned() },
        }
    }
}

/// The members of a list; nothing if one of them cannot be read, because a list that lacks a voter is a wrong one.
pub(crate) fn members(document: &Value) -> Option<Vec<EtcdMember>> {
    let listed = document["members"].as_array()?;
    listed.iter().map(member).collect()
}

fn member(value: &Value) -> Option<EtcdMember> {
    let urls = match &value["peerURLs"] {
        Value::Null => Vec::new(),
        urls => urls.as_array()?.iter().map(|url| url.as_str().map(str::to_owned)).collect::<Option<_>>()?,
    };
    Some(EtcdMember {
        id: format!("{:x}", number(&value["ID"])?),
        name: text(&value["name"])?.to_owned(),
        peer_urls: urls,
        is_learner: flag(&value["isLearner"])?,
    })
}

/// What a member says of itself.
pub(crate) fn status(document: &Value) -> Option<MemberStatus> {
    let leader = match &document["leader"] {
        Value::Null => None,
        id => Some(number(id)?).filter(|id| *id != 0).map(|id| format!("{id:x}")),
    };
    Some(MemberStatus {
        id: format!("{:x}", number(&document["header"]["member_id"])?),
        version: text(&document["version"])?.to_owned(),
        leader,
        is_learner: flag(&document["isLearner"])?,
        raft_index: number(&document["raftIndex"])?,
    })
}

/// `13565387115570530945`, in quotes.
fn number(value: &Value) -> Option<u64> {
    value.as_str()?.parse().ok()
}

fn text(value: &Value) -> Option<&str> {
    if value.is_null() { Some("") } else { value.as_str() }
}

fn flag(value: &Value) -> Option<bool> {
    if value.is_null() { Some(false) } else { value.as_bool() }
}

/// The id of a member as the gateway takes it, from the hexadecimal digits that etcd's own tools print.
pub(crate) fn decimal(id: &str) -> Option<String> {
    Some(u64::from_str_radix(id, 16).ok()?.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_list_is_read_whole_or_not_at_all() {
        let list = json!({"header": {}, "members": [
            {"ID": "699910767417160330", "name": "b", "peerURLs": ["http://127.0.0.1:23073"], "clientURLs": ["http://127.0.0.1:23072"]},
            {"ID": "13816227832226578937", "peerURLs": ["http://127.0.0.1:23075"], "isLearner": true},
        ]});
        let seen = members(&list).unwrap();
        assert_eq!((seen[0].id.as_str(), seen[0].name.as_str(), seen[0].is_learner), ("9b695227a5ef28a", "b", false));
        assert_eq!((seen[1].id.as_str(), seen[1].name.as_str(), seen[1].is_learner), ("bfbd1a030bbb01f9", "", true));
        assert_eq!(seen[1].peer_urls, ["http://127.0.0.1:23075"]);
        assert_eq!(decimal(&seen[1].id).as_deref(), Some("13816227832226578937"), "back again");
        for broken in [
            json!({}),
            json!({"members": {}}),
            json!({"members": [{"ID": 5}]}),
            json!({"members": [{"ID": "5", "isLearner": "no"}]}),
            json!({"members": [{"ID": "5", "peerURLs": [1]}]}),
            json!({"members": [{"ID": "5"}, {"name": "without"}]}),
        ] {
            assert_eq!(members(&broken), None, "{broken}");
        }
        assert_eq!((decimal("xyz"), decimal(""), decimal("1ffffffffffffffff")), (None, None, None));
    }
}
