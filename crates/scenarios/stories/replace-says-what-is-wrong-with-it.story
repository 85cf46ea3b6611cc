# A replace that cannot be meant is refused with the field named, and changes nothing.
site 1 racks of 5
with runtimes
alice replace rack1compute01
alice replace rack1compute01 bmc-mac=02:00:00:00:aa safeguard-none
alice replace rack1compute01 boot-mac=router safeguard-none
alice replace rack1compute01 name=rack1_compute01 safeguard-none
alice replace rack1compute01 name=rack1compute02 safeguard-none
alice replace rack1compute01 serial= safeguard-none
alice replace rack1compute01 login=root: safeguard-none
look at rack1compute01
