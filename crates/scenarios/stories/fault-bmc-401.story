# The password was changed at the BMC. The machine runs and stays ready: being refused is not being broken.
site 4 racks of 3
fault bmc-401 rack1compute01
after 5m
look at rack1compute01
alice power-off rack1compute01
until done
look at rack1compute01
clear fault bmc-401 rack1compute01
after 2m
look at rack1compute01
bob power-off rack1compute01
until done
bmc log of rack1compute01
