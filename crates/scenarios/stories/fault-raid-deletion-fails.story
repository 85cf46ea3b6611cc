# The controller cannot delete a volume, twice. Nothing is installed, the disks are as they were, and the replace may be asked for again.
site 1 racks of 4
with runtimes
alice power-off rack1compute01
until done
disks of rack1compute01
fault raid-deletion-fails rack1compute01
bob replace rack1compute01
until done
look at operation
look at rack1compute01
disks of rack1compute01
alice advise rack1compute01
