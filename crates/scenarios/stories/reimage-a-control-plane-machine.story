# A voter leaves etcd, is wiped, comes back as a learner and votes again. Meanwhile no other voter is touched.
site 4 racks of 3
with runtimes
etcd
alice preview reimage rack1control01
alice reimage rack1control01
after 3m
etcd
look at operation
bob reimage rack2control01
bob restart rack3control01
until done
look at operation
etcd
look at rack1control01
alice verify rack1control01
alice uncordon rack1control01
until done
look at rack1control01
bob reimage rack2control01
until done
etcd
log of rack1control01
