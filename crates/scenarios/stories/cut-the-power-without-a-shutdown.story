site 4 racks of 3
alice power-off rack1compute01 skip-shutdown
until done
bmc log of rack1compute01
alice power-off rack1compute01
until done
bmc log of rack1compute01
