# A guest that crashes at every boot is started again and again, later each time, and stays up when it is mended.
site 2 racks of 4
vm web1 on rack1compute01 2cpu 8g
fault vm-crashes web1 for 5m
after 5s
vms
after 20m
vms
