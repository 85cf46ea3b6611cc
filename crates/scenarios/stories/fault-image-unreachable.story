# The machine reaches us, and not the server of the image.
site 1 racks of 4
with runtimes
fault image-unreachable rack1compute01
alice reimage rack1compute01
until done
look at operation
look at rack1compute01
disks of rack1compute01
