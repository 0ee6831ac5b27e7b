package main

import "syscall"

// mount puts an empty file system of a size on a folder.
func mount(dir, size string) (unmount func(), err error) {
	if err := syscall.Mount("cmemdtest", dir, "tmpfs", 0, "mode=700,size="+size); err != nil {
		return nil, err
	}
	return func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) }, nil
}
