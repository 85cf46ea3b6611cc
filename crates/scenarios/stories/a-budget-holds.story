# Under the policy `hold` a budget is never violated: the evacuation fails and says so, nothing was stopped, and all is given back.
site 2 racks of 4
vm web1 on rack1compute01 2cpu 8g
tenant naks-01 nodes a@rack1compute01 b@rack1compute02 cp@rack2compute01
deployment web x2 in naks-01 100m 128Mi pdb 2
alice drain-policy hold for naks-01
alice preview cordon rack1compute01 evacuate
alice cordon rack1compute01 evacuate
until done
look at operation
vms
pods of naks-01
look at rack1compute01
alice uncordon rack1compute01
until done
after 5m
vms
tenant nodes of naks-01
look at rack1compute01
