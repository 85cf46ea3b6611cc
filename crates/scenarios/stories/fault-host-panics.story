# The kernel panics and the host boots by itself. Later it does so at every boot, and a restart does not help.
site 4 racks of 3
fault host-panics rack1compute01
after 2m
look at rack1compute01
after 4m
look at rack1compute01
fault host-panics rack1compute01 for 60m
after 5m
look at rack1compute01
alice restart rack1compute01
until done
look at rack1compute01
after 30m
look at rack1compute01
bmc log of rack1compute01
