//go:build !linux

package eventlog_test

import "github.com/cmemd/cmemd/testkit/crash"

// systemRoles are the children that need this system.
func systemRoles() map[string]crash.Role { return map[string]crash.Role{} }
