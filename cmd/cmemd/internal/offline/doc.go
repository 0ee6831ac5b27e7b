// Package offline gives commands a log to read and copy: that of the daemon, or the file of a home where no daemon runs.
//
// The files, each referring to those below it:
//
//	source.go, log.go, views.go, files.go
//
// What bites: a log file that another process holds is not read, but refused with the holder's name; see Open. A daemon that starts
// is given the log in the middle of whatever is read, which goes on through the daemon.
package offline
