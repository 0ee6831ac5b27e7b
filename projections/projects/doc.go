// Package projects is the view of which folders are one project, as the sessions opened in them say.
//
// The files, each referring to those below it:
//
//	read.go  finds the folders of a project
//	fold.go  the view's tables, and what a session's opening changes in them
//
// What bites: the disk is not looked at. A folder belongs to the project that its latest session named.
package projects
