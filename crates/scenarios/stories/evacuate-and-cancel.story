# An evacuation that is cancelled in mid-drain stops where it is, and uncordon gives all back.
site 2 racks of 4
vm web1 on rack1compute01 2cpu 8g
tenant naks-01 nodes a@rack1compute01 b@rack1compute02 cp@rack2compute01
deployment web x2 in naks-01 100m 128Mi pdb 2
alice cordon rack1compute01 evacuate
after 2m
alice cancel
until done
look at rack1compute01
vms
tenant nodes of naks-01
alice uncordon rack1compute01
until done
after 5m
tenant nodes of naks-01
look at rack1compute01
