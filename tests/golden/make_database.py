#!/usr/bin/env python3
"""make_database.py IN.sql OUT: a SQLite database made by running the statements. Used by golden and fuzz tests."""
import contextlib
import os
import sqlite3
import sys

with contextlib.suppress(FileNotFoundError):
    os.remove(sys.argv[2])
database = sqlite3.connect(sys.argv[2])
with open(sys.argv[1], encoding="utf-8") as statements:
    database.executescript(statements.read())
database.close()
