# There is no disk to install on.
site 1 racks of 4
with runtimes
fault disk-missing rack1compute01
alice reimage rack1compute01
until done
look at operation
look at rack1compute01
alice advise rack1compute01
