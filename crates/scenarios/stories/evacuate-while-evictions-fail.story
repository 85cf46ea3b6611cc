# Evictions are answered with 500 for a while: they are asked for again until they are not.
site 2 racks of 4
vm web1 on rack1compute01 2cpu 8g
tenant naks-01 nodes a@rack1compute01 b@rack1compute02 cp@rack2compute01
deployment web x2 in naks-01 100m 128Mi pdb 1
fault tenant-eviction-error naks-01 for 4m
alice cordon rack1compute01 evacuate
until done
look at operation
pods of naks-01
alice uncordon rack1compute01
until done
after 5m
vms
tenant nodes of naks-01
