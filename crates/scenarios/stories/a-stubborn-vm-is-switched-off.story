# Power-off through our API waits ten minutes for the guest, then forces; skipping the shutdown forces at once.
site 2 racks of 4
vm web1 on rack1compute01 2cpu 8g stubborn
alice vm power-off web1
until done
look at operation
alice vm start web1
until done
alice vm power-off web1 skip-shutdown
until done
vms
