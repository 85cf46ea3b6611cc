site 4 racks of 3
alice explode rack1compute01
alice restart rack9compute01
look at rack1compute01
