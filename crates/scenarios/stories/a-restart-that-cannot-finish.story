# Somebody cuts the power while the machine boots: the restart runs out of time, and says what it leaves behind.
site 4 racks of 3
alice restart rack1compute01
after 2m
by hand power-off rack1compute01
until done
look at rack1compute01
look at operation
bob start rack1compute01
until done
look at rack1compute01
