# The undercloud's API server goes down. A restart that was just accepted goes on without the cordon, and waits to see the
# node back; what is asked later is refused until the undercloud is heard again.
site 4 racks of 3
fault api-down api for 12m
after 1m
look at rack1compute01
alice restart rack1compute01
after 4m
status
look at rack1compute01
bob cordon rack2compute01
until done
look at rack1compute01
bmc log of rack1compute01
status
