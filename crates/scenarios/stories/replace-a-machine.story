# Another machine stands in the slot: new serial number, MAC addresses and login. The first login is mistyped.
site 4 racks of 4
with tenants seed
with runtimes
alice cordon rack1compute01 evacuate
until done
alice replace rack1compute01
swap rack1compute01 part=machine serial=NEW0001 bmc-mac=02:00:00:00:aa:01 boot-mac=02:00:00:00:aa:02 bmc-password=fresh-one
after 5m
look at rack1compute01
alice advise rack1compute01 repaired=system-board
alice replace rack1compute01 serial=NEW0001 bmc-mac=02:00:00:00:aa:01 boot-mac=02:00:00:00:aa:02 login=root:mistyped
until done
look at operation
look at rack1compute01
alice replace rack1compute01 serial=NEW0001 bmc-mac=02:00:00:00:aa:01 boot-mac=02:00:00:00:aa:02 login=root:fresh-one
until done
look at operation
look at rack1compute01
validation of rack1compute01
disks of rack1compute01
alice verify rack1compute01
alice uncordon rack1compute01
until done
after 5m
vms
tenant nodes of naks-01
alice verify rack1compute01
actions of rack1compute01
log of rack1compute01
