// Command modeltable writes the table of known models of package server/agent/llm/provider: contexts, outputs, prices
// and efforts. It reads the JSON files of a pinned version of the module charm.land/catwalk as data, from the module
// cache, and knows no package of the project.
package main

//go:generate go run . ../../../server/agent/llm/provider/models.txt
