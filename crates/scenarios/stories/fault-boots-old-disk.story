# The firmware starts the old system, whatever it was told. That its node comes back is not taken for an installation.
site 1 racks of 4
with runtimes
fault boots-old-disk rack1compute01
alice reimage rack1compute01
until done
look at operation
look at rack1compute01
disks of rack1compute01
