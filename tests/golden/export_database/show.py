"""show.py FILE TABLE…: the rows of tables of a database, without columns that are NULL in every row."""
import sqlite3
import sys

database = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
for table in sys.argv[2:]:
    cursor = database.execute(f"SELECT * FROM {table}")
    names = [column[0] for column in cursor.description]
    rows = cursor.fetchall()
    shown = [i for i, name in enumerate(names) if any(row[i] is not None for row in rows)]
    print(table + ": " + ", ".join(names[i] for i in shown))
    for row in rows:
        print("  " + ", ".join(row[i].hex() if isinstance(row[i], bytes) else str(row[i]) for i in shown))
