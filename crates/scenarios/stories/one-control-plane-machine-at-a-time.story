site 4 racks of 3
alice restart rack1control01
bob restart rack2control01
bob power-off rack3control01
bob power-off rack4control01
# What takes no vote is free.
bob cordon rack2control01
bob start rack3control01
until op1 is done
bob power-off rack2control01
until op4 is done
status
# Two are left, and both are needed.
alice restart rack1control01
alice power-off rack3control01 accept-outage
# Acting on the one that is off costs no vote.
alice restart rack2control01
until op5 is done
alice restart rack1control01
until op6 is done
