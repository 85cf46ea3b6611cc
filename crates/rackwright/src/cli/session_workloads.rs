//! Requests about tenants' resources: by name, by id, and within one another.

use reqwest::header::HeaderValue;
use serde_json::Value;

use super::answer::{field, name_in_id, segment_after, text_of};
use super::client::Target;
use super::did_you_mean::nearest_hint;
use super::key_sets;
use super::session::{Kind, Session, place};
use super::trouble::{Exit, Trouble};

/// What is said of a request beside its body.
pub type Query = Option<(&'static str, &'static str)>;

fn with(target: Target, query: Query) -> Target {
    query.into_iter().fold(target, |target, (name, value)| target.with(name, value))
}

impl Session {
    /// Resources by their whole ids, in the order in which they were given.
    pub async fn get_by_ids(&self, kind: Kind, ids: &[String]) -> Result<Vec<Value>, Trouble> {
        let targets: Vec<Target> = ids.iter().map(|id| target_of(kind, id)).collect::<Result<_, _>>()?;
        let mut found = Vec::new();
        for target in &targets {
            found.push(self.client.get(target).await?);
        }
        Ok(found)
    }

    /// Asks something of one.
    pub async fn post(&self, kind: Kind, name: &str, verb: &str, query: Query, body: &Value) -> Result<Value, Trouble> {
        let (subscription, group) = self.locate(kind, name).await?;
        let answer = self.client.post(&with(place(&subscription, Some(&group), kind, &[name, verb]), query), body).await;
        self.explained(kind, name, answer).await
    }

    pub async fn delete(&self, kind: Kind, name: &str, query: Query) -> Result<Value, Trouble> {
        let (subscription, group) = self.locate(kind, name).await?;
        let answer = self.client.delete(&with(place(&subscription, Some(&group), kind, &[name]), query)).await;
        self.explained(kind, name, answer).await
    }

    /// Changes what is written on one, or on something within it.
    pub async fn patch(&self, kind: Kind, name: &str, rest: &[&str], body: &Value) -> Result<Value, Trouble> {
        let (subscription, group) = self.locate(kind, name).await?;
        let path: Vec<&str> = [name].into_iter().chain(rest.iter().copied()).collect();
        let answer = self.client.patch(&place(&subscription, Some(&group), kind, &path), body, None).await;
        self.explained_within(kind, name, rest, answer).await
    }

    /// Makes one, in the resource group that is set, or else in the only one. Returns it, and the operation that is at work.
    pub async fn put(&self, kind: Kind, name: &str, body: &Value) -> Result<(Value, Option<String>), Trouble> {
        let (subscription, group) = self.home().await?;
        let (made, polled) = self.client.put(&place(&subscription, Some(&group), kind, &[name]), body).await?;
        let operation = polled.map(|link| name_in_id(link.split('?').next().unwrap_or_default()).to_owned());
        Ok((made, operation))
    }

    pub async fn list_within(&self, kind: Kind, name: &str, collection: &str) -> Result<Vec<Value>, Trouble> {
        let (subscription, group) = self.locate(kind, name).await?;
        match self.client.list(&place(&subscription, Some(&group), kind, &[name, collection])).await {
            Err(trouble) if trouble.exit == Exit::NotFound => Err(self.explain_missing(kind, name, trouble).await),
            answer => answer,
        }
    }

    /// Something within one: a collection, and a name in it.
    pub async fn get_within(&self, kind: Kind, name: &str, rest: &[&str; 2]) -> Result<Value, Trouble> {
        let (subscription, group) = self.locate(kind, name).await?;
        let [collection, inner] = *rest;
        let answer = self.client.get(&place(&subscription, Some(&group), kind, &[name, collection, inner])).await;
        self.explained_within(kind, name, rest, answer).await
    }

    /// What the server tells of one beyond its resource.
    pub async fn get_of(&self, kind: Kind, name: &str, what: &str, query: &[(&'static str, String)]) -> Result<Value, Trouble> {
        let (subscription, group) = self.locate(kind, name).await?;
        let target = place(&subscription, Some(&group), kind, &[name, what]);
        let target = query.iter().fold(target, |target, (name, value)| target.with(name, value.clone()));
        let answer = self.client.get(&target).await;
        self.explained(kind, name, answer).await
    }

    /// Changes something within one, if it is still what its etag says.
    pub async fn patch_within(
        &self,
        kind: Kind,
        name: &str,
        rest: &[&str; 2],
        body: &Value,
        if_match: Option<&HeaderValue>,
    ) -> Result<Value, Trouble> {
        let (subscription, group) = self.locate(kind, name).await?;
        let [collection, inner] = *rest;
        let answer = self.client.patch(&place(&subscription, Some(&group), kind, &[name, collection, inner]), body, if_match).await;
        self.explained_within(kind, name, rest, answer).await
    }

    /// Makes something within one.
    pub async fn put_within(&self, kind: Kind, name: &str, rest: &[&str; 2], body: &Value) -> Result<Value, Trouble> {
        let (subscription, group) = self.locate(kind, name).await?;
        let [collection, inner] = *rest;
        let (made, _) = self.client.put(&place(&subscription, Some(&group), kind, &[name, collection, inner]), body).await?;
        Ok(made)
    }

    pub async fn delete_within(&self, kind: Kind, name: &str, rest: &[&str; 2]) -> Result<Value, Trouble> {
        let (subscription, group) = self.locate(kind, name).await?;
        let [collection, inner] = *rest;
        let answer = self.client.delete(&place(&subscription, Some(&group), kind, &[name, collection, inner])).await;
        self.explained_within(kind, name, rest, answer).await
    }

    async fn explained(&self, kind: Kind, name: &str, answer: Result<Value, Trouble>) -> Result<Value, Trouble> {
        match answer {
            Err(trouble) if trouble.exit == Exit::NotFound && trouble.details.is_empty() => {
                Err(self.explain_missing(kind, name, trouble).await)
            }
            answer => answer,
        }
    }

    /// The same for something within it: which of the two names is unknown, and what may have been meant.
    async fn explained_within(&self, kind: Kind, name: &str, rest: &[&str], answer: Result<Value, Trouble>) -> Result<Value, Trouble> {
        match (answer, rest) {
            (Err(trouble), [collection, inner]) if trouble.exit == Exit::NotFound => {
                let known = self.list_within(kind, name, collection).await?;
                let names: Vec<String> = known.iter().filter_map(|one| field(one, "/name")).collect();
                let list = match *collection {
                    "runtimes" => "rackwright runtime list".to_owned(),
                    key_sets::OF_MACHINES => "rackwright cluster baremetalmachinekeyset list".to_owned(),
                    key_sets::OF_BMCS => "rackwright cluster bmckeyset list".to_owned(),
                    _ => format!("rackwright agentpool list {name}"),
                };
                Err(trouble.hint(nearest_hint(inner, names.iter().map(String::as_str), &list)))
            }
            (answer, _) => self.explained(kind, name, answer).await,
        }
    }

    /// Where something new belongs.
    async fn home(&self) -> Result<(String, String), Trouble> {
        let clusters = self.list(Kind::Cluster).await?;
        let mut homes: Vec<(String, String)> = clusters
            .iter()
            .filter_map(|cluster| {
                let id = field(cluster, "/id")?;
                Some((segment_after(&id, "subscriptions")?.to_owned(), segment_after(&id, "resourceGroups")?.to_owned()))
            })
            .collect();
        homes.dedup();
        match homes.as_slice() {
            [only] => Ok(only.clone()),
            [] => Err(Trouble::new(Exit::NotFound, "the server has no cluster yet")),
            several => {
                let groups: Vec<&str> = several.iter().map(|(_, group)| group.as_str()).collect();
                Err(Trouble::new(Exit::Usage, "there are several resource groups")
                    .detail(groups.join(", "))
                    .hint(format!("choose one with `-g`, for example `-g {}`", groups[0])))
            }
        }
    }
}

/// The path of an id, if it is one of that kind.
fn target_of(kind: Kind, id: &str) -> Result<Target, Trouble> {
    let segments: Vec<&str> = id.split('/').filter(|segment| !segment.is_empty()).collect();
    let collection = segments.len().checked_sub(2).map(|at| segments[at]);
    let is_whole = segments.len() == 8 && segments[0].eq_ignore_ascii_case("subscriptions");
    if !is_whole || !collection.is_some_and(|own| own.eq_ignore_ascii_case(kind.collection())) {
        let example = format!("/subscriptions/…/resourceGroups/…/providers/Microsoft.NetworkCloud/{}/NAME", kind.collection());
        return Err(Trouble::new(Exit::Usage, format!("`{}` is not the id of one of the {}", text_of(id), kind.collection()))
            .hint(format!("for example `{example}`")));
    }
    Ok(Target::arm(segments))
}

#[cfg(test)]
mod tests {
    use super::super::session_tests::{Reply, Rote};
    use super::*;
    use serde_json::json;

    const VMS: &str = "/subscriptions/s1/resourceGroups/g1/providers/Microsoft.NetworkCloud/virtualMachines";

    fn missing() -> Reply {
        Reply::Json(404, json!({ "error": { "code": "ResourceNotFound", "message": "there is no agent pool `pol1`" } }))
    }

    #[tokio::test]
    async fn ids_are_followed_as_they_are_and_others_are_not() {
        let rote = Rote::with(vec![Reply::Json(200, json!({ "name": "v1" })), Reply::Json(200, json!({ "name": "v2" }))], None).await;
        let ids = [format!("{VMS}/v1"), format!("{VMS}/v2").to_uppercase()];
        assert_eq!(rote.session.get_by_ids(Kind::Vm, &ids).await.unwrap().len(), 2);
        assert!(rote.paths()[0].starts_with(&format!("{VMS}/v1?")), "{:?}", rote.paths());
        for wrong in ["v1", "/subscriptions/s1", &format!("{VMS}/v1/start"), &ids[0].replace("virtualMachines", "racks")] {
            let trouble = rote.session.get_by_ids(Kind::Vm, &[ids[0].clone(), wrong.to_owned()]).await.unwrap_err();
            assert_eq!((trouble.exit, rote.paths().len()), (Exit::Usage, 2), "{wrong}");
        }
    }

    #[tokio::test]
    async fn a_new_one_belongs_into_the_only_group_and_its_operation_is_named() {
        let cluster = json!({ "value": [{ "id": "/subscriptions/s1/resourceGroups/g1/providers/x/clusters/c" }] });
        let rote = Rote::with(vec![Reply::Json(200, cluster), Reply::Json(200, json!({ "name": "v1" }))], None).await;
        let (made, operation) = rote.session.put(Kind::Vm, "v1", &json!({})).await.unwrap();
        assert_eq!((made["name"].as_str(), operation), (Some("v1"), None));
        assert!(rote.paths()[1].starts_with(&format!("{VMS}/v1?")), "{:?}", rote.paths());
    }

    #[tokio::test]
    async fn a_pool_that_is_not_there_is_told_from_a_cluster_that_is_not() {
        let pools = Reply::Json(200, json!({ "value": [{ "name": "pool1" }] }));
        let rote = Rote::with(vec![missing(), pools], Some("g1")).await;
        let trouble = rote.session.get_within(Kind::TenantCluster, "k", &["agentPools", "pol1"]).await.unwrap_err();
        assert_eq!((trouble.exit, trouble.hint.as_deref()), (Exit::NotFound, Some("did you mean `pool1`?")));
        let clusters = Reply::Json(200, json!({ "value": [{ "name": "naks-01", "id": "/subscriptions/s1/resourceGroups/g1/x" }] }));
        let rote = Rote::with(vec![missing(), missing(), clusters], Some("g1")).await;
        let trouble = rote.session.get_within(Kind::TenantCluster, "naks-1", &["agentPools", "p"]).await.unwrap_err();
        assert_eq!(trouble.hint.as_deref(), Some("did you mean `naks-01`?"));
    }
}
