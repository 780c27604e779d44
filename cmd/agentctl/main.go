package main

import (
	"context"
	"os"
)

// version is set by the release.
var version = ""

func main() { os.Exit(run()) }

func run() int {
	a := &app{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, env: os.Getenv}
	return a.main(context.Background(), os.Args[1:])
}
