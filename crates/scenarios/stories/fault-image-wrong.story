# What the machine is served is not the image of the runtime. It is not started, and what tenants have is as it was.
site 1 racks of 4
with runtimes
disks of rack1compute01
fault image-wrong rack1compute01
alice reimage rack1compute01
until done
look at operation
look at rack1compute01
disks of rack1compute01
alice start rack1compute01
clear fault image-wrong rack1compute01
bob reimage rack1compute01
until done
look at rack1compute01
disks of rack1compute01
