// Package setup puts cmemd into the agents of a machine and into what starts programs at login, takes it out again, and says of
// an agent what is not as it was put there; and has all of cmemd work on a machine, step by step.
//
// The files, each referring to those below it:
//
//	setup.go, setup_plan.go, setup_sessions.go, setup_model.go, setup_switch.go, setup_run.go, install.go, projects.go, show.go,
//	check.go, service.go, service_unit.go, machine.go
//
// What bites: agents keep what they are given for months. What is written names cmemd by a path that outlives an update, and is
// shown before it is written.
package setup
