package main

import (
	"runtime"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
)

func newVersion(a *terminal.App) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: terminal.Takes(0, 0, ""),
		RunE: func(*cobra.Command, []string) error {
			if a.JSON {
				return a.PrintJSON(map[string]string{
					"version": a.Version, "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH,
				})
			}
			a.Printf("cmemd %s (%s, %s/%s)\n", a.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return nil
		},
	}
}
