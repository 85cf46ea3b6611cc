# The BMC goes on saying On while the machine goes off: nothing is done twice, and what is seen later is believed.
site 4 racks of 3
fault bmc-stale rack1compute01 for 8m
alice restart rack1compute01
after 5m
look at rack1compute01
until done
look at rack1compute01
bmc log of rack1compute01
