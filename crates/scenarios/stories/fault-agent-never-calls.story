# The agent starts and calls nobody: its network is not the one that we are on. When that is mended the machine is reimaged again.
site 1 racks of 4
with runtimes
fault agent-never-calls rack1compute01
alice reimage rack1compute01
until done
look at operation
look at rack1compute01
alice advise rack1compute01
clear fault agent-never-calls rack1compute01
bob reimage rack1compute01
until done
look at rack1compute01
