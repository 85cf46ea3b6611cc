# Somebody pulls the BMC's cable in the middle of a restart. The machine itself works on; nobody takes silence for death.
site 4 racks of 3
fault bmc-unreachable rack1compute01 for 10m
after 2m
look at rack1compute01
status
alice restart rack1compute01
after 3m
look at rack1compute01
until done
look at rack1compute01
bmc log of rack1compute01
