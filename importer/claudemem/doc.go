// Package claudemem reads the SQLite database of claude-mem, as importer.Entry.
//
// The file is opened read-only, beside the program that writes it: with its write-ahead log, without a lock that is held
// between two pages, and with a limit on how long another's lock is waited for. Rows that are added while it is read are
// left for the next time. Column names of older versions are known, missing ones are told by Notes, and no value is trusted
// to be of its column's type.
//
// What bites: SQLite keeps an index of the write-ahead log beside the file (-shm), which even a reader may have to make. A
// copy of a database whose -wal file was left behind lacks what was written last.
package claudemem
