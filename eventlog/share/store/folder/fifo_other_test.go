//go:build !unix

package folder

import "errors"

func mkfifo(string) error { return errors.ErrUnsupported }
