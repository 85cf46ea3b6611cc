# The host is gone. Evacuating it ends within the five minutes and says what was lost; with force, what is stuck moves once the BMC reads off.
site 2 racks of 4
vm web1 on rack1compute01 2cpu 8g
vm spare on rack1compute01 2cpu 8g stopped
tenant naks-01 nodes a@rack1compute01 b@rack1compute02 cp@rack2compute01
statefulset db x2 in naks-01
deployment web x2 in naks-01 100m 128Mi
by hand power-off rack1compute01
after 90s
alice preview cordon rack1compute01 evacuate
alice cordon rack1compute01 evacuate
until done
look at operation
vms
pods of naks-01
alice cordon rack1compute01 evacuate force
until done
look at operation
after 2m
tenant nodes of naks-01
pods of naks-01
look at rack1compute01
by hand power-on rack1compute01
after 15m
alice uncordon rack1compute01
until done
after 10m
vms
tenant nodes of naks-01
pods of naks-01
look at rack1compute01
log of rack1compute01
