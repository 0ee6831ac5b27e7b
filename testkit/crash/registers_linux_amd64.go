package crash

import "syscall"

// leaveOut has the call at whose beginning a thread stands not be made.
func leaveOut(thread int) error {
	return changeRegisters(thread, func(r *syscall.PtraceRegs) { r.Orig_rax = ^uint64(0) })
}

// setResult is what the call at whose end a thread stands returns.
func setResult(thread int, result int64) error {
	return changeRegisters(thread, func(r *syscall.PtraceRegs) { r.Rax = uint64(result) })
}

// setCount is the third argument of the call at whose beginning a thread stands.
func setCount(thread int, n uint64) error {
	return changeRegisters(thread, func(r *syscall.PtraceRegs) { r.Rdx = n })
}

func changeRegisters(thread int, change func(*syscall.PtraceRegs)) error {
	var r syscall.PtraceRegs
	if err := syscall.PtraceGetRegs(thread, &r); err != nil {
		return err
	}
	change(&r)
	return syscall.PtraceSetRegs(thread, &r)
}
