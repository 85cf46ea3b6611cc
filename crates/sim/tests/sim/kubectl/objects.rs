//! Namespaces, secrets and config maps, and what the site does not offer.

use super::{row, with_each_client};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kubectl_keeps_secrets_and_config_maps_in_a_namespace() {
    with_each_client(async |desk| {
        desk.ok("create namespace team").await;
        desk.ok("create secret generic login -n team --from-literal=user=ada --from-literal=password=x").await;
        assert_eq!(row(&desk.ok("get secrets -n team").await, "login")[..3], ["login", "Opaque", "2"]);
        assert_eq!(desk.ok("get secret login -n team -o jsonpath={.data.user}").await, "YWRh");
        assert_eq!(desk.ok("get secrets -A --field-selector type=Opaque -o name").await, "secret/login\n");
        assert!(desk.ok("describe secret login -n team").await.contains("password:  1 bytes"));
        desk.ok("create configmap settings -n team --from-literal=a=b").await;
        desk.ok("label configmap settings -n team tier=gold").await;
        assert_eq!(row(&desk.ok("get cm -n team -l tier=gold").await, "settings")[1], "1");
        desk.write("bad.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: bad}\ndata: {a: 'not base64!'}\n");
        assert!(desk.fails("create -f bad.yaml").await.err.contains("illegal base64 data"));
        desk.ok("run web -n team --image=web:1").await;
        assert_eq!(row(&desk.ok("get pods -n team").await, "web")[2], "Pending");
        desk.ok("delete namespace team --timeout=30s").await;
        let namespaces = desk.ok("get namespaces").await;
        assert_eq!(row(&namespaces, "default")[1], "Active");
        assert!(!namespaces.contains("team"), "{namespaces}");
        assert!(desk.fails("delete namespace kube-system").await.err.contains("this namespace may not be deleted"));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kubectl_is_told_what_is_not_offered() {
    with_each_client(async |desk| {
        assert_eq!(desk.ok("get services -o name").await, "");
        let refused = desk.fails("create service clusterip web --tcp=80:80").await.err;
        assert!(refused.contains("this cluster offers no services"), "{refused}");
        assert!(desk.fails("get ingresses").await.err.contains("the server doesn't have a resource type \"ingresses\""));
        desk.fails("explain pods").await;
    })
    .await;
}
