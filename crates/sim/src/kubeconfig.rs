//! The file that lets kubectl and our own driver reach the site.

use crate::listen::Endpoints;
use crate::site::Site;

impl Site {
    /// A kubeconfig as YAML. The site's name is quoted as JSON, which YAML reads too.
    ///
    /// The token stands twice: in the server's URL for kubectl, which sends no bearer token over plain HTTP, and as the
    /// user's token for clients that do.
    pub fn kubeconfig(&self, endpoints: &Endpoints) -> String {
        let name = serde_json::Value::from(self.layout().site.as_str());
        format!(
            "apiVersion: v1\n\
             kind: Config\n\
             current-context: {name}\n\
             clusters:\n\
             - name: {name}\n\
             \x20 cluster:\n\
             \x20   server: http://kubectl:{token}@{address}\n\
             users:\n\
             - name: {name}\n\
             \x20 user:\n\
             \x20   token: \"{token}\"\n\
             contexts:\n\
             - name: {name}\n\
             \x20 context:\n\
             \x20   cluster: {name}\n\
             \x20   user: {name}\n",
            address = endpoints.kubernetes,
            token = endpoints.token,
        )
    }
}
