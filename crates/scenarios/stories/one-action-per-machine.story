site 4 racks of 3
alice restart rack1compute01
bob power-off rack1compute01
bob cordon rack1compute01
bob unmanage rack1compute01 maintenance
until done
bob cordon rack1compute01
until done
