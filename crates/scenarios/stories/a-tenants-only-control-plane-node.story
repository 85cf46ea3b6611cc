# A tenant whose cluster would be cut off is named before anything is done; the cluster comes back with its machine.
site 2 racks of 4
tenant naks-01 nodes a@rack1compute01 b@rack1compute02 cp@rack2compute01
deployment web x2 in naks-01 100m 128Mi
alice preview cordon rack2compute01 evacuate
alice preview power-off rack2compute01 skip-shutdown
alice preview cordon rack1compute01 evacuate
alice cordon rack2compute01 evacuate
until done
tenant nodes of naks-01
alice uncordon rack2compute01
until done
after 5m
tenant nodes of naks-01
