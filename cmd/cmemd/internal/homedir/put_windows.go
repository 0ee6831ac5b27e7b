package homedir

import (
	"os"
	"syscall"
	"time"
)

// programFile is when the file at path was made or last written, whichever is later: archives and packages give their files an older time
// of writing. Names and rights more or less change neither, so that file is empty.
func programFile(path string) (put time.Time, file string, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}, "", err
	}
	put = info.ModTime()
	if data, ok := info.Sys().(*syscall.Win32FileAttributeData); ok {
		if made := time.Unix(0, data.CreationTime.Nanoseconds()); made.After(put) {
			put = made
		}
	}
	return put.UTC(), "", nil
}
