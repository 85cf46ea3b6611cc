# A new network card. The virtual disks are kept, byte for byte, but for the system's own.
site 4 racks of 4
with tenants seed
with runtimes
alice power-off rack1compute01
until done
disks of rack1compute01
alice advise rack1compute01 repaired=nic
swap rack1compute01 part=nic boot-mac=02:00:00:00:bb:02
alice replace rack1compute01 boot-mac=02:00:00:00:bb:02 preserve
until done
look at operation
look at rack1compute01
disks of rack1compute01
alice uncordon rack1compute01
until done
after 5m
vms
tenant nodes of naks-01
alice verify rack1compute01
