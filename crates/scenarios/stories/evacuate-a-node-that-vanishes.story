# A node is deleted from its cluster while it is drained, and the virtual machine of another from the undercloud.
site 2 racks of 4
vm web1 on rack1compute01 2cpu 8g
tenant naks-01 nodes a@rack1compute01 b@rack1compute01 c@rack1compute02 cp@rack2compute01
deployment web x3 in naks-01 100m 128Mi pdb 3
alice cordon rack1compute01 evacuate
after 1m
look at operation
tenant kubectl delete a
after 30s
kubectl delete vm b
until done
look at operation
vms
tenant nodes of naks-01
alice uncordon rack1compute01
until done
after 10m
vms
tenant nodes of naks-01
look at rack1compute01
tenant kubectl delete b
after 1m
look at rack1compute01
