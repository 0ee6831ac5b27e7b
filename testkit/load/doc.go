// Command load measures a running daemon, and fills a log to measure one on.
//
//	go run ./testkit/load hooks -home DIR -posters 16 -sessions 16 -n 60000    posts tool uses over the socket
//	go run ./testkit/load seed  -home DIR -n 100000                            writes observations into a new log
//
// It prints what it measured as one JSON object. It is a tool for benchmarks, not for users.
//
// The files, each referring to those below it:
//
//	main.go, seed.go, hooks.go
package main
