# A management machine: nobody votes, and nothing of tenants is on it.
site 4 racks of 3
with runtimes
alice preview reimage rack1control02
alice reimage rack1control02
until done
look at operation
look at rack1control02
etcd
alice uncordon rack1control02
until done
look at rack1control02
