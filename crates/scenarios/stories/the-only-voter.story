# Two racks have one control-plane machine and a spare: the outage has to be accepted in so many words.
site 2 racks of 3
alice restart rack1control01
alice power-off rack1control01 accept-outage
until done
after 10m
status
# Without its undercloud the site can only be brought back.
bob restart rack1compute01
bob cordon rack1compute01
bob start rack1control01
until done
after 1m
status
bob restart rack1compute01
until done
