# The API server ends every watch and knows no earlier version: the nodes are listed anew, and nothing is missed.
site 4 racks of 3
fault api-forgets-watches api
after 5m
status
alice restart rack1compute01
until done
look at rack1compute01
clear fault api-forgets-watches api
alice cordon rack1compute01
until done
status
bmc log of rack1compute01
