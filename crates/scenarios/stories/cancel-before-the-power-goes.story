# The shutdown cannot be taken back; the machine is left off, and the operation says so.
site 4 racks of 3
alice restart rack1compute01
after 5s
bob cancel
until done
look at rack1compute01
bob start rack1compute01
until done
look at rack1compute01
