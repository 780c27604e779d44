// Command program has a module compiled in, for the tests of the package release.
package main

import "github.com/spf13/pflag"

func main() { pflag.Parse() }
