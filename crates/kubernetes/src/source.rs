//! Where a kind of object is found: at a place that every API server has, or in a group that somebody has to install.

use kube::api::{ApiResource, DynamicObject};
use kube::core::GroupVersionKind;
use kube::{Api, Client};

/// The way to the objects of one kind.
pub(crate) enum Source<K> {
    /// Every API server has it.
    BuiltIn(Api<K>),
    /// Defined by a custom resource: a server without it says 404.
    Installed(Api<K>),
    /// The same, in the version that the server prefers.
    Preferred { client: Client, namespace: String, resource: CustomResource, api: fn(Client, &str, &ApiResource) -> Api<K> },
}

/// A kind that a custom resource definition brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CustomResource {
    pub group: &'static str,
    pub kind: &'static str,
    pub plural: &'static str,
}

impl CustomResource {
    pub fn at(self, version: &str) -> ApiResource {
        ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk(self.group, version, self.kind), self.plural)
    }

    /// The kind in the version that the server prefers; nothing if it does not know the group.
    pub async fn preferred(self, client: &Client) -> kube::Result<Option<ApiResource>> {
        let groups = match client.list_api_groups().await {
            // A server that has nothing installed may not even have the list of what is.
            Err(kube::Error::Api(status)) if status.code == 404 => return Ok(None),
            groups => groups?.groups,
        };
        let group = groups.into_iter().find(|group| group.name == self.group);
        let version = group.and_then(|group| {
            let first = group.versions.first().map(|version| version.version.clone());
            group.preferred_version.map(|version| version.version).or(first)
        });
        Ok(version.map(|version| self.at(&version)))
    }
}

impl<K: Clone> Source<K> {
    /// Where to ask now; nothing if the server does not know the kind.
    pub async fn resolve(&self) -> kube::Result<Option<Api<K>>> {
        match self {
            Source::BuiltIn(api) | Source::Installed(api) => Ok(Some(api.clone())),
            Source::Preferred { client, namespace, resource, api } => {
                Ok(resource.preferred(client).await?.map(|found| api(client.clone(), namespace, &found)))
            }
        }
    }

    pub fn may_be_absent(&self) -> bool {
        !matches!(self, Source::BuiltIn(_))
    }
}

impl Source<DynamicObject> {
    pub fn installed(client: &Client, namespace: &str, resource: CustomResource, version: &str) -> Self {
        Source::Installed(Api::namespaced_with(client.clone(), namespace, &resource.at(version)))
    }

    pub fn preferred(client: &Client, namespace: &str, resource: CustomResource) -> Self {
        let api = |client: Client, namespace: &str, resource: &ApiResource| Api::namespaced_with(client, namespace, resource);
        Source::Preferred { client: client.clone(), namespace: namespace.to_owned(), resource, api }
    }
}
