# The ladder: what is tried already decides what comes next.
site 4 racks of 3
with runtimes
alice advise rack1compute01
fault host-hangs rack1compute01
after 10m
alice advise rack1compute01
alice restart rack1compute01
until done
fault host-network-loss rack1compute01
after 5m
alice advise rack1compute01 symptom=unresponsive
clear fault host-network-loss rack1compute01
after 5m
alice reimage rack1compute01
until done
alice advise rack1compute01 symptom=unresponsive
alice replace rack1compute01 safeguard-none
until done
alice advise rack1compute01 symptom=unresponsive
alice advise rack1compute01 symptom=hardware repaired=ssd,system-board
alice advise rack1compute01 symptom=tired
