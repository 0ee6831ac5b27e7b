//go:build !linux && !darwin

package person

import (
	"errors"
	"os"
	"syscall"
)

func openTerminal() (master, terminal *os.File, err error) { return nil, nil, errors.ErrUnsupported }

func onTerminal(int) *syscall.SysProcAttr { return nil }

func keep(int) {}
