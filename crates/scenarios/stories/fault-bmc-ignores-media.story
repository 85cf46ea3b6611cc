# The BMC says that the image is in, and it is not: what counts is the image in the drive, not the answer.
site 1 racks of 4
with runtimes
fault bmc-ignores-media rack1compute01
alice reimage rack1compute01
until done
look at operation
look at rack1compute01
bmc log of rack1compute01
