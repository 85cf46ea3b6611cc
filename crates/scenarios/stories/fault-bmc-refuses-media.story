# The BMC takes no image into its virtual drive. The agent is started another way.
site 1 racks of 4
with runtimes
fault bmc-refuses-media rack1compute01
alice reimage rack1compute01
until done
look at operation
look at rack1compute01
log of rack1compute01
