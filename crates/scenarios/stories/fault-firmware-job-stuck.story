# A firmware job in the BMC's queue refuses a reimage and a replace until it has gone, whatever the safeguards.
site 1 racks of 4
with runtimes
fault firmware-job-stuck rack1compute01
alice preview reimage rack1compute01
alice reimage rack1compute01
alice replace rack1compute01 safeguard-none
look at rack1compute01
clear fault firmware-job-stuck rack1compute01
after 1m
bob reimage rack1compute01
look at operation
