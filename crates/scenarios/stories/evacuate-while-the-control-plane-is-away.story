# The control plane dies in mid-drain and in mid-return, and has forgotten nothing when it is back.
site 2 racks of 4
vm web1 on rack1compute01 2cpu 8g
vm spare on rack1compute01 2cpu 8g stopped
tenant naks-01 nodes a@rack1compute01 b@rack1compute02 cp@rack2compute01
deployment web x2 in naks-01 100m 128Mi pdb 2
alice cordon rack1compute01 evacuate
after 2m
crash
after 30m
start
until done
look at operation
vms
alice uncordon rack1compute01
after 1s
crash
after 10m
start
until done
after 5m
vms
tenant nodes of naks-01
