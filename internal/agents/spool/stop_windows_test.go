package spool

import "github.com/cmemd/cmemd/testkit/crash"

func systemRoles() map[string]crash.Role { return map[string]crash.Role{} }
