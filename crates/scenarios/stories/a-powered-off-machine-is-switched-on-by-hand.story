site 4 racks of 3
alice power-off rack1compute01
until done
by hand power-on rack1compute01
after 10m
look at rack1compute01
