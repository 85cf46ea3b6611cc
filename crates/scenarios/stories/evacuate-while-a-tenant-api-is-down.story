# A tenant's API server is away when its machine is emptied: its nodes are passed over after five minutes, and what ran is remembered.
site 2 racks of 4
vm web1 on rack1compute01 2cpu 8g
tenant naks-01 nodes a@rack1compute01 b@rack1compute02 cp@rack2compute01
deployment web x2 in naks-01 100m 128Mi
fault tenant-api-down naks-01 for 40m
after 1m
alice preview cordon rack1compute01 evacuate
alice cordon rack1compute01 evacuate
until done
look at operation
look at rack1compute01
vms
alice uncordon rack1compute01
until done
after 40m
vms
tenant nodes of naks-01
look at rack1compute01
