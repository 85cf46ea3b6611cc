# The disk to install on is smaller than the image: nothing is written to it.
site 1 racks of 4
with runtimes
disks of rack1compute01
fault disk-small rack1compute01
alice reimage rack1compute01
until done
disks of rack1compute01
alice advise rack1compute01
