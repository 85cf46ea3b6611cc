# The API server needs eight seconds for each answer, and then twenty, which is longer than we wait for one.
site 4 racks of 3
fault api-slow api ms=8000
after 2m
status
alice restart rack1compute01
until done
bmc log of rack1compute01
fault api-slow api ms=20000 for 9m
after 1m
alice cordon rack2compute01
after 3m
status
look at operation
bob restart rack3compute01
until done
look at rack2compute01
status
