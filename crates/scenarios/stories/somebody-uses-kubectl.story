site 4 racks of 3
alice cordon rack1compute01
until done
kubectl uncordon rack1compute01
after 1m
look at rack1compute01
alice uncordon rack1compute01
until done
kubectl cordon rack1compute01
after 1m
# A cordon of somebody else's is shown, and only a person lifts it.
look at rack1compute01
bob restart rack1compute01
until done
look at rack1compute01
bob uncordon rack1compute01
until done
look at rack1compute01
