//go:build !man

package main

import "github.com/spf13/cobra"

// builderVerbs are those of builds that make a release; the product has none.
func builderVerbs() []*cobra.Command { return nil }
