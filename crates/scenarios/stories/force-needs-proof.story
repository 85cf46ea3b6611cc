# The host has fallen silent but its BMC reads on: nobody may say that its pods are dead. When it is off, they may.
site 2 racks of 4
vm web1 on rack1compute01 2cpu 8g
tenant naks-01 nodes a@rack1compute01 b@rack1compute02 cp@rack2compute01
statefulset db x2 in naks-01
fault host-hangs rack1compute01
after 3m
alice cordon rack1compute01 evacuate force
alice preview cordon rack1compute01 evacuate force
by hand power-off rack1compute01
after 2m
alice cordon rack1compute01 evacuate force
until done
after 1m
tenant nodes of naks-01
pods of naks-01
by hand power-on rack1compute01
after 15m
tenant nodes of naks-01
alice uncordon rack1compute01
until done
after 10m
vms
tenant nodes of naks-01
pods of naks-01
