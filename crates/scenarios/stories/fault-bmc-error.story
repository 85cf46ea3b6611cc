# A BMC that answers 500, then 503: tried again by itself, and the restart goes on when it has come to its senses.
site 4 racks of 3
fault bmc-error rack1compute01
after 2m
look at rack1compute01
clear fault bmc-error rack1compute01
fault bmc-error rack1compute01 status=503 for 10m
alice restart rack1compute01
after 5m
look at rack1compute01
until done
bmc log of rack1compute01
