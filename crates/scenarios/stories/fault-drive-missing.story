# A drive is missing after the repair. Its validation says which, and nothing is deleted of the others.
site 1 racks of 4
with runtimes
alice power-off rack1compute01
until done
disks of rack1compute01
fault drive-missing rack1compute01
bob replace rack1compute01
until done
look at operation
look at rack1compute01
validation of rack1compute01
disks of rack1compute01
by hand power-off rack1compute01
clear fault drive-missing rack1compute01
after 5m
bob replace rack1compute01
until done
look at rack1compute01
disks of rack1compute01
