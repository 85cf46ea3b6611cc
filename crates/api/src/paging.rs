//! Pages of a list: `$top`, `$skipToken`, `nextLink`.
//!
//! A token is the place of a page's last item in the order of its list. Whoever lists reads the place and begins after
//! it, so that a page costs what is on it, and a list may change between two pages.

use serde::Serialize;

use crate::call::Call;
use crate::links::encode;
use crate::reply::{Refused, shortened};

/// Items on a page when the client does not say.
pub const PAGE_DEFAULT: usize = 100;

/// Items on a page at most: about a megabyte of machines.
pub const PAGE_MAX: usize = 1_000;

/// Query parameters that say which list it is, and so go along to its next page.
const CARRIED: [&str; 3] = ["api-version", "running", "$filter"];

/// A page as it is answered.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Page<R> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_link: Option<String>,
    pub value: Vec<R>,
}

/// What the client asked for.
#[derive(Debug)]
pub(crate) struct Paging {
    top: usize,
    token: Option<String>,
}

impl Paging {
    /// `default` is how many items a page has when the client does not say.
    pub fn of(call: &Call, default: usize) -> Result<Paging, Refused> {
        let top = match call.query("$top") {
            None => default,
            Some(text) => match text.parse::<usize>() {
                Ok(top) if top > 0 => top.min(PAGE_MAX),
                _ => {
                    let message = format!("`$top` must be a whole number from 1 on, not `{}`", shortened(text));
                    return Err(Refused::bad_content(message).target("$top"));
                }
            },
        };
        Ok(Paging { top, token: call.query("$skipToken").map(str::to_owned) })
    }

    pub fn top(&self) -> usize {
        self.top
    }

    /// The place after which the page begins, if it is not the first.
    pub fn after<P>(&self, parse: impl Fn(&str) -> Option<P>) -> Result<Option<P>, Refused> {
        let Some(token) = &self.token else { return Ok(None) };
        match parse(token) {
            Some(place) => Ok(Some(place)),
            None => {
                let message = format!("`$skipToken` is not one of this list: `{}`", shortened(token));
                Err(Refused::bad_content(message).target("$skipToken"))
            }
        }
    }

    /// The page out of the items from its first on, in the order of their places; only the items of the page are rendered.
    pub fn page<T, R>(
        &self,
        call: &Call,
        items: impl Iterator<Item = T>,
        token: impl Fn(&T) -> String,
        render: impl Fn(&T) -> R,
    ) -> Page<R> {
        let mut rest = items.fuse();
        let page: Vec<T> = rest.by_ref().take(self.top).collect();
        let next_link = page.last().filter(|_| rest.next().is_some()).map(|last| self.next_link(call, &token(last)));
        Page { next_link, value: page.iter().map(render).collect() }
    }

    pub fn next_link(&self, call: &Call, token: &str) -> String {
        let carried = CARRIED.iter().filter_map(|name| Some(format!("{name}={}&", encode(call.query(name)?))));
        let carried: String = carried.collect();
        format!("{}{}?{carried}$top={}&$skipToken={}", call.origin(), call.path, self.top, encode(token))
    }
}

#[cfg(test)]
mod tests {
    use http::{Method, StatusCode};
    use model::{Span, Timestamp};

    use crate::fixtures::{Documents, NOW, cluster, machine, operation, rack, read_pages, send};

    /// Names whose order as texts, and with what follows them, is not their order as names.
    const CLUSTERS: [&str; 5] = ["site", "site-b", "site2", "site10", "siteb"];
    const MACHINES: [&str; 4] = ["m", "m-1", "m2", "m10"];

    #[tokio::test]
    async fn pages_of_any_size_hold_each_item_once_though_one_clusters_name_begins_anothers() {
        let mut documents = Documents::default();
        for site in CLUSTERS {
            documents = documents.cluster(&cluster(site));
            for name in MACHINES {
                documents = documents.rack(&rack(site, name)).machine(&machine(site, "m", name));
            }
        }
        let api = documents.serve().await;
        for kind in ["clusters", "racks", "bareMetalMachines"] {
            let list = |top: usize| format!("/subscriptions/s1/providers/Microsoft.NetworkCloud/{kind}?api-version=1&$top={top}");
            let (_, all) = read_pages(&api, &list(1_000), "id").await;
            assert_eq!(all.len(), if kind == "clusters" { CLUSTERS.len() } else { CLUSTERS.len() * MACHINES.len() });
            for top in 1..=all.len() {
                let (pages, paged) = read_pages(&api, &list(top), "id").await;
                assert_eq!(paged, all, "{kind}, {top} on a page");
                assert_eq!(pages, all.len().div_ceil(top));
            }
        }
    }

    #[tokio::test]
    async fn operations_come_in_pages_the_latest_first_and_without_journals() {
        let begin = Timestamp::parse(NOW).unwrap();
        let mut documents = Documents::default().cluster(&cluster("site"));
        for n in 0..10_u32 {
            // Two at a time, so that the moment alone does not tell the place.
            let mut one = operation(&format!("{:08}", (n * 7) % 10), "site", "m", begin + Span::seconds(u64::from(n / 2)));
            if n % 2 == 0 {
                one.ended = Some(crate::fixtures::of_json(serde_json::json!({ "at": NOW, "result": "Succeeded", "message": "" })));
            }
            documents = documents.operation(&one);
        }
        let api = documents.serve().await;
        for running in ["", "running=true&"] {
            let list = |top: usize| format!("/rackwright/v1/operations?{running}$top={top}");
            let (_, all) = read_pages(&api, &list(100), "id").await;
            assert_eq!(all.len(), if running.is_empty() { 10 } else { 5 });
            let (_, times) = read_pages(&api, &list(100), "acceptedAt").await;
            assert!(times.is_sorted_by(|a, b| a >= b), "{times:?}");
            for top in 1..=all.len() {
                assert_eq!(read_pages(&api, &list(top), "id").await, (all.len().div_ceil(top), all.clone()));
            }
        }
        let (_, page) = send(&api, Method::GET, "/rackwright/v1/operations", "").await;
        assert!(page["value"][0].get("journal").is_none());
        let (_, one) = send(&api, Method::GET, "/rackwright/v1/operations/00000000", "").await;
        assert_eq!(one["journal"].as_array().map(Vec::len), Some(1));
    }

    #[tokio::test]
    async fn a_token_of_another_list_is_refused() {
        let api = Documents::default().cluster(&cluster("site")).serve().await;
        for path in ["/subscriptions/s1/providers/Microsoft.NetworkCloud/racks?api-version=1&", "/rackwright/v1/operations?"] {
            let (status, body) = send(&api, Method::GET, &format!("{path}$skipToken=nowhere"), "").await;
            assert_eq!((status, body["error"]["target"].as_str()), (StatusCode::BAD_REQUEST, Some("$skipToken")));
        }
    }
}
