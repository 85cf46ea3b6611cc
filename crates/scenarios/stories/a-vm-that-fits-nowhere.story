# A virtual machine that must stand in another rack than each of two, and there are only two racks: its creation fails and says why.
site 2 racks of 4
vm a on rack1compute01 2cpu 4g
vm b on rack2compute01 2cpu 4g
alice vm create apart 2cpu 4g rack-anti-affinity=a rack-anti-affinity=b
until done
look at vm apart
alice vm delete apart
until done
vms
