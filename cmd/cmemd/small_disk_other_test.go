//go:build !linux

package main

import "errors"

// mount cannot be done here.
func mount(string, string) (unmount func(), err error) { return nil, errors.ErrUnsupported }
