# A voter's board is exchanged. Its member leaves etcd and comes back; its name, slot and place in the cluster stay.
site 4 racks of 3
with runtimes
fault host-hangs rack1control01
after 10m
look at rack1control01
swap rack1control01 part=system-board serial=NEW0002 bmc-mac=02:00:00:00:cc:01
after 10m
look at rack1control01
alice replace rack1control01 serial=NEW0002 bmc-mac=02:00:00:00:cc:01
until done
look at operation
look at rack1control01
etcd
alice uncordon rack1control01
until done
look at rack1control01
