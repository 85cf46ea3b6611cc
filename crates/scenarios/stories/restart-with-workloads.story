# A restart empties the machine first and fills it again.
site 2 racks of 4
vm web1 on rack1compute01 2cpu 8g
vm spare on rack1compute01 2cpu 8g stopped
tenant naks-01 nodes a@rack1compute01 b@rack1compute02 cp@rack2compute01
deployment web x2 in naks-01 100m 128Mi pdb 1
alice preview restart rack1compute01
alice restart rack1compute01
until done
look at operation
after 5m
vms
tenant nodes of naks-01
pods of naks-01
look at rack1compute01
