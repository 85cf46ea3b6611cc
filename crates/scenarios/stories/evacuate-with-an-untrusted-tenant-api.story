# Nobody trusts the certificate that the tenant's API server shows; in mid-evacuation it is mended.
site 2 racks of 4
vm web1 on rack1compute01 2cpu 8g
tenant naks-01 nodes a@rack1compute01 b@rack1compute02 cp@rack2compute01
deployment web x2 in naks-01 100m 128Mi
fault tenant-api-tls naks-01 for 3m
after 1m
alice cordon rack1compute01 evacuate
until done
look at operation
vms
tenant nodes of naks-01
alice uncordon rack1compute01
until done
after 5m
vms
tenant nodes of naks-01
