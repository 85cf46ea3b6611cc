# A tenant's API server goes away for a while: it takes no request, and what it had is there when it is back.
site 2 racks of 4
tenant naks-01 nodes a@rack1compute01 b@rack1compute02 cp@rack2compute01
bare tool x1 in naks-01
tenant nodes of naks-01
fault tenant-api-down naks-01 for 5m
tenant kubectl cordon a
after 6m
tenant kubectl cordon a
tenant nodes of naks-01
