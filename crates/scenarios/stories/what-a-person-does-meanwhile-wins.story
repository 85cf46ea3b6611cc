# While a machine is empty people act on virtual machines that ran there, past us and through us; what they did is not undone.
site 2 racks of 4
vm deleted on rack1compute01 1cpu 2g
vm kept on rack1compute01 1cpu 2g
vm restarted on rack1compute01 1cpu 2g
vm started on rack1compute01 1cpu 2g
vm stopped on rack1compute01 1cpu 2g
vm unwanted on rack1compute01 1cpu 2g
alice cordon rack1compute01 evacuate
until done
look at rack1compute01
# Started and stopped again: it is to stay stopped, although it ran when the evacuation began.
virtctl start stopped
after 2m
vms
virtctl stop stopped
virtctl start started
kubectl delete vm deleted
bob vm power-off unwanted
bob vm start restarted
until done
after 2m
look at rack1compute01
vms
alice uncordon rack1compute01
until done
after 3m
vms
look at rack1compute01
