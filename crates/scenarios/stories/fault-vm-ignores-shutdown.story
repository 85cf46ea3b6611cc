# A guest that does not hear a shutdown stops for nobody who asks.
site 2 racks of 4
vm web1 on rack1compute01 2cpu 8g
vms
fault vm-ignores-shutdown web1
virtctl stop web1
after 30m
vms
