# The kubeconfig's token has expired, and stays so until after the return.
site 2 racks of 4
vm web1 on rack1compute01 2cpu 8g
tenant naks-01 nodes a@rack1compute01 b@rack1compute02 cp@rack2compute01
deployment web x2 in naks-01 100m 128Mi
fault tenant-token-expired naks-01
alice cordon rack1compute01 evacuate
until done
look at operation
vms
alice uncordon rack1compute01
until done
after 5m
vms
clear fault tenant-token-expired naks-01
after 5m
tenant nodes of naks-01
look at rack1compute01
