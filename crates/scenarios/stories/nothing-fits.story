# There is no room for what is evicted: it stays Pending, and runs again when the machine is back.
site 2 racks of 4
tenant naks-01 nodes a@rack1compute01 b@rack1compute02 cp@rack2compute01
deployment big x2 in naks-01 5000m 1024Mi
pods of naks-01
alice preview cordon rack1compute01 evacuate
alice cordon rack1compute01 evacuate
until done
after 5m
pods of naks-01
alice uncordon rack1compute01
until done
after 5m
pods of naks-01
