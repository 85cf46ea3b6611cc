# A budget that allows nothing keeps its pods until the drain's time is up; then the machine is emptied all the same, and what was left is named.
site 2 racks of 4
tenant naks-01 nodes a@rack1compute01 b@rack1compute02 cp@rack2compute01
deployment web x2 in naks-01 100m 128Mi pdb 2
alice preview cordon rack1compute01 evacuate
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
log of rack1compute01
