# A pod that was told to go stays as long as its finalizer does.
site 2 racks of 4
tenant naks-01 nodes a@rack1compute01 b@rack1compute02 cp@rack2compute01
bare tool x1 in naks-01
fault pod-finalizer-stuck naks-01/tool
tenant evict tool in naks-01
after 10m
pods of naks-01
clear fault pod-finalizer-stuck naks-01/tool
pods of naks-01
