# One of two links is down. The machine works on the other and says that it is degraded; actions are not hindered.
site 4 racks of 3
fault link-down rack1compute01
after 1m
look at rack1compute01
status
alice cordon rack1compute01
until done
look at rack1compute01
alice power-off rack1compute01
until done
look at rack1compute01
alice start rack1compute01
until done
look at rack1compute01
clear fault link-down rack1compute01
after 10s
look at rack1compute01
