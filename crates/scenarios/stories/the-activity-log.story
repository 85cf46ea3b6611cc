# Who did what, and what came of it: a restart, a refusal, a word that is no action, and a device that fails.
site 4 racks of 3
alice restart rack1compute01
bob power-off rack1compute01
bob fly rack1compute01
until done
fault api-down api for 20s
carol cordon rack2compute01
until done
log of rack1compute01
log of rack2compute01
log of failures
