// Package projects is the view of which folders are one project: as the sessions opened in them were decided to be, and as a person
// said since. It is also whose memory it is that has a project's name and no folder.
//
// The files, each referring to those below it:
//
//	read.go   finds the folders and the names of a project, and lists all
//	fold.go   the view's tables, and what an event changes in them
//	known.go  what folders are to each other
//	root.go   a folder, and what becomes of it with each event; the daemon keeps the same in memory
//
// What bites: the disk is not looked at. A folder belongs to the project that a person named last, else to the one that its latest
// session was recorded under. Sessions recorded before projects had keys name none, and change nothing.
package projects
