site 4 racks of 3
alice start rack1compute01
until done
look at operation
bmc log of rack1compute01
