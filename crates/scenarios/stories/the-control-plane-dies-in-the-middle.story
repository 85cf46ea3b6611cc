site 4 racks of 3
alice restart rack1compute01
after 5s
crash
after 2m
start
look at operation
until done
bmc log of rack1compute01
