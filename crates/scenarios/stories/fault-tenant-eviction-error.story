# Evictions fail for a while, and nothing else does.
site 2 racks of 4
tenant naks-01 nodes a@rack1compute01 b@rack1compute02 cp@rack2compute01
bare tool x1 in naks-01
fault tenant-eviction-error naks-01 for 2m
tenant evict tool in naks-01
tenant kubectl cordon a
pods of naks-01
after 3m
tenant evict tool in naks-01
after 1m
pods of naks-01
