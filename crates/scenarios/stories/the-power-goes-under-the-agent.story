# A machine that loses its power while its image is being written is given up within minutes, and can be reimaged again.
site 1 racks of 4
with runtimes
disks of rack1compute01
alice reimage rack1compute01
after 7m
look at operation
by hand power-off rack1compute01
until done
disks of rack1compute01
look at rack1compute01
alice reimage rack1compute01
until done
