# Somebody uses the machine's token a second time: the installation is over, whoever it was.
site 1 racks of 4
with runtimes
fault token-used-twice rack1compute01
alice reimage rack1compute01
until done
look at operation
look at rack1compute01
