package main

import (
	"cmp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

func newVersion(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: takes(0, 0, ""),
		RunE: func(*cobra.Command, []string) error {
			if a.json {
				return a.printJSON(map[string]string{
					"version": a.version, "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH,
				})
			}
			a.printf("cmemd %s (%s, %s/%s)\n", a.version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return nil
		},
	}
}

// isNewer reports whether version mine is newer than theirs. Only releases, such as v1.2.3 or 1.2.3-rc.1, are ever newer
// or older than another.
func isNewer(mine, theirs string) bool {
	a, aRest, ok := release(mine)
	b, bRest, okToo := release(theirs)
	if !ok || !okToo {
		return false
	}
	if c := slices.Compare(a, b); c != 0 {
		return c > 0
	}
	switch {
	case aRest == bRest || aRest != "" && bRest == "": // a pre-release is older than its release
		return false
	case aRest == "":
		return true
	}
	return slices.CompareFunc(strings.Split(aRest, "."), strings.Split(bRest, "."), comparePart) > 0
}

// release splits a version into its three numbers and its pre-release.
func release(v string) (numbers []int, pre string, ok bool) {
	v, _, _ = strings.Cut(strings.TrimPrefix(v, "v"), "+")
	core, pre, _ := strings.Cut(v, "-")
	for part := range strings.SplitSeq(core, ".") {
		n, err := strconv.ParseUint(part, 10, 31)
		if err != nil {
			return nil, "", false
		}
		numbers = append(numbers, int(n))
	}
	return numbers, pre, len(numbers) == 3
}

// comparePart compares one part of a pre-release: numbers by value and below words, words by their bytes.
func comparePart(a, b string) int {
	x, errX := strconv.Atoi(a)
	y, errY := strconv.Atoi(b)
	switch {
	case errX == nil && errY == nil:
		return cmp.Compare(x, y)
	case errX == nil:
		return -1
	case errY == nil:
		return 1
	}
	return strings.Compare(a, b)
}
