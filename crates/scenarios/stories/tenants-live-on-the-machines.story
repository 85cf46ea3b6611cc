# The article's tenants: what they have, and what becomes of it when their machine loses its power and gets it back.
site 4 racks of 4
with tenants seed
vm sandbox on rack1compute02 2cpu 4g stopped
vms
tenant nodes of naks-01
pods of naks-01
virtctl stop firewallvnf
after 1m
vms
virtctl start firewallvnf
after 2m
by hand power-off rack1compute01
after 2m
vms
tenant nodes of naks-01
after 6m
vms
pods of naks-01
by hand power-on rack1compute01
after 15m
vms
tenant nodes of naks-01
pods of naks-01
