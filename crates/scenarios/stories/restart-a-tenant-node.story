# A node of a tenant's cluster is restarted through its virtual machine.
site 2 racks of 4
tenant naks-01 nodes a@rack1compute01 b@rack1compute02 cp@rack2compute01
deployment web x2 in naks-01 100m 128Mi
alice restart-node a of naks-01
until done
look at operation
after 3m
tenant nodes of naks-01
pods of naks-01
alice restart-node nobody of naks-01
alice restart-node a of nobody
alice vm restart a
