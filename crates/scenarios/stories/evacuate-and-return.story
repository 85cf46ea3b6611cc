# The article's own example: naks-01 on two machines, and firewallvnf. The first machine is emptied, looked at, and filled again.
site 4 racks of 4
with tenants seed
vm sandbox on rack1compute01 2cpu 4g stopped
workloads of rack1compute01
vms
tenant nodes of naks-01
pods of naks-01
alice preview cordon rack1compute01 evacuate
alice cordon rack1compute01 evacuate
until done
look at operation
look at rack1compute01
workloads of rack1compute01
vms
tenant nodes of naks-01
pods of naks-01
look at vm firewallvnf
alice uncordon rack1compute01
until done
look at operation
after 5m
look at rack1compute01
workloads of rack1compute01
vms
tenant nodes of naks-01
pods of naks-01
log of rack1compute01
