# Whoever cancels cannot take a shutdown back; what is on its way down is started again as soon as it has stopped.
site 2 racks of 4
vm polite on rack1compute01 2cpu 8g
vm stubborn on rack1compute01 2cpu 8g stubborn
alice cordon rack1compute01 evacuate
after 1m
alice cancel
until done
vms
alice uncordon rack1compute01
until done
vms
look at rack1compute01
after 20m
vms
look at rack1compute01
