# Under the policy `force` of one pool its budget is asked first and passed over then; the other pool's waits.
site 2 racks of 4
tenant naks-01 nodes a@rack1compute01 b@rack1compute02 cp@rack2compute01
deployment web x2 in naks-01 100m 128Mi pdb 2
alice drain-policy force for naks-01/agentpool1
alice preview cordon rack1compute01 evacuate
alice cordon rack1compute01 evacuate
until done
look at operation
pods of naks-01
alice uncordon rack1compute01
until done
after 5m
tenant nodes of naks-01
log of rack1compute01
