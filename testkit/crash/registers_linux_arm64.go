package crash

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Of the kernel's elf.h.
const (
	generalRegisters = 1
	systemCall       = 0x404
)

// leaveOut has the call at whose beginning a thread stands not be made.
func leaveOut(thread int) error {
	none := int32(-1)
	v := unix.Iovec{Base: (*byte)(unsafe.Pointer(&none)), Len: uint64(unsafe.Sizeof(none))}
	_, _, errno := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_SETREGSET, uintptr(thread), systemCall, uintptr(unsafe.Pointer(&v)), 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// setResult is what the call at whose end a thread stands returns.
func setResult(thread int, result int64) error {
	return changeRegisters(thread, func(r *unix.PtraceRegsArm64) { r.Regs[0] = uint64(result) })
}

// setCount is the third argument of the call at whose beginning a thread stands.
func setCount(thread int, n uint64) error {
	return changeRegisters(thread, func(r *unix.PtraceRegsArm64) { r.Regs[2] = n })
}

func changeRegisters(thread int, change func(*unix.PtraceRegsArm64)) error {
	var r unix.PtraceRegsArm64
	if err := unix.PtraceGetRegSetArm64(thread, generalRegisters, &r); err != nil {
		return err
	}
	change(&r)
	return unix.PtraceSetRegSetArm64(thread, generalRegisters, &r)
}
