# Tags and details are people's notes: written at any time, and by one hand at a time.
site 1 racks of 4
alice update rack1compute01 row=7 details=slow-fan if-match="1"
bob update rack1compute01 row=8 if-match="1"
bob update rack1compute01 row=8 owner=net if-match="2"
alice restart rack1compute01
alice update rack1compute01 details=being-restarted
until done
alice unmanage rack1compute01 new-fan
bob update rack1compute01 details=lid-is-open if-match="4"
bob update nobody details=lost
bob update rack1compute01 ro<w=7
crash
start
bob update rack1compute01 details=fan-replaced if-match="5"
