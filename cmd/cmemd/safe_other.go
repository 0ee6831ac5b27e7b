//go:build !linux && !darwin

package main

// keepPrivate does nothing: here the folder of the home says who may read what is in it.
func keepPrivate() {}

// writableByOthers knows nothing of rights here.
func writableByOthers(string) (string, error) { return "", nil }
