// Package files is the view of which observations and tool uses read or changed a file.
//
// The files, each referring to those below it:
//
//	read.go    finds files and their touches
//	fold.go    enters what a record touched
//	fileof.go  finds the file that a tool call names
//	files.go   the view's tables, keys, touches and filters
//
// What bites: paths inside a project are relative to it, so that worktrees and absolute names meet.
package files
