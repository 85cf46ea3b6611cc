# The article's way: empty it, reimage it, look at it, let workloads on it again, and check that they are as before.
site 4 racks of 4
with tenants seed
with runtimes
disks of rack1compute01
alice preview reimage rack1compute01
alice reimage rack1compute01
alice cordon rack1compute01 evacuate
until done
alice reimage rack1compute01
until done
look at operation
look at rack1compute01
disks of rack1compute01
alice verify rack1compute01
alice uncordon rack1compute01
until done
after 5m
look at rack1compute01
vms
tenant nodes of naks-01
alice verify rack1compute01
actions of rack1compute01
log of rack1compute01
