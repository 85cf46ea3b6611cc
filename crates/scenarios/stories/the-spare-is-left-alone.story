site 4 racks of 3
look at rack4control01
alice start rack4control01
alice restart rack4control01
alice cordon rack4control01
alice power-off rack4control01
until done
look at rack4control01
