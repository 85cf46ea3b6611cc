# The image is written, and the new system is never heard of.
site 1 racks of 4
with runtimes
fault never-phones-home rack1compute01
alice reimage rack1compute01
until done
look at operation
look at rack1compute01
alice uncordon rack1compute01
