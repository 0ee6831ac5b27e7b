// Package sqlite queries an SQLite database by a child process: cmemd-sqlite, a small program that is installed beside cmemd by those
// who need it. It implements database/sql/driver, so that whoever reads the rows is written as for any database.
//
// The files, each referring to those below it:
//
//	driver.go, process.go, wire.go
//
// What bites: the child is killed where a query's context ends, and the connection with it.
package sqlite
