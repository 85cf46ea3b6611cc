# A powered-off machine stays off and held until somebody starts it.
site 4 racks of 3
alice power-off rack1compute01
until done
after 10m
look at rack1compute01
status
bob start rack1compute01
until done
look at rack1compute01
look at operation
bmc log of rack1compute01
