# A virtual machine through our API: made away from another one, switched off and on, restarted, made anew, deleted.
site 2 racks of 4
vm web1 on rack1compute01 2cpu 4g
alice vm create web2 2cpu 4g anti-affinity=web1
alice vm start web2
until done
look at vm web2
alice vm power-off web2
until done
vms
look at vm web2
alice vm start web2
until done
alice vm restart web2
until done
alice vm reimage web2
until done
look at vm web2
alice vm create web3 2cpu 4g affinity=web2
until done
alice vm create web4 2cpu 4g rack-anti-affinity=web1
until done
vms
alice vm delete web2
until done
vms
look at vm web2
log of failures
