# The root file system has turned read-only after a disk error. The machine says so; a restart mends it.
site 4 racks of 3
fault host-read-only-root rack1compute01
after 1m
look at rack1compute01
status
alice restart rack1compute01
until done
look at rack1compute01
