# A boot with a long memory test takes four times as long: the wait is shown as late, and the restart succeeds.
site 4 racks of 3
fault host-boots-slowly rack1compute01
alice restart rack1compute01
until done
look at operation
look at rack1compute01
