# A virtual machine that must stand apart from one on every machine cannot be placed: its creation fails and says why.
site 2 racks of 4
vm a on rack1compute01 2cpu 4g
alice vm create huge 200cpu 4g
until done
look at vm huge
alice vm start huge
alice vm delete huge
until done
vms
