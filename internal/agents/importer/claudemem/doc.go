// Package claudemem reads the SQLite database of claude-mem, as importer.Entry.
//
// The file is opened read-only, beside the program that writes it: with its write-ahead log, without a lock that is held
// between two pages, and with a limit on how long another's lock is waited for. Rows that are added while it is read are
// left for the next time. Column names of older versions are known, missing ones are named by Notes, and no value is trusted
// to be of its column's type.
//
// A database that nobody has open, and whose write-ahead log is empty, is read as it stands: nothing is made beside it, and
// it may lie where nothing can be written. That somebody opens it meanwhile is noticed by the file's time: see ErrChanged.
// Of a damaged database all is read that can be, table by table; where sessions may be missing, none is made up for the rows
// that name them.
//
// The files, each referring to those below it:
//
//	entries.go, plan.go, schema.go, open.go, value.go, folders.go
//
// What bites: SQLite keeps an index of the write-ahead log beside the file (-shm), which even a reader has to make where the
// log is not empty; reading leaves it there. A copy of a database whose -wal file was left behind lacks what was written last.
package claudemem
