package logtest

import "testing"

// Run tests an engine. The suite closes what open returns.
func Run(t *testing.T, open func(testing.TB) Log) {
	for name, test := range map[string]func(*testing.T, Log){
		"append":         testAppend,
		"versions":       testVersions,
		"fencing":        testFencing,
		"concurrent":     testConcurrent,
		"append end":     testAppendEnd,
		"invalid":        testInvalid,
		"empty append":   testEmptyAppend,
		"too large":      testTooLarge,
		"get":            testGet,
		"head":           testHead,
		"stream":         testStream,
		"all":            testAll,
		"all, appending": testAllWhileAppending,
		"slices":         testSlices,
		"breaks":         testBreaks,
		"cancel":         testCancel,
		"follow":         testFollow,
		"follow, busy":   testFollowBusy,
		"erase":          testErase,
		"close":          testClose,
		"times":          testTimes,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, opened(t, open))
		})
	}
	for name, test := range map[string]func(*testing.T, func(testing.TB) Log){
		"follow waits": testFollowWaits,
		"restore":      testRestore,
		"restore bad":  testRestoreBad,
		"export":       testExport,
		"export fails": testExportFails,
		"import bad":   testImportBad,
		"model":        func(t *testing.T, open func(testing.TB) Log) { testModel(t, open, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open)
		})
	}
}

// RunDurable tests an engine that keeps its log in a folder: all of Run, and that nothing is lost or changed by
// closing it and opening it anew.
func RunDurable(t *testing.T, open func(tb testing.TB, dir string) Log) {
	Run(t, func(tb testing.TB) Log { return open(tb, tb.TempDir()) })
	t.Run("reopen", func(t *testing.T) {
		t.Parallel()
		testReopen(t, open)
	})
	t.Run("close, appending", func(t *testing.T) {
		t.Parallel()
		testCloseBusy(t, open)
	})
	t.Run("model, reopening", func(t *testing.T) {
		t.Parallel()
		dirs := map[Log]string{}
		first := func(tb testing.TB) Log {
			dir := tb.TempDir()
			l := open(tb, dir)
			dirs[l] = dir
			return l
		}
		again := func(tb testing.TB, old Log) Log {
			l := open(tb, dirs[old])
			dirs[l] = dirs[old]
			return l
		}
		testModel(t, first, again)
	})
}
