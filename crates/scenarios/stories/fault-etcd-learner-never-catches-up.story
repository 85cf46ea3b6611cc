# The new member is there and never catches up. The others vote on; the machine says so, and can be reimaged again.
site 4 racks of 3
with runtimes
etcd
fault etcd-learner-never-catches-up rack1control01
alice reimage rack1control01
until done
look at operation
look at rack1control01
etcd
alice reimage rack2control01
clear fault etcd-learner-never-catches-up rack1control01
bob reimage rack1control01
until done
look at operation
look at rack1control01
etcd
