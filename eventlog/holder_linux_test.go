package eventlog

import "testing"

const procLocks = `1: POSIX  ADVISORY  WRITE 4242 fe:00:131077 0 EOF
2: FLOCK  ADVISORY  WRITE 4711 fe:00:131077 0 EOF
2: -> FLOCK  ADVISORY  WRITE 4712 fe:00:131077 0 EOF
3: FLOCK  ADVISORY  READ  815 00:2a:99 0 EOF
4: OFDLCK ADVISORY  WRITE -1 fe:00:77 0 EOF
5: FLOCK  ADVISORY  WRITE 0 fe:00:55 0 EOF
6: FLOCK  ADVISORY  WRITE 17 aa:00:42 0 EOF
6: FLOCK  ADVISORY  WRITE 18 fe:00:42 0 EOF
7: FLOCK
`

func TestLockHolder(t *testing.T) {
	t.Parallel()
	for inode, want := range map[uint64]int{131077: 4711, 99: 815, 77: 0, 55: 0, 42: 18, 1: 0, 7: 0} {
		if got := lockHolder([]byte(procLocks), "fe:00", inode); got != want {
			t.Errorf("inode %d: got %d, want %d", inode, got, want)
		}
	}
}

func FuzzLockHolder(f *testing.F) {
	f.Add([]byte(procLocks), "fe:00", uint64(99))
	f.Fuzz(func(t *testing.T, locks []byte, device string, inode uint64) {
		if pid := lockHolder(locks, device, inode); pid < 0 {
			t.Errorf("got process %d", pid)
		}
	})
}
