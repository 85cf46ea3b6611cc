# A module of memory fails while the machine works. Validation finds it, the machine is emptied and repaired, and a replace takes it back.
site 4 racks of 4
with tenants seed
with runtimes
alice validate rack1compute01
until done
validation of rack1compute01
fault memory-missing rack1compute01
alice validate rack1compute01
until done
look at operation
look at rack1compute01
validation of rack1compute01
alice advise rack1compute01
alice reimage rack1compute01
alice cordon rack1compute01 evacuate
until done
alice power-off rack1compute01
until done
swap rack1compute01 part=memory
clear fault memory-missing rack1compute01
alice advise rack1compute01 repaired=dimm
alice replace rack1compute01 preserve
until done
look at operation
look at rack1compute01
validation of rack1compute01
alice uncordon rack1compute01
until done
after 5m
vms
alice verify rack1compute01
actions of rack1compute01
