package main

import (
	"context"
	"os"

	"agentctl/internal/cli"
	"agentctl/internal/cli/verb"
)

// Set by the build of a release.
var version, commit, commitDate string

func main() { os.Exit(run()) }

func run() int {
	program := verb.Process(verb.Build{Release: version, Commit: commit, Date: commitDate})
	return cli.Execute(context.Background(), program, os.Args[1:])
}
