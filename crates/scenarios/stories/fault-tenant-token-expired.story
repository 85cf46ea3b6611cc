# The token in a tenant's kubeconfig is refused until it is good again.
site 2 racks of 4
tenant naks-01 nodes a@rack1compute01 b@rack1compute02 cp@rack2compute01
bare tool x1 in naks-01
fault tenant-token-expired naks-01 for 10m
tenant kubectl cordon a
after 11m
tenant kubectl cordon a
