site 4 racks of 3
alice restart rack1compute01
after 2m
look at operation
bob cancel
until done
look at rack1compute01
after 10m
look at rack1compute01
bob cancel
