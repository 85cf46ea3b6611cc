# Without a shutdown nobody is drained; what ran comes back all the same.
site 2 racks of 4
vm web1 on rack1compute01 2cpu 8g
tenant naks-01 nodes a@rack1compute01 b@rack1compute02 cp@rack2compute01
deployment web x2 in naks-01 100m 128Mi
alice power-off rack1compute01 skip-shutdown
until done
after 10m
vms
tenant nodes of naks-01
alice start rack1compute01
until done
after 10m
vms
tenant nodes of naks-01
pods of naks-01
