# A budget is changed while nobody counts: it lets no pod go until it is counted, and an evacuation waits for that and says why.
site 2 racks of 4
tenant naks-01 nodes a@rack1compute01 b@rack1compute02 cp@rack2compute01
statefulset db x2 in naks-01 pdb 2
fault tenant-budgets-uncounted naks-01 for 3m
tenant budget db keeps 1 in naks-01
tenant evict db-0 in naks-01
pods of naks-01
after 5s
alice preview cordon rack1compute01 evacuate
alice cordon rack1compute01 evacuate
until done
pods of naks-01
log of rack1compute01
