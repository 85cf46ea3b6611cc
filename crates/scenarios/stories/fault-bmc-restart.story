# The BMC restarts while the machine shuts down: three minutes without a word, and then the work goes on.
site 4 racks of 3
alice restart rack1compute01
after 20s
fault bmc-restart rack1compute01
after 1m
look at rack1compute01
until done
look at rack1compute01
bmc log of rack1compute01
