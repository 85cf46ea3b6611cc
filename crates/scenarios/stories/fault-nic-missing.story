# A port is missing after the repair.
site 1 racks of 4
with runtimes
alice power-off rack1compute01
until done
fault nic-missing rack1compute01
bob replace rack1compute01 preserve
until done
look at operation
look at rack1compute01
validation of rack1compute01
