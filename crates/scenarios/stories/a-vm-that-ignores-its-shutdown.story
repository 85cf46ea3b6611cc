# A guest that does not hear the shutdown is forced off after ten minutes, and comes back like the others.
site 2 racks of 4
vm polite on rack1compute01 2cpu 8g
vm stubborn on rack1compute01 2cpu 8g stubborn
alice cordon rack1compute01 evacuate
until done
look at operation
vms
alice uncordon rack1compute01
until done
after 3m
vms
log of rack1compute01
