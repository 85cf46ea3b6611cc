# What cannot be asked about tenants' things, and how it is answered.
site 2 racks of 4
vm web1 on rack1compute01 2cpu 8g
tenant naks-01 nodes a@rack1compute01 cp@rack1compute02
alice vm start nobody
alice vm delete nobody
alice vm explode web1
alice vm power-off web1 skip-shutdown=perhaps
alice vm create web2 bad=bootMethod:Floppy
alice vm create web2 anti-affinity=nobody
alice vm create web2 0cpu
alice vm create bad_name 2cpu
alice vm create web1 9cpu
alice drain-policy perhaps for naks-01
alice drain-policy hold for nobody
alice drain-policy hold for naks-01/nobody
alice vm create web2 2cpu 4g
alice vm restart web2
until done
alice vm start web1
alice vm start a
alice cordon rack1compute01 force
