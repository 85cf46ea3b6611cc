# A restart cordons, shuts down, powers on, waits for a new boot, and lifts its own cordon.
site 4 racks of 3
status
alice restart rack1compute01
until done
look at rack1compute01
look at operation
bmc log of rack1compute01
