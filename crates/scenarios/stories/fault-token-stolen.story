# Another machine calls with this machine's token.
site 1 racks of 4
with runtimes
fault token-stolen rack1compute01
alice reimage rack1compute01
until done
look at operation
look at rack1compute01
