package main

import (
	"runtime"

	"github.com/spf13/cobra"
)

func newVersion(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: takes(0, 0, ""),
		RunE: func(*cobra.Command, []string) error {
			if a.JSON {
				return a.printJSON(map[string]string{
					"version": a.version, "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH,
				})
			}
			a.printf("cmemd %s (%s, %s/%s)\n", a.version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return nil
		},
	}
}
