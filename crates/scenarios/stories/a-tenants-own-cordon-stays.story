# A tenant cordoned a node before we did anything, and another while the machine was empty: only what we cordoned is opened again.
site 2 racks of 4
tenant naks-01 nodes a@rack1compute01 b@rack1compute01 c@rack1compute02 cp@rack2compute01
deployment web x2 in naks-01 100m 128Mi
tenant kubectl cordon a
after 5s
tenant nodes of naks-01
alice cordon rack1compute01 evacuate
until done
tenant nodes of naks-01
alice uncordon rack1compute01
until done
after 5m
tenant nodes of naks-01
# The second time the tenant uncordons the node that we cordoned.
alice cordon rack1compute01 evacuate
until done
tenant kubectl uncordon b
after 1m
tenant nodes of naks-01
alice uncordon rack1compute01
until done
after 5m
tenant nodes of naks-01
look at rack1compute01
