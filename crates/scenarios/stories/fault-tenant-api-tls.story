# A tenant's API server shows a certificate that nobody trusts: no request reaches it.
site 2 racks of 4
tenant naks-01 nodes a@rack1compute01 b@rack1compute02 cp@rack2compute01
bare tool x1 in naks-01
fault tenant-api-tls naks-01
tenant kubectl cordon a
clear fault tenant-api-tls naks-01
tenant kubectl cordon a
