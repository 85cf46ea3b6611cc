site 4 racks of 3
alice cordon rack2compute01
until done
look at rack2compute01
# A person's hold survives a restart.
bob restart rack2compute01
until done
look at rack2compute01
bob uncordon rack2compute01
until done
look at rack2compute01
bob uncordon rack2compute01
until done
