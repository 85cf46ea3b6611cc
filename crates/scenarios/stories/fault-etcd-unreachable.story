# Nobody can be taken out of an etcd that does not answer. A machine of the control plane is left alone; others are reimaged.
site 4 racks of 3
with runtimes
fault etcd-unreachable api
alice reimage rack1control01
alice reimage rack1compute01
until done
clear fault etcd-unreachable api
alice reimage rack1control01
until done
etcd
look at rack1control01
