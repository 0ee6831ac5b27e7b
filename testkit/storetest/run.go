package storetest

import "testing"

// Run tests an engine. place makes an empty place, and ends it with the test.
func Run(t *testing.T, place func(testing.TB) Place) {
	runAll(t, place, map[string]func(*testing.T, *world){
		"create":           testCreate,
		"replace":          testReplace,
		"delete":           testDelete,
		"revisions":        testRevisions,
		"bodies":           testBodies,
		"keys":             testObjectKeys,
		"create, races":    testCreateRaces,
		"replace, races":   testReplaceRaces,
		"delete, races":    testDeleteRaces,
		"counter":          testCounter,
		"read your write":  testReadYourWrite,
		"list":             testList,
		"list, pages":      testPages,
		"list, spaces":     testSpaces,
		"watch":            testWatch,
		"watch, many":      testWatchMany,
		"context":          testContext,
		"close":            testClose,
		"close, in a call": testCloseBusy,
		"model":            testModel,
	})
}

// RunConnected tests an engine at the other end of a connection: that what Place.Fault does is survived.
func RunConnected(t *testing.T, place func(testing.TB) Place) {
	runAll(t, place, map[string]func(*testing.T, *world){"watch, cut": testWatchCut, "cut": testCut, "answers lost": testAnswersLost})
}

func runAll(t *testing.T, place func(testing.TB) Place, tests map[string]func(*testing.T, *world)) {
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newWorld(t, place(t)))
		})
	}
}
