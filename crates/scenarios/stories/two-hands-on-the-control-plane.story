# Somebody switches one member off behind our back, a moment before another is to be restarted: the vote is not taken.
site 4 racks of 3
by hand power-off rack3control01
alice restart rack2control01
after 1m
look at operation
by hand power-on rack3control01
until done
bmc log of rack2control01
status
