//go:build !man

package main

import "github.com/spf13/cobra"

// releaseVerbs returns the verbs for making a release. The product has none.
func releaseVerbs() []*cobra.Command { return nil }
