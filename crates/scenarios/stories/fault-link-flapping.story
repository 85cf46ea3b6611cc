# A link goes up and down every minute. The machine says so, until fifteen minutes after the link has come to rest.
site 4 racks of 3
fault link-flapping rack1compute01 for 10m
after 30s
look at rack1compute01
after 5m
look at rack1compute01
alice restart rack1compute01
until done
look at rack1compute01
after 20m
look at rack1compute01
