site 4 racks of 3
alice unmanage rack1compute01 crash-loop
look at rack1compute01
bob restart rack1compute01
bob start rack1compute01
# It is still observed, and nothing is sent to it.
by hand power-off rack1compute01
after 5m
look at rack1compute01
by hand power-on rack1compute01
after 10m
alice manage rack1compute01 repaired
look at rack1compute01
bmc log of rack1compute01
