# Without its safeguards a reimage empties the machine by itself; what ran comes back with the uncordon.
site 4 racks of 4
with tenants seed
with runtimes
alice preview reimage rack1compute01 safeguard-none
alice reimage rack1compute01 safeguard-none
until done
look at operation
look at rack1compute01
vms
tenant nodes of naks-01
alice verify rack1compute01
alice uncordon rack1compute01
until done
after 5m
vms
tenant nodes of naks-01
alice verify rack1compute01
