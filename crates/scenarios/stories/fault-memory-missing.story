# A module of memory is missing after the repair: the machine is given up until a replace finds it as it should be.
site 1 racks of 4
with runtimes
alice power-off rack1compute01
until done
fault memory-missing rack1compute01
bob replace rack1compute01
until done
look at operation
look at rack1compute01
validation of rack1compute01
alice advise rack1compute01
alice reimage rack1compute01
by hand power-off rack1compute01
clear fault memory-missing rack1compute01
after 5m
bob replace rack1compute01
until done
look at rack1compute01
validation of rack1compute01
