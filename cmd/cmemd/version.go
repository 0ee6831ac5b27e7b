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
			said := map[string]string{"version": a.Version, "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH}
			return a.ShowLine(said, "cmemd %s (%s, %s/%s)\n", a.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
		},
	}
}
