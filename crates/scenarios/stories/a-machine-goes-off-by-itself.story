site 4 racks of 3
by hand power-off rack1compute01
after 2m
look at rack1compute01
status
alice restart rack1compute01
until done
look at rack1compute01
