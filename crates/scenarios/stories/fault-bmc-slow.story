# A BMC that needs eight seconds for each answer is slow but works; one that needs longer than we wait is as good as away.
site 4 racks of 3
fault bmc-slow rack1compute01 ms=8000
after 2m
look at rack1compute01
alice restart rack1compute01
until done
clear fault bmc-slow rack1compute01
fault bmc-slow rack1compute01 ms=20000 for 30m
after 3m
look at rack1compute01
alice restart rack1compute01
until done
bmc log of rack1compute01
