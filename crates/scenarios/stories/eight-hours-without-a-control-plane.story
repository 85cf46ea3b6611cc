# Nothing has failed just because nobody was looking.
site 4 racks of 3
alice restart rack1compute01
after 5s
crash
after 8h
start
until done
look at rack1compute01
bmc log of rack1compute01
