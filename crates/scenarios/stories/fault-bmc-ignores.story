# The BMC says yes to everything and does nothing: the shutdown has no effect, the power cut neither.
site 4 racks of 3
fault bmc-ignores rack1compute01
alice power-off rack1compute01
until done
look at rack1compute01
look at operation
bmc log of rack1compute01
clear fault bmc-ignores rack1compute01
alice power-off rack1compute01
until done
look at rack1compute01
