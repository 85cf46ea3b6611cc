# The operating system freezes. Its power is on and its BMC is well, but its node is silent, and a shutdown goes unheard:
# the restart cuts the power when the shutdown has had its time.
site 4 racks of 3
fault host-hangs rack1compute01
after 2m
look at rack1compute01
status
alice restart rack1compute01
until done
look at rack1compute01
bmc log of rack1compute01
