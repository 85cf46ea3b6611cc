# The host has lost its network. Its BMC answers, so it can be switched off and on, but it cannot rejoin until the cable is back.
site 4 racks of 3
fault host-network-loss rack1compute01 for 25m
after 2m
look at rack1compute01
alice restart rack1compute01
after 15m
look at rack1compute01
until done
look at rack1compute01
bmc log of rack1compute01
