package main

import (
	"context"
	"os"
)

// version is set at release.
var version = ""

func main() { os.Exit(run()) }

func run() int {
	a := &app{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, env: os.Getenv}
	return a.execute(context.Background(), os.Args[1:])
}
