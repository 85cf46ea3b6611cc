# All machines of a site are compared with what they should be. Two are not; it says which and in what.
site 1 racks of 6
with runtimes
fault memory-missing rack1compute01
fault nic-missing rack1compute02
alice inspect site1
until done
look at operation
look at rack1compute01
validation of rack1compute02
fault bmc-401 rack1compute03
after 2m
alice inspect site1 rack1compute03
until done
look at rack1compute03
validation of rack1compute03
alice inspect site1 rack9compute09
