# The BMC forgets who is logged in at every third request. A new session is opened, and nobody notices; at every request
# it is another matter: then nobody is ever logged in.
site 4 racks of 3
fault bmc-forgets-sessions rack1compute01
alice restart rack1compute01
until done
fault bmc-forgets-sessions rack1compute01 every=1
after 3m
look at rack1compute01
clear fault bmc-forgets-sessions rack1compute01
after 2m
look at rack1compute01
bmc log of rack1compute01
