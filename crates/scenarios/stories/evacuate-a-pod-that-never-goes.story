# A pod's finalizer is never taken away: it is named as left, and the machine is emptied all the same.
site 2 racks of 4
vm web1 on rack1compute01 2cpu 8g
tenant naks-01 nodes a@rack1compute01 b@rack1compute02 cp@rack2compute01
bare tool x1 in naks-01
pods of naks-01
fault pod-finalizer-stuck naks-01/tool
alice cordon rack1compute01 evacuate
until done
look at operation
vms
pods of naks-01
alice uncordon rack1compute01
until done
after 5m
vms
tenant nodes of naks-01
pods of naks-01
