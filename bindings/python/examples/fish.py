import sys

import cenote

with cenote.connect(sys.argv[1]) as connection:
    cursor = connection.cursor()
    cursor.execute("create temporary table fish (name varchar(20), length numeric(5, 2))")
    cursor.executemany("insert into fish values (%s, %s)", [("carp", 61.5), ("cave fish", 8.25)])
    for name, length in connection.execute("select * from fish where length < %s", (10,)):
        print(f"{name}: {length} cm")
