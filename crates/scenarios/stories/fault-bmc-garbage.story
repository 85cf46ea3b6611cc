# The BMC's answers are cut off in the middle. Nothing is sent on the strength of an answer that cannot be read.
site 4 racks of 3
fault bmc-garbage rack1compute01
after 2m
look at rack1compute01
alice restart rack1compute01
after 5m
look at operation
clear fault bmc-garbage rack1compute01
until done
bmc log of rack1compute01
