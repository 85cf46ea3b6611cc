# Two disks are called what the one to install on is: nothing is written to either.
site 1 racks of 4
with runtimes
disks of rack1compute01
fault disk-twice rack1compute01
alice reimage rack1compute01
until done
disks of rack1compute01
alice advise rack1compute01
